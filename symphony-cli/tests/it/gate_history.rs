//! Gates that read more of a commit than its files: what passed on the same files says nothing about another message.

use serde_json::json;

use crate::support::{Project, bash, create_pr, scenarios, worker};

/// A project with a gate for messages of commits, whose agent first commits well and then amends only the message; returns it
/// with the number of times that the gate ran so far.
fn with_amended_message(reads: &str) -> (Project, impl Fn() -> usize) {
    let amend = "if [ -f a.txt ]; then git commit -q --amend -m 'WIP later'; else echo a > a.txt; git add a.txt; git commit -qm 'Add a'; fi";
    let project = Project::new(
        "project",
        &scenarios([worker([bash(amend), create_pr("Add a")])]),
        &json!({}),
    );
    let count = project.beside.join("count");
    let command = format!(
        "echo ran >> '{}'; ! git log --format=%s main..HEAD | grep WIP",
        count.display()
    );
    let gate = json!({ "name": "messages", "command": command, "retries": 0, "reads": reads });
    project.configure_more(&json!({
        "gates": [gate],
        "judge_enabled": false,
        "max_retry_backoff_ms": 1,
    }));
    let ran = move || std::fs::read_to_string(&count).map_or(0, |text| text.lines().count());
    (project, ran)
}

#[test]
fn a_gate_that_reads_messages_runs_again_when_only_a_message_changed() {
    for (reads, state, runs) in [("history", "rejected", 3), ("tree", "open", 1)] {
        let (project, ran) = with_amended_message(reads);
        project.add_issue("Add a");
        project.tick_one("worker", "succeeded");
        assert_eq!(ran(), 1, "{reads}");
        project.ok(&["pr", "reject", "SYM-1", "--point", "note: Say more."]);
        project.tick_one("worker", "succeeded");
        let prs = &project.issue("SYM-1")["pull_requests"];
        assert_eq!(prs[0]["state"], state, "{reads}: {prs:#}");
        // once on the change, once more on the base, which passes
        assert_eq!(ran(), runs, "{reads}");
        project.assert_sound();
    }
}

#[test]
fn a_squash_is_gated_with_its_own_message_and_a_merge_commit_by_what_it_brings() {
    let (project, ran) = with_amended_message("history");
    project.add_issue("Add a");
    project.tick_one("worker", "succeeded");
    assert_eq!(ran(), 1);
    let squash = |message| ["pr", "merge", "SYM-1", "--squash", "--message", message];
    let refused = project.symphony(&squash("WIP all of it"));
    assert_ne!(refused.code, 0, "{refused:#?}");
    assert!(refused.stderr.contains("messages"), "{}", refused.stderr);
    assert_eq!(ran(), 2);
    project.ok(&squash("Add a"));
    assert_eq!(ran(), 3);
    project.assert_sound();
}
