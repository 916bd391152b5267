//! Acceptance criteria from end to end: answered before the work is handed in, and checked one by one.

use serde_json::{Value, json};

use crate::support::{
    JUDGE, Project, WORKER, call, commit, create_pr, scenario, scenarios, text, turn, until,
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
    let listed = "1. It sings.\n   not answered: it came or changed after the work was handed in\n\
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
