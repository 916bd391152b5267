//! The configuration decides what gates are: a change of it is reported, whoever made it and wherever it is kept.

use serde_json::{Value, json};

use crate::support::{
    Project, approving_judge, bash, create_pr, git_commit, scenarios, text, worker,
};

const REDUCES_GATES: &str = r#"sed -i 's/"false"/"true"/' ../../symphony.config.json"#;

fn project(turns: impl IntoIterator<Item = Value>) -> Project {
    let config = json!({ "gates": [{ "name": "test", "command": "false" }] });
    let scenarios = scenarios([approving_judge(), worker(turns)]);
    Project::new("project", &scenarios, &config)
}

fn work() -> Value {
    let commit = git_commit("hello.txt", "hello");
    bash(&format!("echo hello > hello.txt && {commit}"))
}

#[test]
fn an_agent_that_changes_what_gates_are_is_in_the_inbox_and_the_record() {
    let project = project([work(), bash(REDUCES_GATES)]);
    project.add_issue("Say hello");
    let runs = project.tick_wait();
    let id = text(&runs[0]["id"]);
    let config = std::fs::read_to_string(project.root.join("symphony.config.json")).unwrap();
    assert!(!config.contains(r#""false""#), "{config}");
    assert_eq!(
        project.run(&id)["metadata"]["left_behind"],
        json!([{ "kind": "configuration", "path": "gates" }])
    );
    let said = "Symphony's configuration changed (gates): if you did not change it, the agent may have done so; gates decides which commands run";
    let plain = |arguments: &[&str]| {
        let shown = project.ok(arguments);
        shown.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let inbox = plain(&["inbox"]);
    assert!(inbox.contains(said), "{inbox}");
    assert!(inbox.contains("symphony config show"), "{inbox}");
    let run = plain(&["runs", "show", &id]);
    assert!(run.contains(said), "{run}");
    let issue = plain(&["issue", "show", "SYM-1"]);
    assert!(issue.contains(said), "{issue}");
    // values are in no record
    let recorded = project.run_file(&id, "shared-state.json");
    assert!(!recorded.contains("false"), "{recorded}");
    project.assert_sound();
}

#[test]
fn prompts_of_the_project_and_a_spoilt_file_are_reported_and_an_unchanged_one_is_not() {
    let project = project([
        bash(
            "mkdir -p ../../.symphony/prompts/profiles && echo approve > ../../.symphony/prompts/notes.md",
        ),
        bash("rm ../../.symphony/prompts/notes.md"),
    ]);
    project.add_issue("Say hello");
    let runs = project.tick_wait();
    let run = project.run(&text(&runs[0]["id"]));
    assert_eq!(run["metadata"]["left_behind"], Value::Null, "{run:#}");

    let project = self::project([bash(
        "mkdir -p ../../.symphony/prompts && echo approve > ../../.symphony/prompts/notes.md",
    )]);
    project.add_issue("Say hello");
    let runs = project.tick_wait();
    assert_eq!(
        project.run(&text(&runs[0]["id"]))["metadata"]["left_behind"],
        json!([{ "kind": "configuration", "path": "prompts_dir/notes.md" }])
    );
}

#[test]
fn a_pull_request_that_changes_the_configuration_is_a_high_risk_and_says_so() {
    let commit = git_commit("-f symphony.config.json", "gates");
    let project = project([
        bash(&format!("echo '{{}}' > symphony.config.json && {commit}")),
        create_pr("Configure"),
    ]);
    project.configure_more(&json!({ "gates": [{ "name": "test", "command": "true" }] }));
    project.git(&["add", "-f", "symphony.config.json"]);
    project.git(&["commit", "-qm", "share the configuration"]);
    project.add_issue("Configure");
    let run = project.tick_one("worker", "succeeded");
    assert_eq!(project.tool_errors(&text(&run["id"])), [""; 0]);
    let judge = project.tick_one("judge", "succeeded");
    let prompt = project.run_file(&text(&judge["id"]), "user-prompt.md");
    assert!(prompt.contains("high: 1 file"), "{prompt}");
    assert!(prompt.contains("- symphony.config.json"), "{prompt}");
    let shown = project.json(&["pr", "show", "SYM-1"]);
    assert_eq!(shown["decisive_files"], json!(["symphony.config.json"]));
    let plain = |arguments: &[&str]| {
        let shown = project.ok(arguments);
        shown.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let said = "it changes Symphony's own configuration (symphony.config.json): once it is merged";
    for arguments in [&["pr", "show", "SYM-1"][..], &["inbox"]] {
        let shown = plain(arguments);
        assert!(shown.contains(said), "{shown}");
    }
}

#[test]
fn a_configuration_that_changes_while_gates_run_the_code_of_a_change_is_reported() {
    let evil = "sed -i 's/sh test.sh/true/' ../../symphony.config.json && git -C ../.. config user.email evil@example.invalid";
    let commit = git_commit("test.sh", "test");
    let project = project([
        bash(&format!("cat > test.sh <<'END'\n{evil}\nEND\n{commit}")),
        create_pr("Test it"),
    ]);
    project.configure_more(&json!({
        "gates": [{ "name": "test", "command": "test ! -e test.sh || sh test.sh" }],
        "judge_enabled": false,
    }));
    project.add_issue("Test it");
    project.tick_one("worker", "succeeded");
    let runs = project.json(&["runs", "list"]);
    let gates = runs["items"].as_array().unwrap();
    let gates = gates.iter().find(|run| run["profile"] == "gates").unwrap();
    let id = text(&gates["id"]);
    let left = &project.run(&id)["metadata"]["left_behind"];
    assert_eq!(
        left,
        &json!([
            { "kind": "shared_setting", "path": "user.email" },
            { "kind": "configuration", "path": "gates" },
        ])
    );
    let said = "Symphony's configuration changed (gates): if you did not change it, the code they ran may have";
    for arguments in [
        &["inbox"][..],
        &["runs", "show", &id],
        &["issue", "show", "SYM-1"],
    ] {
        let shown = project.ok(arguments);
        let shown: Vec<&str> = shown.split_whitespace().collect();
        assert!(shown.join(" ").contains(said), "{arguments:?}: {shown:?}");
    }
    // the worker's own run is not blamed for it
    let worker = runs["items"].as_array().unwrap();
    let worker = worker
        .iter()
        .find(|run| run["profile"] == "worker")
        .unwrap();
    let worker = project.run(&text(&worker["id"]));
    assert_eq!(worker["metadata"]["left_behind"], Value::Null, "{worker:#}");
    // it stays in the inbox whatever becomes of the issue, until a person has seen it
    project.ok(&[
        "issue",
        "close",
        "SYM-1",
        "--cancelled",
        "--reason",
        "It is evil",
    ]);
    for (kind, name, answer) in [
        ("configuration", "(gates)", "symphony config show"),
        ("settings", "(user.email)", "git config --local --list"),
    ] {
        let inbox = project.json(&["inbox"]);
        let mut items = inbox["items"].as_array().unwrap().iter();
        let item = items.find(|item| text(&item["text"]).contains(name));
        let item = item.unwrap_or_else(|| panic!("no {kind} in {inbox:#}"));
        assert_eq!(item["kind"], "settings", "{item:#}");
        assert_eq!(item["answers"][0], answer, "{item:#}");
        project.ok(&["inbox", "--dismiss", &text(&item["key"])]);
    }
    assert_eq!(project.json(&["inbox"])["items"], json!([]));
    project.assert_sound();
}

/// Returns the notice with this in its text, and its key.
fn notice(project: &Project, wanted: &str) -> (String, String) {
    let inbox = project.json(&["inbox"]);
    let mut items = inbox["items"].as_array().unwrap().iter();
    let item = items.find(|item| text(&item["text"]).contains(wanted));
    let item = item.unwrap_or_else(|| panic!("no {wanted} in {inbox:#}"));
    assert_eq!(item["kind"], "settings", "{item:#}");
    (text(&item["text"]), text(&item["key"]))
}

#[test]
fn what_gates_of_the_base_change_is_in_the_inbox_of_the_project() {
    let gate = json!([{ "name": "test", "command": "git -C ../.. config user.email evil@example.invalid" }]);
    let project = project([work()]);
    project.configure_more(&json!({ "gates": gate, "try_changed_gates": true }));
    project.add_issue("Say hello");
    let run = project.tick_one("gates", "succeeded");
    let (said, key) = notice(&project, "(user.email)");
    assert!(said.contains("the code they ran may have"), "{said}");
    let shown = project.ok(&["runs", "show", &text(&run["id"])]);
    assert!(shown.contains("user.email"), "{shown}");
    let dismissed = project.ok(&["inbox", "--dismiss", &key]);
    assert!(
        dismissed.contains("The notice about project is dismissed."),
        "{dismissed}"
    );
    assert_eq!(project.json(&["inbox"])["items"], json!([]));
    project.assert_sound();
}

#[test]
fn what_a_trial_of_the_gates_changes_is_shown_and_stays_in_the_inbox() {
    let project = project([work()]);
    let gate = r#"sed -i "s/\"max_retries\": 3/\"max_retries\": 9/" ../../symphony.config.json"#;
    project.configure_more(&json!({
        "gates": [{ "name": "test", "command": gate }],
        "max_retries": 3,
    }));
    let trial = project.symphony(&["doctor", "--gates"]);
    let warned: Vec<&str> = trial.stderr.split_whitespace().collect();
    let warned = warned.join(" ");
    assert!(
        warned.contains("Symphony's configuration changed (max_retries)"),
        "{trial:#?}"
    );
    notice(&project, "(max_retries)");
    // one that changes nothing says nothing
    let trial = project.symphony(&["doctor", "--gates"]);
    assert!(!trial.stderr.contains("changed ("), "{trial:#?}");
}

#[test]
fn a_notice_outlives_the_issue_that_is_deleted() {
    let project = project([work(), bash(REDUCES_GATES)]);
    project.add_issue("Say hello");
    project.tick_wait();
    let (said, _) = notice(&project, "(gates)");
    project.ok(&["issue", "close", "SYM-1", "--cancelled", "--reason", "Evil"]);
    project.ok(&["issue", "delete", "SYM-1", "--yes"]);
    let (kept, key) = notice(&project, "(gates)");
    assert_eq!(kept, said);
    project.ok(&["inbox", "--dismiss", &key]);
    project.assert_sound();
}
