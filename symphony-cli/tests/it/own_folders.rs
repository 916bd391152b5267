//! Something else stands where Symphony's folders are expected: nothing starts, a person hears why, and work goes on afterwards.

use serde_json::json;

use crate::support::{
    Project, approving_judge, bash, commit, create_pr, scenarios, text, until, worker,
};

fn project(turns: impl IntoIterator<Item = serde_json::Value>) -> Project {
    Project::new(
        "project",
        &scenarios([worker(turns), approving_judge()]),
        &json!({ "gates": [{ "name": "test", "command": "true" }], "max_retry_backoff_ms": 1 }),
    )
}

/// What the inbox says of what is stuck.
fn stuck(project: &Project) -> Vec<String> {
    let inbox = project.json(&["inbox"]);
    let items = inbox["items"].as_array().unwrap().iter();
    let stuck = items.filter(|item| item["kind"] == "stuck");
    stuck.map(|item| text(&item["text"])).collect()
}

#[test]
fn a_file_or_a_link_in_the_place_of_the_worktrees_holds_the_project_until_it_is_moved_away() {
    let project = project([commit("hello.txt", "hello"), create_pr("Greet")]);
    let place = project.root.join(".symphony-workspaces");
    project.add_issue("Greet");
    project.tick_one("worker", "succeeded");
    let aside = project.beside.join("aside");
    for kind in ["file", "link"] {
        std::fs::rename(&place, &aside).unwrap();
        if kind == "file" {
            std::fs::write(&place, "x").unwrap();
        } else {
            std::os::unix::fs::symlink(&aside, &place).unwrap();
        }
        assert_eq!(project.tick_wait(), Vec::<serde_json::Value>::new());
        let inbox = project.json(&["inbox"]);
        let item = &inbox["items"][0];
        assert_eq!(item["kind"], "project", "{inbox:#}");
        assert!(
            text(&item["text"]).contains("is a file or a link, not a folder"),
            "{inbox:#}"
        );
        assert!(text(&item["answers"][0]).starts_with("mv '"), "{inbox:#}");
        let audit = project.symphony(&["doctor", "--audit"]);
        assert_eq!(audit.code, 1, "{audit:#?}");
        assert!(
            audit
                .stdout
                .contains("is a file or a link; expected a folder"),
            "{audit:#?}"
        );
        std::fs::remove_file(&place).unwrap();
        std::fs::rename(&aside, &place).unwrap();
    }
    project.tick_one("judge", "succeeded");
    assert_eq!(
        project.issue("SYM-1")["pull_requests"][0]["state"],
        "approved"
    );
    project.assert_sound();
}

#[test]
fn work_that_cannot_be_put_away_is_in_the_inbox_and_goes_on_when_the_folder_is_there_again() {
    let replace = "all=$(cd .. && pwd) && cd / && mv \"$all\" \"$all.aside\" && echo x > \"$all\"";
    let project = project([
        commit("hello.txt", "hello"),
        create_pr("Greet"),
        bash(replace),
    ]);
    let place = project.root.join(".symphony-workspaces");
    project.add_issue("Greet");
    project.ok(&["tick"]);
    let told = until("the work to be reported", || {
        project.symphony(&["tick"]);
        stuck(&project).into_iter().next()
    });
    assert!(
        told.contains("is not saved yet") && told.contains(".symphony-workspaces"),
        "{told}"
    );
    let status = project.json(&["status"]);
    assert_eq!(status["slots_taken"], 0, "{status:#}");
    std::fs::remove_file(&place).unwrap();
    std::fs::rename(project.root.join(".symphony-workspaces.aside"), &place).unwrap();
    until("the gates to pass", || {
        project.symphony(&["tick"]);
        let pr = &project.issue("SYM-1")["pull_requests"][0];
        (pr["state"] == "approved").then_some(())
    });
    let runs = project.json(&["runs", "list", "--issue", "SYM-1"]);
    let runs = runs["items"].as_array().unwrap();
    let workers = runs.iter().filter(|run| run["profile"] == "worker").count();
    assert_eq!(workers, 1, "{runs:#?}");
    project.assert_sound();
}

