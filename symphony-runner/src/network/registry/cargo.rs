//! Cargo's registries, read from its files (The Cargo Book, "Source Replacement" and "Configuration").

use std::collections::BTreeMap;

use toml::{Table, Value};

use super::Registries;
use super::tool::Tool;

/// How often one source may replace another.
const REPLACED_MAX: usize = 10;
/// The source that packages come from.
const CRATES_IO: &str = "crates-io";

/// Reads the files, the most important first, and the variables.
pub(super) fn read(files: &[String], variables: &BTreeMap<String, String>) -> Registries {
    let tables: Vec<Table> = files.iter().filter_map(|text| text.parse().ok()).collect();
    let mut found = Registries::default();
    match source(&tables) {
        Source::Default => found.add_hosts(Tool::Cargo.defaults()),
        Source::Registry(url) => {
            found.add(without_prefix(&url));
        }
        Source::Local => {}
    }
    for table in &tables {
        let registries = table.get("registries").and_then(Value::as_table);
        for (_, registry) in registries.into_iter().flatten() {
            if let Some(index) = registry.get("index").and_then(Value::as_str) {
                found.add(without_prefix(index));
            }
        }
    }
    for (name, value) in variables {
        if name.starts_with("CARGO_REGISTRIES_") && name.ends_with("_INDEX") {
            found.add(without_prefix(value));
        }
    }
    found
}

/// Where packages of crates.io come from.
enum Source {
    Default,
    Registry(String),
    /// A folder, or a git repository.
    Local,
}

fn source(tables: &[Table]) -> Source {
    let setting = |name: &str, key: &str| {
        let mut found = tables.iter().filter_map(|table| {
            let source = table.get("source")?.get(name)?;
            source.get(key)?.as_str()
        });
        found.next()
    };
    let mut name = CRATES_IO;
    for _ in 0..REPLACED_MAX {
        match setting(name, "replace-with") {
            Some(other) if other == name => break,
            Some(other) => name = other,
            None => break,
        }
    }
    if let Some(url) = setting(name, "registry") {
        return Source::Registry(url.to_owned());
    }
    // a registry of `[registries]` may replace a source, too
    let mut indexes = tables.iter().filter_map(|table| {
        let registry = table.get("registries")?.get(name)?;
        registry.get("index")?.as_str()
    });
    match indexes.next() {
        _ if name == CRATES_IO => Source::Default,
        Some(url) => Source::Registry(url.to_owned()),
        None => Source::Local,
    }
}

/// `sparse+https://…` is an index over HTTP.
fn without_prefix(url: &str) -> &str {
    url.strip_prefix("sparse+").unwrap_or(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaced_sources_and_other_registries_are_found() {
        let table: [(&[&str], &str); 7] = [
            (&[], "index.crates.io static.crates.io"),
            (&["not = [toml"], "index.crates.io static.crates.io"),
            (
                &[
                    "[registries.corp]\nindex = \"sparse+https://u:token@crates.corp.example/index/\"\ntoken = \"t\"",
                ],
                "crates.corp.example index.crates.io static.crates.io",
            ),
            (
                &[
                    "[source.crates-io]\nreplace-with = \"m\"\n[source.m]\nregistry = \"sparse+https://m.example/\"",
                ],
                "m.example",
            ),
            // the project's file is first
            (
                &[
                    "[source.crates-io]\nreplace-with = \"v\"\n[source.v]\ndirectory = \"vendor\"",
                    "[source.crates-io]\nreplace-with = \"m\"\n[source.m]\nregistry = \"https://m.example\"",
                ],
                "",
            ),
            (
                &[
                    "[source.crates-io]\nreplace-with = \"r\"\n[registries.r]\nindex = \"sparse+https://r.example/i/\"",
                ],
                "r.example",
            ),
            // a circle
            (
                &[
                    "[source.crates-io]\nreplace-with = \"a\"\n[source.a]\nreplace-with = \"crates-io\"",
                ],
                "index.crates.io static.crates.io",
            ),
        ];
        for (files, expected) in table {
            let files: Vec<_> = files.iter().map(|text| (*text).to_owned()).collect();
            let found = read(&files, &BTreeMap::new());
            let hosts: Vec<_> = found.hosts.iter().map(String::as_str).collect();
            assert_eq!(hosts.join(" "), expected, "{files:?}");
        }
        let variables = [("CARGO_REGISTRIES_X_INDEX", "sparse+https://x.example/")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
        assert!(read(&[], &variables).hosts.contains("x.example"));
    }
}
