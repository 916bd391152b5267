//! What settings are read, refused and noted: tables of whole files.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::source::Source;

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

fn variable(name: &str) -> Option<OsString> {
    match name {
        "LINEAR_API_KEY" => Some("lin_usual".into()),
        "OTHER_KEY" => Some(" lin_other\n".into()),
        "EMPTY" => Some("".into()),
        "BYTES" => Some(OsStr::from_bytes(b"/b/\xff").to_owned()),
        "ROOT" => Some("/data/work".into()),
        _ => None,
    }
}

fn read_with(matter: &str, variable: &dyn Fn(&str) -> Option<OsString>) -> Reading {
    let source = Source::parse(&format!("---\n{matter}---\nWork.\n")).unwrap();
    Config::read(
        &source,
        &Place {
            variable,
            home: Some(Path::new("/home/u")),
            temporary: Path::new("/tmp"),
            current: Path::new("/projects/one"),
        },
    )
}

fn read(matter: &str) -> Reading {
    read_with(matter, &variable)
}

/// The settings where nothing may be wrong with them.
fn config(matter: &str) -> Config {
    let reading = read(matter);
    assert_eq!(reading.problems, [], "{matter}");
    reading.config
}

fn problems(matter: &str) -> Vec<String> {
    let problems = read(matter).problems;
    problems.iter().map(ToString::to_string).collect()
}

fn notes(matter: &str) -> Vec<String> {
    read(matter).notes.iter().map(ToString::to_string).collect()
}

fn token(matter: &str) -> Option<String> {
    let key = config(matter).tracker.api_key;
    key.map(|key| key.expose().to_owned())
}

#[test]
fn defaults_apply_when_optional_values_are_missing() {
    let expected = Config {
        tracker: Tracker {
            kind: None,
            endpoint: "https://api.linear.app/graphql".to_owned(),
            api_key: Secret::new("lin_usual"),
            project_slug: None,
            active_states: vec!["Todo".to_owned(), "In Progress".to_owned()],
            terminal_states: ["Closed", "Cancelled", "Canceled", "Duplicate", "Done"]
                .map(str::to_owned)
                .to_vec(),
        },
        polling: Polling {
            interval: ms(30_000),
        },
        workspace: Workspace {
            root: "/tmp/symphony_workspaces".into(),
        },
        hooks: Hooks {
            after_create: None,
            before_run: None,
            after_run: None,
            before_remove: None,
            timeout: ms(60_000),
        },
        agent: Agent {
            concurrent_max: 10,
            turns_max: 20,
            retry_backoff_max: ms(300_000),
            concurrent_max_by_state: std::collections::BTreeMap::new(),
        },
        codex: Codex {
            command: "codex app-server".to_owned(),
            model: None,
            reasoning_effort: None,
            service_tier: None,
            approval_policy: None,
            thread_sandbox: None,
            turn_sandbox_policy: None,
            turn_timeout: ms(3_600_000),
            read_timeout: ms(5_000),
            stall_timeout: Some(ms(300_000)),
        },
        server: Server { port: None },
    };
    assert_eq!(config(""), expected);
    let empty = "tracker:\npolling: ~\nworkspace: {}\nhooks: null\nagent:\ncodex: {}\nserver:\n";
    assert_eq!(config(empty), expected);
    let nulls = "tracker: {kind: ~, endpoint: ~, api_key: ~, project_slug: ~, active_states: ~, terminal_states: ~}\n\
                 polling: {interval_ms: ~}\nworkspace: {root: ~}\n\
                 hooks: {after_create: ~, before_run: '', after_run: \"  \\n\", before_remove: ~, timeout_ms: ~}\n\
                 agent: {max_concurrent_agents: ~, max_turns: ~, max_retry_backoff_ms: ~, max_concurrent_agents_by_state: ~}\n\
                 codex: {command: ~, model: ~, reasoning_effort: ' ', service_tier: ~, approval_policy: ~, thread_sandbox: ~, turn_sandbox_policy: ~, turn_timeout_ms: ~, \
                 read_timeout_ms: ~, stall_timeout_ms: ~}\nserver: {port: ~}\n";
    assert_eq!(config(nulls), expected);
    assert_eq!(notes(nulls), [""; 0]);
}

