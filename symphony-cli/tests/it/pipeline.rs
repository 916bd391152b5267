//! The whole pipeline: research, architecture, grooming, ready, a merge; with a delivery that is refused, a design that a judge
//! sends back, and a red gate on the way.

use serde_json::{Value, json};

use crate::support::{
    JUDGE, Project, bash, call, commit, create_pr, scenario, scenarios, text, turn, until,
    write_research,
};

/// The scenario file that the scripted agent and the real Claude CLI play alike.
pub(crate) const PIPELINE: &str = include_str!("../fixtures/pipeline.json");

/// Ticks until a run starts, and waits for its end.
fn next(project: &Project, profile: &str) -> Value {
    let runs = until("the next run", || {
        Some(project.tick_wait()).filter(|runs| !runs.is_empty())
    });
    let [run] = runs.as_slice() else {
        panic!("one run was expected: {runs:#?}")
    };
    let found = (run["profile"].as_str(), run["status"].as_str());
    assert_eq!(found, (Some(profile), Some("succeeded")), "{run:#}");
    run.clone()
}

/// Where the issue stands: status, phase, and the state of its newest delivery.
fn standing(project: &Project) -> Value {
    let issue = project.issue("SYM-1");
    let claims = issue["phase_claims"].as_array().unwrap();
    let claim = claims.last().map(|claim| claim["state"].clone());
    json!([issue["status"], issue["phase"], claim])
}

fn prompt(project: &Project, run: &Value, name: &str) -> String {
    project.run_file(&text(&run["id"]), name)
}

/// Drives the issue from its research to its merge.
pub(crate) fn drive(project: &Project) {
    project.json(&["issue", "add", "Say hello", "--label", "phase:research"]);

    let research = next(project, "researcher");
    assert_eq!(standing(project), json!(["todo", "research", "rejected"]));
    let system = prompt(project, &research, "system-prompt.md");
    assert!(system.contains("\n# Phase: research\n"), "{system}");
    let user = prompt(project, &research, "user-prompt.md");
    assert!(user.starts_with("# Phase Assignment: research\n"), "{user}");
    assert!(user.contains("`docs/tickets/SYM-1/research.md`"), "{user}");

    let research = next(project, "researcher");
    assert_eq!(
        standing(project),
        json!(["todo", "architecture", "accepted"])
    );
    let user = prompt(project, &research, "user-prompt.md");
    assert!(
        user.contains("## Rejected Deliveries of This Phase\n"),
        "{user}"
    );

    next(project, "architect");
    assert_eq!(
        standing(project),
        json!(["review", "architecture", "awaiting_judge"])
    );
    let design = || project.git(&["show", "symphony/SYM-1:docs/tickets/SYM-1/design.md"]);
    assert!(design().contains("First draft"), "it is committed");
    let claim = project.issue("SYM-1")["phase_claims"][2].clone();
    assert_eq!(
        text(&claim["head_commit"]),
        project.git(&["rev-parse", "symphony/SYM-1"]).trim()
    );

    let judge = next(project, "judge");
    assert_eq!(
        standing(project),
        json!(["todo", "architecture", "rejected"])
    );
    let user = prompt(project, &judge, "user-prompt.md");
    assert!(user.contains("## Phase Review\n"), "{user}");
    assert_has_document(project, &user, "research");
    let second = next(project, "architect");
    let user = prompt(project, &second, "user-prompt.md");
    assert!(
        user.contains("### Point 1 (must), not answered")
            && user.contains("how the rollout is undone"),
        "{user}"
    );
    assert!(design().contains("Second draft"));
    let judge = next(project, "judge");
    let user = prompt(project, &judge, "user-prompt.md");
    assert!(user.contains("Rollout says it."), "{user}");
    assert_eq!(standing(project), json!(["todo", "grooming", "accepted"]));

    let grooming = next(project, "planner");
    assert_eq!(standing(project), json!(["todo", "ready", "accepted"]));
    let user = prompt(project, &grooming, "user-prompt.md");
    for artifact in ["research.md", "design.md"] {
        assert!(
            user.contains(&format!("docs/tickets/SYM-1/{artifact}")),
            "{user}"
        );
    }

    let worker = next(project, "worker");
    assert_eq!(project.issue("SYM-1")["status"], "todo", "the gate is red");
    next(project, "worker");
    let judge = next(project, "judge");
    for run in [worker, judge] {
        let user = prompt(project, &run, "user-prompt.md");
        for phase in ["research", "design", "grooming"] {
            assert_has_document(project, &user, phase);
        }
    }
    project.json(&["pr", "merge", "SYM-1"]);
    let issue = project.issue("SYM-1");
    assert_eq!(
        json!([issue["status"], issue["phase"]]),
        json!(["done", "ready"])
    );
    assert_eq!(
        project.git(&["show", "main:hello.txt"]).trim(),
        "hello from SYM-1"
    );
    for artifact in ["research.md", "design.md", "grooming.md"] {
        project.git(&["show", &format!("main:docs/tickets/SYM-1/{artifact}")]);
    }
    assert_story(&issue);
}

