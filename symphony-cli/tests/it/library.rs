//! Profiles and contracts as they hold for a project: shipped ones, and the project's own over them.

use serde_json::json;

use crate::support::{Project, text};

fn set_up() -> Project {
    let project = Project::repository("library");
    project.ok(&["init", "--prefix", "SYM"]);
    project
}

fn write(project: &Project, file: &str, content: &str) {
    let path = project.root.join(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

/// The check of the prompts in `doctor`.
fn prompts_check(project: &Project) -> serde_json::Value {
    let doctor = project.symphony(&["doctor", "--json"]).json();
    let items = doctor["items"].as_array().unwrap();
    let check = items.iter().find(|item| item["check"] == "prompts");
    check.unwrap_or_else(|| panic!("{doctor:#}")).clone()
}

#[test]
fn doctor_names_what_is_wrong_with_a_profiles_tools() {
    let project = set_up();
    let profile = |tools: &str| {
        let text = format!(
            "---\nname: W\ntype: worker\ndescription: Works.\ntools: {tools}\n---\nWork.\n"
        );
        write(&project, "prompts/profiles/worker.md", &text);
    };
    profile("[get_issue, creat_pr]");
    project.ok(&["config", "set", "prompts_dir", "prompts"]);
    let check = prompts_check(&project);
    assert_eq!(check["status"], "failed", "{check:#}");
    let detail = text(&check["detail"]);
    assert!(
        detail.contains("worker.md:5:20: tools[1]: found `creat_pr`")
            && detail.contains("did you mean `create_pr`?"),
        "{detail}"
    );
    profile("[get_issue, approve_pr]");
    let check = prompts_check(&project);
    assert_eq!(check["status"], "failed", "{check:#}");
    let detail = text(&check["detail"]);
    assert_eq!(
        detail,
        "prompts/profiles/worker.md:5: `tools` and `disallowedTools` leave a run as worker without `create_pr`, so it could not hand in its work"
    );
    profile("[get_issue, create_pr, complete_phase, approve_pr]");
    let check = prompts_check(&project);
    assert_eq!(check["status"], "warning", "{check:#}");
    assert_eq!(
        text(&check["detail"]),
        "prompts/profiles/worker.md:5: `tools` lists `approve_pr`, which this type of agent never has, so listing it has no effect"
    );
}

#[test]
fn a_profile_shows_the_tools_of_its_roles() {
    let project = set_up();
    let judge = project.json(&["profile", "show", "judge"]);
    let tools = &judge["tools"][0];
    assert_eq!(tools["role"], "judge_pr");
    let mut named: Vec<String> = tools["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(text)
        .collect();
    let mut expected = "get_issue list_issues update_issue_status add_finding add_learning add_comment search_learnings approve_pr reject_pr"
        .split_whitespace()
        .map(str::to_owned)
        .collect::<Vec<_>>();
    named.sort();
    expected.sort();
    assert_eq!(named, expected);
    assert!(
        project
            .ok(&["profile", "show", "worker"])
            .contains("Step 0: Verify Workspace")
    );
    let missing = project.symphony(&["profile", "show", "doc-writer"]);
    assert_eq!(missing.code, 3, "{missing:?}");
}

#[test]
fn a_projects_own_profile_stands_over_the_shipped_one() {
    let project = set_up();
    let own = "---\nname: Ours\ntype: worker\ndescription: Our own.\nmaxTurns: 7\n---\n## Step 0: Verify Workspace\n";
    write(&project, ".symphony/prompts/profiles/worker.md", own);
    let worker = project.json(&["profile", "show", "implementer"]);
    assert_eq!(
        (&worker["name"], &worker["max_turns"]),
        (&json!("Ours"), &json!(7))
    );
    let list = project.ok(&["profile", "list"]);
    assert!(list.contains("Our own."), "{list}");
}

#[test]
fn phases_are_listed_and_a_broken_contract_names_its_line() {
    let project = set_up();
    let list = project.json(&["phase", "list"]);
    let phases: Vec<String> = list["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| text(&item["phase"]))
        .collect();
    assert_eq!(phases, ["architecture", "grooming", "ready", "research"]);
    assert_eq!(
        project.json(&["phase", "show", "research"])["next_phase"],
        "architecture"
    );

    write(
        &project,
        "research.md",
        "---\nphase: research\ncontract_version: 1\ndispatch_profil: researcher\n---\nbody\n",
    );
    let answer = project.symphony(&["phase", "check", "research.md", "--json"]);
    assert_eq!(answer.code, 1, "{answer:?}");
    let problems = answer.json();
    let unknown = problems["items"]
        .as_array()
        .unwrap()
        .iter()
        .find(|problem| text(&problem["message"]).contains("unknown field"))
        .unwrap_or_else(|| panic!("{problems}"));
    assert_eq!(
        (&unknown["line"], &unknown["column"]),
        (&json!(4), &json!(1))
    );
    assert!(
        text(&unknown["message"]).contains("`dispatch_profile`"),
        "{unknown}"
    );
}

#[test]
fn an_empty_file_takes_a_phase_out() {
    let project = set_up();
    let phases = project.root.join(".symphony/prompts/phases");
    std::fs::create_dir_all(&phases).unwrap();
    std::fs::write(phases.join("grooming.md"), "\n").unwrap();
    let broken = project.symphony(&["phase", "list"]);
    assert_eq!(broken.code, 1, "{broken:?}");
    assert!(
        broken.stderr.contains("architecture") && broken.stderr.contains("`grooming`"),
        "{broken:?}"
    );

    let shipped = include_str!("../../../prompts/phases/architecture.md");
    let design = shipped.replace("next_phase: grooming", "next_phase: ready");
    std::fs::write(phases.join("architecture.md"), design).unwrap();
    let list = project.json(&["phase", "list"]);
    let names: Vec<String> = list["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| text(&item["phase"]))
        .collect();
    assert_eq!(names, ["architecture", "ready", "research"]);

    std::fs::write(phases.join("wording.md"), "").unwrap();
    let unknown = project.symphony(&["phase", "list"]);
    assert_eq!(unknown.code, 1, "{unknown:?}");
    assert!(
        unknown
            .stderr
            .contains("wording.md:1: is empty, which removes a phase")
            && unknown.stderr.contains("or remove them"),
        "{unknown:?}"
    );
}

#[test]
fn a_contract_is_checked_with_the_chain_it_becomes_a_part_of() {
    let project = set_up();
    let shipped = include_str!("../../../prompts/phases/architecture.md");
    for (from, to, expected) in [
        (
            "next_phase: grooming",
            "next_phase: groming",
            "next_phase `groming` has no contract",
        ),
        (
            "next_phase: grooming",
            "next_phase: research",
            "next_phase forms a circle",
        ),
        (
            "dispatch_profile: architect",
            "dispatch_profile: architekt",
            "dispatch_profile `architekt` does not exist",
        ),
    ] {
        let changed = shipped.replace(from, to);
        assert_ne!(changed, shipped);
        // wherever the draft is, it takes the place of the phase's contract
        write(&project, "drafts/architecture.md", &changed);
        let answer = project.symphony(&["phase", "check", "drafts/architecture.md", "--json"]);
        assert_eq!(answer.code, 1, "{answer:?}");
        let problems = answer.json();
        let problem = &problems["items"][0];
        assert!(text(&problem["message"]).contains(expected), "{problems}");
        let line = changed.lines().position(|line| line == to).unwrap() + 1;
        assert_eq!(
            (
                &problem["line"],
                problems["items"].as_array().unwrap().len()
            ),
            (&json!(line), 1)
        );
    }
    write(
        &project,
        ".symphony/prompts/phases/architecture.md",
        "broken",
    );
    write(&project, "drafts/architecture.md", shipped);
    project.ok(&["phase", "check", "drafts/architecture.md"]);

    let outside = Project::repository("alone");
    write(
        &outside,
        "architecture.md",
        &shipped.replace("next_phase: grooming", "next_phase: groming"),
    );
    outside.ok(&["phase", "check", "architecture.md"]);
}
