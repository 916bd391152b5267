//! Bases, merges and closes on two sides: what Symphony pushes and merges, and what it leaves to people.

use serde_json::{Value, json};
use symphony_fakes::{FakeForge, MergeKind, Protection};

use crate::forges::{
    BRANCH, OCTOCAT, assert_quiet, head, hello, hello_twice, mirrored, opened, state, sync,
};
use crate::support::{Project, scenarios, text};

/// A forge and a project whose first pull request is open there; its number.
pub(crate) fn begun(more: &Value) -> (FakeForge, Project, u64) {
    begun_with(&hello_twice(), more)
}

/// As [`begun`], with other agents.
pub(crate) fn begun_with(scenarios: &Value, more: &Value) -> (FakeForge, Project, u64) {
    let forge = FakeForge::start();
    let project = mirrored(scenarios, &forge, more);
    let number = opened(&project, &forge);
    (forge, project, number)
}

/// Sends the work back by a review there.
pub(crate) fn send_back(project: &Project, forge: &FakeForge, number: u64) {
    forge.with(|world| {
        world.add_review(OCTOCAT, number, "CHANGES_REQUESTED", "In French.", &[]);
    });
    sync(project);
    assert_eq!(state(project), "rejected");
}

pub(crate) fn here(project: &Project) -> String {
    project.git(&["rev-parse", "main"]).trim().to_owned()
}

pub(crate) fn there(forge: &FakeForge, branch: &str) -> String {
    forge.git(&["rev-parse", branch]).trim().to_owned()
}

pub(crate) fn is_open_there(forge: &FakeForge, number: u64) -> bool {
    forge.with(|world| world.issue(number).is_open)
}

/// What a look reports as problems, on one line.
pub(crate) fn problems(project: &Project) -> String {
    let view = sync(project);
    let found = view["problems"].as_array().expect("a list");
    let found: Vec<String> = found.iter().map(text).collect();
    found.join("\n")
}

fn inbox(project: &Project) -> String {
    project.ok(&["inbox"])
}

/// What `pr merge` refuses with.
fn refused(project: &Project) -> String {
    let answer = project.symphony(&["pr", "merge", "SYM-1"]);
    assert_ne!(answer.code, 0, "{answer:#?}");
    answer.stderr
}

fn mirrored_count(project: &Project) -> usize {
    let status = project.json(&["forge", "status"]);
    status["pull_requests"].as_array().expect("a list").len()
}

#[test]
fn commits_of_people_are_theirs_to_push_and_what_they_took_out_does_not_come_back() {
    let forge = FakeForge::start();
    let project = mirrored(&scenarios([hello()]), &forge, &json!({}));
    let before = there(&forge, "main");

    // a draft that no one pushed
    project.commit_files(&[("draft.txt", "not for others yet\n")]);
    let found = problems(&project);
    assert!(found.contains("is not a merge by Symphony"), "{found}");
    assert!(inbox(&project).contains("is not a merge by Symphony"));
    assert_eq!(there(&forge, "main"), before);
    project.git(&["reset", "--quiet", "--hard", "HEAD~1"]);

    // a leak that was pushed there and taken out again
    forge.with(|world| world.push_file(OCTOCAT, "main", "leak.txt", "password\n"));
    assert_eq!(problems(&project), "");
    assert!(project.root.join("leak.txt").exists());
    let rewind = |to: &str| {
        forge.git(&["update-ref", "refs/heads/main", to]);
        forge.with(|_| ());
    };
    rewind(&before);
    for _ in 0..2 {
        let found = problems(&project);
        assert!(found.contains("no longer has"), "{found}");
        assert_eq!(there(&forge, "main"), before);
    }
    // the advice
    project.git(&["fetch", "--quiet", "origin"]);
    project.git(&["reset", "--quiet", "--keep", "origin/main"]);
    assert_eq!(problems(&project), "");
    assert!(!inbox(&project).contains("no longer has"));

    // a merge by Symphony is pushed, and not once more after someone took it out
    opened(&project, &forge);
    project.ok(&["pr", "approve", "SYM-1"]);
    project.ok(&["pr", "merge", "SYM-1"]);
    let view = sync(&project);
    assert_eq!(view["bases"], json!(["main"]), "{view:#}");
    assert_eq!(there(&forge, "main"), here(&project));
    assert_quiet(&project, &forge);
    rewind(&before);
    for _ in 0..2 {
        let found = problems(&project);
        assert!(found.contains("no longer has"), "{found}");
        assert_eq!(there(&forge, "main"), before);
    }
    // a person decides otherwise
    project.git(&["push", "--quiet", "origin", "main"]);
    assert_eq!(problems(&project), "");
    project.assert_sound();
}

