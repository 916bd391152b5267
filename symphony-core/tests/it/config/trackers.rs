//! The section `trackers`: what a tracker needs, what it has by default, and what is wrong with one.

use serde_json::{Value, json};
use symphony_core::config::{CommandLine, TokenSource, TrackerPlace, TrackerSettings};
use symphony_core::issue::{IssueStatus, Priority};
use symphony_core::user::UserName;

use super::resolved;

fn read(trackers: &Value) -> (Vec<TrackerSettings>, Vec<String>) {
    let (project, problems) = resolved(&json!({ "trackers": trackers }));
    (project.trackers, problems)
}

#[test]
fn a_repository_is_enough_for_github_and_a_team_for_linear() {
    let (trackers, problems) = read(&json!({
        "web": { "kind": "github", "repository": "acme/web" },
        "eng": { "kind": "linear", "team": "ENG" },
    }));
    assert_eq!(problems, Vec::<String>::new());
    let [eng, web] = trackers.as_slice() else {
        panic!("{trackers:?}");
    };
    assert_eq!(
        web.place,
        TrackerPlace::Github {
            owner: "acme".to_owned(),
            name: "web".to_owned()
        }
    );
    assert_eq!(web.endpoint, "https://api.github.com");
    assert_eq!(web.token, TokenSource::Variable("GITHUB_TOKEN".to_owned()));
    assert_eq!(web.filter.labels, ["symphony"]);
    assert_eq!(web.import_status, IssueStatus::Todo);
    assert!(web.comments && web.subtasks);
    assert_eq!(web.poll.get(), 60_000);
    assert_eq!(eng.endpoint, "https://api.linear.app/graphql");
    assert_eq!(
        eng.token,
        TokenSource::Variable("LINEAR_API_KEY".to_owned())
    );
}

#[test]
fn everything_can_be_set() {
    let (trackers, problems) = read(&json!({ "web": {
        "kind": "github", "repository": "acme/web", "endpoint": "https://ghe.example/api/v3/",
        "token_command": ["gh", "auth", "token"], "filter": { "labels": [], "assignees": ["ada"], "states": ["open"] },
        "import_status": "backlog", "states": { "review": "in review" }, "priorities": { "urgent": "P0" },
        "commanders": { "ada": "583231" }, "comments": false, "subtasks": false, "poll_ms": 5000,
    } }));
    assert_eq!(problems, Vec::<String>::new());
    let web = &trackers[0];
    assert_eq!(web.endpoint, "https://ghe.example/api/v3");
    let command = CommandLine::Argv(vec!["gh".into(), "auth".into(), "token".into()]);
    assert_eq!(web.token, TokenSource::Command(command));
    assert_eq!(web.filter.labels, Vec::<String>::new());
    assert_eq!(web.filter.assignees, ["ada"]);
    assert_eq!(web.import_status, IssueStatus::Backlog);
    assert_eq!(web.states[&IssueStatus::Review], "in review");
    assert_eq!(web.priorities[&Priority::Urgent], "P0");
    assert_eq!(web.commanders[&UserName::parse("ada").unwrap()], "583231");
    assert!(!web.comments && !web.subtasks);
    assert_eq!(web.poll.get(), 5000);
}

#[test]
fn a_tracker_with_a_problem_names_its_key_and_is_left_out() {
    for (tracker, problem) in [
        (json!({}), "`kind`"),
        (json!({ "team": "ENG" }), "trackers.web.kind: "),
        (json!({ "kind": "jira" }), "`github`, `linear`"),
        (json!({ "kind": "github" }), "trackers.web.repository: "),
        (
            json!({ "kind": "github", "repository": "web" }),
            "trackers.web.repository: ",
        ),
        (json!({ "kind": "linear" }), "trackers.web.team: "),
        (
            json!({ "kind": "linear", "team": "ENG", "endpoint": "http://linear.example" }),
            "trackers.web.endpoint: ",
        ),
        (
            json!({ "kind": "linear", "team": "ENG", "states": { "reviewing": "x" } }),
            "a status (",
        ),
        (
            json!({ "kind": "linear", "team": "ENG", "commanders": { "Ada": "1" } }),
            "a valid user name",
        ),
        (
            json!({ "kind": "github", "repository": "a/b", "commanders": { "ada": "octocat" } }),
            "the user's id, a number",
        ),
        (
            json!({ "kind": "github", "repository": "a/b", "states": { "todo": "Symphony" } }),
            "another label",
        ),
        (
            json!({ "kind": "linear", "team": "ENG", "import_status": "done" }),
            "`todo`, `backlog`",
        ),
    ] {
        let (_, problems) = read(&json!({ "web": tracker }));
        assert!(
            problems.iter().any(|found| found.contains(problem)),
            "{tracker}: {problems:?}"
        );
    }
    let (trackers, _) = read(&json!({
        "web": { "kind": "github" }, "eng": { "kind": "linear", "team": "ENG" },
    }));
    assert_eq!(trackers.len(), 1, "the other one is read");
}