#[test]
fn every_key_is_read() {
    let matter = "tracker:\n  kind: linear\n  endpoint: https://linear.test/$X\n  api_key: lin_literal\n  project_slug: demo\n  \
                  active_states: [Todo, ' In Progress ', Rework]\n  terminal_states: 'Done,  Closed,,'\n\
                  polling:\n  interval_ms: '5000'\nworkspace:\n  root: ~/work\n\
                  hooks:\n  after_create: |\n    set -eu\n    git clone x .\n  before_run: a\n  after_run: b\n  \
                  before_remove: c\n  timeout_ms: 900000\n\
                  agent:\n  max_concurrent_agents: '3'\n  max_turns: 5\n  max_retry_backoff_ms: 1000\n  \
                  max_concurrent_agents_by_state: {Todo: 1}\n\
                  codex:\n  command: ~/bin/codex --config 'model=\"x\"' app-server $HOME\n  model: m-1\n  \
                  reasoning_effort: xhigh\n  service_tier: fast\n  approval_policy: never\n  \
                  thread_sandbox: danger-full-access\n  turn_sandbox_policy: {type: dangerFullAccess, nested: {1: [true, 1.5]}}\n  \
                  turn_timeout_ms: 1\n  read_timeout_ms: 60000\n  stall_timeout_ms: 10\nserver:\n  port: 0\n";
    let found = config(matter);
    assert_eq!(notes(matter), [""; 0]);
    assert_eq!(found.tracker.kind.as_deref(), Some("linear"));
    // no reference in an address is resolved
    assert_eq!(found.tracker.endpoint, "https://linear.test/$X");
    assert_eq!(found.tracker.project_slug.as_deref(), Some("demo"));
    assert_eq!(
        found.tracker.active_states,
        ["Todo", "In Progress", "Rework"]
    );
    assert_eq!(found.tracker.terminal_states, ["Done", "Closed"]);
    assert_eq!(found.polling.interval, Duration::from_secs(5));
    assert_eq!(found.workspace.root, Path::new("/home/u/work"));
    assert_eq!(
        found.hooks.after_create.as_deref(),
        Some("set -eu\ngit clone x .\n")
    );
    assert_eq!(found.hooks.before_remove.as_deref(), Some("c"));
    assert_eq!(found.hooks.timeout, ms(900_000));
    assert_eq!((found.agent.concurrent_max, found.agent.turns_max), (3, 5));
    assert_eq!(found.agent.retry_backoff_max, Duration::from_secs(1));
    assert_eq!(found.codex.model.as_deref(), Some("m-1"));
    assert_eq!(found.codex.reasoning_effort.as_deref(), Some("xhigh"));
    assert_eq!(found.codex.service_tier.as_deref(), Some("fast"));
    assert_eq!(found.codex.approval_policy, Some(json!("never")));
    assert_eq!(
        found.codex.thread_sandbox.as_deref(),
        Some("danger-full-access")
    );
    assert_eq!(
        found.codex.turn_sandbox_policy,
        Some(json!({"type": "dangerFullAccess", "nested": {"1": [true, 1.5]}}))
    );
    assert_eq!(found.codex.stall_timeout, Some(ms(10)));
    assert_eq!(found.server.port, Some(0));
    assert_eq!(found.preflight(), []);
}

#[test]
fn codex_command_is_kept_as_a_shell_command() {
    for command in [
        "~/bin/codex app-server",
        "codex --config 'model=\"x\"' app-server",
        "$CODEX $HOME",
        "a\n&& b",
    ] {
        let matter = format!("codex: {{command: {}}}\n", json!(command));
        assert_eq!(config(&matter).codex.command, command);
    }
}

