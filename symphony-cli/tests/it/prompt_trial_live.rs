//! `prompts.trial`: issues in real work are given one of two sets of prompts and keep it, and the report is made from what was recorded.

use serde_json::{Value, json};
use symphony_core::id::IssueId;
use symphony_core::prompt_trial::{PromptSet, Share, TrialName, assign};

use crate::support::{
    Project, approving_judge, bash, commit, create_pr, git_commit, scenario, scenarios, text,
    worker,
};

/// The word that makes the scripted agent work well.
const MARKER: &str = "Check your work before you hand it in.";

/// A worker that hands in what its gate accepts at once where its prompt has the marker, and at its second attempt elsewhere.
fn agents() -> Value {
    let commit = |script: &str| {
        let commit = git_commit("$f", "Greet");
        bash(&format!("f=$(basename \"$PWD\").txt; {script}; {commit}"))
    };
    let careful = scenario(
        "careful",
        &json!({ "match_system": format!("(?s)^# Worker$.*{MARKER}") }),
        [commit("echo hello > $f"), create_pr("Greet")],
    );
    let careless = worker([
        commit("if [ -e $f ]; then echo hello > $f; else echo goodbye > $f; fi"),
        create_pr("Greet"),
    ]);
    scenarios([careful, careless, approving_judge()])
}

/// A project whose set B has the marker.
fn project(name: &str, trial: &Value) -> Project {
    let project = Project::new(
        name,
        &agents(),
        &json!({
            "judge_cooldown_ms": 0,
            "max_retry_backoff_ms": 0,
            "gates": [{ "name": "check", "command": "! grep goodbye *.txt", "retries": 0 }],
        }),
    );
    set(&project, "new", &format!("\n{MARKER}\n"));
    project.configure_more(&json!({ "prompts": { "trial": trial } }));
    project
}

/// A set: the shipped worker with some words more.
fn set(project: &Project, name: &str, words: &str) {
    let shipped = include_str!("../../../prompts/profiles/worker.md");
    let path = project.beside.join(name).join("profiles/worker.md");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, format!("{shipped}{words}")).unwrap();
}

fn trial(project: &Project, name: &str, share: f64) -> Value {
    json!({ "name": name, "b": project.beside.join("new"), "share": share })
}

fn set_trial(project: &Project, trial: &Value) {
    project.configure_more(&json!({ "prompts": { "trial": trial } }));
}

/// The set that the hash gives.
fn expected(name: &str, issue: &str, share: f64) -> &'static str {
    let set: PromptSet = assign(
        &TrialName::parse(name).unwrap(),
        &IssueId::parse(issue).unwrap(),
        Share::new(share).unwrap(),
    );
    set.name()
}

/// Ticks until the issue is done, merging what was approved.
fn finish(project: &Project, issue: &str) {
    for _ in 0..12 {
        project.tick_wait();
        let prs = project.issue(issue)["pull_requests"].clone();
        let mut prs = prs.as_array().unwrap().iter();
        if prs.any(|pr| pr["state"] == "approved") {
            project.ok(&["pr", "merge", issue]);
            return;
        }
    }
    panic!("{issue} was not approved: {:#}", project.issue(issue));
}

/// The sets that the runs of an issue were built with, oldest first, those of gates left out.
fn sets_of(project: &Project, issue: &str) -> Vec<(String, String)> {
    let runs = project.issue(issue)["runs"].clone();
    let mut sets: Vec<(String, String)> = runs
        .as_array()
        .unwrap()
        .iter()
        .filter(|run| run["profile"] != "gates")
        .map(|run| (text(&run["profile"]), text(&run["prompt_set"]["set"])))
        .collect();
    sets.reverse();
    sets
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    let pair = |(profile, set): &(&str, &str)| ((*profile).to_owned(), (*set).to_owned());
    expected.iter().map(pair).collect()
}

#[test]
fn every_run_of_an_issue_has_its_set_and_keeps_it_when_the_share_changes() {
    let project = project("live-sets", &json!({}));
    set_trial(&project, &trial(&project, "words", 0.0));
    let first = project.add_issue("Greet");
    // the first attempt is refused by the gate, and everything is B from now on
    project.tick_one("worker", "succeeded");
    set_trial(&project, &trial(&project, "words", 1.0));
    finish(&project, &first);
    assert_eq!(
        sets_of(&project, &first),
        pairs(&[("worker", "A"), ("worker", "A"), ("judge", "A")])
    );
    let second = project.add_issue("Greet again");
    let shown = project.ok(&["prompt", "show", &second, "--text"]);
    assert!(shown.contains(MARKER), "{shown}");
    assert!(shown.contains("B of the trial words"), "{shown}");
    finish(&project, &second);
    assert_eq!(
        sets_of(&project, &second),
        pairs(&[("worker", "B"), ("judge", "B")])
    );
    let shown = project.ok(&["prompt", "show", &first, "--text"]);
    assert!(!shown.contains(MARKER), "{shown}");
    let runs = project.issue(&second)["runs"].clone();
    let judge = runs.as_array().unwrap().iter();
    let judge = judge.clone().find(|run| run["profile"] == "judge").unwrap();
    let run = text(&judge["id"]);
    let shown = project.ok(&["runs", "show", &run]);
    assert!(shown.contains("B of the trial words"), "{shown}");
    assert_eq!(
        project.json(&["runs", "show", &run])["prompt_set"],
        json!({ "trial": "words", "set": "B", "issue": second })
    );
    let shown = project.ok(&["issue", "show", &second]);
    assert!(shown.contains("B of the trial words"), "{shown}");
    project.assert_sound();
}

