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
        "mkdir -p docs/SYM-1 && printf 'Nothing was found.\\n' > {RESEARCH} && {}",
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
    project_with(&scenes)
}

/// A project with a phase of its own, and these scenes.
fn project_with(scenes: &[Value]) -> Project {
    let project = Project::new("project", &scenarios(scenes.to_vec()), &json!({}));
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

#[test]
fn documents_reach_sub_tasks_of_any_depth() {
    let project = project();
    project.json(&["issue", "add", "Greet", "--label", "phase:research"]);
    project.tick_one("researcher", "succeeded");
    for (title, parent) in [
        ("A part", "SYM-1"),
        ("A detail", "SYM-2"),
        ("A word", "SYM-3"),
    ] {
        project.json(&["issue", "add", title, "--parent", parent]);
    }
    for issue in ["SYM-2", "SYM-3", "SYM-4"] {
        let note = note(&project, issue, "documents");
        let expected = "research of SYM-1: whole, from symphony/SYM-1 at ";
        assert!(note.starts_with(expected), "{issue}: {note}");
    }
    let shown = project.ok(&["prompt", "show", "SYM-4", "--text"]);
    assert!(shown.contains(" of SYM-1, 3 levels above, in "), "{shown}");
}

/// Deletes the branch of an issue, and everything that nothing but it keeps.
fn lose_branch(project: &Project, issue: &str) {
    let worktree = project.worktree(issue).display().to_string();
    project.git(&["worktree", "remove", "--force", &worktree]);
    project.git(&["branch", "-q", "-D", &format!("symphony/{issue}")]);
    project.git(&["reflog", "expire", "--expire=now", "--all"]);
    project.git(&["gc", "-q", "--prune=now"]);
}

#[test]
fn an_accepted_document_outlives_its_branch_until_its_issue_has_ended() {
    let project = project();
    project.json(&["issue", "add", "Greet", "--label", "phase:research"]);
    project.tick_one("researcher", "succeeded");
    lose_branch(&project, "SYM-1");
    let note = note(&project, "SYM-1", "documents");
    assert!(
        note.starts_with("research: whole, from symphony/SYM-1 at "),
        "{note}"
    );
    assert_eq!(project.json(&["inbox"])["items"], json!([]));
    assert!(prompt(&project, "worker").contains("The accepted finding."));
    assert!(prompt(&project, "judge").contains("The accepted finding."));
    project.json(&["pr", "merge", "SYM-1"]);
    let refs = project.git(&["for-each-ref", "refs/symphony/document/"]);
    assert_eq!(refs, "");
}

#[test]
fn a_lost_document_is_named_to_people_and_agents() {
    let project = project();
    project.json(&["issue", "add", "Greet", "--label", "phase:research"]);
    project.tick_one("researcher", "succeeded");
    let kept = project.git(&[
        "for-each-ref",
        "--format=%(refname)",
        "refs/symphony/document/",
    ]);
    project.git(&["update-ref", "-d", kept.trim()]);
    lose_branch(&project, "SYM-1");
    let lost =
        format!("the accepted document {RESEARCH} of the phase research is lost: its commit ");
    let waiting = project.first_waiting("document");
    assert!(text(&waiting["text"]).starts_with(&lost), "{waiting:#}");
    for arguments in [
        &["inbox"][..],
        &["issue", "show", "SYM-1"],
        &["explain", "SYM-1"],
        &["prompt", "show", "SYM-1"],
    ] {
        let shown = project
            .ok(arguments)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        assert!(
            shown.contains(&format!("the accepted document {RESEARCH} of")),
            "{shown}"
        );
    }
    let audit = project.symphony(&["doctor", "--audit"]);
    assert!(
        format!("{audit:?}").contains("is lost: its commit"),
        "{audit:?}"
    );
    let prompt = prompt(&project, "worker");
    assert!(
        prompt.contains("**Note**: the accepted document"),
        "{prompt}"
    );
}

#[test]
fn a_binary_file_is_no_document() {
    let write = |how: &str| bash(&format!("mkdir -p docs/SYM-1 && {how} > {RESEARCH}"));
    let claim = json!({ "phase": "research", "summary": "Found." });
    let complete = || turn(call("mcp__symphony__complete_phase", claim.clone()));
    let steps = [
        write("printf 'PNG\\0\\0'"),
        complete(),
        write("printf '# Research\\n\\nFound.\\n'"),
        complete(),
    ];
    let project = project_with(&[scenario(
        "research",
        &json!({ "match_system": "^# Own research$" }),
        steps,
    )]);
    project.json(&["issue", "add", "Greet", "--label", "phase:research"]);
    let run = project.tick_one("researcher", "succeeded");
    let errors = project.tool_errors(&text(&run["id"]));
    let told = format!(
        "the artifact `{RESEARCH}` is not a text: it holds zero bytes. Write it as UTF-8 text"
    );
    assert!(errors.len() == 1 && errors[0].contains(&told), "{errors:?}");
    let claims = project.issue("SYM-1")["phase_claims"].clone();
    let states: Vec<&Value> = claims
        .as_array()
        .unwrap()
        .iter()
        .map(|claim| &claim["state"])
        .collect();
    assert_eq!(states, ["rejected", "accepted"]);
}
