//! An agent that is cut off while it commits: whatever locks its git leaves, the next run commits, and the issue ends done.

use serde_json::json;

use crate::support::{
    Project, WORKER, approving_judge, bash, commit, create_pr, git_commit, scenario, scenarios,
    text, until, worker,
};

/// Time limits of the first run, in milliseconds: a slow machine needs a longer one to get as far as its commits.
const LIMITS_MS: [u64; 4] = [2_000, 8_000, 30_000, 120_000];

/// Plays an issue whose first worker is cut off in `first`; the second one opens the pull request.
fn live(first: &str) {
    let cut_off = LIMITS_MS.into_iter().find_map(|limit_ms| {
        let play = scenarios([
            approving_judge(),
            scenario(
                "is cut off",
                &json!({ "match_system": WORKER, "uses": 1 }),
                [bash("echo begun"), bash(first)],
            ),
            scenario(
                "commits",
                &json!({ "match_system": WORKER }),
                [commit("hello.txt", "hello"), create_pr("Say hello")],
            ),
        ]);
        let config = json!({ "turn_timeout_ms": limit_ms, "max_retry_backoff_ms": 1 });
        let project = Project::new("a project", &play, &config);
        project.add_issue("Say hello");
        let run = project.tick_one("worker", "timed_out");
        let begun = project.worktree("SYM-1").join("begun").exists();
        begun.then_some((project, text(&run["id"])))
    });
    let (project, run) = cut_off.expect("a machine gets as far as a commit within two minutes");
    // what follows the end of a run, such as saving its work, holds locks of its own for a moment
    until(
        &format!(
            "no lock to be left, beside {:?}: {}",
            project.git_locks(),
            project.run_file(&run, "supervisor.log")
        ),
        || project.git_locks().is_empty().then_some(()),
    );
    project.configure_more(&json!({ "max_retry_backoff_ms": 1 }));
    wait_for_retry(&project);
    let second = project.tick_one("worker", "succeeded");
    assert_eq!(project.tool_errors(&text(&second["id"])), [""; 0]);
    project.tick_one("judge", "succeeded");
    project.ok(&["pr", "merge", "SYM-1"]);
    assert_eq!(project.issue("SYM-1")["status"], "done");
    assert_eq!(project.git(&["show", "main:hello.txt"]), "hello");
    assert!(project.git_locks().is_empty(), "{:?}", project.git_locks());
    project.git(&["fsck", "--no-dangling"]);
    project.assert_sound();
}

/// The appointment of the retry comes within a moment.
fn wait_for_retry(project: &Project) {
    until("the retry's time", || {
        let plan = project.json(&["tick", "--dry-run"]);
        let is_due = plan["actions"] != json!([]);
        is_due.then_some(())
    });
}

#[test]
fn an_agent_that_commits_in_a_loop_leaves_a_worktree_that_can_be_used() {
    let commit = git_commit("work.txt", "more");
    live(&format!(
        "touch begun; while :; do date +%N >> work.txt; {commit}; done"
    ));
}

/// A hook keeps git where it has the locks of `HEAD` and of the branch: a git that is asked to end removes them.
#[test]
fn a_commit_that_is_cut_off_is_asked_to_end() {
    live(&held_commit(""));
}

/// Nobody asked this one: its locks are removed when the processes of its run are gone.
#[test]
fn the_locks_of_a_git_that_the_agent_killed_are_removed() {
    live(&held_commit("kill -KILL $pid;"));
}

/// Begins a commit that stays where git has prepared the new value of its branch, and goes on from there.
fn held_commit(then: &str) -> String {
    let hook = "mkdir -p .held && printf '#!/bin/sh\\ntest \"$1\" = prepared || exit 0\\ntouch begun\\nexec sleep 3600 >/dev/null 2>&1\\n' \
                > .held/reference-transaction && chmod +x .held/reference-transaction";
    let commit = "git -c core.hooksPath=\"$PWD/.held\" -c user.name=w -c user.email=w@example.invalid commit --allow-empty -qm held";
    format!(
        "{hook} && {{ {commit} & pid=$!; until [ -e begun ]; do sleep 0.02; done; {then} sleep 3600; }}"
    )
}

/// Housekeeping goes on in the background: it would be ended in its middle with the agent, and leave its lock for good.
#[test]
fn an_agents_git_leaves_housekeeping_to_the_user() {
    let ask = bash("{ git config gc.auto; git config maintenance.auto; } > set.txt");
    let play = scenarios([worker([
        ask,
        bash(&git_commit("set.txt", "what is set")),
        create_pr("Say what is set"),
    ])]);
    let project = Project::new("a project", &play, &json!({}));
    project.add_issue("Say what is set");
    project.tick_one("worker", "succeeded");
    assert_eq!(project.git(&["show", "symphony/SYM-1:set.txt"]), "0\nfalse");
}
