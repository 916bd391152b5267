//! The indexes that files of Python projects name, and the variables of uv, which prints no settings.

use std::collections::BTreeMap;

use toml::{Table, Value};

use super::tool::Tool;
use super::{Registries, urls};

/// Tables with a list of indexes, each with a `url`.
const INDEXES: [&[&str]; 5] = [
    &["tool", "uv", "index"],
    &["tool", "poetry", "source"],
    &["tool", "pdm", "source"],
    &["index"],
    &["source"],
];
/// Settings with a URL, or a list of them.
const URLS: [&[&str]; 4] = [
    &["tool", "uv", "index-url"],
    &["tool", "uv", "extra-index-url"],
    &["index-url"],
    &["extra-index-url"],
];
/// The variables of uv, and whether each replaces `PyPI`.
const UV: [(&str, bool); 4] = [
    ("UV_DEFAULT_INDEX", true),
    ("UV_INDEX_URL", true),
    ("UV_INDEX", false),
    ("UV_EXTRA_INDEX_URL", false),
];
/// The host of the index that everything comes from by default, and the one that its files are on.
const PYPI: &str = "pypi.org";

/// Adds what files and variables name to what pip answered, and `PyPI` unless pip or uv replaces it.
pub(super) fn complete(
    mut found: Registries,
    files: &[String],
    variables: &BTreeMap<String, String>,
) -> Registries {
    let mut is_replaced = found.variables.contains_key("PIP_INDEX_URL");
    for (name, replaces) in UV {
        let Some(value) = variables.get(name) else {
            continue;
        };
        let clean: Vec<_> = value
            .split_whitespace()
            // an index may have a name: `corp=https://…`
            .filter_map(|index| {
                let (name, url) = match index.split_once('=') {
                    Some((name, url)) if !name.contains("://") => (Some(name), url),
                    _ => (None, index),
                };
                let url = found.add(url)?;
                Some(name.map_or_else(|| url.clone(), |name| format!("{name}={url}")))
            })
            .collect();
        if !clean.is_empty() {
            found.variables.insert(name.to_owned(), clean.join(" "));
            is_replaced |= replaces;
        }
    }
    for table in files.iter().filter_map(|text| text.parse::<Table>().ok()) {
        for path in INDEXES {
            let indexes = at(&table, path).and_then(Value::as_array);
            for index in indexes.into_iter().flatten() {
                if let Some(url) = index.get("url").and_then(Value::as_str) {
                    found.add(url);
                }
            }
        }
        for path in URLS {
            if let Some(value) = at(&table, path) {
                for url in urls(&value.to_string()) {
                    found.add(url);
                }
            }
        }
    }
    if !is_replaced || found.hosts.contains(PYPI) {
        found.add_hosts(Tool::Python.defaults());
    }
    found
}

fn at<'a>(table: &'a Table, path: &[&str]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    rest.iter()
        .try_fold(table.get(*first)?, |value, name| value.get(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Variables = &'static [(&'static str, &'static str)];

    #[test]
    fn indexes_of_files_and_variables_are_found() {
        const PYPI: &str = "files.pythonhosted.org pypi.org";
        let with = |hosts: &str| format!("{hosts} {PYPI}");
        let table: Vec<(&str, Variables, String)> = vec![
            ("", &[], PYPI.to_owned()),
            (
                "[tool.uv]\nindex-url = \"https://a.example/simple\"",
                &[],
                with("a.example"),
            ),
            (
                "[[tool.uv.index]]\nname = \"x\"\nurl = \"https://u:token@a.example\"",
                &[],
                with("a.example"),
            ),
            (
                "[[tool.poetry.source]]\nurl = \"https://a.example\"",
                &[],
                with("a.example"),
            ),
            (
                "extra-index-url = [\"https://a.example\", \"https://b.example\"]",
                &[],
                with("a.example b.example"),
            ),
            (
                "",
                &[("UV_DEFAULT_INDEX", "https://u:token@a.example/simple")],
                "a.example".to_owned(),
            ),
            (
                "",
                &[("UV_INDEX", "corp=https://a.example https://b.example")],
                with("a.example b.example"),
            ),
        ];
        for (file, variables, expected) in table {
            let variables = variables
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect();
            let found = complete(Registries::default(), &[file.to_owned()], &variables);
            let hosts: Vec<_> = found.hosts.iter().map(String::as_str).collect();
            assert_eq!(hosts.join(" "), expected, "{file} {variables:?}");
            assert!(!format!("{found:?}").contains("token"));
        }
        let mut answered = Registries::default();
        answered.add_for("https://a.example", &["PIP_INDEX_URL"]);
        let found = complete(answered, &[], &BTreeMap::new());
        assert_eq!(found.hosts.len(), 1);
    }
}