#[test]
fn api_key_comes_from_the_settings_or_a_variable() {
    let of = |value: &str| token(&format!("tracker:\n  api_key: {value}\n"));
    for (value, expected) in [
        ("lin_literal", Some("lin_literal")),
        ("' lin_literal '", Some("lin_literal")),
        ("~", Some("lin_usual")),
        ("$OTHER_KEY", Some("lin_other")),
        ("$MISSING", Some("lin_usual")),
        ("$EMPTY", None),
        ("''", None),
        ("env:OTHER_KEY", Some("env:OTHER_KEY")),
        ("$OTHER_KEY/x", Some("$OTHER_KEY/x")),
        ("${OTHER_KEY}", Some("${OTHER_KEY}")),
    ] {
        assert_eq!(of(value), expected.map(str::to_owned), "{value}");
    }
    assert_eq!(
        notes("tracker:\n  api_key: $MISSING\n"),
        [
            "WORKFLOW.md:3: tracker.api_key: the variable `MISSING` is not set, so `LINEAR_API_KEY` is used"
        ]
    );
    let none = read_with("", &|_| None);
    assert_eq!(none.config.tracker.api_key, None);
}

#[test]
fn no_message_shows_a_token() {
    let secret = "lin_very_secret";
    for matter in [
        format!("tracker: {{api_key: {secret}}}\n"),
        format!("tracker: {{api_key: [{secret}]}}\n"),
        format!("tracker: {{api_key: {{{secret}: {secret}}}}}\n"),
        format!("tracker: {{api_key: !{secret} {secret}}}\n"),
    ] {
        let reading = read(&matter);
        let mut shown = format!("{:?}", reading.config);
        for problem in &reading.problems {
            write!(shown, "{problem} {problem:?}").unwrap();
        }
        for note in &reading.notes {
            write!(shown, "{note} {note:?}").unwrap();
        }
        for fault in reading.config.preflight() {
            write!(shown, "{fault} {fault:?}").unwrap();
        }
        assert!(!shown.contains(secret), "{shown}");
    }
    let numbers = problems("tracker: {api_key: 123456789}\n");
    assert_eq!(
        numbers,
        [
            "WORKFLOW.md:2:20: tracker.api_key: found a value that is not text, expected a text (in quotes), or `$VARIABLE`"
        ]
    );
    let key = Secret::new(secret).unwrap();
    assert_eq!(format!("{key} {key:?}"), "(secret) Secret(…)");
    assert_eq!(key.expose(), secret);
}

#[test]
fn a_token_of_bytes_is_no_token() {
    let reading = read("tracker: {api_key: $BYTES}\n");
    assert_eq!(reading.config.tracker.api_key, None);
    assert_eq!(reading.problems.len(), 1);
}

#[test]
fn variables_are_resolved_in_tokens_and_paths_only() {
    assert_eq!(
        config("workspace: {root: $ROOT}\n").workspace.root,
        Path::new("/data/work")
    );
    let bytes = config("workspace: {root: $BYTES}\n").workspace.root;
    assert_eq!(bytes.as_os_str().as_bytes(), b"/b/\xff");
    let missing = "workspace:\n  root: $MISSING\n";
    assert_eq!(
        config(missing).workspace.root,
        Path::new("/tmp/symphony_workspaces")
    );
    assert_eq!(
        notes(missing),
        [
            "WORKFLOW.md:3: workspace.root: the variable `MISSING` is not set or empty, so the default is used"
        ]
    );
    let kept = config(
        "tracker: {kind: $ROOT, project_slug: $ROOT, active_states: [$ROOT]}\nhooks: {before_run: $ROOT}\n\
                       codex: {turn_sandbox_policy: {root: {of: $ROOT}}}\n",
    );
    assert_eq!(kept.tracker.kind.as_deref(), Some("$ROOT"));
    assert_eq!(kept.tracker.project_slug.as_deref(), Some("$ROOT"));
    assert_eq!(kept.tracker.active_states, ["$ROOT"]);
    assert_eq!(kept.hooks.before_run.as_deref(), Some("$ROOT"));
    assert_eq!(
        kept.codex.turn_sandbox_policy,
        Some(json!({"root": {"of": "$ROOT"}}))
    );
}

