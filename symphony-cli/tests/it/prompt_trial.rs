//! `symphony prompt record` and `symphony prompt trial`: agents whose effect is known are compared, end to end.

use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::prompt_trial_support::{project, set, sets, trial, write};
use crate::support::{
    Project, agents_of, approving_judge, bash, create_pr, git_commit, hang, scenarios, text, until,
    worker,
};

fn measure(answer: &Value, name: &str) -> Value {
    let measures = answer["report"]["measures"].as_array().unwrap();
    let found = measures.iter().find(|one| one["measure"] == name);
    found
        .unwrap_or_else(|| panic!("no {name}: {answer:#}"))
        .clone()
}

#[test]
fn a_set_with_a_known_effect_is_seen_and_nothing_of_the_project_changes() {
    let project = project("trial", 10);
    // a trial in real work has no say in a replay
    let live = json!({ "name": "live", "b": project.beside.join("careful"), "share": 1 });
    project.configure_more(&json!({ "prompts": { "trial": live } }));
    let before = (
        project.git(&["for-each-ref"]),
        project.git(&["status", "--porcelain"]),
        project.json(&["runs", "list"]),
    );
    let sets = sets(&project, "plain", "careful");
    let answer = project.json(&trial(&sets, &["--name", "marker"]));
    assert_eq!(
        (&answer["planned"], &answer["ended"]),
        (&json!(10), &json!(10))
    );
    for name in ["gates_first_time", "approved"] {
        let found = measure(&answer, name);
        assert_eq!(
            (&found["a"]["hits"], &found["b"]["hits"], &found["found"]),
            (&json!(0), &json!(5), &json!("higher_with_b")),
            "{answer:#}"
        );
        assert_eq!(found["more_cases"], 0);
    }
    let shown = project.ok(&["prompt", "trial", "--name", "marker", "--report"]);
    assert!(shown.contains("higher with B"), "{shown}");
    let after = (
        project.git(&["for-each-ref"]),
        project.git(&["status", "--porcelain"]),
        project.json(&["runs", "list"]),
    );
    assert_eq!(before, after);
    let folder = project.root.join(".symphony/trials/marker");
    assert_eq!(std::fs::read_dir(folder.join("work")).unwrap().count(), 0);
}

#[test]
fn equal_sets_show_no_difference_and_a_case_without_its_base_is_left_out() {
    let project = project("equal", 2);
    let path = project.root.join("issues.json");
    let mut document: Value =
        serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let mut gone = document["issues"][0].clone();
    gone["id"] = json!("SYM-9");
    gone["base_commit"] = json!("0123456789abcdef0123456789abcdef01234567");
    document["issues"].as_array_mut().unwrap().push(gone);
    write(path, &document.to_string());

    let sets = sets(&project, "careful", "careful");
    let answer = project.symphony(&trial(&sets, &["--both", "--json"]));
    assert!(
        answer
            .stderr
            .contains("Agents read the same texts with set A and set B"),
        "{answer:#?}"
    );
    let answer = answer.json();
    assert_eq!(
        (
            &answer["report"]["cases_a"],
            &answer["report"]["cases_b"],
            &answer["report"]["left_out"]
        ),
        (&json!(2), &json!(2), &json!(2)),
        "{answer:#}"
    );
    let found = measure(&answer, "approved");
    assert_eq!(
        json!([
            found["found"],
            found["more_cases"],
            found["pairs"],
            answer["report"]["pairs"]
        ]),
        json!(["too_few", null, 2, 2])
    );
    let shown = project.ok(&["prompt", "trial", "--report"]);
    let paired = "Paired: B minus A compares the two results of each of the 2 issues that were repeated with both sets.";
    assert!(shown.contains(paired), "{shown}");
    assert!(
        shown.contains("SYM-9 with A: its base commit 0123456789abcdef0123456789abcdef01234567 is no longer in the repository"),
        "{shown}"
    );
}

