//! A project as a whole: moved, removed, with another prefix, with a renamed base branch.

use serde_json::json;

use crate::plan_support::{any_phase, plan_of};
use crate::support::{
    Answer, Project, WORKER, approving_judge, bash, commit, create_pr, scenario, scenarios, text,
    until,
};

/// A project with one reviewed issue, whose branch has work.
fn with_work(name: &str) -> Project {
    let worker = scenario(
        "greets",
        &json!({ "match_system": WORKER }),
        [commit("hello.txt", "hello"), create_pr("Greet")],
    );
    let project = Project::new(name, &scenarios([approving_judge(), worker]), &json!({}));
    project.add_issue("Greet");
    project.tick_one("worker", "succeeded");
    project
}

fn refused(project: &Project, arguments: &[&str]) -> Answer {
    let answer = project.symphony(arguments);
    assert_eq!(answer.code, 4, "{arguments:?}: {answer:#?}");
    answer
}

/// A second repository in the installation of a project.
fn second(first: &Project) -> std::path::PathBuf {
    let root = first.beside.join("other");
    first.git(&["clone", "-q", ".", root.to_str().unwrap()]);
    first.ok(&["project", "add", root.to_str().unwrap(), "--prefix", "OTH"]);
    root
}

#[test]
fn a_removed_project_loses_nothing_and_comes_back() {
    let project = with_work("leaving");
    let head = project.git(&["rev-parse", "symphony/SYM-1"]);
    std::fs::write(project.worktree("SYM-1").join("draft.txt"), "draft").unwrap();
    // nobody is there to be asked
    let asked = project.symphony(&["project", "remove", "leaving"]);
    assert_eq!(asked.code, 2, "{asked:#?}");
    assert!(asked.stderr.contains("--worktrees keep"), "{asked:#?}");

    let removed = project.json(&["project", "remove", "leaving", "--worktrees", "remove"]);
    assert_eq!(removed["worktrees_removed"], json!(["SYM-1"]));
    assert_eq!(removed["branches"], json!(["symphony/SYM-1"]));
    let rescue = text(&removed["rescues"][0]);
    assert_eq!(
        project.git(&["show", &format!("{rescue}:draft.txt")]),
        "draft"
    );
    assert_eq!(project.git(&["rev-parse", "symphony/SYM-1"]), head);
    let gone = project.symphony(&["issue", "list"]);
    assert_eq!(gone.code, 3, "{gone:#?}");
    assert!(gone.stderr.contains("symphony init"), "{gone:#?}");
    // a tick has no project to work on, and says so
    for command in [&["tick"][..], &["run", "--until-idle"]] {
        let answer = project.symphony(command);
        assert_eq!(answer.code, 3, "{command:?}: {answer:#?}");
        assert!(answer.stderr.contains("`symphony init`"), "{answer:#?}");
    }

    let again = project.ok(&["init"]);
    let numbers = "is set up again: it has 1 issue, and the next is SYM-2.";
    assert!(again.contains(numbers), "{again}");
    assert_eq!(project.issue("SYM-1")["status"], "review");
    assert_eq!(project.add_issue("Next"), "SYM-2");
    project.tick_wait();
    project.ok(&["pr", "merge", "SYM-1"]);
    project.assert_sound();
}

#[test]
fn a_project_that_others_depend_on_leaves_only_with_a_word_about_them() {
    let project = with_work("first");
    let other = second(&project);
    project.ok(&["-C", other.to_str().unwrap(), "issue", "add", "Needed"]);
    project.ok(&["issue", "add", "Waits", "--depends-on", "OTH-1"]);
    let asked = project.symphony(&["project", "remove", "other"]);
    assert_eq!(asked.code, 2, "{asked:#?}");
    for part in ["SYM-2 depends on project other", "--dependents keep"] {
        assert!(asked.stderr.contains(part), "{part}: {asked:#?}");
    }
    let removed = project.ok(&["project", "remove", "other", "--dependents", "keep"]);
    let told = "SYM-2 waits for your decision: `symphony inbox` lists it.";
    assert!(removed.contains(told), "{removed}");
    let inbox = project.ok(&["inbox"]);
    let text = "it waits for OTH-1, which left this installation with its project";
    assert!(inbox.contains(text), "{inbox}");
    project.assert_sound();
    project.ok(&["issue", "edit", "SYM-2", "--no-dependencies"]);
    project.assert_sound();
}

