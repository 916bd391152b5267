//! Work of an agent that is not on its branch, and what it took from the person: reported with the way back, and kept.

use serde_json::{Value, json};

use crate::support::{
    Project, approving_judge, bash, commit, create_pr, git_commit, scenarios, text, worker,
};

/// A project with a branch, a tag and a stash entry of the person, and one worker that does this before its work.
fn project(command: &str) -> Project {
    let scenarios = scenarios([
        approving_judge(),
        worker([
            bash(command),
            commit("hello.txt", "hello"),
            create_pr("Hello"),
        ]),
    ]);
    let project = Project::new("project", &scenarios, &json!({}));
    project.git(&["checkout", "-q", "-b", "feature"]);
    project.commit_files(&[("feature.txt", "mine")]);
    project.git(&["tag", "v1"]);
    project.git(&["checkout", "-q", "main"]);
    std::fs::write(project.root.join("README.md"), "for later\n").unwrap();
    project.git(&["stash", "-q"]);
    project.add_issue("Say hello");
    project
}

#[test]
fn what_an_agent_takes_from_the_person_is_reported_with_the_way_back() {
    let project = project(
        "cd ../..; git stash clear; git branch -D feature; git tag -d v1; cd - > /dev/null",
    );
    let feature = project.git(&["rev-parse", "feature"]);
    let stash = project.git(&["rev-parse", "refs/stash"]);
    let run = project.tick_one("worker", "succeeded");
    let [notice] = project.waiting("settings").try_into().unwrap();
    let said = text(&notice["text"]);
    assert!(said.contains("branch feature was deleted"), "{said}");
    assert!(said.contains(", by you or by the agent"), "{said}");
    let restore = [
        format!("git branch feature {feature}"),
        format!("git tag v1 {feature}"),
        format!("git stash store {stash}"),
    ];
    for command in &restore {
        let answers = notice["answers"].as_array().unwrap();
        assert!(answers.contains(&json!(command)), "{notice:#}");
    }
    let shown = project.ok(&["runs", "show", &text(&run["id"])]);
    assert!(shown.contains("branch feature was deleted"), "{shown}");
    // the strictest housekeeping does not take it
    project.git(&["reflog", "expire", "--expire=now", "--all"]);
    project.git(&["gc", "-q", "--prune=now"]);
    for command in &restore {
        let done = project.program("sh").args(["-c", command]).status();
        assert!(done.unwrap().success(), "{command}");
    }
    assert_eq!(project.git(&["show", "feature:feature.txt"]), "mine");
    project.git(&["stash", "pop", "-q"]);
    project.git(&["checkout", "-q", "."]);
    // it waits until the person has seen it, when the work is merged, too
    project.tick_one("judge", "succeeded");
    project.ok(&["pr", "merge", "SYM-1"]);
    assert_eq!(project.waiting("settings").len(), 1);
    project.ok(&["inbox", "--dismiss", &text(&notice["key"])]);
    assert_eq!(project.waiting("settings"), Vec::<Value>::new());
    project.assert_sound();
}

#[test]
fn work_on_another_branch_on_none_and_in_the_stash_is_reported_and_kept() {
    let other = git_commit("-A", "on another branch");
    let detached = git_commit("-A", "on no branch");
    let project = project(&format!(
        "echo 1 > README.md; git stash -q; git checkout -q -b other; echo 2 > w2.txt; {other}; \
         git checkout -q --detach; echo 3 > w3.txt; {detached}; git checkout -q symphony/SYM-1"
    ));
    let run = project.tick_one("worker", "succeeded");
    let [item] = project.waiting("left_behind").try_into().unwrap();
    let said = text(&item["text"]);
    assert!(
        said.contains("commits that are not on its branch"),
        "{said}"
    );
    assert!(said.contains("put work into the stash"), "{said}");
    let answers: Vec<String> = item["answers"]
        .as_array()
        .unwrap()
        .iter()
        .map(text)
        .collect();
    let rescues = |start: &str| -> Vec<String> {
        let answers = answers.iter().filter_map(|answer| {
            let reference = answer.strip_prefix(start)?;
            reference
                .starts_with("refs/symphony/rescue/SYM-1/")
                .then(|| reference.to_owned())
        });
        answers.collect()
    };
    let shows = |reference: &String, file: &str| {
        let files = project.git(&["ls-tree", "--name-only", reference]);
        files.lines().any(|name| name == file)
    };
    let lost = rescues("git log -p ");
    assert_eq!(lost.len(), 1, "{answers:#?}");
    for file in ["w2.txt", "w3.txt"] {
        assert!(
            lost.iter().any(|reference| shows(reference, file)),
            "{file}"
        );
    }
    let [stashed] = rescues("git stash apply ").try_into().unwrap();
    assert_eq!(project.git(&["show", &format!("{stashed}:README.md")]), "1");
    let shown = project.ok(&["runs", "show", &text(&run["id"])]);
    for reference in lost.iter().chain([&stashed]) {
        assert!(shown.contains(reference), "{shown}");
    }
    // the project's own branches and stash are as they were
    let branches = project.git(&["branch", "--format=%(refname:short)"]);
    assert_eq!(branches, "feature\nmain\nsymphony/SYM-1");
    assert_eq!(project.git(&["stash", "list"]).lines().count(), 1);
    // nothing was taken from the person
    assert_eq!(project.waiting("settings"), Vec::<Value>::new());
    project.assert_sound();
}

#[test]
fn a_person_who_works_meanwhile_hears_nothing() {
    // what a person does in the main checkout while the agent works
    let person = "cd ../.. && echo more >> README.md && git commit -qam more && git branch new && git branch -m feature renamed && \
                  git branch -f behind main";
    let project = project(person);
    project.git(&["branch", "behind"]);
    project.tick_one("worker", "succeeded");
    assert_eq!(project.waiting("settings"), Vec::<Value>::new());
    assert_eq!(project.waiting("left_behind"), Vec::<Value>::new());
}