#[test]
fn a_trial_that_stops_goes_on_where_it_was() {
    let project = project("resumed", 2);
    let sets = sets(&project, "plain", "careful");
    // a limit that is reached by the first case
    let scenario = project.beside.join("scenario.json");
    let mut agents: Value =
        serde_json::from_str(&std::fs::read_to_string(&scenario).unwrap()).unwrap();
    for agent in agents["scenarios"].as_array_mut().unwrap() {
        agent["usage"] = json!({ "input_tokens": 100, "output_tokens": 10 });
    }
    std::fs::write(&scenario, agents.to_string()).unwrap();
    let first = project.symphony(&trial(&sets, &["--max-tokens", "100", "--json"]));
    assert_eq!(
        (first.code, &first.json()["ended"]),
        (0, &json!(1)),
        "{first:#?}"
    );
    assert!(
        first.stderr.contains("--max-tokens is 100"),
        "{}",
        first.stderr
    );
    // what a case that was cut off left is no obstacle
    let work = project.root.join(".symphony/trials/trial/work");
    for case in ["SYM-1-A", "SYM-1-B", "SYM-2-A", "SYM-2-B"] {
        write(work.join(case).join("project/half"), "half");
    }
    let second = project.json(&["prompt", "trial"]);
    assert_eq!(second["ended"], 2);
    assert_eq!(
        second["cases"][0],
        first.json()["cases"][0],
        "the first case is not repeated"
    );

    // the same name with something else is refused
    set(&project, "careful", "\nSomething else.\n");
    let other = project.symphony(&trial(&sets, &[]));
    assert_eq!(other.code, 4, "{other:#?}");
    assert!(
        other.stderr.contains("other files in the set B"),
        "{}",
        other.stderr
    );
    // one that is gone is no loss: the trial has a copy
    std::fs::remove_dir_all(project.beside.join("careful")).unwrap();
    let gone = project.symphony(&trial(&sets, &[]));
    assert_eq!(gone.code, 3, "{gone:#?}");
    assert!(
        gone.stderr
            .contains("`symphony prompt trial --name trial` continues it with them"),
        "{}",
        gone.stderr
    );
}

#[test]
fn ctrl_c_ends_the_agent_and_the_case_begins_again() {
    let project = project("interrupted", 1);
    let scenario = project.beside.join("scenario.json");
    let agents = std::fs::read_to_string(&scenario).unwrap();
    std::fs::write(&scenario, scenarios([worker([hang()])]).to_string()).unwrap();
    let sets = sets(&project, "careful", "plain");
    let (begun, run) = hanging(&project, &sets, "stopped");
    let pid = Pid::from_child(&begun);
    kill_process(pid, Signal::INT).unwrap();
    let ended = begun.wait_with_output().unwrap();
    let told = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(1), "{told}");
    assert!(
        told.contains("it was interrupted")
            && told.contains("`symphony prompt trial --name stopped` continues it"),
        "{told}"
    );
    assert_eq!(agents_of(&run), Vec::<String>::new());

    std::fs::write(&scenario, agents).unwrap();
    let answer = project.json(&["prompt", "trial", "--name", "stopped"]);
    assert_eq!(
        (&answer["cases"][0]["end"], &answer["cases"][0]["attempts"]),
        (&json!("approved"), &json!(1)),
        "{answer:#}"
    );
}

/// Begins a trial whose agent hangs; returns its process and the run that is at work.
fn hanging(project: &Project, sets: &[String; 4], name: &str) -> (Child, String) {
    let begun = project
        .command(&trial(sets, &["--name", name]))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let work = project.root.join(".symphony/trials").join(name);
    let runs = work.join("work/SYM-1-A/project/.symphony/runs");
    let run = until("the agent is at work", || {
        let runs = std::fs::read_dir(&runs).ok()?.flatten();
        let mut runs = runs.map(|run| run.file_name().to_string_lossy().into_owned());
        runs.find(|run| !agents_of(run).is_empty())
    });
    (begun, run)
}

