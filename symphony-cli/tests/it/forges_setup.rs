//! A forge whose configuration or whose clone is not ready for it: each message is true for its cause and names what to do.

use serde_json::json;
use symphony_fakes::FakeForge;

use crate::forges::{hello, mirrored, sync};
use crate::support::{Project, scenarios};

/// What a look that fails prints about it.
fn held(project: &Project) -> String {
    let answer = project.symphony(&["forge", "sync"]);
    assert_ne!(answer.code, 0, "{answer:#?}");
    answer.stdout
}

#[test]
fn a_remote_that_names_no_repository_is_no_question_of_a_token() {
    let forge = FakeForge::start();
    let project = mirrored(&scenarios([hello()]), &forge, &json!({}));
    sync(&project);
    let origin = forge.git_address();
    project.git(&["remote", "set-url", "origin", "../elsewhere"]);
    let said = held(&project);
    let way_out = "symphony config set forge.repository OWNER/NAME";
    assert!(said.contains(way_out), "{said}");
    project.git(&["remote", "remove", "origin"]);
    let missing = held(&project);
    assert!(missing.contains("has no remote `origin`"), "{missing}");
    for said in [said, missing] {
        assert!(!said.contains("token"), "{said}");
        assert!(!said.contains("does not exist, or"), "{said}");
    }
    // a person hears of it at once: no wait repairs it
    let inbox = project.ok(&["inbox"]);
    assert!(inbox.contains("has no remote `origin`"), "{inbox}");
    project.git(&["remote", "add", "origin", &origin]);
    assert_eq!(sync(&project)["hold"], json!(null));
}

#[test]
fn a_login_of_git_that_is_refused_is_shown_as_that() {
    let forge = FakeForge::start();
    let mut project = mirrored(&scenarios([hello()]), &forge, &json!({}));
    // of a public one, a fetch needs no login
    forge.with(|world| world.set_repository(true, false, true));
    sync(&project);
    let works = "!f() { echo username=octocat; echo \"password=$GITHUB_TOKEN\"; }; f";
    let wrong = "!f() { echo username=octocat; echo password=wrong; }; f";
    project.set_variable("GIT_CONFIG_VALUE_0", wrong);
    let said = held(&project);
    assert!(said.contains("git cannot sign in at the remote"), "{said}");
    assert!(!said.contains("token"), "{said}");
    let inbox = project.ok(&["inbox"]);
    assert!(inbox.contains("git cannot sign in"), "{inbox}");
    let doctor = project.symphony(&["doctor"]).stdout;
    let advice = "make `git fetch` and `git push` work here without a prompt, then run `symphony forge check`";
    assert!(doctor.contains(advice), "{doctor}");
    let check = project.symphony(&["forge", "check"]);
    assert!(check.stderr.contains(advice), "{check:#?}");
    project.set_variable("GIT_CONFIG_VALUE_0", works);
    assert_eq!(sync(&project)["hold"], json!(null));
}

#[test]
fn a_project_without_a_forge_or_a_tracker_hears_of_both_in_the_same_words() {
    let config = json!({ "judge_enabled": false });
    let project = Project::new("alone", &scenarios([hello()]), &config);
    for (command, what, key, page) in [
        ("forge", "forge", "forge", "docs/forges.md"),
        ("tracker", "tracker", "trackers", "docs/trackers.md"),
    ] {
        for verb in ["check", "sync", "status"] {
            let answer = project.symphony(&[command, verb]);
            assert_eq!(answer.code, 3, "{answer:#?}");
            let said = format!("the project has no {what}\n");
            assert!(answer.stderr.contains(&said), "{answer:#?}");
            let hint = format!("hint: add `{key}` to symphony.config.json as {page} shows");
            assert!(answer.stderr.contains(&hint), "{answer:#?}");
        }
    }
}