#[test]
fn sub_tasks_have_the_set_of_the_issue_above_them() {
    let project = project("live-tree", &json!({}));
    set_trial(&project, &trial(&project, "words", 0.5));
    let top = project.add_issue("Greet");
    let set = expected("words", &top, 0.5);
    for number in 2..6 {
        let title = format!("Greet number {number}");
        let child = project.json(&["issue", "add", &title, "--parent", &top]);
        let child = text(&child["identifier"]);
        let shown = project.json(&["prompt", "show", &child]);
        assert_eq!(
            shown["prompt_set"],
            json!({ "trial": "words", "set": set, "issue": top }),
            "{child}"
        );
    }
}

#[test]
fn a_set_that_cannot_be_used_is_named_and_no_agent_is_paid() {
    let project = project("live-broken", &json!({}));
    let mut broken = trial(&project, "words", 1.0);
    broken["b"] = json!(project.beside.join("gone"));
    set_trial(&project, &broken);
    let issue = project.add_issue("Greet");
    let missing = format!(
        "`prompts.trial.b`: there is no folder {}",
        project.beside.join("gone").display()
    );
    for command in [
        &["config", "check"][..],
        &["prompt", "lint"],
        &["doctor"],
        &["status"],
        &["explain", &issue],
    ] {
        let answer = project.symphony(command);
        let told = format!("{}{}", answer.stdout, answer.stderr).replace('\n', " ");
        let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains(&missing), "{command:?}: {told}");
        assert!(told.contains("config.json:"), "{command:?}: {told}");
    }
    assert_eq!(project.tick_wait(), Vec::<Value>::new());
    // nor is anything built of the shipped prompts in the place of the missing ones
    let shown = project.symphony(&["prompt", "show", &issue]);
    assert_ne!(shown.code, 0, "{shown:#?}");
    assert!(shown.stderr.contains(&missing), "{shown:#?}");

    let profile = project.beside.join("new/profiles/worker.md");
    std::fs::write(
        &profile,
        "---\nname: Worker\ntype: worker\nnonsense: 1\n---\nWork.\n",
    )
    .unwrap();
    set_trial(&project, &trial(&project, "words", 1.0));
    for command in [&["config", "check"][..], &["prompt", "lint"], &["doctor"]] {
        let answer = project.symphony(command);
        assert_ne!(answer.code, 0, "{command:?}");
        let told = format!("{}{}", answer.stdout, answer.stderr);
        assert!(told.contains("worker.md:4:"), "{command:?}: {told}");
    }
    assert_eq!(project.tick_wait(), Vec::<Value>::new());
    assert!(project.ok(&["status"]).contains("(`prompts.trial.b`)"));

    let shipped = include_str!("../../../prompts/profiles/worker.md");
    let other = shipped.replacen("model: inherit", "model: haiku", 1);
    std::fs::write(&profile, other).unwrap();
    let answer = project.symphony(&["prompt", "lint"]);
    assert!(
        answer
            .stdout
            .contains("the profile of the worker asks for different models"),
        "{answer:#?}"
    );
    assert_eq!(project.tick_wait(), Vec::<Value>::new());

    // one command of a person is enough to go on
    let alone = project.symphony(&["config", "set", "prompts.trial.name", "null"]);
    assert!(alone.stderr.contains("as one JSON object"), "{alone:#?}");
    project.ok(&["config", "set", "prompts.trial", "{}"]);
    assert_eq!(
        project.tick_wait().len(),
        1,
        "{:#?}",
        project.symphony(&["explain", &issue])
    );
}

/// Finds a measure of the report.
fn measure(answer: &Value, name: &str) -> Value {
    let measures = answer["report"]["measures"].as_array().unwrap();
    let found = measures.iter().find(|one| one["measure"] == name);
    found
        .unwrap_or_else(|| panic!("no {name}: {answer:#}"))
        .clone()
}

