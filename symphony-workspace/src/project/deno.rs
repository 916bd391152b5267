//! `deno.json` of a project without a `package.json`.

use serde_json::Value;

use super::ecosystem::{Ecosystem, Meanings, Packages, Stack, all, first};
use super::folder::Manifests;
use super::node_packages;

const FRAMEWORKS: &Meanings = &[
    ("@fresh/core", "Fresh"),
    ("fresh", "Fresh"),
    ("@oak/oak", "Oak"),
    ("@hono/hono", "Hono"),
];

const DATABASES: &Meanings = &[
    ("@db/sqlite", "SQLite"),
    ("@db/postgres", "PostgreSQL"),
    ("@db/redis", "Redis"),
    ("@db/mongo", "MongoDB"),
];

/// Parses JSON that may have comments and trailing commas.
pub(super) fn parse(text: &str) -> Option<Value> {
    jsonc_parser::parse_to_serde_value(text, &jsonc_parser::ParseOptions::default()).ok()
}

/// Reads the manifest, `deno.json` or `deno.jsonc`.
pub(super) fn manifest(folder: &Manifests<'_>) -> Option<Value> {
    let text = folder.text("deno.json");
    let text = text.or_else(|| folder.text("deno.jsonc"))?;
    Some(parse(&text).unwrap_or_default())
}

/// Returns the packages of a manifest's imports: `npm:express@4` is `express`, `jsr:@oak/oak@17` is `@oak/oak`.
pub(super) fn packages(manifest: &Value) -> Packages {
    let imports = manifest.get("imports").and_then(Value::as_object);
    let imports = imports.into_iter().flatten();
    imports
        .filter_map(|(_, from)| package(from.as_str()?))
        .collect()
}

fn package(from: &str) -> Option<String> {
    let name = from
        .strip_prefix("npm:")
        .or_else(|| from.strip_prefix("jsr:"))?;
    let name = name.trim_start_matches('/');
    let (scope, rest) = match name.strip_prefix('@') {
        Some(scoped) => {
            let (scope, rest) = scoped.split_once('/')?;
            (format!("@{scope}/"), rest)
        }
        None => (String::new(), name),
    };
    let own = rest.split(['@', '/']).next()?;
    (!own.is_empty()).then(|| format!("{scope}{own}"))
}

/// Reads `deno.json`; a `package.json` takes precedence.
pub(super) fn detect(folder: &Manifests<'_>) -> Option<Ecosystem> {
    if folder.has_own("package.json") {
        return None;
    }
    let manifest = manifest(folder)?;
    let packages = packages(&manifest);
    let text = |key: &str| manifest.get(key)?.as_str().map(str::to_owned);
    let mut database = all(&packages, DATABASES);
    database.extend(all(&packages, node_packages::DATABASES));
    let framework = first(&packages, FRAMEWORKS);
    Some(Ecosystem {
        name: text("name"),
        description: text("description"),
        stack: Stack {
            runtime: vec!["deno"],
            language: vec!["typescript"],
            framework: if framework.is_empty() {
                first(&packages, node_packages::FRAMEWORKS)
            } else {
                framework
            },
            ui: first(&packages, node_packages::UIS),
            testing: vec!["Deno Test"],
            database,
            build: Vec::new(),
            package_manager: vec!["deno"],
        },
    })
}