#[test]
fn work_on_commits_that_no_one_pushed_waits_for_their_author() {
    let forge = FakeForge::start();
    let project = mirrored(&scenarios([hello()]), &forge, &json!({}));
    let before = there(&forge, "main");
    project.commit_files(&[("draft.txt", "not for others yet\n")]);
    let draft: String = here(&project).chars().take(10).collect();
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    project.ok(&["tick", "--wait"]);
    let nothing_is_there = || {
        for _ in 0..2 {
            let found = problems(&project);
            assert!(found.contains(&draft), "{found}");
        }
        assert_eq!(inbox(&project).matches(&draft).count(), 1);
        assert_eq!(there(&forge, "main"), before);
        assert_eq!(forge.git(&["branch", "--list", BRANCH]), "");
        assert!(forge.with(|world| world.pulls()).is_empty());
    };
    nothing_is_there();
    // neither as a branch nor as a merge
    project.ok(&["pr", "approve", "SYM-1"]);
    project.ok(&["pr", "merge", "SYM-1"]);
    nothing_is_there();
    project.git(&["push", "--quiet", "origin", "main"]);
    assert_eq!(problems(&project), "");
    assert_eq!(mirrored_count(&project), 0);
    assert_quiet(&project, &forge);
}

#[test]
fn a_pull_request_that_is_for_another_base_there_is_not_merged() {
    let (forge, project, number) = begun(&json!({ "merge": "forge" }));
    let main = there(&forge, "main");
    forge.git(&["branch", "develop", "main"]);
    forge.with(|world| world.set_base(number, "develop"));
    let found = problems(&project);
    assert!(found.contains("`develop` at the forge"), "{found}");
    assert!(inbox(&project).contains("`develop` at the forge"));
    project.ok(&["pr", "approve", "SYM-1"]);
    for place in ["forge", "local"] {
        project.ok(&["config", "set", "forge.merge", place]);
        let found = refused(&project);
        assert!(found.contains("`develop` at the forge"), "{found}");
    }
    assert_eq!(there(&forge, "develop"), main);
    assert_eq!(here(&project), main);

    // merged there, it is not merged here
    let merge = |world: &mut symphony_fakes::GithubWorld| {
        world.merge_pull(OCTOCAT, number, MergeKind::Merge)
    };
    forge.with(merge).unwrap();
    let found = problems(&project);
    assert!(found.contains("into `develop`"), "{found}");
    assert_eq!(state(&project), "approved");
    project.ok(&["pr", "close", "SYM-1"]);
    assert_eq!(problems(&project), "");
    assert!(!inbox(&project).contains("develop"));
    assert_eq!(here(&project), main);
    assert_quiet(&project, &forge);
}

#[test]
fn a_check_that_turned_red_since_the_last_look_keeps_a_merge_back() {
    let (forge, project, _) = begun(&json!({ "merge": "local", "checks": ["build"] }));
    let commit = head(&project);
    forge.with(|world| world.add_status(&commit, "build", "success"));
    sync(&project);
    project.ok(&["pr", "approve", "SYM-1"]);
    forge.with(|world| world.add_status(&commit, "build", "failure"));
    let found = refused(&project);
    assert!(found.contains("build (failed)"), "{found}");
    assert!(found.contains("--force"), "{found}");
    forge.with(|world| world.add_status(&commit, "build", "success"));
    project.ok(&["pr", "merge", "SYM-1"]);
    assert_eq!(state(&project), "merged");
}

#[test]
fn what_ended_there_while_it_was_sent_back_here_gets_no_agent() {
    for kind in [None, Some(MergeKind::Merge), Some(MergeKind::Squash)] {
        let (forge, project, number) = begun(&json!({}));
        send_back(&project, &forge, number);
        match kind {
            None => forge.with(|world| world.set_open(number, false)),
            Some(kind) => {
                let merged = forge.with(|world| world.merge_pull(OCTOCAT, number, kind));
                merged.unwrap();
            }
        }
        sync(&project);
        let (status, pr) = match kind {
            None => ("backlog", "rejected"),
            Some(_) => ("done", "merged"),
        };
        assert_eq!(project.issue("SYM-1")["status"], status, "{kind:?}");
        assert_eq!(state(&project), pr, "{kind:?}");
        assert!(project.tick_wait().is_empty(), "{kind:?}");
        let history = project.ok(&["issue", "history", "SYM-1"]);
        assert!(
            history.contains("no agent works on it") || history.contains("octocat"),
            "{history}"
        );
        assert_eq!(forge.with(|world| world.pulls()).len(), 1, "{kind:?}");
        assert_quiet(&project, &forge);
        project.assert_sound();
    }
}

