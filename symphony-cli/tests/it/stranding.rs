//! Nothing gets stuck without a word: each state of the database in which no tick goes on with something is in the inbox, or,
//! where only a defect leads to it, `doctor --audit` reports it. Commands do not lead to such a state.

use serde_json::{Value, json};
use symphony_core::agent::AgentType;
use symphony_core::failure::ErrorClass;
use symphony_core::run::RunTarget;

use crate::records::{add, claimed_run, end_run, id, idle_project, open_pr, record_gates};
use crate::support::{Project, text};

/// Puts the database into a state that no command leads to.
fn plant(project: &Project, sql: &str) {
    let file = project.root.join(".symphony/symphony.db");
    let database = rusqlite::Connection::open(file).unwrap();
    database.execute_batch(sql).unwrap();
}

/// What the audit says is stranded, as `subject: why`.
fn stranded(project: &Project) -> Vec<String> {
    let answer = project.symphony(&["doctor", "--audit", "--json"]);
    let found: Value = serde_json::from_str(&answer.stdout).expect("a document");
    let items = found["items"].as_array().expect("a list").iter();
    items
        .filter(|item| item["invariant"] == "L1")
        .map(|item| format!("{}: {}", text(&item["subject"]), text(&item["detail"])))
        .collect()
}

/// What waits for a person, as `subject kind`.
fn inbox(project: &Project) -> Vec<String> {
    let inbox = project.json(&["inbox"]);
    let items = inbox["items"].as_array().expect("a list").iter();
    let line = |item: &Value| {
        let about = item["issue"].as_str().unwrap_or("-");
        format!("{about} {}", text(&item["kind"]))
    };
    let mut found: Vec<String> = items.map(line).collect();
    found.sort();
    found
}

/// Only a defect, or another program, leads to these: `explain` and the audit name each.
#[test]
fn a_state_that_no_tick_goes_on_with_is_reported() {
    let project = idle_project(&json!({}));
    let lost = add(&project, "Its run is gone", &[]);
    let (parent, child) = (add(&project, "Split", &[]), "SYM-3".to_owned());
    assert_eq!(add(&project, "Part", &["--parent", &parent]), child);
    let hidden = add(&project, "Miscounted", &[]);
    let done = add(&project, "Ended with an open pull request", &[]);
    open_pr(&project, &done, "A change");
    let behind = add(&project, "Waits for the lost one", &["--depends-on", &lost]);
    assert_eq!(stranded(&project), [""; 0], "so far all is well");
    plant(
        &project,
        &format!(
            "UPDATE issue SET status = 'in_progress' WHERE id = '{lost}';
             INSERT INTO issue_dependency VALUES ('{child}', '{parent}');
             UPDATE issue SET open_dependencies = 1 WHERE id IN ('{child}', '{hidden}');
             UPDATE issue SET status = 'done' WHERE id = '{done}';"
        ),
    );
    let found = stranded(&project);
    for expected in [
        "SYM-1: it is in_progress, but no run is live on it".to_owned(),
        format!("{parent}: it waits in a circle: {parent} → {child} → {parent}"),
        format!("{child}: it waits in a circle: {child} → {parent} → {child}"),
        format!("{hidden}: nothing prevents it from starting, but no tick starts it"),
        format!("{behind}: it waits for {lost}: it is in_progress, but no run is live on it"),
        format!("pull request 1: it waits for {done}, which has ended or does not exist"),
    ] {
        assert!(found.contains(&expected), "{expected}\n{found:#?}");
    }
    let explained = project.ok(&["explain", &hidden]);
    assert!(
        explained.contains(
            "nothing prevents it from starting, but no tick starts it: this is a defect in Symphony"
        ),
        "{explained}"
    );
    let explained = project.json(&["explain", &hidden]);
    assert_eq!(explained["standing"]["state"], "stranded");
}

