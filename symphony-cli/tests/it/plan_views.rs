//! Plans as graphs, prompts and a line in a status bar, by the real program.

use std::fs;
use std::io::{Read as _, Write as _};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::{Answer, Project, until};
use crate::transcript::{Transcript, assert_transcript};

const PLAN: &str = r#"# Three

```symphony-phases
[
  {"id": "top", "title": "The \u001b[31mtop", "objective": "Begin", "tasks": ["one", "two"], "success_criteria": "done",
   "required_context": {"files": ["src/*.rs", "README.md", "gone.txt"], "concepts": ["trees"]}},
  {"id": "left", "title": "Left", "objective": "Go left", "tasks": ["one"], "success_criteria": "done", "dependencies": ["top"]},
  {"id": "bottom", "title": "Bottom", "objective": "End", "tasks": ["one"], "success_criteria": "done",
   "dependencies": ["left"], "required_context": {"artifacts_from": ["top"]}, "constraints": ["no magic"]}
]
```
"#;

fn folder() -> Project {
    let project = Project::repository("app");
    fs::write(project.root.join("plan.md"), PLAN).unwrap();
    project
}

fn begun() -> Project {
    let project = folder();
    project.ok(&["plan", "init-state", "plan.md"]);
    project.ok(&[
        "plan",
        "mark-complete",
        ".symphony-state.json",
        "top",
        r#"[{"type": "file_created", "path": "src/a.rs"}, {"type": "note", "name": "trees", "content": "they are balanced"}]"#,
    ]);
    project
}

#[test]
fn graphs_are_drawn_in_three_forms() {
    let project = begun();
    let transcript = Transcript::of(&project)
        .run(&["plan", "graph"])
        .run(&["plan", "graph", "plan.md", "--format", "mermaid"])
        .run(&["plan", "graph", "plan.md", "--format", "dot"])
        .run(&["plan", "graph", "--state", ".symphony-state.json"])
        .run(&["plan", "graph", "--state", ".symphony-state.json", "--json"])
        .run(&["plan", "graph", "--state", "gone.json"])
        .run(&["plan", "graph", "gone.md"]);
    assert_transcript!("plan_graph", transcript);
}

#[test]
fn prompts_of_both_styles_are_printed_to_the_byte() {
    let project = begun();
    fs::create_dir(project.root.join("src")).unwrap();
    fs::write(project.root.join("src/b.rs"), "fn b() {}\n").unwrap();
    fs::write(project.root.join("src/a.rs"), "fn a() {}\r\n").unwrap();
    fs::write(
        project.root.join("Cargo.toml"),
        "[package]\nname = \"app\"\n",
    )
    .unwrap();
    let config =
        json!({"plan": {"global_constraints": ["Be kind"], "instructions": " Think first. "}});
    project.configure(&config);
    let transcript = Transcript::of(&project)
        .run(&["plan", "prompt", "plan.md", "top"])
        .run(&[
            "plan",
            "prompt",
            "plan.md",
            "bottom",
            "--state",
            ".symphony-state.json",
        ])
        .run(&[
            "plan",
            "prompt",
            "plan.md",
            "bottom",
            "--style",
            "task",
            "--state",
            ".symphony-state.json",
        ])
        .run(&["plan", "prompt", "plan.md", "nowhere"])
        .run(&["plan", "prompt", "plan.md", "top", "--state", "gone.json"]);
    assert_transcript!("plan_prompt", transcript);
    let built = project.json(&["plan", "prompt", "plan.md", "top"]);
    assert_eq!(
        json!([
            built["phase"],
            built["files"],
            built["artifacts"],
            built["truncated"],
            built["project_context"]["name"]
        ]),
        json!([
            "top",
            ["src/a.rs", "src/b.rs", "README.md"],
            0,
            false,
            "app"
        ])
    );
    // from a folder below, files are still those of the project
    let below = project.ok(&["-C", "src", "plan", "prompt", "../plan.md", "top"]);
    assert!(below.contains("### README.md\n"), "{below}");
}

/// A state file with ten phases, four of them complete.
fn ten() -> Value {
    let mut phases = serde_json::Map::new();
    let mut order = Vec::new();
    let names = [
        "setup-db",
        "auth-middleware",
        "x",
        "p-3",
        "p-4",
        "p-5",
        "p-6",
        "p-7",
        "p-8",
        "p-9",
    ];
    for (at, id) in names.iter().enumerate() {
        let status = match at {
            0 | 1 => "running",
            2 => "failed",
            3..=6 => "complete",
            _ => "pending",
        };
        order.push(json!({"id": id}));
        phases.insert((*id).to_owned(), json!({"status": status}));
    }
    json!({"status": "running", "completedCount": 4, "failedCount": 1, "plan": {"phases": order}, "phases": phases})
}

/// Runs the command with something on standard input.
fn statusline(project: &Project, arguments: &[&str], stdin: &str) -> Answer {
    // a file, so that all of it is there at once: the command does not wait for long
    let path = project.beside.join("stdin");
    fs::write(&path, stdin).unwrap();
    let mut command = project.command(&[&["plan", "statusline"], arguments].concat());
    command.stdin(fs::File::open(path).unwrap());
    command.output().unwrap().into()
}

