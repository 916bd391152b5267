//! Orders that cross a merge: whoever comes first to a pull request whose merge has begun finishes it or takes it back, and the
//! order finds what is then. Nothing is merged and turned down at once.

use std::fs::File;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::plan_support::{any_phase, plan_of};
use crate::support::{Answer, Project, commit, create_pr, scenarios, text, until, worker};

/// A project whose agents carry plans out, and open pull requests for issues; no judge is started.
pub(crate) fn project() -> Project {
    let worker = worker([commit("hello.txt", "hello"), create_pr("Say hello")]);
    let config =
        json!({ "judge_enabled": false, "gates": [{ "name": "check", "command": "true" }] });
    Project::new("project", &scenarios([any_phase(), worker]), &config)
}

/// With a plan in review.
pub(crate) fn with_plan() -> Project {
    let project = project();
    std::fs::write(project.root.join("plan.md"), plan_of(&[("a", &[])])).unwrap();
    project.ok(&["plan", "run", "plan.md"]);
    project.tick_one("gates", "succeeded");
    project
}

/// With an issue in review.
pub(crate) fn with_issue() -> Project {
    let project = project();
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    project
}

/// A command at work.
fn begin(project: &Project, arguments: &[&str]) -> Child {
    spawned(&mut project.command(arguments))
}

/// A command at work, whose answer is awaited later.
pub(crate) fn spawned(command: &mut Command) -> Child {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The answer of a command.
pub(crate) fn answer(child: Child) -> Answer {
    child.wait_with_output().unwrap().into()
}

/// Has a merge begin, and returns what keeps git from moving its base, as another process of Symphony's does.
pub(crate) fn begin_merge(project: &Project) -> (Child, File) {
    let lock = File::create(project.root.join(".git/symphony.lock")).unwrap();
    lock.lock().unwrap();
    let merge = begin(project, &["pr", "merge", "1"]);
    until("the merge to be intended", || {
        let events = project.ok(&["events", "--json"]);
        events.contains("merge_intended").then_some(())
    });
    (merge, lock)
}

/// What became of the merge and of an order that was given between its intent and its effect.
fn cross(project: &Project, order: &[&str]) -> (Answer, Answer) {
    let (merge, lock) = begin_merge(project);
    let mut order = begin(project, order);
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert!(order.try_wait().unwrap().is_none(), "the order waits");
    drop(lock);
    (answer(merge), answer(order))
}

fn state(project: &Project) -> String {
    text(&project.json(&["pr", "show", "1"])["state"])
}

fn plan_status(project: &Project) -> Value {
    project.json(&["plan", "status"])["status"].clone()
}

#[test]
fn an_order_on_a_plan_waits_for_the_merge_that_has_begun() {
    for order in [
        &["pr", "reject", "1", "--feedback", "no"] as &[&str],
        &["pr", "close", "1"],
        &["plan", "abort"],
        &["plan", "retry", "a"],
    ] {
        let project = with_plan();
        let (merge, answer) = cross(&project, order);
        assert_eq!(merge.code, 0, "{order:?}: {merge:#?}");
        assert_eq!(answer.code, 4, "{order:?}: {answer:#?}");
        assert_eq!(state(&project), "merged", "{order:?}");
        assert_eq!(plan_status(&project), "completed", "{order:?}");
        project.assert_sound();
    }
}

#[test]
fn an_order_on_an_issue_waits_for_the_merge_that_has_begun() {
    for order in [
        &["pr", "reject", "1", "--feedback", "no"] as &[&str],
        &["issue", "close", "SYM-1", "--cancelled", "--reason", "no"],
        &["pr", "close", "1"],
    ] {
        let project = with_issue();
        let (merge, answer) = cross(&project, order);
        assert_eq!(merge.code, 0, "{order:?}: {merge:#?}");
        assert_ne!(answer.code, 0, "{order:?}: {answer:#?}");
        assert_eq!(state(&project), "merged", "{order:?}");
        assert_eq!(project.issue("SYM-1")["status"], "done", "{order:?}");
        project.assert_sound();
    }
}

#[test]
fn a_plan_that_is_completed_has_nothing_left_to_give_up() {
    let project = with_plan();
    project.ok(&["pr", "merge", "1"]);
    let answer = project.symphony(&["plan", "abort"]);
    assert_eq!(answer.code, 4, "{answer:#?}");
    let told = "the plan is completed: it has already ended";
    assert!(answer.stderr.contains(told), "{answer:#?}");
    let listed = project.json(&["pr", "list", "--plan", "plan"]);
    assert_eq!(listed["items"][0]["state"], "merged", "{listed:#}");
    let unknown = project.symphony(&["pr", "list", "--plan", "other"]);
    assert_eq!(unknown.code, 3, "{unknown:#?}");
}

#[test]
fn a_check_whose_gates_a_merge_ends_says_so() {
    let project = project();
    let wait = project.beside.join("wait");
    let command = format!("while test -e '{}'; do sleep 0.05; done", wait.display());
    project.configure_more(&json!({ "gates": [{ "name": "check", "command": command }] }));
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    std::fs::write(&wait, "").unwrap();
    let check = begin(&project, &["pr", "check", "1"]);
    until("the gates to run", || {
        let runs = project.json(&["runs", "list", "--issue", "SYM-1"]);
        let newest = runs["items"][0].clone();
        (newest["profile"] == "gates" && newest["status"] == "running").then_some(())
    });
    let merge = begin(&project, &["pr", "merge", "1"]);
    let check = Answer::from(check.wait_with_output().unwrap());
    std::fs::remove_file(&wait).unwrap();
    let merge = Answer::from(merge.wait_with_output().unwrap());
    assert_eq!(merge.code, 0, "{merge:#?}");
    assert_eq!(check.code, 1, "{check:#?}");
    let said = format!("{}{}", check.stdout, check.stderr);
    assert!(!said.contains("fail on the base"), "{said}");
    assert!(
        said.contains("a person or `symphony pr merge` stopped them")
            || said.contains("it was merged meanwhile"),
        "{said}"
    );
    project.assert_sound();
}