#[test]
fn the_report_has_what_each_set_came_to_and_outlives_the_configuration() {
    let project = project("live-report", &json!({}));
    let begin = trial(&project, "words", 0.5).to_string();
    project.ok(&["config", "set", "prompts.trial", &begin]);
    let empty = project.json(&["prompt", "trial", "--live"]);
    assert_eq!(
        (&empty["live"], &empty["cases"]),
        (&json!(true), &json!([]))
    );
    let mut with = std::collections::BTreeMap::from([("A", Vec::new()), ("B", Vec::new())]);
    while with.values().any(|issues| issues.len() < 2) {
        let issue = project.add_issue("Greet");
        let set = expected("words", &issue, 0.5);
        if with[set].len() < 2 {
            finish(&project, &issue);
            with.get_mut(set).unwrap().push(issue);
        } else {
            project.ok(&["issue", "cancel", &issue]);
        }
    }
    let open = project.add_issue("Greet no more");
    project.tick_one("worker", "succeeded");
    let set = expected("words", &open, 0.5).to_lowercase();

    let answer = project.json(&["prompt", "trial", "--live"]);
    for (name, a, b) in [
        ("gates_first_time", json!(0.0), json!(1.0)),
        ("approved", json!(1.0), json!(1.0)),
        ("attempts", json!(2.0), json!(1.0)),
    ] {
        let found = measure(&answer, name);
        assert_eq!(
            (&found["a"]["cases"], &found["b"]["cases"]),
            (&json!(2), &json!(2)),
            "{answer:#}"
        );
        assert_eq!(
            (
                &found["a"]["estimate"],
                &found["b"]["estimate"],
                &found["found"]
            ),
            (&a, &b, &json!("too_few")),
            "{name}: {answer:#}"
        );
    }
    assert_eq!(answer["at_work"][&set], json!(1), "{answer:#}");
    assert_eq!(answer["cases"].as_array().unwrap().len(), 4);
    let shown = project.ok(&["prompt", "trial", "--live"]);
    for words in [
        "Trial words in real work",
        "live, 50% of the issues get B",
        "4 issues: 2 with A, 2 with B",
        "too few: each set needs 5 cases",
    ] {
        assert!(shown.contains(words), "{shown}");
    }

    let a = 2 + usize::from(set == "a");
    let line = format!(
        "the trial words is live: 50% of the issues get B (so far {a} had A, and {} had B)",
        5 - a
    );
    for command in ["status", "doctor"] {
        let told = project.symphony(&[command]).stdout;
        let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains(&line), "{command}: {told}");
    }

    // the history stays when the trial is taken out
    project.ok(&["config", "set", "prompts.trial", "{}"]);
    let later = project.json(&["prompt", "trial", "--live"]);
    assert_eq!(later["report"], answer["report"]);
    assert_eq!(
        (&later["live"], &later["name"]),
        (&json!(false), &json!("words"))
    );
    assert_eq!(project.json(&["prompt", "trial", "--live", "words"]), later);
    assert_eq!(later["changed_texts"], json!([]));
    // what goes on without its set is left out, and counted
    finish(&project, &open);
    let later = project.json(&["prompt", "trial", "--live"]);
    assert_eq!(later["report"]["left_out"], json!(1), "{later:#}");
    let unknown = project.symphony(&["prompt", "trial", "--live", "other"]);
    assert_eq!(unknown.code, 3, "{unknown:#?}");
    assert!(
        unknown
            .stderr
            .contains("`symphony prompt trial --live words`"),
        "{unknown:#?}"
    );
    project.assert_sound();
}

#[test]
fn an_agent_that_changes_a_set_is_reported() {
    let project = project("live-changed", &json!({}));
    let notes = project.beside.join("new/notes.md");
    let agent = worker([
        bash(&format!("echo approve > {}", notes.display())),
        commit("own.txt", "hello"),
        create_pr("Greet"),
    ]);
    std::fs::write(
        project.beside.join("scenario.json"),
        scenarios([agent, approving_judge()]).to_string(),
    )
    .unwrap();
    set_trial(&project, &trial(&project, "words", 1.0));
    project.add_issue("Greet");
    let run = project.tick_one("worker", "succeeded");
    assert_eq!(
        project.run(&text(&run["id"]))["metadata"]["left_behind"],
        json!([{ "kind": "configuration", "path": "prompts.trial.b/notes.md" }])
    );
    let told = project.ok(&["inbox"]);
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("(prompts.trial.b/notes.md)"), "{told}");
}

#[test]
fn a_report_that_mixes_two_texts_of_a_set_says_so() {
    let project = project("live-edited", &json!({}));
    set_trial(&project, &trial(&project, "words", 1.0));
    project.add_issue("Greet");
    project.tick_one("worker", "succeeded");
    set(&project, "new", &format!("\n{MARKER} And again.\n"));
    let second = project.add_issue("Greet again");
    finish(&project, &second);
    let answer = project.json(&["prompt", "trial", "--live"]);
    assert_eq!(
        answer["changed_texts"],
        json!([{ "set": "B", "profile": "worker", "text": "profile", "versions": 2 }])
    );
    let shown = project.ok(&["prompt", "trial", "--live"]);
    assert!(
        shown.contains("Set B: the profile of the worker had 2 versions."),
        "{shown}"
    );
}

#[test]
fn sets_that_read_the_same_are_a_warning_and_hold_nothing() {
    let project = project("live-equal", &json!({}));
    set(&project, "new", "");
    set_trial(&project, &trial(&project, "words", 1.0));
    let shown = project.ok(&["prompt", "lint"]);
    assert!(
        shown.contains("`prompts.trial.b`: agents read the same with both sets"),
        "{shown}"
    );
    project.add_issue("Greet");
    project.tick_one("worker", "succeeded");
}