#[test]
fn the_line_is_that_of_the_folder_claude_code_names() {
    let mut project = Project::repository("app");
    let elsewhere = project.beside.join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join(".symphony-state.json"), ten().to_string()).unwrap();
    let within = elsewhere.join("a/b");
    fs::create_dir_all(&within).unwrap();
    let coloured = "[\u{1b}[32m████\u{1b}[0m\u{1b}[90m░░░░░░\u{1b}[0m] 4/10 \u{1b}[31m(1!)\u{1b}[0m | \u{1b}[33msetup-db, auth-middleware\u{1b}[0m\n";
    let plain = "[████░░░░░░] 4/10 (1!) | setup-db, auth-middleware\n";
    // neither the configuration nor the database has a say
    fs::write(project.root.join("symphony.config.json"), "{ broken").unwrap();
    fs::write(project.root.join(".symphony"), "no folder").unwrap();
    for given in [
        json!({"workspace": {"current_dir": elsewhere, "project_dir": "/nowhere"}, "model": {"id": "m"}}),
        json!({"workspace": {"current_dir": "/nowhere", "project_dir": elsewhere}}),
        json!({"cwd": elsewhere}),
        // as far above as the repository goes
        json!({"cwd": within}),
    ] {
        let answer = statusline(&project, &[], &given.to_string());
        assert_eq!(
            (answer.code, answer.stdout.as_str(), answer.stderr.as_str()),
            (0, coloured, ""),
            "{given}"
        );
    }
    let folder = elsewhere.to_str().unwrap().to_owned();
    assert_eq!(statusline(&project, &["-C", &folder], "").stdout, coloured);
    assert_eq!(
        statusline(&project, &["-C", &folder, "--color", "never"], "").stdout,
        plain
    );
    assert_eq!(
        statusline(&project, &[], "").stdout,
        "",
        "there is no plan here"
    );
    // not beyond its own repository
    fs::write(
        project.beside.join(".symphony-state.json"),
        ten().to_string(),
    )
    .unwrap();
    assert_eq!(statusline(&project, &[], "").stdout, "");
    fs::write(project.root.join(".symphony-state.json"), ten().to_string()).unwrap();
    assert_eq!(statusline(&project, &[], "no JSON").stdout, coloured);
    project.set_variable("NO_COLOR", "1");
    assert_eq!(statusline(&project, &[], "{}").stdout, plain);
}

#[test]
fn nothing_is_printed_for_what_is_no_plan_and_nothing_is_an_error() {
    let project = Project::repository("app");
    let state = project.root.join(".symphony-state.json");
    for text in [
        "",
        "{",
        "[]",
        "{\"status\": \"running\", \"phases\": {}}",
        "\u{0}",
    ] {
        fs::write(&state, text).unwrap();
        let answer = statusline(&project, &[], "{\"cwd\": 7}");
        assert_eq!(
            (answer.code, answer.stdout.as_str(), answer.stderr.as_str()),
            (0, "", ""),
            "{text:?}"
        );
    }
    fs::remove_file(&state).unwrap();
    fs::create_dir(&state).unwrap();
    let answer = statusline(&project, &[], "");
    assert_eq!(
        (answer.code, answer.stdout.as_str(), answer.stderr.as_str()),
        (0, "", "")
    );
}

#[test]
fn standard_input_that_nobody_closes_is_not_waited_for() {
    let project = Project::repository("app");
    fs::write(project.root.join(".symphony-state.json"), ten().to_string()).unwrap();
    for said in ["", "{\"cwd\":"] {
        let mut child = project
            .command(&["plan", "statusline"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(said.as_bytes()).unwrap();
        let status = until("the end of the command", || child.try_wait().unwrap());
        assert!(status.success());
        let mut line = String::new();
        let mut stdout = child.stdout.take().unwrap();
        stdout.read_to_string(&mut line).unwrap();
        assert!(line.contains("4/10"), "{line}");
        drop(stdin);
    }
}

#[test]
fn claude_codes_settings_keep_what_is_there() {
    let project = Project::repository("app");
    let path = project.root.join(".claude/settings.json");
    let line = json!({"type": "command", "command": "symphony plan statusline"});
    let installed = project.json(&["plan", "statusline", "--install"]);
    assert_eq!(
        (&installed["changed"], &installed["path"]),
        (&json!(true), &json!(path))
    );
    let read = || -> Value { serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap() };
    assert_eq!(read(), json!({"statusLine": line}));
    assert_eq!(
        project.json(&["plan", "statusline", "--install"])["changed"],
        false
    );

    let before = "{\n  \"model\": \"opus\",\n  \"permissions\": { \"allow\": [\"Bash(ls)\"] }\n}\n";
    fs::write(&path, before).unwrap();
    project.ok(&["plan", "statusline", "--install"]);
    let after = fs::read_to_string(&path).unwrap();
    assert!(
        after.starts_with(before.trim_end_matches("\n}\n")),
        "{after}"
    );
    assert_eq!(
        read(),
        json!({"model": "opus", "permissions": {"allow": ["Bash(ls)"]}, "statusLine": line})
    );
    for (text, code, word) in [
        (
            "{\"statusLine\": {\"type\": \"command\", \"command\": \"mine\"}}",
            4,
            "mine",
        ),
        ("{\"a\": }", 1, "settings.json"),
        ("[]", 1, "expected an object"),
    ] {
        fs::write(&path, text).unwrap();
        let answer = project.symphony(&["plan", "statusline", "--install"]);
        assert_eq!(answer.code, code, "{answer:#?}");
        assert!(answer.stderr.contains(word), "{answer:#?}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text, "it is as before");
    }
}