/// Asserts that a prompt has a document as it was accepted, although no commit of the base has it.
fn assert_has_document(project: &Project, prompt: &str, name: &str) {
    let path = format!("docs/tickets/SYM-1/{name}.md");
    let commits = project.git(&["log", "--format=%H", "symphony/SYM-1", "--", &path]);
    let commit = commits.lines().next().unwrap_or_default();
    let accepted = project.issue("SYM-1")["phase_claims"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|claim| claim["state"] == "accepted" && claim["artifact_path"] == path.as_str())
        .map(|claim| text(&claim["head_commit"]))
        .next_back();
    assert_eq!(accepted.as_deref(), Some(commit), "{path}");
    let short: String = commit.chars().take(12).collect();
    let label = format!(" in {path}, from symphony/SYM-1 at {short}");
    assert!(prompt.contains(&label), "{label}:\n{prompt}");
}

/// Asserts that everything that happened is recorded.
fn assert_story(issue: &Value) {
    let claims: Vec<Value> = issue["phase_claims"]
        .as_array()
        .unwrap()
        .iter()
        .map(|claim| json!([claim["phase"], claim["state"], claim["reasons"]]))
        .collect();
    let path = "docs/tickets/SYM-1/research.md";
    assert_eq!(
        json!(claims),
        json!([
            [
                "research",
                "rejected",
                [format!(
                    "the artifact `{path}` lacks the required section: Recommendation; add it as heading of any level"
                )]
            ],
            ["research", "accepted", []],
            [
                "architecture",
                "rejected",
                ["There is no way back: say how the rollout is undone."]
            ],
            ["architecture", "accepted", []],
            [
                "grooming",
                "rejected",
                ["this phase may change only `docs/tickets/SYM-1/`; revert `tried.txt`"]
            ],
            ["grooming", "accepted", []],
        ])
    );
    let kinds: Vec<&str> = issue["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["kind"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        [
            "phase_verdict",
            "phase_verdict",
            "approach",
            "gate",
            "approach"
        ]
    );
    let runs = issue["runs"].as_array().unwrap();
    let agents = runs.iter().filter(|run| run["profile"] != "gates");
    assert_eq!(agents.count(), 10, "{runs:#?}");
}

#[test]
fn an_issue_goes_through_all_phases_to_its_merge() {
    let scenarios: Value = serde_json::from_str(PIPELINE).unwrap();
    drive(&Project::new("my project", &scenarios, &json!({})));
}

/// A turn that writes a document and claims the phase with it.
fn deliver(phase: &str, file: &str, more: &Value) -> [Value; 2] {
    let mut claim = json!({ "phase": phase, "summary": "Done." });
    claim
        .as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    let folder = file.rsplit_once('/').map_or(".", |(folder, _)| folder);
    let write = format!("mkdir -p {folder} && printf '# Words\\n\\nwell chosen\\n' > {file}");
    [
        bash(&write),
        turn(call("mcp__symphony__complete_phase", claim)),
    ]
}

