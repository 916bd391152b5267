//! The pure crates on documents, and learnings.

use serde_json::{Value, json};

use crate::support::Project;
use crate::transcript::{Transcript, assert_transcript};

fn piped(project: &Project, arguments: &[&str], document: &str) -> (i32, String, String) {
    let output = assert_cmd::Command::from_std(project.command(arguments))
        .write_stdin(document)
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        output.status.code().unwrap(),
        text(output.stdout),
        text(output.stderr),
    )
}

#[test]
fn learnings_are_ranked_from_a_pipe_without_a_project() {
    let project = Project::repository("tool");
    std::fs::remove_dir_all(project.root.join(".git")).unwrap();
    let learning = |id: &str, pattern: &str| json!({ "id": id, "pattern": pattern, "applies_to": [], "labels": [], "created_at": "2026-01-01T00:00:00Z" });
    let document = json!({
        "now": "2026-01-01T00:00:00Z",
        "issue": { "identifier": "A-1", "title": "parse numbers", "description": "", "labels": [] },
        "learnings": [learning("a", "Parse numbers strictly"), learning("b", "parse numbers")],
    });
    let (code, stdout, stderr) = piped(
        &project,
        &["learnings", "rank", "--input", "-", "--json"],
        &document.to_string(),
    );
    assert_eq!((code, stderr.as_str()), (0, ""));
    let ranked: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(ranked["tactical"][0]["id"], "a");
    assert_eq!(ranked["dropped"], json!([{ "id": "b", "covered_by": "a" }]));
    let mut keys: Vec<&String> = ranked.as_object().unwrap().keys().collect();
    keys.sort();
    assert_eq!(keys, ["conventions", "dropped", "tactical", "version"]);
}

#[test]
fn a_wrong_document_names_the_place() {
    let project = Project::repository("tool");
    let document = r#"{"now": "2026-01-01T00:00:00Z", "issue": {"identifier": "A", "title": "t"}, "learnings": [{"id": 7}]}"#;
    let (code, _, stderr) = piped(&project, &["learnings", "rank", "-i", "-"], document);
    assert_eq!(code, 1);
    assert!(
        stderr.contains("learnings[0].id: expected a string, found the number"),
        "{stderr}"
    );
    let (code, _, stderr) = piped(&project, &["learnings", "rank", "-i", "nowhere.json"], "");
    assert_eq!(code, 3, "{stderr}");
    for (arguments, document, problem) in [
        (["prompt", "build"], "", "it is empty\n"),
        (
            ["prompt", "build"],
            "null",
            "expected value at line 1 column 1\n",
        ),
        (
            ["prompt", "build"],
            r#"{"setup_wizard": {"workspce": {}}}"#,
            "setup_wizard.workspce: unknown field `workspce`; did you mean `workspace`? at line 1 column 28\n",
        ),
        (
            ["prompt", "build"],
            r#"{"setup_wizzard": {}}"#,
            "unknown name `setup_wizzard`; did you mean `setup_wizard`? at line 1 column 16\n",
        ),
        (
            ["prompt", "worker"],
            "{\"phase\":\n{\"id\": \"a\", \"tasks\": [",
            "phase.tasks: it ends too early at line 2 column 22\n",
        ),
        (
            ["learnings", "rank"],
            r#"{"now": "today"}"#,
            "now: `today` is not a time; expected RFC 3339, such as `2026-11-22T07:26:27.040Z` at line 1 column 15\n",
        ),
    ] {
        let (code, stdout, stderr) =
            piped(&project, &[arguments[0], arguments[1], "-i", "-"], document);
        assert_eq!((code, stdout.as_str()), (1, ""), "{stderr}");
        assert!(
            stderr.starts_with(&format!(
                "error: failed to read standard input: {problem}hint: expected an object"
            )),
            "{stderr}"
        );
    }
}

#[test]
fn prompts_are_built_from_documents() {
    let project = Project::repository("tool");
    let document = r#"{"setup_wizard": {"workspace": {"identifier": "_wizard", "path": "/w"}, "project": {"name": "api"}}}"#;
    let (code, stdout, stderr) = piped(
        &project,
        &["prompt", "build", "--input", "-", "--json"],
        document,
    );
    assert_eq!((code, stderr.as_str()), (0, ""));
    let built: Value = serde_json::from_str(&stdout).unwrap();
    assert!(
        built["user"].as_str().unwrap().starts_with("# Set Up: api"),
        "{built:#}"
    );
    let mut keys: Vec<&String> = built.as_object().unwrap().keys().collect();
    keys.sort();
    assert_eq!(keys, ["report", "system", "user", "version"]);
    let (code, stdout, _) = piped(&project, &["prompt", "build", "--input", "-"], document);
    assert_eq!(code, 0);
    assert!(stdout.contains("User prompt\n# Set Up: api"), "{stdout}");
}

