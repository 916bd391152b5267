//! `mix.exs`: read by what it mentions, without a parser.

use super::ecosystem::{Ecosystem, Meanings, Stack, mentioned};
use super::folder::Manifests;

const FRAMEWORKS: &Meanings = &[("{:phoenix,", "Phoenix"), ("{:plug_cowboy,", "Plug")];

const UIS: &Meanings = &[
    ("{:phoenix_live_view,", "Phoenix LiveView"),
    ("{:scenic,", "Scenic"),
];

const DATABASES: &Meanings = &[
    ("{:ecto_sql,", "Ecto"),
    ("{:ecto,", "Ecto"),
    ("{:postgrex,", "PostgreSQL"),
    ("{:myxql,", "MySQL"),
    ("{:ecto_sqlite3,", "SQLite"),
    ("{:redix,", "Redis"),
];

/// Reads `mix.exs`.
pub(super) fn detect(folder: &Manifests<'_>) -> Option<Ecosystem> {
    let text = folder.text("mix.exs")?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let name = text
        .split_once("app: :")
        .and_then(|(_, rest)| rest.split(|c| !is_name(c)).next())
        .filter(|name| !name.is_empty());
    let description = text
        .split_once("description: \"")
        .and_then(|(_, rest)| rest.split('"').next())
        .filter(|text| !text.trim().is_empty());
    Some(Ecosystem {
        name: name.map(str::to_owned),
        description: description.map(str::to_owned),
        stack: Stack {
            runtime: vec!["beam"],
            language: vec!["elixir"],
            framework: mentioned(&text, FRAMEWORKS).into_iter().take(1).collect(),
            ui: mentioned(&text, UIS).into_iter().take(1).collect(),
            testing: vec!["ExUnit"],
            database: mentioned(&text, DATABASES),
            build: vec!["Mix"],
            package_manager: vec!["hex"],
        },
    })
}