#[test]
fn limits_by_state_are_normalised_and_invalid_ones_ignored() {
    let matter = "agent:\n  max_concurrent_agents_by_state:\n    Todo: 1\n    ' In  Progress\t': '4'\n    Review: 0\n    \
                  Done: bad\n    '': 3\n    \"\\u00a0\": 3\n    rework: -1\n    1.5: 2\n    Big: 99999999999\n    TODO: 2\n    Half: 1.5\n";
    let found: Vec<(String, u32)> = config(matter)
        .agent
        .concurrent_max_by_state
        .into_iter()
        .map(|(state, limit)| (state.as_str().to_owned(), limit))
        .collect();
    let expected = [("big", u32::MAX), ("in  progress", 4), ("todo", 2)];
    assert_eq!(
        found,
        expected.map(|(state, limit)| (state.to_owned(), limit))
    );
    let lines: Vec<usize> = read(matter).notes.iter().map(|note| note.line).collect();
    assert_eq!(lines, [6, 7, 8, 9, 10, 11, 13, 14]);
    assert_eq!(
        notes(matter)[0],
        "WORKFLOW.md:6: agent.max_concurrent_agents_by_state.Review: found the number 0, which is not a positive number for a state; ignored"
    );
    assert_eq!(
        problems("agent: {max_concurrent_agents_by_state: [1]}\n").len(),
        1
    );
}

#[test]
fn a_hook_timeout_that_is_not_positive_falls_back() {
    for value in ["0", "-1", "'-5'"] {
        let matter = format!("hooks: {{timeout_ms: {value}}}\n");
        assert_eq!(
            config(&matter).hooks.timeout,
            Duration::from_mins(1),
            "{value}"
        );
        assert_eq!(
            notes(&matter),
            ["WORKFLOW.md:2: hooks.timeout_ms: not positive, so the default of 60000 is used"]
        );
    }
    assert_eq!(problems("hooks: {timeout_ms: soon}\n").len(), 1);
}

#[test]
fn a_stall_timeout_that_is_not_positive_is_off() {
    for (value, expected) in [("0", None), ("-7", None), ("'0'", None), ("5", Some(5))] {
        let found = config(&format!("codex: {{stall_timeout_ms: {value}}}\n"));
        assert_eq!(found.codex.stall_timeout, expected.map(ms), "{value}");
    }
}

