//! `Gemfile`.

use super::ecosystem::{Ecosystem, Meanings, Packages, Stack, all, first, one_of};
use super::folder::Manifests;

const FRAMEWORKS: &Meanings = &[
    ("rails", "Ruby on Rails"),
    ("hanami", "Hanami"),
    ("sinatra", "Sinatra"),
    ("roda", "Roda"),
    ("jekyll", "Jekyll"),
];

const UIS: &Meanings = &[
    ("turbo-rails", "Hotwire"),
    ("tty-prompt", "TTY (Terminal UI)"),
];

const TESTS: &Meanings = &[
    ("rspec", "RSpec"),
    ("rspec-rails", "RSpec"),
    ("minitest", "Minitest"),
];

const DATABASES: &Meanings = &[
    ("pg", "PostgreSQL"),
    ("mysql2", "MySQL"),
    ("sqlite3", "SQLite"),
    ("mongoid", "MongoDB"),
    ("redis", "Redis"),
];

/// Reads `Gemfile`.
pub(super) fn detect(folder: &Manifests<'_>) -> Option<Ecosystem> {
    let text = folder.text("Gemfile")?;
    let packages: Packages = text.lines().filter_map(gem).collect();
    let named = all(&packages, TESTS);
    Some(Ecosystem {
        name: None,
        description: None,
        stack: Stack {
            runtime: vec!["ruby"],
            language: vec!["ruby"],
            framework: first(&packages, FRAMEWORKS),
            ui: first(&packages, UIS),
            testing: if named.is_empty() {
                one_of([(packages.contains("rails"), "Minitest")])
            } else {
                named
            },
            database: all(&packages, DATABASES),
            build: one_of([(folder.has("Rakefile"), "Rake")]),
            package_manager: vec!["bundler"],
        },
    })
}

/// Returns the gem that a line asks for.
fn gem(line: &str) -> Option<String> {
    let rest = line.trim().strip_prefix("gem")?;
    let quoted = rest.trim_start_matches([' ', '(']);
    let quote = quoted.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    quoted.split(quote).nth(1).map(str::to_owned)
}