#[test]
fn a_worktree_that_cannot_be_removed_is_tried_again_at_growing_distances_and_in_the_inbox() {
    let project = project([commit("hello.txt", "hello"), create_pr("Greet")]);
    project.add_issue("Greet");
    project.tick_one("worker", "succeeded");
    let worktree = project.worktree("SYM-1");
    let aside = project.beside.join("aside");
    std::fs::rename(&worktree, &aside).unwrap();
    std::os::unix::fs::symlink(&aside, &worktree).unwrap();
    project.ok(&[
        "issue",
        "close",
        "SYM-1",
        "--cancelled",
        "--reason",
        "no need",
    ]);
    let first = project.symphony(&["tick"]);
    assert_eq!(first.code, 1, "{first:#?}");
    assert!(
        first
            .stderr
            .contains("SYM-1: its worktree was not removed: "),
        "{first:#?}"
    );
    // it has its time, and a tick before that is as good as any
    project.ok(&["tick"]);
    for _ in 0..2 {
        assert_eq!(stuck(&project), [""; 0]);
        let database = rusqlite::Connection::open(project.root.join(".symphony/symphony.db"));
        let due = "UPDATE clean_up_fault SET due_at = 0";
        assert_eq!(database.unwrap().execute(due, []).unwrap(), 1);
        project.ok(&["tick"]);
    }
    let told = stuck(&project);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].starts_with("it has ended, but its worktree cannot be removed (tried 3 times): "),
        "{told:?}"
    );
    let item = &project.json(&["inbox"])["items"][0];
    assert_eq!(item["title"], "Greet", "{item:#}");
    let clean = project.symphony(&["clean"]);
    assert_eq!(clean.code, 1, "{clean:#?}");
    assert!(
        clean.stderr.contains("1 thing could not be removed"),
        "{clean:#?}"
    );
    std::fs::remove_file(&worktree).unwrap();
    std::fs::rename(&aside, &worktree).unwrap();
    project.ok(&["clean"]);
    assert_eq!(stuck(&project), [""; 0]);
    assert!(!worktree.exists());
    project.assert_sound();
}

#[test]
fn worktrees_beside_the_project_are_worked_in_gated_and_merged() {
    let project = project([commit("hello.txt", "hello"), create_pr("Greet")]);
    project.ok(&["config", "set", "workspaces_dir", "../trees"]);
    project.add_issue("Greet");
    project.tick_one("worker", "succeeded");
    assert!(project.beside.join("trees/SYM-1/hello.txt").exists());
    until("the judge to approve", || {
        project.symphony(&["tick", "--wait"]);
        let pr = &project.issue("SYM-1")["pull_requests"][0];
        (pr["state"] == "approved").then_some(())
    });
    project.assert_sound();
    project.ok(&["pr", "merge", "SYM-1"]);
    project.ok(&["tick"]);
    assert!(!project.beside.join("trees/SYM-1").exists());
    project.assert_sound();
}

#[test]
fn gates_and_agents_find_no_file_of_symphonys_beside_those_of_the_commit() {
    // as `prettier --check .` does, it looks at everything that is there
    let look = "test -z \"$(git ls-files --others)\" && echo nothing else";
    let worker = worker([
        bash(look),
        json!({ "expect": "nothing else", "content": commit("hello.txt", "hello")["content"] }),
        create_pr("Say hello"),
    ]);
    let config = json!({ "gates": [{ "name": "look", "command": look }] });
    let project = Project::new("project", &scenarios([worker]), &config);
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    let pr = project.json(&["pr", "show", "1"]);
    assert_eq!(pr["gates"][0]["passed"], true, "{pr:#}");
}

#[test]
fn the_checkout_of_gates_at_work_is_no_finding() {
    let project = Project::new(
        "project",
        &scenarios([worker([commit("hello.txt", "hello"), create_pr("Greet")])]),
        &json!({ "judge_enabled": false, "try_changed_gates": false }),
    );
    let (begun, go) = (project.beside.join("begun"), project.beside.join("go"));
    let waits = format!(
        "touch '{}'; while ! test -e '{}'; do sleep 0.05; done",
        begun.display(),
        go.display()
    );
    project.configure_more(&json!({ "gates": [{ "name": "check", "command": waits }] }));
    project.add_issue("Greet");
    project.tick_start();
    until("the gate", || begun.exists().then_some(()));
    project.assert_sound();
    std::fs::write(go, "").unwrap();
    until("the end of the gates", || {
        let inbox = project.json(&["inbox"]);
        (inbox["items"][0]["kind"] == "review").then_some(())
    });
    project.assert_sound();
}