#[test]
fn a_project_is_not_removed_under_a_run() {
    let waits = scenario(
        "waits",
        &json!({ "match_system": WORKER }),
        [
            bash("while ! test -e go; do sleep 0.05; done"),
            commit("hello.txt", "hello"),
            create_pr("Greet"),
        ],
    );
    let project = Project::new(
        "busy",
        &scenarios([waits]),
        &json!({ "judge_enabled": false }),
    );
    project.add_issue("Greet");
    let run = project.tick_start();
    until("a worktree", || {
        project.worktree("SYM-1").is_dir().then_some(())
    });
    let answer = refused(
        &project,
        &["project", "remove", "busy", "--worktrees", "keep"],
    );
    assert!(answer.stderr.contains(&run), "{answer:#?}");
    until("the agent", || {
        project
            .worktree("SYM-1")
            .join("README.md")
            .exists()
            .then_some(())
    });
    std::fs::write(project.worktree("SYM-1").join("go"), "").unwrap();
    until("the end of the run", || {
        (project.run(&run)["status"] == "succeeded").then_some(())
    });
    until("its lock", || project.lock_is_free(&run).then_some(()));
    project.ok(&["project", "remove", "busy", "--worktrees", "keep"]);
    assert!(project.worktree("SYM-1").is_dir());
}

#[test]
fn a_new_prefix_is_for_new_issues_and_old_ones_are_still_found() {
    let project = with_work("renamed");
    second(&project);
    let taken = refused(&project, &["project", "rename-prefix", "renamed", "OTH"]);
    assert!(taken.stderr.contains("OTH"), "{taken:#?}");
    project.ok(&["project", "rename-prefix", "renamed", "API"]);
    assert_eq!(project.issue("SYM-1")["status"], "review");
    assert_eq!(project.add_issue("Next"), "API-2");
    // the old prefix is not given to another project
    let third = project.beside.join("third");
    project.git(&["clone", "-q", ".", third.to_str().unwrap()]);
    let taken = refused(
        &project,
        &["project", "add", third.to_str().unwrap(), "--prefix", "SYM"],
    );
    assert!(
        taken.stderr.contains("older issues of project renamed"),
        "{taken:#?}"
    );
    project.tick_wait();
    project.ok(&["pr", "merge", "SYM-1"]);
    assert_eq!(project.issue("SYM-1")["status"], "done");
    assert!(
        project
            .git(&["branch", "--list", "symphony/API-2"])
            .contains("API-2")
    );
    project.assert_sound();
    // and back: numbers go on
    project.ok(&["project", "rename-prefix", "renamed", "SYM"]);
    assert_eq!(project.add_issue("Third"), "SYM-3");
}

#[test]
fn a_project_of_a_shared_database_is_led_to_its_new_folder() {
    let project = with_work("shared");
    let other = second(&project);
    let new = project.beside.join("elsewhere");
    let still = refused(
        &project,
        &["project", "move", "other", project.root.to_str().unwrap()],
    );
    assert!(still.stderr.contains("move the folder first"), "{still:#?}");
    std::fs::rename(&other, &new).unwrap();
    let wrong = refused(
        &project,
        &["project", "move", "other", project.root.to_str().unwrap()],
    );
    assert!(wrong.stderr.contains("is not the repository"), "{wrong:#?}");
    let moved = project.json(&["project", "move", "other", new.to_str().unwrap()]);
    assert_eq!(text(&moved["root"]), new.to_str().unwrap());
    project.ok(&["-C", new.to_str().unwrap(), "issue", "add", "There"]);
}

