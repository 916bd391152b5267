//! Merges that somebody made outside Symphony: the next tick notices them, and nobody is paid for them any more.

use serde_json::json;

use crate::support::{
    JUDGE, Project, approving_judge, commit, create_pr, hang, scenario, scenarios, text, until,
    worker,
};

const BRANCH: &str = "symphony/SYM-1";

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    until(what, || is_so().then_some(()));
}

/// A project with an issue whose worker says hello in two commits, and a judge that would approve.
fn project() -> Project {
    let turns = [
        commit("hello.txt", "hello"),
        commit("more.txt", "more"),
        create_pr("Say hello"),
    ];
    let project = Project::new(
        "outside",
        &scenarios([worker(turns), approving_judge()]),
        &json!({}),
    );
    project.add_issue("Say hello");
    project
}

/// As [`project`], with an open pull request that no judge has seen.
fn with_pull_request() -> Project {
    let project = project();
    project.configure_more(&json!({ "judge_enabled": false }));
    project.tick_one("worker", "succeeded");
    project.configure_more(&json!({}));
    assert_eq!(project.json(&["pr", "show", "1"])["state"], "open");
    project
}

/// Asserts that a tick finds the merge, pays nobody, and cleans up.
fn assert_noticed(project: &Project) {
    let runs = project.tick_wait();
    assert!(runs.is_empty(), "nobody is paid: {runs:#?}");
    assert_eq!(project.issue("SYM-1")["status"], "done");
    let pr = project.json(&["pr", "show", "1"]);
    assert_eq!(pr["state"], "merged", "{pr:#}");
    assert_eq!(pr["merged_outside"]["by"], "a person", "{pr:#}");
    assert!(!project.worktree("SYM-1").exists());
    assert_eq!(project.git(&["branch", "--list", BRANCH]), "");
    project.assert_sound();
    // noticed once
    assert!(project.tick_wait().is_empty());
    let history = project.ok(&["issue", "history", "SYM-1"]);
    assert_eq!(
        history
            .matches("was merged outside Symphony by a person")
            .count(),
        1,
        "{history}"
    );
}

fn inbox(project: &Project) -> Vec<serde_json::Value> {
    let inbox = project.json(&["inbox"]);
    let items = inbox["items"].as_array().unwrap();
    items
        .iter()
        .filter(|item| item["kind"] == "base")
        .cloned()
        .collect()
}

#[test]
fn a_fast_forward_ends_the_review() {
    let project = with_pull_request();
    project.git(&["merge", "-q", "--ff-only", BRANCH]);
    let planned = project.ok(&["tick", "--dry-run"]);
    assert!(
        planned.contains("record that it was merged outside"),
        "{planned}"
    );
    assert_eq!(
        project.issue("SYM-1")["status"],
        "review",
        "a dry run writes nothing"
    );
    assert_noticed(&project);
    let [item] = inbox(&project).try_into().unwrap();
    assert_eq!(
        item["text"],
        "pull request 1 was merged into main outside Symphony by a person, without approval"
    );
    // once a person has seen it, it is off the list
    let key = text(&item["key"]);
    project.ok(&["inbox", "--dismiss", &key]);
    assert!(inbox(&project).is_empty());
    for gone in [key.as_str(), "review:SYM-1"] {
        let answer = project.symphony(&["inbox", "--dismiss", gone]);
        assert_ne!(answer.code, 0, "{answer:#?}");
    }
    project.assert_sound();
}

#[test]
fn a_merge_commit_ends_the_review() {
    let project = with_pull_request();
    project.commit_files(&[("other.txt", "x\n")]);
    project.git(&["merge", "-q", "--no-ff", "-m", "Merge it", BRANCH]);
    assert_noticed(&project);
}

#[test]
fn a_squash_on_a_base_that_went_on_ends_the_review() {
    let project = with_pull_request();
    project.commit_files(&[("other.txt", "x\n")]);
    project.git(&["merge", "-q", "--squash", BRANCH]);
    project.git(&["commit", "-q", "-m", "Say hello (#1)"]);
    project.commit_files(&[("other.txt", "y\n")]);
    assert_noticed(&project);
}

