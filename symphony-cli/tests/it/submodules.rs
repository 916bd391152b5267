//! Commits that an agent makes in a submodule: never merged while nobody can fetch them, never removed unsaved.

use serde_json::{Value, json};

use crate::support::{
    Answer, Project, approving_judge, bash, create_pr, git_commit, scenarios, text, worker,
};

/// A project whose only worker commits in the submodule `lib` and leads its link there; its pull request is approved.
fn bumped() -> Project {
    let fill = "git -c protocol.file.allow=always submodule --quiet update --init";
    let inner = git_commit("-A", "a fix");
    let bump = git_commit("lib", "with the fix");
    let scenarios = scenarios([
        approving_judge(),
        worker([
            bash(&format!(
                "{fill} && cd lib && echo x > fix.txt && {inner} && cd .. && {bump}"
            )),
            create_pr("With the fix"),
        ]),
    ]);
    let project = Project::new("project", &scenarios, &json!({}));
    let library = project.beside.join("library");
    let library = library.to_str().unwrap();
    project.git(&["clone", "-q", ".", library]);
    let add = ["-c", "protocol.file.allow=always", "submodule", "add", "-q"];
    project.git(&[&add[..], &[library, "lib"]].concat());
    project.git(&["commit", "-q", "-m", "a submodule"]);
    project.git(&["submodule", "deinit", "-q", "-f", "lib"]);
    std::fs::remove_dir_all(project.root.join(".git/modules")).unwrap();
    project.add_issue("Fix the library");
    project.tick_one("worker", "succeeded");
    project.tick_one("judge", "succeeded");
    project
}

#[test]
fn a_commit_of_a_submodule_that_nobody_can_fetch_is_not_merged_before_it_is_pushed() {
    let project = bumped();
    let commit = project.git(&["rev-parse", "symphony/SYM-1:lib"]);
    let before = project.git(&["rev-parse", "main"]);
    let waiting = project.first_waiting("review");
    let said = text(&waiting["text"]);
    assert!(said.contains("never pushed"), "{waiting:#}");
    let answers = waiting["answers"].as_array().unwrap();
    let lib = project.worktree("SYM-1").join("lib");
    let push = format!(
        "git -C {} push origin {commit}:refs/heads/symphony/SYM-1",
        lib.display()
    );
    assert_eq!(answers, &[json!(push), json!("symphony pr show SYM-1")]);
    let refused: Answer = project.symphony(&["pr", "merge", "SYM-1"]);
    assert_ne!(refused.code, 0, "{refused:#?}");
    assert!(refused.stderr.contains(&push), "{refused:#?}");
    assert_eq!(project.git(&["rev-parse", "main"]), before);
    assert!(lib.join("fix.txt").exists());
    // as it is offered
    let pushed = project.program("sh").args(["-c", &push]).status().unwrap();
    assert!(pushed.success());
    let waiting = project.first_waiting("review");
    let answers = waiting["answers"].as_array().unwrap();
    assert!(
        answers.contains(&json!("symphony pr merge SYM-1")),
        "{waiting:#}"
    );
    project.ok(&["pr", "merge", "SYM-1"]);
    assert_eq!(project.git(&["rev-parse", "main:lib"]), commit);
    assert_eq!(project.waiting("base"), Vec::<Value>::new());
    project.assert_sound();
}

#[test]
fn commits_of_a_submodule_are_saved_and_told_when_their_worktree_is_removed() {
    let project = bumped();
    let commit = project.git(&["rev-parse", "symphony/SYM-1:lib"]);
    project.ok(&["pr", "merge", "SYM-1", "--force"]);
    assert!(!project.worktree("SYM-1").exists());
    let notice = project.first_waiting("base");
    let rescue = project.git(&[
        "for-each-ref",
        "--format=%(refname)",
        "refs/symphony/rescue/SYM-1.submodules/lib",
    ]);
    assert_eq!(project.git(&["rev-parse", &rescue]), commit);
    assert!(text(&notice["text"]).contains(&rescue), "{notice:#}");
    assert_eq!(project.git(&["show", &format!("{rescue}:fix.txt")]), "x");
    project.ok(&["inbox", "--dismiss", &text(&notice["key"])]);
    assert_eq!(project.waiting("base"), Vec::<Value>::new());
    project.assert_sound();
}

#[test]
fn a_cancelled_issue_leaves_its_commits_in_a_submodule_to_a_rescue_ref() {
    let project = bumped();
    let commit = project.git(&["rev-parse", "symphony/SYM-1:lib"]);
    project.ok(&["issue", "move", "SYM-1", "cancelled"]);
    project.ok(&["clean"]);
    assert!(!project.worktree("SYM-1").exists());
    assert_eq!(project.git(&["show", &format!("{commit}:fix.txt")]), "x");
    let notice = project.first_waiting("base");
    assert!(
        text(&notice["text"]).contains("refs/symphony/rescue/SYM-1.submodules/lib/"),
        "{notice:#}"
    );
    // it waits for a person, whatever becomes of the issue
    project.ok(&["issue", "delete", "SYM-1", "--yes"]);
    assert!(!project.waiting("base").is_empty());
    project.assert_sound();
}

/// The set-up and the gates run with what the agent declared, and git itself fetches the submodules for them.
#[test]
fn an_address_of_a_submodule_that_runs_a_program_is_named_and_never_used() {
    let link = "git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),evil";
    let declare = |marker: &str| {
        let file = "git config -f .gitmodules";
        format!(
            "{file} submodule.evil.path evil && {file} submodule.evil.url \"ext::sh -c 'touch% {marker}'\" && {link} && \
             git add .gitmodules && git commit -q -m Evil"
        )
    };
    let beside = tempfile::tempdir().unwrap();
    let marker = beside.path().join("ran");
    let scenarios = scenarios([
        worker([
            bash(&declare(marker.to_str().unwrap())),
            create_pr("A submodule"),
        ]),
        approving_judge(),
    ]);
    let fill = "git submodule --quiet update --init || true";
    let config = json!({
        "worktree": { "setup": fill },
        "gates": [{ "name": "fill", "command": fill, "required": true }],
    });
    let project = Project::new("project", &scenarios, &config);
    project.add_issue("A submodule");
    project.tick_one("worker", "succeeded");
    let words = [
        "the submodule `evil` is new, from `ext::sh -c 'touch",
        "(the address runs a program)",
    ];
    let shown = project.ok(&["pr", "show", "SYM-1"]);
    let prompt = project.ok(&["prompt", "show", "SYM-1", "--text"]);
    for word in words {
        assert!(shown.contains(word), "{shown}");
        assert!(prompt.contains(word), "{prompt}");
    }
    project.tick_one("judge", "succeeded");
    project.ok(&["pr", "merge", "1"]);
    assert!(!marker.exists(), "a program of the address ran");
}
