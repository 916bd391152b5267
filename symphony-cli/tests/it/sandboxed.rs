//! Runs in a sandbox: real bubblewrap, real Landlock, the scripted agent inside.
//!
//! The attacks on a sandbox are in `symphony-sandbox`; here is that runs use one.

use serde_json::{Value, json};

use crate::support::{Project, bash, create_pr, scenarios, worker};

/// A configuration whose runs have namespaces.
fn namespace() -> Value {
    json!({ "sandbox": "namespace", "judge_enabled": false })
}

/// What an agent can do shows in its worktree: the only place that it shares with the test.
#[test]
fn an_agent_reaches_its_worktree_and_its_socket_and_nothing_else_of_the_project() {
    let look = "exec > seen.txt 2>&1; set +e; echo home: $(ls -A ~ | grep -v '^\\.symphony' | tr '\\n' ' '); \
                cat ../../.symphony/symphony.db > /dev/null && echo database; \
                cat ../../symphony.config.json > /dev/null && echo configuration; \
                cat ~/.gitconfig > /dev/null && echo gitconfig; touch ../../escaped; \
                ls ../../.git/objects > /dev/null && echo objects; touch ../../.git/objects/x && echo planted; \
                ls ../../.git/refs && echo refs; true";
    let scenarios = scenarios([worker([bash(look), create_pr("Say hello")])]);
    let project = Project::new("project", &scenarios, &namespace());
    project.add_issue("Say hello");
    let run = project.tick_one("worker", "succeeded");
    let refused = &run["metadata"]["refused_create_pr"]["kind"];
    assert_eq!(refused, "uncommitted", "the socket answered: {run:#}");
    let id = run["id"].as_str().unwrap();
    let seen = project.git(&["show", "symphony/SYM-1:seen.txt"]);
    let words: Vec<&str> = seen
        .lines()
        .filter(|line| !line.contains("No such file") && !line.contains("Permission denied"))
        .filter(|line| !line.contains("Read-only file system"))
        .collect();
    assert_eq!(words, ["home:", "objects"], "{seen}");
    assert!(!project.root.join("escaped").exists(), "{seen}");
    assert_eq!(
        json!([
            run["sandbox"]["level"],
            run["sandbox"]["network"],
            run["protection"]
        ]),
        json!(["namespace", "allowlist", "sandbox"]),
        "{run:#}"
    );
    let shown = project.ok(&["runs", "show", id]);
    assert!(
        shown.contains("sandbox       namespace (network allowlist, Landlock "),
        "{shown}"
    );
    let left = project.run_folder(id).join("sandbox");
    let left = std::fs::read_dir(left).map_or(0, Iterator::count);
    assert_eq!(left, 0, "the home of the agent is gone");
    project.assert_sound();
}