#[test]
fn a_rebase_of_two_commits_ends_the_review_and_half_of_it_does_not() {
    let project = with_pull_request();
    project.commit_files(&[("other.txt", "x\n")]);
    project.git(&["cherry-pick", &format!("{BRANCH}~1")]);
    project.configure_more(&json!({ "judge_enabled": false }));
    assert!(project.tick_wait().is_empty());
    assert_eq!(project.issue("SYM-1")["status"], "review");
    assert!(
        inbox(&project).is_empty(),
        "a picked commit is a person's own"
    );
    project.git(&["cherry-pick", BRANCH]);
    project.configure_more(&json!({}));
    assert_noticed(&project);
}

#[test]
fn an_edited_version_leaves_the_review_open() {
    let project = with_pull_request();
    project.git(&["merge", "-q", "--squash", BRANCH]);
    std::fs::write(project.root.join("more.txt"), "more or less\n").unwrap();
    project.git(&["add", "more.txt"]);
    project.git(&["commit", "-q", "-m", "Nearly"]);
    project.tick_one("judge", "succeeded");
    assert_eq!(project.issue("SYM-1")["status"], "review");
}

#[test]
fn a_merge_on_a_forge_is_noticed_once_it_is_pulled() {
    let project = with_pull_request();
    let forge = project.beside.join("forge.git");
    let forge = forge.to_str().unwrap();
    project.git(&["init", "-q", "--bare", "-b", "main", forge]);
    project.git(&["push", "-q", forge, "main", BRANCH]);
    let clone = project.beside.join("clone");
    let clone = clone.to_str().unwrap();
    project.git(&["clone", "-q", forge, clone]);
    project.git(&[
        "-C",
        clone,
        "merge",
        "-q",
        "--no-ff",
        "-m",
        "Merge pull request #1",
        "origin/symphony/SYM-1",
    ]);
    project.git(&["-C", clone, "push", "-q", "origin", "main"]);
    project.git(&["pull", "-q", "--ff-only", forge, "main"]);
    assert_noticed(&project);
}

#[test]
fn what_waited_for_it_goes_on() {
    let project = with_pull_request();
    project.ok(&["issue", "add", "Say more", "--depends-on", "SYM-1"]);
    assert!(
        project
            .json(&["explain", "SYM-2"])
            .to_string()
            .contains("SYM-1")
    );
    project.git(&["merge", "-q", "--ff-only", BRANCH]);
    let runs: Vec<_> = [project.tick_wait(), project.tick_wait()].concat();
    let [run] = runs.as_slice() else {
        panic!("{runs:#?}")
    };
    assert_eq!(
        (&run["issue"], &run["profile"]),
        (&json!("SYM-2"), &json!("worker"))
    );
}

#[test]
fn a_judge_at_work_is_ended() {
    let slow = scenario("judge", &json!({ "match_system": JUDGE }), [hang()]);
    let turns = [commit("hello.txt", "hello"), create_pr("Say hello")];
    let project = Project::new("outside", &scenarios([worker(turns), slow]), &json!({}));
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    let judge = project.tick_start();
    wait_until("the judge is at work", || {
        project.run(&judge)["status"] == "running"
    });
    project.git(&["merge", "-q", "--ff-only", BRANCH]);
    project.ok(&["tick"]);
    assert_eq!(project.issue("SYM-1")["status"], "done");
    wait_until("the judge ends", || {
        project.run(&judge)["status"] == "cancelled"
    });
    wait_until("the worktree is removed", || {
        project.tick_wait();
        !project.worktree("SYM-1").exists()
    });
    project.assert_sound();
}

