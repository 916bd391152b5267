//! Which gates a repository's files suggest.

use symphony_core::config::{CommandLine, Gate};
use symphony_workspace::config_file::detect_gates;
use tempfile::tempdir;

use super::write;

/// Names with what stands in the file, or with the command.
type Pairs<'a> = &'a [(&'a str, &'a str)];

#[test]
fn each_ecosystem_suggests_its_test_command() {
    let npm = r#"{"scripts": {"test": "vitest run"}}"#;
    let placeholder = r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#;
    let make = "CC := gcc\nall: build\n\n.PHONY: test\ntest: build\n\t./run\n";
    let cases: &[(Pairs<'_>, Pairs<'_>)] = &[
        (&[], &[]),
        (
            &[("Cargo.toml", "[package]\nname = \"a\"\n")],
            &[("test", "cargo test")],
        ),
        (
            &[("Cargo.toml", "[workspace]\n")],
            &[("test", "cargo test")],
        ),
        (
            &[("Cargo.toml", "[package]\n[workspace]\n")],
            &[("test", "cargo test --workspace")],
        ),
        (&[("package.json", npm)], &[("test", "npm test")]),
        (
            &[("package.json", npm), ("pnpm-lock.yaml", "")],
            &[("test", "pnpm test")],
        ),
        (
            &[("package.json", npm), ("yarn.lock", "")],
            &[("test", "yarn test")],
        ),
        (&[("package.json", placeholder)], &[]),
        (&[("package.json", "{ broken")], &[]),
        (&[("package.json", "[]")], &[]),
        (
            &[("pyproject.toml", "[tool.pytest.ini_options]\n")],
            &[("test", "python3 -m pytest")],
        ),
        (
            &[("pyproject.toml", "dev = [\"pytest\"]\n"), ("uv.lock", "")],
            &[("test", "uv run pytest")],
        ),
        (
            &[("tests/conftest.py", "")],
            &[("test", "python3 -m pytest")],
        ),
        (&[("pyproject.toml", "[project]\n")], &[]),
        (&[("go.mod", "module a\n")], &[("test", "go test ./...")]),
        (&[("Makefile", make)], &[("test", "make test")]),
        (&[("Makefile", "test := x\nlatest: all\n")], &[]),
        (
            &[("Makefile", "all:\ncheck: all\n")],
            &[("test", "make check")],
        ),
        (
            &[("justfile", "test filter:\n  cargo test {{filter}}\n")],
            &[("test", "just test")],
        ),
        (
            &[("Makefile", make), ("go.mod", "")],
            &[("test", "go test ./...")],
        ),
        (
            &[("pom.xml", ""), ("mvnw", "")],
            &[("test", "./mvnw --batch-mode test")],
        ),
        (&[("build.gradle.kts", "")], &[("test", "gradle test")]),
        (
            &[("Gemfile", ""), (".rspec", "")],
            &[("test", "bundle exec rspec")],
        ),
        (
            &[("composer.json", r#"{"scripts": {"test": ["phpunit"]}}"#)],
            &[("test", "composer test")],
        ),
        (
            &[("Cargo.toml", ""), ("package.json", npm)],
            &[("test-rust", "cargo test"), ("test-node", "npm test")],
        ),
    ];
    for (files, gates) in cases {
        let folder = tempdir().unwrap();
        for (name, text) in *files {
            write(&folder.path().join(name), text);
        }
        let expected: Vec<Gate> = gates
            .iter()
            .map(|(name, command)| Gate::new(*name, CommandLine::Shell((*command).to_owned())))
            .collect();
        assert_eq!(detect_gates(folder.path()), expected, "{files:?}");
    }
}