#[test]
fn all_problems_are_reported_at_once_with_their_places() {
    let matter = "tracker:\n  active_states: {todo: true}\n  kind: 7\n  terminal_states: [Done, 5]\npolling:\n  interval_ms: 0\n\
                  workspace:\n  root: 123\nhooks:\n  after_run: [a]\nagent:\n  max_turns: many\n  max_concurrent_agents: 0\n\
                  codex:\n  turn_sandbox_policy: bad\n  approval_policy: 5\n  turn_timeout_ms: -1\n  \
                  read_timeout_ms: 999999999999\nserver:\n  port: 65536\n";
    assert_eq!(
        problems(matter),
        [
            "WORKFLOW.md:3:18: tracker.active_states: found a mapping, expected a list of texts, or a text with commas",
            "WORKFLOW.md:4:9: tracker.kind: found the number 7, expected a text (in quotes)",
            "WORKFLOW.md:5:27: tracker.terminal_states[1]: found the number 5, expected a text (in quotes)",
            "WORKFLOW.md:7:16: polling.interval_ms: found the number 0, expected a whole number of milliseconds from 1 to \
             31622400000",
            "WORKFLOW.md:9:9: workspace.root: found the number 123, expected a text (in quotes)",
            "WORKFLOW.md:11:14: hooks.after_run: found a list, expected a text",
            "WORKFLOW.md:13:14: agent.max_turns: found `many`, expected a whole number of at least 1",
            "WORKFLOW.md:14:26: agent.max_concurrent_agents: found the number 0, expected a whole number of at least 1",
            "WORKFLOW.md:16:24: codex.turn_sandbox_policy: found `bad`, expected a mapping",
            "WORKFLOW.md:17:20: codex.approval_policy: found the number 5, expected a text or a mapping",
            "WORKFLOW.md:18:20: codex.turn_timeout_ms: found the number -1, expected a whole number of milliseconds from 1 \
             to 31622400000",
            "WORKFLOW.md:19:20: codex.read_timeout_ms: found the number 999999999999, expected a whole number of \
             milliseconds from 1 to 31622400000",
            "WORKFLOW.md:21:9: server.port: found the number 65536, expected a port from 0 to 65535",
        ]
    );
}

#[test]
fn other_faults_of_single_fields() {
    for (matter, problem) in [
        (
            "tracker: []\n",
            "2:10: tracker: found a list, expected a mapping",
        ),
        (
            "tracker: {active_states: ','}\n",
            "2:26: tracker.active_states: found no state, expected the name of at least one state: tickets in it are worked \
             on",
        ),
        (
            "workspace: {root: ' '}\n",
            "2:19: workspace.root: found a blank text, or one with a zero byte, expected a path, or `$VARIABLE`",
        ),
        (
            "workspace: {root: \"a\\0b\"}\n",
            "2:19: workspace.root: found a blank text, or one with a zero byte, expected a path, or `$VARIABLE`",
        ),
        (
            "workspace: {root: ~other/x}\n",
            "2:19: workspace.root: found `~other`, expected an absolute path, or one that begins with `~/`",
        ),
        (
            "polling: {interval_ms: 5}\npolling: {interval_ms: 6}\n",
            "3:1: polling: the field is given twice, first on line 2",
        ),
        (
            "codex:\n  command: a\n  command: b\n",
            "4:3: codex.command: the field is given twice, first on line 3",
        ),
        (
            "codex: {turn_sandbox_policy: {a: !x y}}\n",
            "2:30: codex.turn_sandbox_policy: found a mapping, expected a mapping",
        ),
    ] {
        assert_eq!(
            problems(matter),
            [format!("WORKFLOW.md:{problem}")],
            "{matter}"
        );
    }
}

#[test]
fn unknown_fields_are_ignored_and_noted() {
    let matter = "tracker:\n  kind: linear\n  assignee: me\nobservability:\n  refresh_ms: 5\ncodex:\n  attach_worktree_owner: true\n1: x\n\
                  workspace:\n  \"a\\u001b[1m\": x\n";
    assert_eq!(problems(matter), [""; 0]);
    assert_eq!(
        notes(matter),
        [
            "WORKFLOW.md:4: tracker.assignee: unknown field, ignored",
            "WORKFLOW.md:5: observability: unknown field, ignored",
            "WORKFLOW.md:8: codex.attach_worktree_owner: unknown field, ignored",
            "WORKFLOW.md:9: 1: unknown field, ignored",
            "WORKFLOW.md:11: workspace.`a\\u{1b}[1m`: unknown field, ignored",
        ]
    );
}

