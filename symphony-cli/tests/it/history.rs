//! What happened, as sentences: `issue history`, `events`, and what `doctor` says of entries that it cannot read.

use serde_json::{Value, json};
use symphony_core::issue::IssueEvent;

use crate::records::{failed_run, moved, open_pr, record_gates};
use crate::support::{Project, until};

fn database(project: &Project) -> rusqlite::Connection {
    rusqlite::Connection::open(project.root.join(".symphony/symphony.db")).unwrap()
}

/// Returns the column of sentences, without the run's id and the commit.
fn sentences(text: &str, replaced: &[(&str, &str)]) -> String {
    let head = text.lines().next().unwrap();
    let column = head.find("WHAT").unwrap();
    let mut told = String::new();
    for line in text.lines().skip(1) {
        told.push_str(line.get(column..).unwrap());
        told.push('\n');
    }
    for (found, word) in replaced {
        told = told.replace(found, word);
    }
    told
}

fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn the_history_of_an_issue_is_told_in_sentences() {
    let project = Project::recorded();
    let issue = project.add_issue("One");
    let run = failed_run(&project, &issue);
    let pr = open_pr(&project, &issue, "Say hello");
    record_gates(&project, pr, false);
    project.ok(&["pr", "reject", "SYM-1", "--feedback", "No"]);
    moved(
        &project,
        &issue,
        &IssueEvent::AgentBlocked {
            reason: "no network\nat all".to_owned(),
        },
    );
    let head = project.git(&["rev-parse", "symphony/SYM-1"]);
    let told = project.ok(&["issue", "history", "sym-1"]);
    let run = run.as_str();
    let words = [
        (run.get(28..).unwrap(), "RUN"),
        (head.get(..8).unwrap(), "COMMIT"),
    ];
    insta::assert_snapshot!(sentences(&told, &words), @r"
    SYM-1 was added in todo: One (not verified: no terminal)
    Run RUN (worker) started on SYM-1
    SYM-1 moved from todo to in_progress: an agent started on it
    Run RUN failed on SYM-1: agent failed
    SYM-1 moved from in_progress to todo: its run ended
    SYM-1 moved from todo to in_progress: an agent started on it
    SYM-1 moved from in_progress to review: its pull request was submitted
    Pull request 1 was submitted on COMMIT
    A required gate failed on COMMIT (pull request 1)
    Review point 1 (must) was raised on SYM-1 (not verified: no terminal)
    A comment was added to SYM-1 (not verified: no terminal)
    Pull request 1 was rejected (not verified: no terminal)
    SYM-1 moved from review to todo: its review ended without approval (not verified: no terminal)
    SYM-1 moved from todo to blocked: its agent cannot continue: no network
    ");

    let newest = project.ok(&["issue", "history", "SYM-1", "-n", "1"]);
    assert_eq!(
        sentences(&newest, &[]),
        "SYM-1 moved from todo to blocked: its agent cannot continue: no network\n"
    );
    let missing = project.symphony(&["issue", "history", "SYM-99"]);
    assert_eq!((missing.code, missing.stdout.as_str()), (3, ""));
}

#[test]
fn events_in_json_are_an_object_a_line_with_their_payload() {
    let project = Project::recorded();
    project.add_issue("One");
    project.add_issue("Two");
    project.ok(&["pause"]);
    let all = lines(&project.ok(&["events", "--json"]));
    let kinds: Vec<_> = all
        .iter()
        .map(|event| event["kind"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        [
            "project_added",
            "issue_added",
            "issue_added",
            "dispatch_paused"
        ]
    );
    let of_two = lines(&project.ok(&["events", "--issue", "SYM-2", "--json"]));
    let event = &of_two[0];
    assert_eq!(
        (
            &event["issue"],
            &event["actor"],
            &event["payload"],
            &event["sentence"]
        ),
        (
            &json!("SYM-2"),
            &json!("human"),
            &json!({ "state": { "status": "todo" }, "title": "Two" }),
            &json!("SYM-2 was added in todo: Two")
        )
    );
    assert_eq!(of_two.len(), 1);
    let newest = lines(&project.ok(&["events", "-n", "1", "--json"]));
    assert_eq!(newest, all[3..]);
}

#[test]
fn events_of_a_run_are_followed_until_it_has_ended() {
    let project = Project::recorded();
    let issue = project.add_issue("One");
    let run = failed_run(&project, &issue);
    let told = project.ok(&["events", "--run", "SYM-1", "--follow"]);
    let short = run.as_str().get(28..).unwrap();
    let said = |sentence: &str| told.lines().any(|line| line.ends_with(sentence));
    assert!(
        said(&format!("Run {short} (worker) started on SYM-1")),
        "{told}"
    );
    assert!(
        said(&format!("Run {short} failed on SYM-1: agent failed")),
        "{told}"
    );
    assert!(!told.contains("was added"), "{told}");
}

#[test]
fn new_events_are_printed_as_they_come() {
    let project = Project::recorded();
    project.add_issue("One");
    let path = project.beside.join("followed.txt");
    let mut following = project
        .command(&["events", "--follow", "-n", "1"])
        .stdout(std::fs::File::create(&path).unwrap())
        .spawn()
        .unwrap();
    let printed = || std::fs::read_to_string(&path).unwrap();
    let has = |text: &str| printed().contains(text).then_some(());
    until("the entry there is", || {
        has("SYM-1 was added in todo: One (not verified: no terminal)\n")
    });
    project.add_issue("Two");
    until("the entry that comes", || {
        has("SYM-2 was added in todo: Two (not verified: no terminal)\n")
    });
    assert!(
        !printed().contains("Project"),
        "only the newest was asked for"
    );
    following.kill().unwrap();
    following.wait().unwrap();
}

#[test]
fn entries_of_a_newer_version_are_shown_and_reported() {
    let project = Project::recorded();
    project.add_issue("One");
    database(&project)
        .execute_batch(
            "INSERT INTO event (at, issue, actor, kind, payload) VALUES
             (1, 'SYM-1', 'human', 'tea_made', '{\"sugar\":2}'),
             (1, 'SYM-1', 'human', 'issue_edited', '\"in full\"'),
             (1, 'SYM-1', 'human', 'tea_made', '{}')",
        )
        .unwrap();
    let told = project.ok(&["issue", "history", "SYM-1"]);
    insta::assert_snapshot!(sentences(&told, &[]), @r"
    SYM-1 was added in todo: One (not verified: no terminal)
    An entry that this version of Symphony cannot read was written: tea_made
    An entry that this version of Symphony cannot read was written: issue_edited
    An entry that this version of Symphony cannot read was written: tea_made
    ");
    let payload = &lines(&project.ok(&["issue", "history", "SYM-1", "--json"]))[1]["payload"];
    assert_eq!(payload, &json!({ "sugar": 2 }));
    let doctor = project.symphony(&["doctor"]).stdout;
    assert!(
        doctor.contains(
            "2 entries of the event log are of a kind that this version does not know (tea_made)"
        ),
        "{doctor}"
    );
    assert_eq!(project.symphony(&["doctor", "--audit"]).code, 0);
}
