//! The MCP service over stdio, spoken to with the official Python client.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::{
    Answer, JUDGE_TOOLS, Project, WORKER, WORKER_TOOLS, commit, create_pr, every_tool, row,
    scenario, scenarios,
};

const RESEARCHER_TOOLS: &str = "get_issue list_issues update_issue_status create_issue add_finding add_learning add_comment \
     search_learnings complete_phase answer_review_point record_coverage";
const PLANNER_TOOLS: &str = "get_issue list_issues update_issue_status create_subtask add_finding add_learning add_comment \
     search_learnings";
const SCANNER_TOOLS: &str =
    "get_issue list_issues create_issue add_finding add_learning search_learnings record_coverage";
const INTAKE_TOOLS: &str = "get_issue list_issues update_issue_status create_issue add_finding add_comment search_learnings";
const WIZARD_TOOLS: &str = "configure_project";

/// A project with an issue in `todo` and one in review.
struct Fixture {
    project: Project,
    python: PathBuf,
}

impl Fixture {
    fn new() -> Self {
        let python = std::env::var_os("SYMPHONY_TEST_PYTHON").expect(
            "the feature python-mcp needs SYMPHONY_TEST_PYTHON: the path of a Python in whose environment mcp==2.3.0 is installed",
        );
        let worker = json!({ "match_system": WORKER });
        let turns = [commit("hello.txt", "hello"), create_pr("Say hello")];
        let project = Project::new(
            "my project",
            &scenarios([scenario("worker", &worker, turns)]),
            &json!({}),
        );
        project.add_issue("Say hello");
        project.tick_one("worker", "succeeded");
        project.add_issue("Say goodbye");
        Self {
            project,
            python: python.into(),
        }
    }

    /// Starts `symphony mcp --db … ARGUMENTS` below the client and makes calls.
    fn talk(&self, arguments: &[&str], mode: &str, env: &Value, calls: &Value) -> Value {
        let database = self.project.root.join(".symphony/symphony.db");
        let client = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tools/mcp_client.py");
        let mut command = self.project.program(&self.python);
        command
            .args([client, env!("CARGO_BIN_EXE_symphony"), "mcp", "--db"])
            .arg(&database)
            .args(arguments);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // far from the repository, as a client's configuration starts it
        let request =
            json!({ "mode": mode, "cwd": self.project.beside, "env": env, "calls": calls });
        child
            .stdin
            .take()
            .unwrap()
            .write_all(request.to_string().as_bytes())
            .unwrap();
        let answer = Answer::from(child.wait_with_output().unwrap());
        assert_eq!(answer.code, 0, "{answer:#?}");
        serde_json::from_str(&answer.stdout).unwrap()
    }

    fn listed(&self, arguments: &[&str]) -> Vec<String> {
        names(&self.talk(arguments, "auto", &json!({}), &json!([])))
    }