#[test]
fn preflight_names_all_that_keeps_work_from_starting() {
    let classes = |matter: &str, variable: &dyn Fn(&str) -> Option<OsString>| {
        let faults = read_with(matter, variable).config.preflight();
        faults.iter().map(Preflight::class).collect::<Vec<_>>()
    };
    let none = |_: &str| None;
    for (matter, expected) in [
        ("", vec!["missing_tracker_kind"]),
        ("tracker: {kind: ' '}\n", vec!["missing_tracker_kind"]),
        ("tracker: {kind: jira}\n", vec!["unsupported_tracker_kind"]),
        (
            "tracker: {kind: Linear}\n",
            vec!["unsupported_tracker_kind"],
        ),
        (
            "tracker: {kind: linear}\n",
            vec!["missing_tracker_api_key", "missing_tracker_project_slug"],
        ),
        (
            "tracker: {kind: linear, api_key: x, project_slug: y}\n",
            vec![],
        ),
        (
            "tracker: {kind: linear, api_key: x, project_slug: y}\ncodex: {command: ' '}\n",
            vec!["missing_codex_command"],
        ),
    ] {
        assert_eq!(classes(matter, &none), expected, "{matter}");
    }
    let ours = "tracker: {kind: linear, project_slug: y}\n";
    assert_eq!(classes(ours, &variable), [""; 0]);
}

#[test]
fn states_are_compared_trimmed_and_in_lower_case() {
    for name in ["In Progress", " in progress\n", "IN PROGRESS\u{a0}"] {
        assert_eq!(StateName::new(name).as_str(), "in progress");
    }
    assert!(StateName::new(" \t").is_blank());
    assert_eq!(StateName::new("ÜBER"), StateName::new("über"));
}

proptest! {
    #[test]
    fn whatever_the_settings_are_reading_ends_with_usable_ones(
        lines in prop::collection::vec(
            prop_oneof![
                prop::sample::select(vec![
                    "tracker:", "  kind: linear", "  api_key: $LINEAR_API_KEY", "  api_key: [secret-token]",
                    "  active_states: [Todo, 1, ~, {a: b}]", "  active_states: ' , '", "polling:", "  interval_ms: '5'",
                    "  interval_ms: -9223372036854775809", "workspace:", "  root: ~/../..", "  root: $ROOT/..", "hooks:",
                    "  timeout_ms: 1.5", "  after_run: |", "    exit 1", "agent:", "  max_turns: 340282366920938463463374607431768211455",
                    "  max_concurrent_agents_by_state: {Todo: 0, ' ': 1, ~: 2}", "codex:", "  stall_timeout_ms: !x 5",
                    "  turn_sandbox_policy: {a: [1, .nan]}", "server: {port: 99999}", "- item", "&a b: *a", "? [x]", ": y",
                ]).prop_map(str::to_owned),
                "[ a-z:\\[\\]{}~$'\"|&*!#-]{0,20}",
            ],
            0..16,
        ),
    ) {
        let text = format!("---\n{}\n---\nWork.\n", lines.join("\n"));
        let Ok(source) = Source::parse(&text) else {
            return Ok(());
        };
        let place = Place {
            variable: &variable,
            home: None,
            temporary: Path::new("/tmp"),
            current: Path::new("/projects/one"),
        };
        let Reading { config, problems, notes } = Config::read(&source, &place);
        let year = Duration::from_millis(MILLISECONDS_MAX);
        for time in [config.polling.interval, config.hooks.timeout, config.agent.retry_backoff_max, config.codex.turn_timeout] {
            prop_assert!(!time.is_zero() && time <= year);
        }
        prop_assert!(config.agent.concurrent_max > 0 && config.agent.turns_max > 0);
        prop_assert!(config.agent.concurrent_max_by_state.iter().all(|(state, limit)| !state.is_blank() && *limit > 0));
        prop_assert!(!config.workspace.root.as_os_str().is_empty());
        let last = text.lines().count();
        for problem in &problems {
            prop_assert!((1..=last).contains(&problem.position.line));
            prop_assert!(!problem.to_string().contains("secret-token"));
        }
        prop_assert!(notes.iter().all(|note| (1..=last).contains(&note.line)));
    }
}