/// Ordinary commands lead to these, and each was silent: a person finds it in the inbox now.
#[test]
fn what_waits_in_the_backlog_for_a_person_is_in_the_inbox() {
    let project = idle_project(&json!({ "max_retries": 1 }));
    let spent = add(&project, "Never works", &[]);
    let run = claimed_run(&project, RunTarget::Issue(id(&spent)), AgentType::Worker);
    end_run(&project, &run, ErrorClass::AgentFailed, 1);
    // a higher limit does not take the issue out of the backlog
    project.configure_more(&json!({ "max_retries": 9 }));
    let parked = add(&project, "Not asked for", &["--status", "backlog"]);
    let needed = add(&project, "Needed", &["--status", "backlog"]);
    let first = add(&project, "Needs it", &["--depends-on", &needed]);
    add(&project, "Needs it too", &["--depends-on", &needed]);
    assert_eq!(
        inbox(&project),
        [format!("{spent} breaker"), format!("{needed} needed")]
    );
    let shown = project.ok(&["inbox"]);
    assert!(
        shown.contains("it is in the backlog, and SYM-4, SYM-5 wait for it")
            && shown.contains(&format!("symphony issue move {needed} todo")),
        "{shown}"
    );
    assert_eq!(stranded(&project), [""; 0]);
    let state = |issue: &str| project.json(&["explain", issue])["standing"]["state"].clone();
    assert_eq!(state(&spent), "waits_for_person");
    assert_eq!(state(&needed), "waits_for_person");
    assert_eq!(state(&first), "waits_for");
    assert_eq!(state(&parked), "not_asked_for");
    // the answers work
    project.ok(&["issue", "move", &needed, "todo"]);
    project.ok(&["issue", "retry", &spent]);
    assert_eq!(inbox(&project), [""; 0]);
}

#[test]
fn what_agents_propose_is_one_entry_until_a_person_has_looked() {
    let project = idle_project(&json!({}));
    add(&project, "Not asked for", &["--status", "backlog"]);
    for title in ["One", "Two"] {
        add(&project, title, &["--status", "backlog"]);
    }
    plant(
        &project,
        "DROP TRIGGER event_is_append_only_u;
         UPDATE event SET actor = 'scanner', unverified = NULL WHERE issue IN ('SYM-2', 'SYM-3') AND kind = 'issue_added';
         UPDATE issue SET is_proposed = 1 WHERE id IN ('SYM-2', 'SYM-3');",
    );
    let items = project.json(&["inbox"])["items"].clone();
    assert_eq!(items.as_array().map(Vec::len), Some(1), "{items}");
    assert_eq!(
        items[0]["text"],
        "2 issues that agents proposed wait in the backlog: SYM-2, SYM-3"
    );
    assert_eq!(stranded(&project), [""; 0]);
    // intake looks at them first, where there is one
    project.configure_more(&json!({ "intake_enabled": true }));
    assert_eq!(inbox(&project), [""; 0]);
    assert_eq!(stranded(&project), [""; 0]);
    project.configure_more(&json!({}));
    project.ok(&["issue", "move", "SYM-2", "todo"]);
    project.ok(&["issue", "move", "SYM-3", "cancelled"]);
    assert_eq!(inbox(&project), [""; 0]);
}

/// A publication that failed waits for a person wherever its issue is meanwhile.
#[test]
fn a_publication_that_failed_is_in_the_inbox_whatever_its_issue_waits_for() {
    let project = idle_project(&json!({}));
    let issue = add(&project, "Published in vain", &[]);
    let pr = open_pr(&project, &issue, "A change");
    record_gates(&project, pr, true);
    plant(
        &project,
        "INSERT INTO publication (pull_request, commit_id, state, output, started_at, ended_at)
         VALUES (1, 'c0ffee', 'failed', 'no network', 1, 2);",
    );
    for status in ["review", "backlog"] {
        if status == "backlog" {
            project.ok(&["issue", "move", &issue, status]);
        }
        let found = inbox(&project);
        assert!(
            found.contains(&format!("{issue} publication")),
            "{status}: {found:?}"
        );
        assert_eq!(stranded(&project), [""; 0], "{status}");
    }
}