#[test]
fn a_document_may_name_its_version_and_one_of_another_version_is_refused() {
    let project = Project::repository("tool");
    let plain = r#""setup_wizard": {"workspace": {"identifier": "_wizard", "path": "/w"}, "project": {"name": "api"}}"#;
    let build = |document: &str| piped(&project, &["prompt", "build", "-i", "-"], document);
    let expected = build(&format!("{{{plain}}}"));
    assert_eq!(expected.0, 0, "{expected:?}");
    assert_eq!(build(&format!("{{\"version\": 1, {plain}}}")), expected);
    assert_eq!(build(&format!("{{{plain}, \"version\": 1}}")), expected);
    for version in ["2", "\"1\""] {
        let (code, stdout, stderr) = build(&format!("{{\"version\": {version}, {plain}}}"));
        assert_eq!((code, stdout.as_str()), (1, ""), "{stderr}");
        let problem = format!("version: {version} is unknown here; expected 1\n");
        assert!(stderr.contains(&problem), "{stderr}");
    }
    let (code, _, stderr) = build(r#"{"version": 1, "setup_wizzard": {}}"#);
    assert_eq!(code, 1);
    assert!(stderr.contains("did you mean `setup_wizard`?"), "{stderr}");
    let ranked = r#"{"version": 1, "now": "2026-01-01T00:00:00Z", "issue": {"identifier": "A", "title": "t"}, "learnings": []}"#;
    let (code, _, stderr) = piped(&project, &["learnings", "rank", "-i", "-"], ranked);
    assert_eq!((code, stderr.as_str()), (0, ""));
}

#[test]
fn a_worker_prompt_is_printed_to_the_byte() {
    let project = Project::repository("tool");
    let golden = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../symphony-prompt/tests/fixtures/worker/worker-all-sections"
    );
    let document = std::fs::read_to_string(format!("{golden}.json")).unwrap();
    let expected = std::fs::read_to_string(format!("{golden}.md")).unwrap();
    let (code, stdout, stderr) = piped(&project, &["prompt", "worker", "--input", "-"], &document);
    assert_eq!((code, stderr.as_str()), (0, ""));
    assert_eq!(stdout, expected);
}

#[test]
fn a_preview_for_what_is_not_there_says_so() {
    let project = Project::repository("tool");
    project.ok(&["init", "--prefix", "SYM"]);
    project.ok(&["issue", "add", "One"]);
    for (arguments, problem) in [
        (
            ["--profile", "jugde"],
            "there is no profile `jugde`\nhint: did you mean `judge`? `symphony profile list` shows them\n",
        ),
        (
            ["--diff-run", "SYM-1"],
            "failed to find the run to compare with: SYM-1 has no run yet\nhint: `symphony explain SYM-1` shows what it is waiting for\n",
        ),
    ] {
        let shown = project.symphony(&[&["prompt", "show", "SYM-1"], &arguments[..]].concat());
        assert_eq!((shown.code, shown.stderr), (3, format!("error: {problem}")));
    }
}

/// The report names it as well; the log is for whoever looks for it in the runs of a night.
#[test]
fn what_a_profile_omits_is_logged_at_debug() {
    let project = Project::repository("tool");
    project.ok(&["init", "--prefix", "SYM"]);
    let learned = "Errors that users see go through fail.";
    project.ok(&["learnings", "add", learned, "--type", "convention"]);
    let logged = |verbose: &str| {
        let told = project.symphony(&[verbose, "prompt", "show", "--profile", "scanner"]);
        let found =
            |line: &&str| line.starts_with("DEBUG") && line.contains("omitted from the prompt");
        let part = |line: &str| line.contains("part=\"convention_learnings\"");
        told.stderr
            .lines()
            .filter(found)
            .map(part)
            .collect::<Vec<_>>()
    };
    assert_eq!(logged("-vv"), [true]);
    assert_eq!(logged("-v"), [false; 0]);
}