#[test]
fn a_merge_there_that_the_base_here_could_not_follow_is_refused_or_stays_its_persons() {
    let (forge, project, number) = begun(&json!({ "merge": "forge" }));
    project.ok(&["pr", "approve", "SYM-1"]);
    // a file in the way is found before the forge is asked
    let mine = project.root.join("hello.txt");
    std::fs::write(&mine, "mine\n").unwrap();
    let found = refused(&project);
    assert!(found.contains("would overwrite hello.txt"), "{found}");
    assert!(forge.with(|world| world.pull(number).merged).is_none());
    std::fs::remove_file(&mine).unwrap();

    // so are commits of the base that the forge lacks
    project.commit_files(&[("draft.txt", "mine\n")]);
    let found = refused(&project);
    assert!(
        found.contains("commits here that `origin` lacks"),
        "{found}"
    );
    assert!(forge.with(|world| world.pull(number).merged).is_none());
    project.git(&["reset", "--quiet", "--hard", "HEAD~1"]);

    // what shows only when git moves the base comes too late
    let lock = project.root.join(".git/index.lock");
    std::fs::write(&lock, "").unwrap();
    for _ in 0..2 {
        let found = refused(&project);
        assert!(found.contains("is not recorded as merged"), "{found}");
        assert!(found.contains("symphony forge sync"), "{found}");
    }
    let merged = forge.with(|world| world.pull(number).merged);
    let merged = merged.expect("it is merged there").commit;
    std::fs::remove_file(&lock).unwrap();
    sync(&project);
    let pr = project.json(&["pr", "show", "SYM-1"]);
    assert_eq!(pr["state"], "merged", "{pr:#}");
    assert_eq!(pr["merged_commit"], merged.as_str());
    assert_eq!(pr["merged_outside"], Value::Null, "{pr:#}");
    assert_eq!(project.issue("SYM-1")["status"], "done");
    assert_eq!(here(&project), merged);
    assert_quiet(&project, &forge);
    project.assert_sound();
}

#[test]
fn nothing_is_merged_here_that_a_protected_base_there_would_not_take() {
    let (forge, project, number) = begun(&json!({ "merge": "local" }));
    forge.with(|world| world.protect("main", Some(Protection::default())));
    sync(&project);
    project.ok(&["pr", "approve", "SYM-1"]);
    let found = refused(&project);
    assert!(found.contains("`main` is protected"), "{found}");
    assert!(found.contains("config set forge.merge forge"), "{found}");
    assert_eq!(here(&project), there(&forge, "main"));

    // forced, it is merged here, and the message says how it gets there
    project.ok(&["pr", "merge", "SYM-1", "--force"]);
    let found = problems(&project);
    assert!(
        found.contains("push origin main:refs/heads/NAME"),
        "{found}"
    );
    project.git(&["push", "--quiet", "origin", "main:refs/heads/take"]);
    let taken = forge.with(|world| {
        let taken = world.open_pull(OCTOCAT, "take", "main", "Take it");
        world.merge_pull(OCTOCAT, taken, MergeKind::Merge)
    });
    assert_eq!(problems(&project), "");
    assert_eq!(here(&project), taken.unwrap());
    assert!(!is_open_there(&forge, number));
    assert_quiet(&project, &forge);
}

#[test]
fn what_was_never_opened_there_is_over_when_it_ends_here() {
    let forge = FakeForge::start();
    let project = mirrored(&scenarios([hello()]), &forge, &json!({}));
    forge.with(|world| world.push_file(OCTOCAT, BRANCH, "theirs.txt", "theirs\n"));
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    project.ok(&["tick", "--wait"]);
    let found = problems(&project);
    assert!(found.contains("did not push"), "{found}");
    project.ok(&["pr", "approve", "SYM-1"]);
    project.ok(&["pr", "merge", "SYM-1"]);
    assert_eq!(problems(&project), "");
    assert!(!inbox(&project).contains("did not push"));
    assert_eq!(mirrored_count(&project), 0);
}

#[test]
fn what_was_merged_there_with_more_commits_gets_no_second_pull_request() {
    let (forge, project, number) = begun(&json!({}));
    let merged = forge.with(|world| {
        world.push_file(OCTOCAT, BRANCH, "theirs.txt", "theirs\n");
        world.merge_pull(OCTOCAT, number, MergeKind::Squash)
    });
    merged.unwrap();
    for _ in 0..2 {
        let found = problems(&project);
        assert!(
            found.contains("commits that Symphony did not push"),
            "{found}"
        );
    }
    project.ok(&["pr", "close", "SYM-1"]);
    assert_eq!(problems(&project), "");
    assert_eq!(mirrored_count(&project), 0);
    assert!(!inbox(&project).contains("did not push"));
    assert_eq!(forge.with(|world| world.pulls()).len(), 1);
    assert_quiet(&project, &forge);
}