/// A sub-task that depends on its parent would wait for itself.
#[test]
fn a_circle_by_sub_tasks_is_refused() {
    let project = idle_project(&json!({}));
    let parent = add(&project, "Split", &[]);
    let child = add(&project, "Part", &["--parent", &parent]);
    let refused = project.symphony(&["issue", "edit", &child, "--depends-on", &parent]);
    assert_eq!(refused.code, 4, "{}", refused.stderr);
    assert!(
        refused.stderr.contains(&format!(
            "{child} cannot depend on {parent}: {parent} waits for {child}, by its dependencies or its sub-tasks"
        )),
        "{}",
        refused.stderr
    );
    assert_eq!(stranded(&project), [""; 0]);
}

/// A pause holds everything up, and may be forgotten.
#[test]
fn a_pause_is_in_the_inbox_until_it_ends() {
    let project = idle_project(&json!({}));
    let issue = add(&project, "Wait", &[]);
    project.ok(&["pause"]);
    project.ok(&["pause"]);
    let items = project.json(&["inbox"])["items"].clone();
    assert_eq!(items.as_array().map(Vec::len), Some(1), "{items}");
    assert_eq!(items[0]["answers"], json!(["symphony resume"]));
    assert_eq!(
        project.json(&["explain", &issue])["standing"]["state"],
        "waits_for_person"
    );
    assert_eq!(stranded(&project), [""; 0]);
    project.ok(&["resume"]);
    assert_eq!(inbox(&project), [""; 0]);
}

/// What git or the machine did before the agent began says nothing about the issue.
#[test]
fn runs_that_cannot_be_prepared_use_no_attempt_and_end_in_the_inbox() {
    let project = idle_project(&json!({ "max_retries": 1 }));
    let issue = add(&project, "Cannot be prepared", &[]);
    let mut waits = Vec::new();
    for tries in 1..=4 {
        let run = claimed_run(&project, RunTarget::Issue(id(&issue)), AgentType::Worker);
        end_run(&project, &run, ErrorClass::NotPrepared, 1);
        let shown = project.json(&["issue", "show", &issue]);
        assert_eq!(shown["status"], "todo", "{shown}");
        assert_eq!(shown["total_runs"], 0, "{shown}");
        let status = project.json(&["status"]);
        let due: symphony_core::Timestamp = text(&status["retries"][0]["due_at"]).parse().unwrap();
        let ended: symphony_core::Timestamp =
            text(&project.json(&["runs", "show", run.as_str()])["ended_at"])
                .parse()
                .unwrap();
        waits.push((due.as_millisecond() - ended.as_millisecond() + 500) / 1_000);
        let expected = if tries < 3 {
            vec![]
        } else {
            vec![format!("{issue} preparation")]
        };
        assert_eq!(inbox(&project), expected, "{tries}");
        assert_eq!(stranded(&project), [""; 0]);
        let explained = project.json(&["explain", &issue]);
        assert_eq!(explained["standing"]["state"], "due", "{explained}");
    }
    assert_eq!(waits, [5, 10, 20, 40]);
    let shown = project.ok(&["inbox"]);
    assert!(
        shown.contains("its runs could not be prepared 4 times in a row; this used no attempt and is tried again: it gave up"),
        "{shown}"
    );
    // a run that gets further ends the row
    let run = claimed_run(&project, RunTarget::Issue(id(&issue)), AgentType::Worker);
    end_run(&project, &run, ErrorClass::AgentFailed, 9);
    assert_eq!(inbox(&project), [""; 0]);
    assert_eq!(project.json(&["issue", "show", &issue])["total_runs"], 1);
}
