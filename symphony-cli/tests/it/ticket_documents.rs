//! The documents of a ticket reach whoever works on it or judges it, from the commit that was accepted, before they are merged.

use serde_json::{Value, json};

use crate::support::{
    JUDGE, Project, WORKER, bash, call, commit, create_pr, git_commit, scenario, scenarios, text,
    turn, until,
};

const RESEARCH: &str = "docs/SYM-1/research.md";

/// A project whose research leads to `ready` at once.
fn project() -> Project {
    let write = format!(
        "mkdir -p docs/SYM-1 && printf '# Research\\n\\nThe accepted finding.\\n' > {RESEARCH}"
    );
    let claim = json!({ "phase": "research", "summary": "Found." });
    let weaken = format!(
        "printf 'Nothing was found.\\n' > {RESEARCH} && {}",
        git_commit(RESEARCH, "weaken the research")
    );
    let of_parent = json!({ "match_system": WORKER, "match_prompt": "^# SYM-1:" });
    let approve = turn(call("mcp__symphony__approve_pr", json!({})));
    let scenes = [
        scenario(
            "research",
            &json!({ "match_system": "^# Own research$" }),
            [
                bash(&write),
                turn(call("mcp__symphony__complete_phase", claim)),
            ],
        ),
        scenario(
            "parent",
            &of_parent,
            [bash(&weaken), create_pr("Finish it")],
        ),
        scenario(
            "part",
            &json!({ "match_system": WORKER }),
            [commit("part.txt", "part"), create_pr("Do a part")],
        ),
        scenario("judge", &json!({ "match_system": JUDGE }), [approve]),
    ];
    let project = Project::new("project", &scenarios(scenes), &json!({}));
    let phases = project.root.join(".symphony/prompts/phases");
    std::fs::create_dir_all(&phases).unwrap();
    std::fs::write(
        phases.join("research.md"),
        "---\nphase: research\ncontract_version: 1\ndispatch_profile: researcher\nartifact_type: document\n\
         artifact_path: docs/{id}/research.md\nvalidation: { mode: structural }\nnext_phase: ready\n---\n# Own research\n",
    )
    .unwrap();
    project
}

fn prompt(project: &Project, profile: &str) -> String {
    // A judge waits for the gates, which end by themselves.
    let runs = until("the next run", || {
        Some(project.tick_wait()).filter(|runs| !runs.is_empty())
    });
    let [run] = runs.as_slice() else {
        panic!("one run was expected: {runs:#?}")
    };
    assert_eq!(run["profile"], profile, "{run:#}");
    project.run_file(&text(&run["id"]), "user-prompt.md")
}

/// The note of the report on the documents of an issue's next prompt.
fn note(project: &Project, issue: &str, part: &str) -> String {
    let shown = project.json(&["prompt", "show", issue]);
    let parts = shown["report"]["user"].as_array().cloned();
    let found = parts
        .into_iter()
        .flatten()
        .find(|found| found["part"] == part);
    found.map_or_else(String::new, |found| text(&found["note"]))
}

#[test]
fn unmerged_documents_of_the_parent_and_of_the_issue_reach_workers_and_judges() {
    let project = project();
    project.json(&["issue", "add", "Greet", "--label", "phase:research"]);
    project.tick_one("researcher", "succeeded");
    let accepted = text(&project.issue("SYM-1")["phase_claims"][0]["head_commit"]);
    let short: String = accepted.chars().take(12).collect();
    let source = format!("from symphony/SYM-1 at {short}");
    project.json(&["issue", "add", "A part", "--parent", "SYM-1"]);
    // What stands in a checkout has no say: anybody may change it while it is read.
    let planted = project.root.join(RESEARCH);
    std::fs::create_dir_all(planted.parent().unwrap()).unwrap();
    std::fs::write(&planted, "# Research\n\nPlanted in a checkout.\n").unwrap();

    let expected = format!("research of SYM-1: whole, {source}");
    assert_eq!(note(&project, "SYM-2", "documents"), expected);
    let label = format!(" of the phase research of the parent SYM-1 in {RESEARCH}, {source}");
    for profile in ["worker", "judge"] {
        let prompt = prompt(&project, profile);
        assert!(prompt.contains(&label), "{profile}:\n{prompt}");
        assert!(prompt.contains("The accepted finding."), "{prompt}");
        assert!(!prompt.contains("Planted"), "{prompt}");
    }
    project.json(&[
        "issue",
        "add",
        "Look",
        "--parent",
        "SYM-1",
        "--label",
        "phase:architecture",
    ]);
    assert_eq!(note(&project, "SYM-3", "previous_artifacts"), expected);
    project.json(&["issue", "close", "SYM-3", "--cancelled", "--reason", "no"]);

    std::fs::remove_file(&planted).unwrap();
    project.json(&["pr", "merge", "SYM-2"]);
    assert!(prompt(&project, "worker").contains(&source));
    let judged = prompt(&project, "judge");
    let label = format!(" of the phase research in {RESEARCH}, {source}");
    assert!(judged.contains(&label), "{judged}");
    assert!(judged.contains("\nThe accepted finding."), "{judged}");
    project.json(&["pr", "merge", "SYM-1"]);
    let issue: Value = project.issue("SYM-1");
    assert_eq!(issue["status"], "done");
}
