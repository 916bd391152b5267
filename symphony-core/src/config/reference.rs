//! The reference page of the configuration, made from the table of keys.

use std::fmt::Write;

use super::key::{DefaultValue, KeyRow, Kind, Scope, rows};
use super::leaf::expected;
use super::table::KEYS;

/// Writes a markdown table of all keys: name, type, default, where it is allowed, meaning.
pub fn markdown_reference() -> String {
    let mut text =
        String::from("| key | value | default | where | meaning |\n|---|---|---|---|---|\n");
    for row in rows(KEYS) {
        let default = match row.key.default {
            _ if row.path.ends_with('>') => "–".to_owned(),
            DefaultValue::Below => "–".to_owned(),
            DefaultValue::Unset(_) => "none".to_owned(),
            _ => format!("`{}`", row.key.shown_json()),
        };
        let place = match row.key.scope {
            Scope::TopLevel => "file",
            Scope::Project => "file, project",
            Scope::OneProject => "project",
        };
        let KeyRow { path, key, .. } = &row;
        let value = value_text(&row).replace('|', "\\|");
        let meaning = key.doc.replace('|', "\\|");
        let _infallible = writeln!(
            text,
            "| `{path}` | {value} | {default} | {place} | {meaning} |"
        );
    }
    text
}

fn value_text(row: &KeyRow) -> String {
    match (row.leaf, row.key.kind) {
        (Some(leaf), _) => expected(leaf),
        (None, Kind::List(_)) => "a list of objects".to_owned(),
        (None, _) => "an object".to_owned(),
    }
}