#[test]
fn a_forge_has_time_to_notice_a_merge_before_its_pull_request_is_closed() {
    for is_slow_for_ever in [false, true] {
        let (forge, project, number) = begun(&json!({}));
        forge.with(|world| world.set_slow(true));
        project.ok(&["pr", "approve", "SYM-1"]);
        project.ok(&["pr", "merge", "SYM-1"]);
        for _ in 0..3 {
            sync(&project);
        }
        assert_eq!(there(&forge, "main"), here(&project));
        assert!(is_open_there(&forge, number));
        if !is_slow_for_ever {
            forge.with(|world| world.set_slow(false));
        }
        for _ in 0..4 {
            sync(&project);
        }
        assert!(!is_open_there(&forge, number));
        let (pull, comments) = forge.with(|world| (world.pull(number), world.comments(number)));
        assert_eq!(pull.merged.is_none(), is_slow_for_ever, "{pull:?}");
        assert_eq!(comments.len(), usize::from(is_slow_for_ever));
        assert_eq!(mirrored_count(&project), 0);
        assert_quiet(&project, &forge);
    }
}

#[test]
fn one_that_was_opened_again_there_waits_for_a_person() {
    let (forge, project, number) = begun(&json!({}));
    forge.with(|world| world.set_open(number, false));
    sync(&project);
    assert_eq!(state(&project), "closed");
    forge.with(|world| world.set_open(number, true));
    for _ in 0..2 {
        let found = problems(&project);
        assert!(found.contains("reopened"), "{found}");
    }
    assert!(is_open_there(&forge, number));
    let shown = inbox(&project);
    assert!(shown.contains("symphony issue move SYM-1 todo"), "{shown}");
    assert_quiet(&project, &forge);
    // closed there once more, it is over; taken up here, too
    forge.with(|world| world.set_open(number, false));
    assert_eq!(problems(&project), "");
    forge.with(|world| world.set_open(number, true));
    assert!(problems(&project).contains("reopened"));
    project.ok(&["issue", "move", "SYM-1", "todo"]);
    assert_eq!(problems(&project), "");
    assert!(!inbox(&project).contains("reopened"));
}

#[test]
fn what_is_given_up_here_is_closed_there() {
    for how in ["cancelled", "deleted", "backlog"] {
        let (forge, project, number) = begun(&json!({}));
        send_back(&project, &forge, number);
        match how {
            "deleted" => {
                project.ok(&["issue", "delete", "SYM-1", "--yes"]);
            }
            _ => {
                project.ok(&["issue", "move", "SYM-1", how]);
            }
        }
        sync(&project);
        // it may be taken up again, and then it is the same one
        let waits = how == "backlog";
        assert_eq!(is_open_there(&forge, number), waits, "{how}");
        let comments = forge.with(|world| world.comments(number));
        assert_eq!(comments.len(), usize::from(how == "deleted"), "{how}");
        assert_quiet(&project, &forge);
        project.assert_sound();
    }
}

#[test]
fn an_older_commit_that_was_merged_there_is_followed_by_another_pull_request() {
    let (forge, project, number) = begun(&json!({}));
    let words = "Say it in French.";
    forge.with(|world| world.add_review(OCTOCAT, number, "CHANGES_REQUESTED", words, &[]));
    sync(&project);
    project.tick_one("worker", "succeeded");
    let older = forge.with(|world| world.pull(number).head);
    let merged = forge.with(|world| world.merge_pull(OCTOCAT, number, MergeKind::Merge));
    merged.unwrap();
    let found = problems(&project);
    assert_ne!(older, head(&project));
    assert!(found.contains("it was merged at the forge at"), "{found}");
    let way_out = "Run `symphony pr close SYM-1` if nothing is missing";
    assert!(found.contains(way_out), "{found}");
    // what the message announces
    sync(&project);
    let pulls = forge.with(|world| world.pulls());
    assert_eq!(pulls.len(), 2, "{pulls:#?}");
    assert_eq!(pulls[1].head, head(&project));
    project.ok(&["pr", "close", "SYM-1"]);
    sync(&project);
    assert!(!is_open_there(&forge, pulls[1].number));
    project.assert_sound();
}
