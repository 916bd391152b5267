//! `Cargo.toml`.

use toml::{Table, Value};

use super::ecosystem::{Ecosystem, Meanings, Packages, Stack, all, first};
use super::folder::Manifests;

const FRAMEWORKS: &Meanings = &[
    ("tauri", "Tauri"),
    ("leptos", "Leptos"),
    ("axum", "Axum"),
    ("actix-web", "Actix Web"),
    ("rocket", "Rocket"),
    ("poem", "Poem"),
    ("warp", "warp"),
    ("tonic", "tonic"),
    ("bevy", "Bevy"),
];

const UIS: &Meanings = &[
    ("ratatui", "Ratatui (Terminal UI)"),
    ("dioxus", "Dioxus"),
    ("yew", "Yew"),
    ("iced", "Iced"),
    ("slint", "Slint"),
    ("eframe", "egui"),
    ("egui", "egui"),
    ("gtk4", "GTK"),
];

const DATABASES: &Meanings = &[
    ("sea-orm", "SeaORM"),
    ("diesel", "Diesel"),
    ("sqlx", "SQLx"),
    ("rusqlite", "SQLite"),
    ("tokio-postgres", "PostgreSQL"),
    ("postgres", "PostgreSQL"),
    ("mysql_async", "MySQL"),
    ("mongodb", "MongoDB"),
    ("redis", "Redis"),
];

const RUNTIMES: &Meanings = &[
    ("tokio", "tokio"),
    ("async-std", "async-std"),
    ("smol", "smol"),
];

/// Reads `Cargo.toml`, of a package or of a workspace.
pub(super) fn detect(folder: &Manifests<'_>) -> Option<Ecosystem> {
    let manifest: Table = toml::from_str(&folder.text("Cargo.toml")?).unwrap_or_default();
    let packages = packages(&manifest);
    let runtime = first(&packages, RUNTIMES);
    let is_nextest = folder.has(".config/nextest.toml");
    let shared = |key: &str| text(&manifest, &["workspace", "package", key]);
    Some(Ecosystem {
        name: text(&manifest, &["package", "name"]),
        description: text(&manifest, &["package", "description"]).or_else(|| shared("description")),
        stack: Stack {
            runtime: if runtime.is_empty() {
                vec!["native"]
            } else {
                runtime
            },
            language: vec!["rust"],
            framework: first(&packages, FRAMEWORKS),
            ui: first(&packages, UIS),
            testing: vec![if is_nextest {
                "cargo nextest"
            } else {
                "cargo test"
            }],
            database: all(&packages, DATABASES),
            build: vec!["Cargo"],
            package_manager: vec!["cargo"],
        },
    })
}

fn packages(manifest: &Table) -> Packages {
    let tables: [&[&str]; 4] = [
        &["dependencies"],
        &["dev-dependencies"],
        &["build-dependencies"],
        &["workspace", "dependencies"],
    ];
    tables
        .into_iter()
        .filter_map(|path| value(manifest, path)?.as_table())
        .flat_map(|packages| packages.keys().cloned())
        .collect()
}

/// Returns the text at a path of keys.
pub(super) fn text(manifest: &Table, path: &[&str]) -> Option<String> {
    let text = value(manifest, path)?.as_str()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// Returns what is at a path of keys.
pub(super) fn value<'a>(manifest: &'a Table, path: &[&str]) -> Option<&'a Value> {
    let (last, above) = path.split_last()?;
    let table = above.iter().try_fold(manifest, |table, key| {
        table.get(*key).and_then(Value::as_table)
    })?;
    table.get(*last)
}