#[test]
fn agents_of_the_project_are_previewed_without_an_issue() {
    let project = Project::repository("tool");
    project.ok(&["init", "--prefix", "SYM"]);
    project.ok(&["issue", "add", "One"]);
    for (agent, user) in [
        ("scanner", "Scan this project for work worth doing."),
        ("researcher", "Research this project in the background."),
        ("wizard", "# Set Up: tool"),
    ] {
        let shown = project.json(&["prompt", "show", "--profile", agent]);
        assert!(
            shown["user"].as_str().unwrap().starts_with(user),
            "{shown:#}"
        );
        assert_eq!(shown["report"]["agent"], agent);
        let page = project.ok(&["prompt", "show", "--profile", agent, "--text"]);
        assert!(page.contains(&format!("User prompt\n{user}")), "{page}");
    }
    for (arguments, problem) in [
        (
            &["--profile", "worker"][..],
            "error: the worker works on an issue, and none was named\n",
        ),
        (
            &["SYM-1", "--profile", "wizard"],
            "error: the wizard works on the project, not on an issue\nhint: `symphony prompt show --profile wizard` shows its prompts\n",
        ),
        (
            &[],
            "error: no issue and no profile was named\nhint: `symphony prompt show SYM-1` ",
        ),
    ] {
        let answer = project.symphony(&[&["prompt", "show"], arguments].concat());
        assert_eq!(answer.code, 2, "{answer:?}");
        assert!(answer.stderr.starts_with(problem), "{answer:?}");
    }
}

#[test]
fn a_report_counts_what_is_left_out_and_names_what_a_profile_does_not_get() {
    let project = Project::repository("tool");
    project.ok(&["init", "--prefix", "SYM"]);
    for number in 1..=23 {
        project.ok(&["issue", "add", &format!("Issue {number}")]);
    }
    let on: Vec<String> = (2..=23).map(|number| format!("SYM-{number}")).collect();
    let mut arguments = vec!["issue", "edit", "SYM-1"];
    for id in &on {
        arguments.extend(["--depends-on", id.as_str()]);
    }
    project.ok(&arguments);
    let page = project.ok(&["prompt", "show", "SYM-1"]);
    assert!(page.contains("included, 20 of 22 dependencies"), "{page}");

    let gates = r#"[{ "name": "test", "command": "true" }]"#;
    project.ok(&["config", "set", "gates", gates]);
    let logged = |arguments: &[&str]| project.symphony(arguments).stderr;
    let judge = ["prompt", "show", "SYM-1", "--profile", "judge"];
    let stderr = logged(&[&judge[..], &["-vv"]].concat());
    assert!(
        stderr.contains("omitted from the prompt") && stderr.contains("gate_commands"),
        "{stderr}"
    );
    assert_eq!(logged(&judge), "");
}

#[test]
fn schemas_are_printed() {
    let project = Project::repository("tool");
    for document in ["build", "worker"] {
        let schema: Value =
            serde_json::from_str(&project.ok(&["prompt", "schema", document])).unwrap();
        assert!(schema["$schema"].is_string(), "{document}");
        let forms = schema["oneOf"].as_array();
        for form in forms.map_or(std::slice::from_ref(&schema), Vec::as_slice) {
            assert_eq!(form["properties"]["version"]["const"], 1, "{form:#}");
        }
    }
}

#[test]
fn learnings_are_added_listed_and_searched() {
    let project = Project::repository("tool");
    project.ok(&["init", "--prefix", "SYM"]);
    project.ok(&["issue", "add", "One", "--label", "parser"]);
    let transcript = Transcript::of(&project)
        .run(&["learnings", "list"])
        .run(&[
            "learnings",
            "add",
            "Numbers are parsed in src/number.rs",
            "--type",
            "convention",
            "--applies-to",
            "src/number.rs",
            "--issue",
            "SYM-1",
        ])
        .run(&["learnings", "add", "Tests need a terminal"])
        .run(&["learnings", "search", "where are numbers parsed"])
        .run(&["learnings", "search", "nothing of the kind"])
        .run(&["learnings", "add", ""])
        .run(&["learnings", "add", "x", "--issue", "SYM-9"]);
    assert_transcript!("learnings", transcript);
    assert_eq!(
        project.json(&["learnings", "list"])["items"][1]["labels"],
        json!(["parser"])
    );
}
