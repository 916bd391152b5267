//! Finds a repository's own test command, for the gates that `init` writes.

use std::path::Path;

use serde_json::Value;
use symphony_core::config::{CommandLine, Gate};

use super::load::read_text;

/// Returns the gates that a repository's files suggest: one test command per ecosystem, in a fixed
/// order; a `Makefile` or `justfile` speaks only where nothing else does, since its test target
/// usually runs the same.
///
/// A single gate is named `test`, several `test-rust`, `test-node` … Files that cannot be read
/// suggest nothing.
pub fn detect_gates(root: &Path) -> Vec<Gate> {
    let folder = Folder(root);
    let mut found: Vec<(&str, &str)> = [
        ("rust", folder.rust()),
        ("node", folder.node()),
        ("python", folder.python()),
        ("go", folder.has("go.mod").then_some("go test ./...")),
        ("deno", folder.deno()),
        ("java", folder.java()),
        ("ruby", folder.ruby()),
        (
            "php",
            folder.script("composer.json").then_some("composer test"),
        ),
        ("elixir", folder.has("mix.exs").then_some("mix test")),
        ("swift", folder.has("Package.swift").then_some("swift test")),
    ]
    .into_iter()
    .filter_map(|(kind, command)| Some((kind, command?)))
    .collect();
    if found.is_empty() {
        found.extend(folder.make().map(|command| ("make", command)));
    }
    let single = found.len() == 1;
    let gates = found.into_iter().map(|(kind, command)| {
        let name = if single {
            "test".to_owned()
        } else {
            format!("test-{kind}")
        };
        Gate::new(name, CommandLine::Shell(command.to_owned()))
    });
    gates.collect()
}

struct Folder<'a>(&'a Path);

impl Folder<'_> {
    fn has(&self, name: &str) -> bool {
        self.0.join(name).is_file()
    }

    fn text(&self, name: &str) -> String {
        read_text(&self.0.join(name))
            .ok()
            .flatten()
            .unwrap_or_default()
    }

    /// Says whether a manifest has a script `test` that is not npm's placeholder.
    fn script(&self, manifest: &str) -> bool {
        let manifest: Value = serde_json::from_str(&self.text(manifest)).unwrap_or_default();
        match manifest
            .get("scripts")
            .and_then(|scripts| scripts.get("test"))
        {
            Some(Value::String(script)) => {
                !script.trim().is_empty() && !script.contains("no test specified")
            }
            Some(Value::Array(scripts)) => !scripts.is_empty(),
            _ => false,
        }
    }

    fn rust(&self) -> Option<&'static str> {
        if !self.has("Cargo.toml") {
            return None;
        }
        // At a root package that is also a workspace, plain `cargo test` leaves the members out.
        let manifest = self.text("Cargo.toml");
        let has = |table: &str| manifest.lines().any(|line| line.trim() == table);
        Some(if has("[workspace]") && has("[package]") {
            "cargo test --workspace"
        } else {
            "cargo test"
        })
    }

    fn node(&self) -> Option<&'static str> {
        if !self.script("package.json") {
            return None;
        }
        Some(if self.has("pnpm-lock.yaml") {
            "pnpm test"
        } else if self.has("yarn.lock") {
            "yarn test"
        } else if self.has("bun.lock") || self.has("bun.lockb") {
            "bun run test"
        } else {
            "npm test"
        })
    }

    fn python(&self) -> Option<&'static str> {
        let configured = self.has("pytest.ini")
            || self.has("conftest.py")
            || self.has("tests/conftest.py")
            || [
                "pyproject.toml",
                "setup.cfg",
                "tox.ini",
                "requirements-dev.txt",
                "requirements.txt",
            ]
            .into_iter()
            .any(|file| self.text(file).contains("pytest"));
        configured.then(|| {
            if self.has("uv.lock") {
                "uv run pytest"
            } else if self.has("poetry.lock") {
                "poetry run pytest"
            } else {
                "python3 -m pytest"
            }
        })
    }

    fn deno(&self) -> Option<&'static str> {
        (self.has("deno.json") || self.has("deno.jsonc")).then_some("deno test")
    }

    fn java(&self) -> Option<&'static str> {
        if self.has("pom.xml") {
            Some(if self.has("mvnw") {
                "./mvnw --batch-mode test"
            } else {
                "mvn --batch-mode test"
            })
        } else if self.has("build.gradle") || self.has("build.gradle.kts") {
            Some(if self.has("gradlew") {
                "./gradlew test"
            } else {
                "gradle test"
            })
        } else {
            None
        }
    }

    fn ruby(&self) -> Option<&'static str> {
        if !self.has("Gemfile") {
            None
        } else if self.has(".rspec") || self.0.join("spec").is_dir() {
            Some("bundle exec rspec")
        } else if self.has("Rakefile") && self.0.join("test").is_dir() {
            Some("bundle exec rake test")
        } else {
            None
        }
    }

    fn make(&self) -> Option<&'static str> {
        for (file, tests, checks) in [
            ("GNUmakefile", "make test", "make check"),
            ("makefile", "make test", "make check"),
            ("Makefile", "make test", "make check"),
            ("justfile", "just test", "just check"),
            ("Justfile", "just test", "just check"),
        ] {
            let text = self.text(file);
            if has_target(&text, "test") {
                return Some(tests);
            }
            if has_target(&text, "check") {
                return Some(checks);
            }
        }
        None
    }
}

/// Says whether a makefile or justfile has a target: its name at the start of a line, before a colon
/// that does not assign.
fn has_target(text: &str, target: &str) -> bool {
    text.lines()
        .filter(|line| !line.starts_with([' ', '\t', '#', '.']))
        .any(|line| {
            line.split_once(':').is_some_and(|(names, rest)| {
                !rest.starts_with('=')
                    && !names.contains('=')
                    && names.split_whitespace().any(|name| name == target)
            })
        })
}