#[test]
fn the_work_of_a_plan_follows_a_renamed_base_branch_before_and_after_its_pull_request() {
    let plan = plan_of(&[("a", &[])]);
    let project = Project::new("base", &scenarios([any_phase()]), &json!({ "gates": [] }));
    for name in ["one.md", "two.md"] {
        std::fs::write(project.root.join(name), &plan).unwrap();
    }
    project.ok(&["plan", "run", "one.md"]);
    let base = project.git(&["rev-parse", "main"]).trim().to_owned();
    // the second one has no pull request when the branch is renamed
    let begun = project.symphony(&["plan", "run", "two.md"]);
    assert_eq!(begun.code, 0, "{begun:#?}");
    project.ok(&["pr", "close", "two"]);
    project.ok(&["plan", "resume", "--plan", "two"]);
    project.git(&["branch", "-q", "-m", "main", "trunk"]);
    // nobody has to call a merge to hear of it
    let gone = "the branch `main` no longer exists, and pull request 1 of plan one goes into it. `git branch main ";
    for look in [["inbox"].as_slice(), &["status"]] {
        let shown = project.ok(look).replace('\n', " ");
        let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(shown.contains(gone), "{look:?}: {shown}");
    }
    let inbox = project.json(&["inbox"]);
    let items = inbox["items"].as_array().unwrap();
    let item = items.iter().find(|item| item["kind"] == "base");
    let item = item.unwrap_or_else(|| panic!("{inbox:#}"));
    assert_eq!(
        item["answers"],
        json!([
            format!("git branch main {base}"),
            "symphony config set base_branch NAME",
            "symphony pr close 1"
        ])
    );
    let audit = project.symphony(&["doctor", "--audit"]);
    assert!(audit.stdout.contains(gone), "{audit:#?}");
    let refused = project.symphony(&["pr", "merge", "one"]);
    for part in [
        "its base branch `main` does not exist\nhint: `git branch main ",
        "`symphony config set base_branch NAME` redirects the work for `main` to that branch",
    ] {
        assert!(refused.stderr.contains(part), "{refused:#?}");
    }
    let set = project.symphony(&["config", "set", "base_branch", "trunk"]);
    assert!(
        set.stderr.contains(
            "2 plans had work for `main`, which no longer exists: the work now goes to `trunk`."
        ),
        "{set:#?}"
    );
    project.ok(&["plan", "run", "--plan", "two"]);
    for name in ["one", "two"] {
        assert_eq!(project.json(&["pr", "show", name])["base"], "trunk");
        assert_eq!(
            project.json(&["plan", "status", "--plan", name])["target_branch"],
            "trunk"
        );
    }
    project.ok(&["pr", "merge", "one"]);
    assert_eq!(project.git(&["show", "trunk:a.txt"]), "by a");
    let events = project.ok(&["events"]);
    assert!(
        events.contains("Plan one now goes to trunk instead of main"),
        "{events}"
    );
}

#[test]
fn open_pull_requests_follow_a_renamed_base_branch() {
    let project = with_work("base");
    assert_eq!(project.json(&["pr", "show", "SYM-1"])["base"], "main");
    // another branch, while the base still exists: nothing follows
    project.git(&["branch", "develop"]);
    project.ok(&["config", "set", "base_branch", "develop"]);
    assert_eq!(project.json(&["pr", "show", "SYM-1"])["base"], "main");
    project.git(&["branch", "-q", "-D", "develop"]);
    project.git(&["branch", "-q", "-m", "main", "trunk"]);
    let inbox = project.json(&["inbox"]);
    let items = inbox["items"].as_array().unwrap();
    let gone = items.iter().find(|item| item["kind"] == "base");
    let gone = gone.unwrap_or_else(|| panic!("{inbox:#}"));
    assert_eq!(gone["issue"], "SYM-1", "{gone:#}");
    assert!(text(&gone["text"]).starts_with("the branch `main` no longer exists"));
    assert!(
        project
            .ok(&["explain", "SYM-1"])
            .contains("`git branch main ")
    );
    let set = project.symphony(&["config", "set", "base_branch", "trunk"]);
    assert_eq!(set.code, 0, "{set:#?}");
    assert!(set.stderr.contains("1 open pull request"), "{set:#?}");
    assert_eq!(project.json(&["pr", "show", "SYM-1"])["base"], "trunk");
    // the verdict is on a commit, which is the same
    project.tick_one("judge", "succeeded");
    project.ok(&["pr", "merge", "SYM-1"]);
    assert_eq!(project.git(&["show", "trunk:hello.txt"]), "hello");
}
