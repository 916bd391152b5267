//! `providers.acp`: its programs, its short form for a single one, and what is wrong with them.

use serde_json::{Value, json};
use symphony_core::config::{AcpName, CommandLine, Millis, ProjectConfig};

use super::resolved;

/// Reads a file with this section and this provider; returns the configuration with all problems.
fn read(acp: &Value, provider: &str) -> (ProjectConfig, Vec<String>) {
    resolved(&json!({ "provider": provider, "providers": { "acp": acp } }))
}

fn name(text: &str) -> AcpName {
    AcpName::parse(text).expect("a name")
}

#[test]
fn a_single_program_needs_no_name() {
    let section =
        json!({ "command": ["a", "--acp"], "model": "m", "env": { "A": "1" }, "holdMs": 7 });
    let (short, problems) = read(&section, "acp");
    assert_eq!(problems, [""; 0]);
    let (long, problems) = read(&json!({ "default": section }), "acp.default");
    assert_eq!(problems, [""; 0]);
    assert_eq!(short.providers, long.providers);
    let program = &short.providers.acp[&name("default")];
    assert_eq!(program.model.as_deref(), Some("m"));
    assert_eq!(program.settings.env["A"], "1");
    assert_eq!(program.settings.hold_ms, Millis::new(7));
    let words = ["a", "--acp"].map(str::to_owned).to_vec();
    assert_eq!(program.command, Some(CommandLine::Argv(words)));
}

#[test]
fn programs_have_settings_of_their_own_beside_the_one_without_a_name() {
    let (project, problems) = read(
        &json!({ "command": "a", "goose": { "command": "g", "args": ["--x"] }, "kimi-2": { "command": "k" } }),
        "acp.goose",
    );
    assert_eq!(problems, [""; 0]);
    let programs = project.providers.acp.iter();
    let programs: Vec<_> = programs
        .map(|(name, program)| (name.as_str(), program.settings.args.len()))
        .collect();
    assert_eq!(programs, [("default", 0), ("goose", 1), ("kimi-2", 0)]);
    let goose = &project.providers.acp[&name("goose")];
    assert_eq!(goose.settings.hold_ms, Millis::new(60_000));
}

#[test]
fn what_is_wrong_with_a_program_is_reported_with_what_to_write() {
    for (acp, provider, expected) in [
        (
            json!({}),
            "acp",
            "database: provider: expected another provider, or `providers.acp.command` to be set, found `acp` alone",
        ),
        (
            json!({ "goose": { "command": "g" }, "kimi": { "command": "k" } }),
            "acp",
            "database: provider: expected another provider, or `acp.goose` or `acp.kimi`, found `acp` alone",
        ),
        (
            json!({ "goose": { "command": "g" } }),
            "acp.gose",
            "database: provider: expected another provider, or `acp.goose`, found `acp.gose`, which is not configured",
        ),
        (
            json!({ "goose": { "command": "g" } }),
            "acp.other",
            "database: provider: expected another provider, or `providers.acp.other.command` to be set, found \
             `acp.other`, which is not configured",
        ),
        (
            json!({ "goose": { "args": ["--x"] } }),
            "acp",
            "database: provider: expected another provider, or `providers.acp.goose.command` to be set, found `acp` alone",
        ),
        (
            json!({ "Goose": { "command": "g" } }),
            "auto",
            "f.json: providers.acp.Goose: expected the name of a program (lower-case letters, digits and hyphens, at most \
             40, a letter or digit first), found the name \"Goose\"",
        ),
        (
            json!({ "goose": ["g"] }),
            "auto",
            "f.json: providers.acp.goose: expected an object, found a list",
        ),
        (
            json!({ "goose": { "comand": "g" } }),
            "auto",
            "f.json: providers.acp.goose.comand: unknown key; did you mean `command`?",
        ),
        (
            json!({ "command": {} }),
            "auto",
            "f.json: providers.acp.command: expected a command (a text for `sh -c`, or a list of words), found an object",
        ),
        (
            json!({ "command": "a", "default": { "command": "b" } }),
            "auto",
            "f.json: providers.acp.command: given twice, also as `default`",
        ),
    ] {
        assert_eq!(read(&acp, provider).1, [expected], "{acp}");
    }
}
