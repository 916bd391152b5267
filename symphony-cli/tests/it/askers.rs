//! Who acts in a person's name: what Symphony could not tell is recorded, and shown wherever the action is shown.

use serde_json::{Value, json};

use crate::support::{
    Project, Terminal, bash, commit, create_pr, kill, scenarios, supervisor_of, until, worker,
};

fn with_a_pull_request() -> Project {
    let scenarios = scenarios([worker([
        commit("hello.txt", "hello"),
        create_pr("Say hello"),
    ])]);
    let project = Project::new("project", &scenarios, &json!({ "judge_enabled": false }));
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    project
}

/// Types a command on a terminal of its own, as a person does.
fn type_it(project: &Project, arguments: &[&str]) {
    let (code, seen) = Terminal::start(project, 200, arguments).end();
    assert_eq!(code, 0, "{seen:#?}");
}

fn events_of(project: &Project, kind: &str) -> Vec<Value> {
    let printed = project.ok(&["events", "--json", "--limit", "0"]);
    printed
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .filter(|event: &Value| event["kind"] == kind && event["actor"] == "human")
        .collect()
}

#[test]
fn what_a_script_does_works_and_is_marked_as_not_verified() {
    const NOTE: &str = "(not verified: no terminal)";
    let project = with_a_pull_request();
    project.ok(&["issue", "comment", "SYM-1", "from a script"]);
    project.ok(&["pause"]);
    project.ok(&["pr", "approve", "SYM-1"]);
    let pr = project.json(&["pr", "show", "SYM-1"]);
    assert_eq!(pr["verdict"]["unverified"], "no terminal");
    for (shown, expected) in [
        (&["pr", "show", "SYM-1"][..], NOTE),
        (&["issue", "show", "SYM-1"], NOTE),
        (&["issue", "history", "SYM-1"], NOTE),
        (
            &["events"],
            "Symphony was paused (not verified: no terminal)",
        ),
        (&["status"], "approved by a person (not verified)"),
    ] {
        let text = project.ok(shown);
        assert!(text.contains(expected), "{shown:?}: {text}");
    }
    // What Symphony and agents do is not marked.
    let text = project.ok(&["events", "--limit", "0"]);
    for line in text.lines().filter(|line| line.contains(NOTE)) {
        assert!(line.contains(" person "), "{line}");
    }
    project.ok(&["resume"]);
    project.ok(&["pr", "merge", "SYM-1"]);
    assert_eq!(
        events_of(&project, "merge_intended")[0]["unverified"],
        "no terminal"
    );
    project.assert_sound();
}

#[test]
fn what_a_person_types_on_a_terminal_is_verified_and_says_nothing() {
    let project = with_a_pull_request();
    type_it(&project, &["issue", "comment", "SYM-1", "typed"]);
    type_it(&project, &["pr", "approve", "SYM-1"]);
    let moved = events_of(&project, "pr_state");
    assert_eq!(moved.len(), 1, "{moved:#?}");
    assert!(moved[0].get("unverified").is_none(), "{moved:#?}");
    for shown in [&["pr", "show", "SYM-1"][..], &["issue", "show", "SYM-1"]] {
        let text = project.ok(shown);
        assert!(
            text.contains("human") && !text.contains("not verified"),
            "{text}"
        );
    }
    assert!(project.ok(&["status"]).contains("approved by a person "));
    type_it(&project, &["pr", "merge", "SYM-1"]);
    assert!(
        events_of(&project, "merge_intended")[0]
            .get("unverified")
            .is_none()
    );
}

#[test]
fn an_agent_that_outlives_its_supervisor_and_opens_a_terminal_is_not_verified() {
    let symphony = env!("CARGO_BIN_EXE_symphony");
    // A double fork with a cleared environment, outside of the worktree and of its cgroup, with a terminal of its own.
    let hide = format!(
        "root=$(cd ../.. && pwd); (setsid env -i PATH=\"$PATH\" HOME=\"$HOME\" ROOT=\"$root\" sh -c \
         'for top in /sys/fs/cgroup /sys/fs/cgroup/unified; do echo 0 > $top/cgroup.procs; done; cd /; until test -e \"$ROOT/../gone\"; do sleep 0.05; done; \
          script -qec \"{symphony} -C $ROOT issue comment SYM-1 planted\" /dev/null; echo $? > \"$ROOT/../planted\"' \
         >/dev/null 2>&1 </dev/null &); touch forked; sleep 600"
    );
    let project = Project::new("project", &scenarios([worker([bash(&hide)])]), &json!({}));
    project.add_issue("Hide");
    let run = project.tick_start();
    let worktree = project.worktree("SYM-1");
    until("the fork", || {
        worktree.join("forked").exists().then_some(())
    });
    kill(until("the supervisor", || supervisor_of(&run)));
    until("its end", || supervisor_of(&run).is_none().then_some(()));
    std::fs::write(project.beside.join("gone"), "").unwrap();
    let code = until("the comment", || {
        let code = std::fs::read_to_string(project.beside.join("planted")).ok()?;
        code.ends_with('\n').then_some(code)
    });
    assert_eq!(code, "0\n");
    let comments = project.issue("SYM-1")["comments"].clone();
    let reason = comments[0]["unverified"].as_str().unwrap_or_default();
    assert_eq!(
        reason,
        format!("its terminal belongs to a program that was started during run {run}"),
        "{comments:#}"
    );
}