#[test]
fn a_trial_that_was_killed_goes_on_and_no_two_processes_run_it_at_once() {
    let project = project("killed", 1);
    let scenario = project.beside.join("scenario.json");
    let agents = std::fs::read_to_string(&scenario).unwrap();
    std::fs::write(&scenario, scenarios([worker([hang()])]).to_string()).unwrap();
    let sets = sets(&project, "careful", "plain");
    let (mut begun, run) = hanging(&project, &sets, "killed");

    for second in [
        trial(&sets, &["--name", "killed"]),
        vec!["prompt", "trial", "--name", "killed"],
    ] {
        let refused = project.symphony(&second);
        assert_eq!(refused.code, 5, "{refused:#?}");
        let holder = format!("process {} is running the trial", begun.id());
        assert!(refused.stderr.contains(&holder), "{}", refused.stderr);
    }
    let report = project.json(&["prompt", "trial", "--name", "killed", "--report"]);
    assert_eq!(report["ended"], 0, "a report waits for nobody");

    begun.kill().unwrap();
    begun.wait().unwrap();
    // its agent lives on, and holds nothing
    std::fs::write(&scenario, agents).unwrap();
    let answer = project.json(&["prompt", "trial", "--name", "killed"]);
    assert_eq!(
        (
            &answer["ended"],
            &answer["cases"][0]["end"],
            &answer["cases"][0]["attempts"]
        ),
        (&json!(1), &json!("approved"), &json!(1)),
        "{answer:#}"
    );
    assert_eq!(agents_of(&run), Vec::<String>::new());
}

/// A kill loses what its case came to, and not what it has cost.
#[test]
fn what_a_case_that_was_killed_has_spent_counts_for_the_limits() {
    let project = project("spent", 2);
    let scenario = project.beside.join("scenario.json");
    let agents = std::fs::read_to_string(&scenario).unwrap();
    let mut spends = worker([bash("true"), hang()]);
    spends["usage"] = json!({ "input_tokens": 100, "output_tokens": 10 });
    std::fs::write(&scenario, scenarios([spends]).to_string()).unwrap();
    let sets = sets(&project, "careful", "plain");
    let begin = trial(&sets, &["--name", "spent"]);
    let mut begun = project
        .command(&begin)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let work = project.root.join(".symphony/trials/spent/work");
    until("the agent has spent something", || {
        let case = std::fs::read_dir(&work).ok()?.flatten().next()?;
        let runs = case.path().join("project/.symphony/runs");
        let run = std::fs::read_dir(runs).ok()?.flatten().next()?;
        let log = std::fs::read_to_string(run.path().join("stream.ndjson")).ok()?;
        log.contains("tool_result").then_some(())
    });
    begun.kill().unwrap();
    begun.wait().unwrap();

    // the limit is looked at before the case begins again
    std::fs::write(&scenario, agents).unwrap();
    let limited = ["prompt", "trial", "--name", "spent", "--max-tokens", "100"];
    let first = project.json(&limited);
    assert_eq!(first["ended"], 0, "{first:#}");
    let spent = &first["spent"]["tokens"];
    assert!(spent.as_u64().unwrap() >= 100, "{first:#}");
    assert_eq!(spent, &first["spent"]["tokens_cut_off"]);
    // a second look counts nothing twice
    let again = project.json(&limited);
    assert_eq!(again, first);

    let answer = project.json(&begin);
    assert_eq!(answer["ended"], 2, "{answer:#}");
    assert_eq!(&answer["spent"]["tokens_cut_off"], spent, "{answer:#}");
    let shown = project.ok(&["prompt", "trial", "--name", "spent", "--report"]);
    assert!(
        shown.contains("went into cases that were cut off"),
        "{shown}"
    );
}

#[test]
fn an_outage_stops_a_trial_and_its_case_is_in_no_number_until_it_has_run_again() {
    let project = project("outage", 2);
    let scenario = project.beside.join("scenario.json");
    let agents = std::fs::read_to_string(&scenario).unwrap();
    let mut limited = create_pr("Greet");
    limited["faults"] =
        json!([{ "type": "http", "status": 429, "message": "usage limit reached", "times": -1 }]);
    std::fs::write(&scenario, scenarios([worker([limited])]).to_string()).unwrap();
    let sets = sets(&project, "careful", "careful");
    let stopped = project.symphony(&trial(&sets, &["--name", "limit", "--json"]));
    assert_eq!(
        (stopped.code, &stopped.json()["ended"]),
        (1, &json!(0)),
        "{stopped:#?}"
    );
    let report = &stopped.json()["report"];
    assert_eq!(
        (&report["cases_a"], &report["left_out"]),
        (&json!(0), &json!(0))
    );
    assert_eq!(report["measures"], json!([]));

    std::fs::write(&scenario, agents).unwrap();
    let answer = project.json(&["prompt", "trial", "--name", "limit"]);
    assert_eq!(answer["ended"], 2, "{answer:#}");
    let attempts = measure(&answer, "attempts");
    assert_eq!(
        (&attempts["a"]["estimate"], &attempts["b"]["estimate"]),
        (&json!(1.0), &json!(1.0)),
        "{answer:#}"
    );
}

