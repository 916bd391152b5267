//! Commits that a person takes out of the base branch do not return by a merge that nobody thought about.

use serde_json::{Value, json};

use crate::support::{Project, approving_judge, commit, create_pr, scenarios, text, worker};

fn project() -> Project {
    let scenarios = scenarios([
        approving_judge(),
        worker([commit("hello.txt", "hello"), create_pr("Hello")]),
    ]);
    let project = Project::new("project", &scenarios, &json!({}));
    project.commit_files(&[("mistake.txt", "a mistake")]);
    project
}

#[test]
fn a_merge_does_not_bring_back_what_was_taken_out_of_the_base() {
    let project = project();
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    project.tick_one("judge", "succeeded");
    let was = project.git(&["rev-parse", "main"]);
    project.git(&["reset", "-q", "--hard", "HEAD~1"]);
    let now = project.git(&["rev-parse", "main"]);
    let heads = [was.get(..8).unwrap(), now.get(..8).unwrap()];
    // also before a tick has looked
    let refused = project.symphony(&["pr", "merge", "SYM-1"]);
    assert_ne!(refused.code, 0, "{refused:#?}");
    let words = refused
        .stderr
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(heads.iter().all(|head| words.contains(head)), "{words}");
    project.ok(&["tick"]);
    let [notice] = project.waiting("base").try_into().unwrap();
    let said = text(&notice["text"]);
    assert!(heads.iter().all(|head| said.contains(head)), "{said}");
    let [review] = project.waiting("review").try_into().unwrap();
    let answers = review["answers"].as_array().unwrap();
    assert!(
        !answers.contains(&json!("symphony pr merge SYM-1")),
        "{review:#}"
    );
    assert!(
        answers.contains(&json!("symphony pr merge SYM-1 --force")),
        "{review:#}"
    );
    // that the person knows of it brings nothing back
    project.ok(&["inbox", "--dismiss", &text(&notice["key"])]);
    assert_eq!(project.waiting("base"), Vec::<Value>::new());
    let refused = project.symphony(&["pr", "merge", "SYM-1"]);
    assert_ne!(refused.code, 0, "{refused:#?}");
    assert_eq!(project.git(&["rev-parse", "main"]), now);
    project.ok(&["tick"]);
    assert_eq!(project.waiting("base"), Vec::<Value>::new());
    project.ok(&["pr", "merge", "SYM-1", "--force"]);
    assert!(project.root.join("mistake.txt").exists());
    project.assert_sound();
}

#[test]
fn a_base_that_gets_its_commits_back_and_work_without_them_are_merged() {
    let project = project();
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    project.tick_one("judge", "succeeded");
    let was = project.git(&["rev-parse", "main"]);
    project.git(&["reset", "-q", "--hard", "HEAD~1"]);
    project.ok(&["tick"]);
    project.git(&["reset", "-q", "--hard", &was]);
    project.ok(&["tick"]);
    let [review] = project.waiting("review").try_into().unwrap();
    let answers = review["answers"].as_array().unwrap();
    assert!(
        answers.contains(&json!("symphony pr merge SYM-1")),
        "{review:#}"
    );
    // what came later was in no pull request
    project.commit_files(&[("later.txt", "later")]);
    project.ok(&["tick"]);
    project.git(&["reset", "-q", "--hard", "HEAD~1"]);
    project.ok(&["tick"]);
    project.ok(&["pr", "merge", "SYM-1"]);
    assert!(project.root.join("hello.txt").exists());
    project.assert_sound();
}
