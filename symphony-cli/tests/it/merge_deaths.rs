//! Merges that died between their intent and their record, and orders that come before any tick.

use serde_json::{Value, json};
use symphony_workspace::Failpoint;

use crate::deaths::{Deaths, MERGE, Row};
use crate::merge_crossings::{with_issue, with_plan};
use crate::support::{Answer, Project, Served, text};
use crate::web_users::{add_user, events_of};

const INTENDED: Row = &[(Failpoint::MergeIntended, MERGE)];
const CHECKOUT_MOVED: Row = &[(Failpoint::MergeCheckoutMoved, MERGE)];
const MOVED: Row = &[(Failpoint::MergeMoved, MERGE)];

/// Lets `pr merge 1` die at a point, and gives an order then.
fn die_and(mut project: Project, row: Row, order: &[&str]) -> (Project, Answer) {
    let deaths = Deaths::arm(&mut project, row);
    assert_eq!(deaths.give(&project, &["pr", "merge", "1"]), Ok(true));
    let answer = project.symphony(order);
    deaths.check().unwrap();
    (project, answer)
}

fn state(project: &Project) -> String {
    text(&project.json(&["pr", "show", "1"])["state"])
}

fn plan_status(project: &Project) -> Value {
    project.json(&["plan", "status"])["status"].clone()
}

#[test]
fn an_order_after_a_merge_that_reached_its_base_finds_it_merged() {
    for order in [
        &["plan", "abort"] as &[&str],
        &["pr", "reject", "1", "--feedback", "no"],
        &["pr", "close", "1"],
        &["plan", "retry", "a"],
    ] {
        let (project, answer) = die_and(with_plan(), MOVED, order);
        assert_ne!(answer.code, 0, "{order:?}: {answer:#?}");
        let told = "its interrupted merge is recorded";
        assert!(answer.stderr.contains(told), "{order:?}: {answer:#?}");
        assert_eq!(state(&project), "merged", "{order:?}");
        assert_eq!(plan_status(&project), "completed", "{order:?}");
        project.ok(&["tick", "--wait"]);
        project.assert_sound();
    }
    for order in [
        &["issue", "close", "SYM-1", "--cancelled", "--reason", "no"] as &[&str],
        &["pr", "reject", "1", "--feedback", "no"],
    ] {
        let (project, answer) = die_and(with_issue(), MOVED, order);
        assert_ne!(answer.code, 0, "{order:?}: {answer:#?}");
        assert_eq!(state(&project), "merged", "{order:?}");
        assert_eq!(project.issue("SYM-1")["status"], "done", "{order:?}");
        project.ok(&["tick", "--wait"]);
        project.assert_sound();
    }
}

#[test]
fn an_order_after_a_merge_that_did_not_reach_its_base_is_carried_out() {
    for row in [INTENDED, CHECKOUT_MOVED] {
        for (order, expected) in [
            (&["plan", "abort"] as &[&str], "aborted"),
            (
                &["pr", "reject", "1", "--feedback", "no"],
                "awaiting_user_decision",
            ),
            (&["plan", "retry", "a"], "running"),
        ] {
            let (project, answer) = die_and(with_plan(), row, order);
            assert_eq!(answer.code, 0, "{order:?}: {answer:#?}");
            let told = "did not reach main";
            assert!(answer.stderr.contains(told), "{order:?}: {answer:#?}");
            assert_eq!(plan_status(&project), expected, "{order:?}");
            assert_eq!(project.git(&["log", "--format=%s", "main"]), "begin");
            assert_eq!(project.git(&["status", "--porcelain", "-uno"]), "");
            project.ok(&["tick", "--wait"]);
            project.assert_sound();
        }
    }
}

#[test]
fn a_tick_names_who_ordered_a_merge_on_the_page_that_was_cut_off() {
    let mut project = with_issue();
    let token = add_user(&project, "grace", "admin");
    let deaths = Deaths::arm(&mut project, &[(Failpoint::MergeMoved, "serve")]);
    let served = Served::start(&project, &[]);
    let browser = served.sign_in_as(&token);
    assert_eq!(browser.post("/prs/1/merge", &[]).status, 0);
    assert_eq!(deaths.count(), 1);
    project.ok(&["tick", "--wait"]);
    assert_eq!(state(&project), "merged");
    for kind in ["merge_intended", "pr_state"] {
        let events = events_of(&project, kind);
        let event = events.last().unwrap();
        let by = json!([
            event["actor"],
            event["source"],
            event["user"],
            event["unverified"]
        ]);
        assert_eq!(by, json!(["human", "web", "grace", null]), "{event:#}");
    }
    project.assert_sound();
}

#[test]
fn a_tick_settles_a_merge_that_was_cut_off() {
    for (row, expected, told) in [
        (INTENDED, "open", "did not reach main"),
        (MOVED, "merged", "is recorded"),
    ] {
        let (project, answer) = die_and(with_plan(), row, &["tick"]);
        assert_eq!(answer.code, 0, "{answer:#?}");
        assert!(answer.stdout.contains(told), "{answer:#?}");
        assert_eq!(state(&project), expected);
        project.assert_sound();
    }
}