#[test]
fn a_project_adds_a_phase_and_replaces_another() {
    let when = |phase: &str| json!({ "match_system": format!("^# {phase}$") });
    let scenarios = scenarios([
        scenario(
            "research",
            &when("Own research"),
            deliver("research", "notes/SYM-1/research.md", &json!({})),
        ),
        scenario(
            "wording again",
            &json!({ "match_system": "^# Wording$", "match_prompt": "^## Review Points$" }),
            std::iter::once(turn(call(
                "mcp__symphony__answer_review_point",
                json!({ "point": 1, "answer": "fixed", "text": "More words." }),
            )))
            .chain(deliver("wording", "notes/SYM-1/words.md", &json!({}))),
        ),
        scenario(
            "wording",
            &when("Wording"),
            deliver("wording", "notes/SYM-1/words.md", &json!({})),
        ),
        scenario(
            "works",
            &json!({ "match_system": "^# Worker$" }),
            [commit("hello.txt", "hello"), create_pr("Say hello")],
        ),
    ]);
    let mut project = Project::new("project", &scenarios, &json!({ "judge_enabled": false }));
    let phases = project.root.join(".symphony/prompts/phases");
    std::fs::create_dir_all(&phases).unwrap();
    let contract = |phase: &str, profile: &str, rest: &str, body: &str| {
        let text = format!(
            "---\nphase: {phase}\ncontract_version: 1\ndispatch_profile: {profile}\nartifact_type: document\n{rest}---\n# {body}\n"
        );
        std::fs::write(phases.join(format!("{phase}.md")), text).unwrap();
    };
    contract(
        "research",
        "researcher",
        "artifact_path: notes/{id}/research.md\nrequired_sections: [Words]\nvalidation: { mode: structural }\nnext_phase: wording\n",
        "Own research",
    );
    // every profile can be the author of a phase, and a delivery may wait for a person
    contract(
        "wording",
        "worker",
        "artifact_path: notes/{id}/words.md\nvalidation: { mode: judge }\nnext_phase: ready\n",
        "Wording",
    );
    project.json(&["issue", "add", "Say hello", "--label", "phase:research"]);
    next(&project, "researcher");
    assert_eq!(standing(&project), json!(["todo", "wording", "accepted"]));
    next(&project, "worker");
    assert_eq!(
        standing(&project),
        json!(["review", "wording", "awaiting_judge"])
    );
    assert_eq!(project.tick_wait(), [json!(null); 0], "judges are off");
    let explained = project.ok(&["explain", "SYM-1"]);
    assert!(
        explained.contains("symphony phase approve SYM-1"),
        "{explained}"
    );

    // an agent decides nothing from inside its run
    project.set_variable("SYMPHONY_RUN_ID", "0199-run");
    for verdict in [
        &["phase", "approve", "SYM-1"][..],
        &["phase", "reject", "SYM-1", "--feedback", "no"],
    ] {
        let refused = project.symphony(verdict);
        assert_eq!(refused.code, 4, "{}", refused.stderr);
    }
    project.unset_variable("SYMPHONY_RUN_ID");
    let rejected = project.json(&["phase", "reject", "SYM-1", "--feedback", "Too few words."]);
    assert_eq!(rejected["state"], "rejected");
    assert_eq!(standing(&project), json!(["todo", "wording", "rejected"]));
    let again = next(&project, "worker");
    let user = prompt(&project, &again, "user-prompt.md");
    assert!(user.contains("Too few words."), "{user}");
    let approved = project.json(&["phase", "approve", "SYM-1", "--close", "1"]);
    assert_eq!(
        json!([approved["state"], approved["verdict"]["author"]]),
        json!(["accepted", "human"])
    );
    assert_eq!(standing(&project), json!(["todo", "ready", "accepted"]));
    let refused = project.symphony(&["phase", "approve", "SYM-1"]);
    assert_eq!(refused.code, 4, "{}", refused.stderr);
    next(&project, "worker");
    project.json(&["pr", "merge", "SYM-1"]);
    assert_eq!(project.issue("SYM-1")["status"], "done");
}

#[test]
fn a_skip_over_a_judged_phase_waits_for_a_judge() {
    let claim = |skip_to: &str| {
        let claim = json!({ "phase": "research", "summary": "A word.", "skip_to": skip_to });
        turn(call("mcp__symphony__complete_phase", claim))
    };
    let verdict = turn(call("mcp__symphony__approve_phase", json!({})));
    let scenarios = scenarios([
        scenario("judge", &json!({ "match_system": JUDGE }), [verdict]),
        scenario(
            "research",
            &json!({ "match_system": "^# Phase: research$" }),
            [write_research("SYM-1"), claim("research"), claim("ready")],
        ),
    ]);
    let project = Project::new("project", &scenarios, &json!({}));
    project.json(&["issue", "add", "Say hello", "--label", "phase:research"]);
    let run = next(&project, "researcher");
    let errors = project.tool_errors(&text(&run["id"]));
    let told = "skip_to: `research` does not come after `research`; later phases: architecture, grooming, ready";
    assert!(errors.len() == 1 && errors[0].contains(told), "{errors:?}");
    assert_eq!(
        standing(&project),
        json!(["review", "research", "awaiting_judge"])
    );
    let judge = next(&project, "judge");
    let user = prompt(&project, &judge, "user-prompt.md");
    assert!(user.contains("- Asks to skip to: ready."), "{user}");
    assert_eq!(standing(&project), json!(["todo", "ready", "accepted"]));
}
