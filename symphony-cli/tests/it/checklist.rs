//! Acceptance criteria from end to end: answered before the work is handed in, and checked one by one.

use serde_json::{Value, json};

use crate::support::{
    JUDGE, Project, WORKER, bash, call, commit, create_pr, scenario, scenarios, text, turn, until,
};

const DESCRIPTION: &str =
    "Greet.\n\n## Acceptance criteria\n\n- [ ] It greets.\n- [ ] It ends well.\n";

fn hand_in(checklist: &Value) -> Value {
    let call_of =
        |checklist| json!({ "title": "Greet", "body": "As asked.", "checklist": checklist });
    turn(call("mcp__symphony__create_pr", call_of(checklist)))
}

/// Ticks until a run starts, and returns it with its user prompt.
fn next(project: &Project, profile: &str) -> (Value, String) {
    let runs = until("the next run", || {
        Some(project.tick_wait()).filter(|runs| !runs.is_empty())
    });
    let [run] = runs.as_slice() else {
        panic!("one run was expected: {runs:#?}")
    };
    let found = (run["profile"].as_str(), run["status"].as_str());
    assert_eq!(found, (Some(profile), Some("succeeded")), "{run:#}");
    let prompt = project.run_file(&text(&run["id"]), "user-prompt.md");
    (run.clone(), prompt)
}

#[test]
fn the_worker_answers_each_criterion_and_the_judge_names_those_that_it_finds_not_met() {
    let answered = json!([
        { "item": 2, "state": "not_met", "note": "there is no end" },
        { "item": 1, "state": "met", "note": "hello.txt" },
    ]);
    let unknown = json!([{ "text": "not there", "criterion": 9, "severity": "note" }]);
    let points = json!([{ "text": "no end is needed", "criterion": 3, "severity": "should" }]);
    let verdict = |points: &Value| {
        turn(call(
            "mcp__symphony__approve_pr",
            json!({ "points": points }),
        ))
    };
    let scenes = [
        scenario(
            "works",
            &json!({ "match_system": WORKER }),
            [
                commit("hello.txt", "hello"),
                create_pr("Too early"),
                hand_in(&json!([{ "item": 1, "state": "met" }])),
                hand_in(&answered),
            ],
        ),
        scenario(
            "judges",
            &json!({ "match_system": JUDGE }),
            [verdict(&unknown), verdict(&points)],
        ),
    ];
    let project = Project::new("project", &scenarios(scenes), &json!({}));
    project.json(&["issue", "add", "Greet", "--description", DESCRIPTION]);
    let (run, prompt) = next(&project, "worker");
    assert!(
        prompt.contains("\n1. It greets.\n2. It ends well.\n"),
        "{prompt}"
    );
    let errors = project.tool_errors(&text(&run["id"]));
    let [early, partly] = errors.as_slice() else {
        panic!("two refusals were expected: {errors:#?}")
    };
    assert!(
        early.contains("no answer to 1 (“It greets.”); no answer to 2 (“It ends well.”)"),
        "{early}"
    );
    assert!(
        partly.contains("no answer to 2") && !partly.contains("no answer to 1"),
        "{partly}"
    );

    // Answers follow their criteria; what came afterwards is named as such.
    let changed = DESCRIPTION.replace("- [ ] It greets.", "- [ ] It sings.\n- [ ] It greets.");
    project.json(&["issue", "edit", "SYM-1", "--description", &changed]);
    let (run, prompt) = next(&project, "judge");
    let listed = "1. It sings.\n   not answered: it came or changed after the worker was given its criteria\n\
                  2. It greets.\n   met, says the worker: hello.txt\n\
                  3. It ends well.\n   not_met, says the worker: there is no end\n";
    assert!(prompt.contains(listed), "{prompt}");
    let errors = project.tool_errors(&text(&run["id"]));
    let told = "points[0]: there is no criterion 9; they have the numbers 1 to 3";
    assert!(errors.len() == 1 && errors[0].contains(told), "{errors:?}");

    let shown = project.json(&["pr", "show", "SYM-1"]);
    let expected = json!([
        { "item": 1, "text": "It greets.", "state": "met", "note": "hello.txt" },
        { "item": 2, "text": "It ends well.", "state": "not_met", "note": "there is no end" },
    ]);
    assert_eq!(shown["checklist"], expected, "{shown:#}");
    assert_eq!(shown["state"], "approved");
    assert_eq!(
        shown["points"][0]["text"],
        "Acceptance criterion 3 (“It ends well.”): no end is needed"
    );
    let page = project.ok(&["pr", "show", "SYM-1"]);
    assert!(
        page.contains("2. not met: It ends well.\n  there is no end\n"),
        "{page}"
    );
}