    /// Everything that a call could have written.
    fn state(&self) -> Value {
        let issues = self.project.json(&["issue", "list"]);
        let shown: Vec<Value> = issues["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|issue| self.project.issue(issue["identifier"].as_str().unwrap()))
            .collect();
        json!(shown)
    }
}

fn names(answer: &Value) -> Vec<String> {
    let tools = answer["tools"].as_array().unwrap();
    let mut names: Vec<String> = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn each_role_is_listed_its_row_of_the_table() {
    let fixture = Fixture::new();
    let project = fixture.project.json(&["status"])["project"]
        .as_str()
        .unwrap()
        .to_owned();
    for (issue, agent, expected) in [
        ("SYM-2", "worker", WORKER_TOOLS),
        ("SYM-1", "judge", JUDGE_TOOLS),
        ("SYM-2", "planner", PLANNER_TOOLS),
        ("SYM-2", "researcher", RESEARCHER_TOOLS),
        ("SYM-2", "intake", INTAKE_TOOLS),
    ] {
        assert_eq!(
            fixture.listed(&["--issue-id", issue, "--agent-type", agent]),
            row(expected),
            "{agent}"
        );
    }
    for (agent, expected) in [("scanner", SCANNER_TOOLS), ("wizard", WIZARD_TOOLS)] {
        assert_eq!(
            fixture.listed(&["--project-id", &project, "--agent-type", agent]),
            row(expected),
            "{agent}"
        );
    }
    let everything = fixture.talk(&["--issue-id", "SYM-2"], "legacy", &json!({}), &json!([]));
    assert_eq!(names(&everything), every_tool());
    assert_eq!(everything["server"], "symphony");
    for tool in everything["tools"].as_array().unwrap() {
        assert!(tool["description"].as_str().unwrap().len() > 20, "{tool:#}");
        assert_eq!(tool["schema"]["type"], "object", "{tool:#}");
        for (name, property) in tool["schema"]["properties"]
            .as_object()
            .into_iter()
            .flatten()
        {
            assert!(property["description"].is_string(), "{name} of {tool:#}");
        }
    }
}

#[test]
fn a_call_of_another_role_is_refused_and_writes_nothing() {
    let fixture = Fixture::new();
    let before = fixture.state();
    for (issue, agent, tool, arguments) in [
        ("SYM-2", "worker", "approve_pr", json!({})),
        ("SYM-1", "worker", "reject_pr", json!({ "feedback": "no" })),
        (
            "SYM-1",
            "judge",
            "create_pr",
            json!({ "title": "t", "body": "b" }),
        ),
        ("SYM-1", "judge", "create_issue", json!({ "title": "t" })),
        ("SYM-2", "intake", "add_learning", json!({ "pattern": "p" })),
        ("SYM-2", "worker", "no_such_tool", json!({})),
    ] {
        for mode in ["auto", "legacy"] {
            let calls = json!([[tool, arguments]]);
            let answer = fixture.talk(
                &["--issue-id", issue, "--agent-type", agent],
                mode,
                &json!({}),
                &calls,
            );
            let result = &answer["results"][0];
            assert_eq!(result["is_error"], true, "{agent} {tool}: {answer:#}");
            let told = result["text"].as_str().unwrap();
            assert!(
                told.contains(&format!("has no tool `{tool}`")) && told.contains(agent),
                "{told}"
            );
        }
    }
    // a server that an agent started: a role with verdicts gives none
    let env = json!({ "SYMPHONY_RUN_ID": "some-run" });
    let calls = json!([["approve_pr", {}], ["reject_pr", { "feedback": "no" }]]);
    let answer = fixture.talk(
        &["--issue-id", "SYM-1", "--agent-type", "judge"],
        "auto",
        &env,
        &calls,
    );
    for result in answer["results"].as_array().unwrap() {
        assert_eq!(result["is_error"], true, "{answer:#}");
        assert!(
            result["text"].as_str().unwrap().contains("SYMPHONY_RUN_ID"),
            "{answer:#}"
        );
    }
    assert_eq!(fixture.state(), before);
}

#[test]
fn a_persons_client_reads_and_writes_in_the_persons_name() {
    let fixture = Fixture::new();
    let calls = json!([
        ["get_issue", {}],
        ["get_issue", { "issue": "SYM-1" }],
        ["add_comment", { "content": "Looks <b>fine</b>; $(touch /tmp/x) `id`" }],
        ["create_issue", { "title": "Say more", "labels": ["later"], "priority": "low" }],
        ["add_comment", { "content": "x", "issue": "SYM-99" }],
        ["add_comment", {}],
        ["list_issues", { "label": "later" }],
    ]);
    let answer = fixture.talk(&["--issue-id", "SYM-2"], "auto", &json!({}), &calls);
    let results = answer["results"].as_array().unwrap();
    let errors: Vec<bool> = results
        .iter()
        .map(|result| result["is_error"] == true)
        .collect();
    assert_eq!(
        errors,
        [false, false, false, false, true, true, false],
        "{answer:#}"
    );
    let shown = &results[0]["structured"]["issue"];
    assert_eq!(
        json!([shown["identifier"], shown["title"], shown["status"]]),
        json!(["SYM-2", "Say goodbye", "todo"])
    );
    assert_eq!(results[1]["structured"]["pull_request"]["state"], "open");
    assert!(!results[0]["text"].as_str().unwrap().is_empty());

    let issue = fixture.project.issue("SYM-2");
    let comment = &issue["comments"][0];
    assert_eq!(
        json!([
            comment["author"],
            comment["content"],
            issue["comments"].as_array().unwrap().len()
        ]),
        json!(["human", "Looks <b>fine</b>; $(touch /tmp/x) `id`", 1])
    );
    let filed = fixture.project.issue("SYM-3");
    assert_eq!(
        json!([
            filed["title"],
            filed["status"],
            filed["labels"]
                .as_array()
                .unwrap()
                .contains(&json!("later")),
            filed["priority"]
        ]),
        json!(["Say more", "backlog", true, "low"])
    );

    // a person's verdict through the client counts as a person's
    let verdict = json!([["approve_pr", { "comment": "I read it" }]]);
    let answer = fixture.talk(
        &["--issue-id", "SYM-1", "--agent-type", "judge"],
        "auto",
        &json!({}),
        &verdict,
    );
    assert_eq!(answer["results"][0]["is_error"], false, "{answer:#}");
    let pr = fixture.project.json(&["pr", "show", "SYM-1"]);
    assert_eq!(
        json!([pr["state"], pr["verdict"]["author"], pr["verdict"]["run"]]),
        json!(["approved", "human", null])
    );
}