#[test]
fn an_agent_that_moves_the_base_itself_merges_nothing() {
    let push = crate::support::bash(
        "git -C ../.. fetch -q \"$PWD\" HEAD; git push -q ../.. HEAD:main 2>/dev/null || git -C ../.. update-ref refs/heads/main FETCH_HEAD",
    );
    let turns = [
        commit("hello.txt", "hello"),
        create_pr("Say hello"),
        push,
        hang(),
    ];
    let project = Project::new(
        "outside",
        &scenarios([worker(turns), approving_judge()]),
        &json!({}),
    );
    project.git(&["checkout", "-q", "--detach"]);
    project.add_issue("Say hello");
    // the first look, before anything moves
    let run = project.tick_start();
    wait_until("the base has moved", || {
        project.git(&["rev-parse", "main"]) != project.git(&["rev-parse", "HEAD"])
    });
    project.ok(&["tick"]);
    assert_eq!(project.issue("SYM-1")["status"], "review");
    let [item] = inbox(&project).try_into().unwrap();
    assert!(
        text(&item["text"]).contains("while its own agent was running"),
        "{item:#}"
    );
    project.ok(&["runs", "cancel", &run]);
    // nobody has decided: the judge looks, and a person merges
    wait_until("a judge has approved it", || {
        project.tick_wait();
        project.json(&["pr", "show", "1"])["state"] == "approved"
    });
    project.ok(&["pr", "merge", "SYM-1"]);
    assert_eq!(project.issue("SYM-1")["status"], "done");
    assert!(inbox(&project).is_empty());
    project.assert_sound();
}

#[test]
fn commits_without_a_pull_request_and_of_cancelled_issues_are_told_once() {
    let turns = [commit("hello.txt", "hello")];
    let project = Project::new("outside", &scenarios([worker(turns)]), &json!({}));
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    project.ok(&["pause"]);
    project.git(&["merge", "-q", "--ff-only", BRANCH]);
    project.tick_wait();
    project.tick_wait();
    let [item] = inbox(&project).try_into().unwrap();
    assert!(
        text(&item["text"]).contains("there is no pull request"),
        "{item:#}"
    );
    assert_ne!(project.issue("SYM-1")["status"], "done");
    // closing the issue answers it
    project.ok(&[
        "issue",
        "close",
        "SYM-1",
        "--done",
        "--reason",
        "Merged by hand.",
    ]);
    assert!(inbox(&project).is_empty());

    project.ok(&["resume"]);
    project.add_issue("Say hello again");
    let again = [crate::support::bash(&format!(
        "echo again > again.txt && {}",
        crate::support::git_commit("again.txt", "again")
    ))];
    let scenario = project.beside.join("scenario.json");
    std::fs::write(scenario, scenarios([worker(again)]).to_string()).unwrap();
    project.tick_one("worker", "succeeded");
    project.ok(&["issue", "move", "SYM-2", "cancelled"]);
    project.tick_wait();
    project.git(&["merge", "-q", "--no-ff", "-m", "oops", "symphony/SYM-2"]);
    project.tick_wait();
    let [item] = inbox(&project).try_into().unwrap();
    assert!(
        text(&item["text"]).contains("the issue is cancelled"),
        "{item:#}"
    );
    project.ok(&["inbox", "--dismiss", &text(&item["key"])]);
    assert!(inbox(&project).is_empty());
}

#[cfg(feature = "failpoints")]
mod deaths {
    use symphony_workspace::Failpoint;

    use super::*;
    use crate::deaths::{Deaths, MERGE, TICK};

    #[test]
    fn a_tick_that_dies_while_it_notices_a_merge_is_followed_by_one_that_does() {
        for row in [
            &[(Failpoint::OutsideMergeRecorded, TICK)] as crate::deaths::Row,
            &[(Failpoint::BaseLooked, TICK)],
        ] {
            let mut project = with_pull_request();
            project.git(&["merge", "-q", "--ff-only", BRANCH]);
            let deaths = Deaths::arm(&mut project, row);
            assert!(deaths.give(&project, &["tick"]).unwrap());
            deaths.check().unwrap();
            assert_noticed(&project);
            assert_eq!(inbox(&project).len(), 1);
        }
    }

    #[test]
    fn a_merge_by_symphony_that_was_cut_off_is_recorded_as_what_it_is() {
        let mut project = with_pull_request();
        let deaths = Deaths::arm(&mut project, &[(Failpoint::MergeMoved, MERGE)]);
        assert!(deaths.give(&project, &["pr", "merge", "SYM-1"]).unwrap());
        deaths.check().unwrap();
        assert!(project.tick_wait().is_empty());
        let pr = project.json(&["pr", "show", "1"]);
        assert_eq!(pr["state"], "merged", "{pr:#}");
        assert_eq!(pr["merged_outside"], serde_json::Value::Null, "{pr:#}");
        assert_eq!(pr["verdict"]["author"], "human", "{pr:#}");
        assert!(inbox(&project).is_empty());
        project.assert_sound();
    }
}