#[test]
fn an_issue_without_criteria_needs_no_checklist() {
    let scenes = [scenario(
        "works",
        &json!({ "match_system": WORKER }),
        [
            commit("hello.txt", "hello"),
            hand_in(&json!([{ "item": 1, "state": "met" }])),
            create_pr("Greet"),
        ],
    )];
    let project = Project::new("project", &scenarios(scenes), &json!({}));
    project.add_issue("Greet");
    let (run, prompt) = next(&project, "worker");
    assert!(!prompt.contains("## Acceptance Criteria"), "{prompt}");
    let errors = project.tool_errors(&text(&run["id"]));
    let told = "the issue has no acceptance criteria; leave `checklist` out";
    assert!(errors.len() == 1 && errors[0].contains(told), "{errors:?}");
    assert!(project.json(&["pr", "show", "SYM-1"])["checklist"].is_null());
}

/// Criteria that a person changes while the worker works: its numbers are those that it was given.
#[test]
fn an_answer_is_to_the_criterion_that_the_worker_was_given() {
    let wait = "touch ../../working; until [ -e ../../edited ]; do sleep 0.02; done";
    let answers = json!([
        { "item": 1, "state": "met", "note": "hello.txt" },
        { "item": 2, "state": "met", "note": "a test" },
    ]);
    let points = json!([{ "text": "it loses some", "criterion": 1, "severity": "should" }]);
    let approve = turn(call(
        "mcp__symphony__approve_pr",
        json!({ "points": points }),
    ));
    let scenes = [
        scenario(
            "works",
            &json!({ "match_system": WORKER }),
            [commit("hello.txt", "hello"), bash(wait), hand_in(&answers)],
        ),
        scenario("judges", &json!({ "match_system": JUDGE }), [approve]),
    ];
    let project = Project::new("project", &scenarios(scenes), &json!({}));
    project.json(&["issue", "add", "Greet", "--description", DESCRIPTION]);
    let run = project.tick_start();
    until("the worker is at work", || {
        project.root.join("working").exists().then_some(())
    });
    let changed = "## Acceptance criteria\n- [ ] It never loses data.\n- [ ] It greets.\n";
    project.json(&["issue", "edit", "SYM-1", "--description", changed]);
    std::fs::write(project.root.join("edited"), "").unwrap();
    until("the work is handed in", || {
        Some(project.run(&run)).filter(|run| run["status"] == "succeeded")
    });

    let shown = project.json(&["pr", "show", "SYM-1"]);
    let answered = json!([
        { "item": 1, "text": "It greets.", "state": "met", "note": "hello.txt" },
        { "item": 2, "text": "It ends well.", "state": "met", "note": "a test" },
    ]);
    assert_eq!(shown["checklist"], answered, "{shown:#}");
    let since = json!({
        "not_answered": [{ "item": 1, "text": "It never loses data." }],
        "dropped": ["It ends well."],
    });
    assert_eq!(shown["criteria_changed"], since, "{shown:#}");
    let page = project.ok(&["pr", "show", "SYM-1"]);
    let told = "Acceptance criteria that changed after the worker started\n\
                1. not answered: It never loses data.\n- no longer a criterion: It ends well.\n";
    assert!(page.contains(told), "{page}");
    let (_, prompt) = next(&project, "judge");
    let listed = "1. It never loses data.\n   not answered: it came or changed after the worker was given its criteria\n\
                  2. It greets.\n   met, says the worker: hello.txt\n";
    assert!(prompt.contains(listed), "{prompt}");
    let shown = project.json(&["pr", "show", "SYM-1"]);
    assert_eq!(
        shown["points"][0]["text"],
        "Acceptance criterion 1 (“It never loses data.”): it loses some"
    );
}

#[test]
fn prompt_show_names_what_may_be_meant_as_criteria() {
    let project = Project::recorded();
    let text = "Greet.\n\n## Acceptance criteria of the parser\n\n- [ ] It greets.\n";
    project.json(&["issue", "add", "Greet", "--description", text]);
    let shown = project.ok(&["prompt", "show", "SYM-1"]);
    let told = "warning: SYM-1: “Acceptance criteria of the parser” is not recognised as the heading of acceptance criteria; \
                no criteria are read from there\n";
    assert!(shown.contains(told), "{shown}");
}