#[test]
fn a_broken_set_is_refused_with_file_and_line_before_anything_runs() {
    let project = project("broken", 1);
    let path = project.beside.join("careful/profiles/worker.md");
    write(path.clone(), "---\ntype: worker\nnonsense: 1\n---\nWork.\n");
    let sets = sets(&project, "plain", "careful");
    let refused = project.symphony(&trial(&sets, &[]));
    assert_eq!(refused.code, 1, "{refused:#?}");
    assert!(
        refused.stderr.contains("the prompts of the set B have")
            && refused.stderr.contains("worker.md:3:"),
        "{}",
        refused.stderr
    );
    assert!(!project.root.join(".symphony/trials").exists());
    // what nothing reads is no error, and no text of the set
    let typo = project.beside.join("careful/profile/worker.md");
    std::fs::rename(path.parent().unwrap(), typo.parent().unwrap()).unwrap();
    write(project.root.join("issues.json"), "{\"version\": 1}");
    let refused = project.symphony(&trial(&sets, &[]));
    assert!(
        refused.stderr.contains("Set B: ")
            && refused
                .stderr
                .contains("did you mean `profiles/worker.md`?"),
        "{refused:#?}"
    );
    assert!(
        refused
            .stderr
            .contains("the issues in issues.json cannot be read: missing field `issues` at line 1"),
        "{refused:#?}"
    );
    let one = project.symphony(&["prompt", "trial", "--set", "A=.", "--issues", "issues.json"]);
    assert_eq!(one.code, 2, "{one:#?}");
}

#[test]
fn an_issue_is_recorded_with_the_commit_that_its_work_started_from() {
    let project = Project::new(
        "recorded",
        &scenarios([
            worker([
                bash(&format!(
                    "echo hello > hello.txt && {}",
                    git_commit("hello.txt", "Greet")
                )),
                create_pr("Greet"),
            ]),
            approving_judge(),
        ]),
        &json!({}),
    );
    let base = project.git(&["rev-parse", "HEAD"]).trim().to_owned();
    for (more, found) in [
        (&[][..], "no issue is done yet"),
        (
            &["--label", "bug"],
            "no issue that is done has the label bug",
        ),
    ] {
        let refused = project.symphony(&[&["prompt", "record", "issues.json"], more].concat());
        assert_eq!(refused.code, 3, "{refused:#?}");
        assert!(refused.stderr.contains(found), "{refused:#?}");
    }
    let issue = project.add_issue("Greet");
    project.ok(&["issue", "comment", &issue, "In English."]);
    project.tick_one("worker", "succeeded");
    project.ok(&["issue", "comment", &issue, "Too late for the agent."]);
    project.ok(&["pr", "merge", &issue, "--force"]);
    // one that is named twice is recorded once
    project.ok(&["prompt", "record", "issues.json", &issue, &issue]);
    let twice = std::fs::read_to_string(project.root.join("issues.json")).unwrap();
    project.ok(&["prompt", "record", "issues.json"]);
    let once = std::fs::read_to_string(project.root.join("issues.json")).unwrap();
    assert_eq!(twice, once);
    let recorded: Value =
        serde_json::from_str(&std::fs::read_to_string(project.root.join("issues.json")).unwrap())
            .unwrap();
    let found = &recorded["issues"][0];
    assert_eq!(
        (
            text(&found["id"]),
            text(&found["base_commit"]),
            &found["comments"]
        ),
        (issue, base, &json!([{ "text": "In English." }])),
        "{recorded:#}"
    );
}
