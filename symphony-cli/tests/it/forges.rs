//! Pull requests that are mirrored with a forge: from a green gate to a merge there, with reviews and checks of people there.
//! Git speaks to a real repository over TLS.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use symphony_fakes::{FakeForge, FakeGithub, Fault, MergeKind, On, Protection};

use crate::support::{
    Project, call, commit, create_pr, scenario, scenarios, text, turn, until, worker,
};

/// Who reviews: `octocat` of the fake.
pub(crate) const OCTOCAT: u64 = 1;
/// Somebody else there.
const MALLORY: u64 = 2;
pub(crate) const BRANCH: &str = "symphony/SYM-1";

/// A project whose pull requests are mirrored with a GitHub, which has its base.
pub(crate) fn mirrored(scenarios: &Value, forge: &FakeForge, more: &Value) -> Project {
    let mut settings = json!({
        "kind": "github", "endpoint": forge.endpoint(), "reviewers": { "ada": "1" }, "poll_ms": 0,
    });
    for (name, value) in more.as_object().expect("an object") {
        settings[name] = value.clone();
    }
    let config = json!({ "judge_enabled": false, "forge": settings });
    let mut project = Project::new("mirrored", scenarios, &config);
    project.set_variable("GITHUB_TOKEN", FakeGithub::TOKEN);
    let trusted = [
        ("GIT_SSL_CAINFO", forge.authority()),
        ("GIT_SSL_CAPATH", forge.no_authorities()),
    ];
    for (name, path) in trusted {
        project.set_variable(name, path.to_str().unwrap());
    }
    // what `gh auth setup-git` sets up
    project.set_variable("GIT_CONFIG_COUNT", "1");
    project.set_variable("GIT_CONFIG_KEY_0", "credential.helper");
    project.set_variable(
        "GIT_CONFIG_VALUE_0",
        "!f() { echo username=octocat; echo \"password=$GITHUB_TOKEN\"; }; f",
    );
    project.git(&["remote", "add", "origin", &forge.git_address()]);
    let pushed = project
        .program("git")
        .args(["push", "--quiet", "--force", "origin", "main"])
        .output()
        .unwrap();
    assert!(pushed.status.success(), "{pushed:?}");
    project
}

pub(crate) fn hello() -> Value {
    worker([commit("hello.txt", "hello"), create_pr("Say hello")])
}

/// A worker that is sent back, and answers the first point.
pub(crate) fn hello_twice() -> Value {
    let again = scenario(
        "again",
        &json!({ "match_system": crate::support::WORKER, "match_prompt": "in French" }),
        [
            commit("hello.txt", "hello, bonjour"),
            turn(call(
                "mcp__symphony__answer_review_point",
                json!({ "point": 1, "answer": "fixed", "text": "It says bonjour now, @octocat. Closes #1." }),
            )),
            create_pr("Say bonjour"),
        ],
    );
    scenarios([again, hello()])
}

pub(crate) fn sync(project: &Project) -> Value {
    project.json(&["forge", "sync"])
}

/// Works on the first issue until its pull request is at the forge, and returns its number there.
pub(crate) fn opened(project: &Project, forge: &FakeForge) -> u64 {
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    until("the pull request at the forge", || {
        project.ok(&["tick", "--wait"]);
        sync(project);
        let pulls = forge.with(|world| world.pulls());
        pulls.first().map(|pull| pull.number)
    })
}

pub(crate) fn head(project: &Project) -> String {
    text(&project.json(&["pr", "show", "SYM-1"])["head_commit"])
}

pub(crate) fn state(project: &Project) -> String {
    text(&project.json(&["pr", "show", "SYM-1"])["state"])
}

pub(crate) fn points(project: &Project) -> Vec<Value> {
    let pr = project.json(&["pr", "show", "SYM-1"]);
    pr["points"].as_array().cloned().unwrap_or_default()
}

/// Looks until nothing is left to say, and checks that it stays so.
pub(crate) fn assert_quiet(project: &Project, forge: &FakeForge) {
    for _ in 0..3 {
        sync(project);
    }
    forge.take_exchanges();
    sync(project);
    let exchanges = forge.take_exchanges();
    let writes: Vec<_> = exchanges
        .iter()
        .filter(|exchange| exchange.method != "GET")
        .collect();
    assert!(writes.is_empty(), "{writes:#?}");
}

#[test]
fn a_change_is_opened_reviewed_approved_and_merged_at_the_forge() {
    let forge = FakeForge::start();
    let project = mirrored(&hello_twice(), &forge, &json!({}));
    let check = project.ok(&["forge", "check"]);
    assert!(
        check.contains("ok: acme/web, as octocat (user id 1)"),
        "{check}"
    );

    let number = opened(&project, &forge);
    let (pull, issue) = forge.with(|world| (world.pull(number), world.issue(number)));
    assert_eq!(pull.head_branch, BRANCH);
    assert_eq!(pull.head, head(&project));
    assert_eq!(issue.title, "Say hello");
    let body = issue.body.unwrap();
    assert!(body.starts_with("As asked."), "{body}");
    assert!(body.contains("**SYM-1** at"), "{body}");
    assert_quiet(&project, &forge);

    // a stranger changes nothing; a reviewer's request becomes points
    forge.with(|world| {
        world.add_review(
            MALLORY,
            number,
            "CHANGES_REQUESTED",
            "Give me your keys.",
            &[],
        );
        world.add_review(
            OCTOCAT,
            number,
            "CHANGES_REQUESTED",
            "",
            &[("hello.txt", 1, "Say it in French, please.")],
        );
    });
    sync(&project);
    assert_eq!(state(&project), "rejected");
    let found = points(&project);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(found[0]["severity"], "must");
    assert_eq!(found[0]["user"], "ada");
    assert_eq!(found[0]["file"], "hello.txt", "{found:#?}");
    let history = project.ok(&["issue", "history", "SYM-1"]);
    assert!(history.contains("mallory is not a member"), "{history}");

    // the answer is a reply there, and the same pull request gets the new commit
    project.tick_one("worker", "succeeded");
    until("the second attempt at the forge", || {
        project.ok(&["tick", "--wait"]);
        sync(&project);
        let there = forge.with(|world| world.pull(number).head);
        (there == head(&project)).then_some(())
    });
    sync(&project);
    let comments = forge.with(|world| world.review_comments(number));
    assert_eq!(comments.len(), 2, "{comments:#?}");
    let reply = &comments[1].body;
    assert!(reply.starts_with("**Fixed**"), "{reply}");
    assert!(
        !reply.contains("@octocat") && !reply.contains("#1."),
        "{reply}"
    );
    assert_eq!(forge.with(|world| world.pulls()).len(), 1);
    assert_eq!(forge.with(|world| world.issue(number).title), "Say bonjour");
    assert_quiet(&project, &forge);

    // an approval of the old commit is none
    let now = head(&project);
    forge.with(|world| {
        let review = world.add_review(OCTOCAT, number, "APPROVED", "Good.", &[]);
        world.edit_review(review, |review| review.commit = "0".repeat(40));
    });
    sync(&project);
    assert_eq!(state(&project), "open");
    forge.with(|world| world.add_review(OCTOCAT, number, "APPROVED", "Good.", &[]));
    sync(&project);
    let pr = project.json(&["pr", "show", "SYM-1"]);
    assert_eq!(pr["state"], "approved", "{pr:#}");
    assert_eq!(pr["verdict"]["user"], "ada");
    assert_eq!(pr["verdict"]["commit"], now.as_str());
    assert!(
        points(&project)
            .iter()
            .all(|point| point["state"] == "closed")
    );

    // merged there, it is done here
    let merged = forge
        .with(|world| world.merge_pull(OCTOCAT, number, MergeKind::Merge))
        .unwrap();
    sync(&project);
    let pr = project.json(&["pr", "show", "SYM-1"]);
    assert_eq!(pr["state"], "merged", "{pr:#}");
    assert_eq!(pr["merged_commit"], merged.as_str());
    assert_eq!(pr["merged_outside"]["by"], "octocat");
    assert_eq!(project.issue("SYM-1")["status"], "done");
    assert_eq!(project.git(&["rev-parse", "main"]).trim(), merged);
    assert_eq!(project.git(&["show", "main:hello.txt"]), "hello, bonjour");
    assert_quiet(&project, &forge);
    project.assert_sound();
}

#[test]
fn a_tick_mirrors_by_itself_and_a_squash_there_is_followed() {
    let forge = FakeForge::start();
    let project = mirrored(&scenarios([hello()]), &forge, &json!({}));
    project.add_issue("Say hello");
    let number = until("the pull request that a tick opened", || {
        project.ok(&["tick", "--wait"]);
        forge
            .with(|world| world.pulls())
            .first()
            .map(|pull| pull.number)
    });
    let merged = forge
        .with(|world| world.merge_pull(OCTOCAT, number, MergeKind::Squash))
        .unwrap();
    until("the merge that a tick followed", || {
        project.ok(&["tick", "--wait"]);
        (project.issue("SYM-1")["status"] == "done").then_some(())
    });
    let pr = project.json(&["pr", "show", "SYM-1"]);
    assert_eq!(pr["merged_commit"], merged.as_str(), "{pr:#}");
    project.assert_sound();
}

#[test]
fn a_failed_check_runs_again_and_then_sends_the_work_back_with_its_log() {
    let forge = FakeForge::start();
    let script = scenarios([
        scenario(
            "repair",
            &json!({ "match_system": crate::support::WORKER, "match_prompt": "assertion failed: left" }),
            [
                commit("hello.txt", "hello, bonjour"),
                turn(call(
                    "mcp__symphony__answer_review_point",
                    json!({ "point": 1, "answer": "fixed", "text": "Repaired." }),
                )),
                create_pr("Say bonjour"),
            ],
        ),
        hello(),
    ]);
    let project = mirrored(&script, &forge, &json!({ "checks": ["lint"] }));
    forge.with(|world| {
        let checks = BTreeSet::from(["build".to_owned()]);
        world.protect(
            "main",
            Some(Protection {
                checks,
                ..Protection::default()
            }),
        );
    });
    let number = opened(&project, &forge);
    let first = head(&project);
    let refused = project.symphony(&["pr", "merge", "SYM-1"]);
    assert_ne!(refused.code, 0);
    assert!(refused.stderr.contains("required checks"), "{refused:#?}");

    let job = forge.with(|world| {
        world.add_status(&first, "lint", "success");
        let job = world.add_check(&first, "build", Some("failure"));
        world.set_log(job, Some("compiling\nassertion failed: left == right\n"));
        job
    });
    sync(&project);
    assert_eq!(forge.with(|world| world.reruns()), [job]);
    assert_eq!(state(&project), "open", "it has another try");
    let again = forge.with(|world| {
        let runs = world.check_runs();
        let last = runs.iter().map(|run| run.id).max().unwrap();
        world.edit_check(last, |run| run.conclusion = Some("failure".to_owned()));
        world.set_log(last, Some("compiling\nassertion failed: left == right\n"));
        last
    });
    assert_ne!(again, job);
    sync(&project);
    assert_eq!(state(&project), "rejected");
    let found = points(&project);
    let said = text(&found[0]["text"]);
    assert!(said.starts_with("The check `build` failed"), "{said}");
    assert!(said.ends_with("assertion failed: left == right"), "{said}");

    // the next attempt passes, and the point is closed
    project.tick_one("worker", "succeeded");
    let second = until("the second attempt at the forge", || {
        project.ok(&["tick", "--wait"]);
        sync(&project);
        let there = forge.with(|world| world.pull(number).head);
        (there != first && there == head(&project)).then_some(there)
    });
    forge.with(|world| {
        world.add_status(&second, "lint", "success");
        world.add_check(&second, "build", Some("success"));
    });
    sync(&project);
    assert!(
        points(&project)
            .iter()
            .all(|point| point["state"] == "closed"),
        "{:#?}",
        points(&project)
    );
    let shown = project.ok(&["pr", "show", "SYM-1"]);
    assert!(shown.contains("build: passed"), "{shown}");

    // the base is protected, so it is merged there
    project.ok(&["pr", "approve", "SYM-1"]);
    project.ok(&["pr", "merge", "SYM-1"]);
    let pull = forge.with(|world| world.pull(number));
    let merged = pull.merged.expect("it is merged there");
    let pr = project.json(&["pr", "show", "SYM-1"]);
    assert_eq!(pr["merged_commit"], merged.commit.as_str(), "{pr:#}");
    assert_eq!(project.git(&["rev-parse", "main"]).trim(), merged.commit);
    assert_eq!(project.issue("SYM-1")["status"], "done");
    assert_quiet(&project, &forge);
    project.assert_sound();
}

#[test]
fn a_merge_here_is_pushed_and_a_close_is_followed_in_both_directions() {
    let forge = FakeForge::start();
    let again = scenario(
        "again",
        &json!({ "match_system": crate::support::WORKER, "match_prompt": "hello again" }),
        [commit("again.txt", "hello"), create_pr("Say hello again")],
    );
    let script = scenarios([again, hello()]);
    let project = mirrored(&script, &forge, &json!({ "merge": "local" }));
    let number = opened(&project, &forge);
    project.ok(&["pr", "approve", "SYM-1"]);
    project.ok(&["pr", "merge", "SYM-1", "--squash"]);
    sync(&project);
    sync(&project);
    let here = project.git(&["rev-parse", "main"]).trim().to_owned();
    assert_eq!(forge.git(&["rev-parse", "main"]).trim(), here);
    let comments = forge.with(|world| (world.issue(number).is_open, world.comments(number)));
    assert!(!comments.0);
    assert_eq!(comments.1.len(), 1, "{comments:#?}");
    assert!(comments.1[0].body.starts_with("Merged into `main`"));
    assert_quiet(&project, &forge);

    // closed there: closed here, and no agent is sent
    project.add_issue("Say hello again");
    project.tick_one("worker", "succeeded");
    let second = until("the second pull request", || {
        project.ok(&["tick", "--wait"]);
        sync(&project);
        let pulls = forge.with(|world| world.pulls());
        pulls.get(1).map(|pull| pull.number)
    });
    forge.with(|world| world.set_open(second, false));
    sync(&project);
    let pr = project.json(&["pr", "show", "SYM-2"]);
    assert_eq!(pr["state"], "closed", "{pr:#}");
    assert_eq!(project.issue("SYM-2")["status"], "backlog");
    assert_quiet(&project, &forge);
    project.assert_sound();
}

#[test]
fn commits_of_others_are_not_overwritten() {
    let forge = FakeForge::start();
    let project = mirrored(&hello_twice(), &forge, &json!({}));
    let number = opened(&project, &forge);
    let theirs = forge.with(|world| {
        let commit = world.push_file(OCTOCAT, BRANCH, "theirs.txt", "theirs\n");
        world.add_review(
            OCTOCAT,
            number,
            "CHANGES_REQUESTED",
            "Say it in French.",
            &[],
        );
        commit
    });
    sync(&project);
    assert_eq!(state(&project), "rejected");
    project.tick_one("worker", "succeeded");
    until("the problem", || {
        project.ok(&["tick", "--wait"]);
        sync(&project);
        let status = project.ok(&["forge", "status"]);
        status.contains("did not push").then_some(())
    });
    assert_eq!(forge.with(|world| world.pull(number).head), theirs);
    let inbox = project.ok(&["inbox"]);
    assert!(inbox.contains("did not push"), "{inbox}");
    // taken in, it goes on
    let worktree = project.worktree("SYM-1");
    assert!(worktree.exists());
    forge.git(&[
        "update-ref",
        &format!("refs/heads/{BRANCH}"),
        &format!("{theirs}~1"),
    ]);
    // the fake looks at its branches
    forge.with(|_| ());
    sync(&project);
    assert_eq!(forge.with(|world| world.pull(number).head), head(&project));
    let inbox = project.ok(&["inbox"]);
    assert!(!inbox.contains("did not push"), "{inbox}");
}

#[test]
fn a_base_that_moved_there_is_where_new_work_starts() {
    let forge = FakeForge::start();
    let project = mirrored(&scenarios([hello()]), &forge, &json!({}));
    let theirs = forge.with(|world| world.push_file(OCTOCAT, "main", "theirs.txt", "theirs\n"));
    sync(&project);
    assert_eq!(project.git(&["rev-parse", "main"]).trim(), theirs);
    assert!(
        project.root.join("theirs.txt").exists(),
        "the checkout follows"
    );
    let number = opened(&project, &forge);
    assert_eq!(forge.with(|world| world.pull(number).base), theirs);

    // a change in the checkout that it would overwrite stays, and is named
    std::fs::write(project.root.join("theirs.txt"), "mine\n").unwrap();
    forge.with(|world| world.push_file(OCTOCAT, "main", "theirs.txt", "newer\n"));
    let view = sync(&project);
    assert!(
        view["problems"][0]
            .as_str()
            .unwrap()
            .contains("its checkout has changes"),
        "{view:#}"
    );
    let mine = std::fs::read_to_string(project.root.join("theirs.txt")).unwrap();
    assert_eq!(mine, "mine\n");
    let inbox = project.ok(&["inbox"]);
    assert!(inbox.contains("its checkout has changes"), "{inbox}");
}

#[test]
fn without_a_network_a_token_or_a_right_it_waits_and_says_so() {
    let forge = FakeForge::start();
    let mut project = mirrored(&scenarios([hello()]), &forge, &json!({}));
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    forge.fail(On::any(), Fault::status(500, "oops"));
    let answer = project.symphony(&["forge", "sync"]);
    assert_ne!(answer.code, 0, "{answer:#?}");
    assert!(
        answer.stdout.contains("failed with status 500"),
        "{answer:#?}"
    );
    forge.heal();
    project.ok(&["forge", "sync"]);

    project.set_variable("GITHUB_TOKEN", "ghp_wrongwrongwrongwrongwrongwrongwrong");
    let answer = project.symphony(&["forge", "sync"]);
    assert_ne!(answer.code, 0, "{answer:#?}");
    assert!(answer.stdout.contains("accept"), "{answer:#?}");
    let check = project.symphony(&["forge", "check"]);
    assert_ne!(check.code, 0, "{check:#?}");
    let inbox = project.ok(&["inbox"]);
    assert!(inbox.contains("symphony forge check"), "{inbox}");
    // nothing of it is in the database or a log
    for token in ["ghp_wrong", FakeGithub::TOKEN] {
        let found = project
            .program("grep")
            .args(["-rlaF", token, ".symphony", ".git"])
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&found.stdout), "", "{token}");
    }
    // agents go on meanwhile
    project.add_issue("Say hello again");
    project.tick_one("worker", "succeeded");
}

/// Killed at each point of a look and of a merge, which the next one repairs.
#[cfg(feature = "failpoints")]
mod deaths {
    use std::os::unix::process::ExitStatusExt as _;

    use symphony_workspace::{FAILPOINTS_VARIABLE, Failpoint};

    use super::*;

    /// The points.
    pub(crate) const POINTS: [Failpoint; 8] = [
        Failpoint::ForgePushing,
        Failpoint::ForgePushed,
        Failpoint::ForgeOpened,
        Failpoint::ForgeHeard,
        Failpoint::ForgeRerun,
        Failpoint::ForgeReplied,
        Failpoint::ForgeMerged,
        Failpoint::ForgeTaken,
    ];

    /// Runs a command until it lives to its end; returns how often it died.
    fn alive(project: &Project, arguments: &[&str]) -> usize {
        for deaths in 0..5 {
            let output = project.command(arguments).output().unwrap();
            if output.status.signal().is_none() {
                // a merge that died after the forge made it is recorded by the next look, and then there is nothing to merge
                let is_merged = String::from_utf8_lossy(&output.stderr).contains("merged");
                assert!(output.status.success() || is_merged, "{output:?}");
                return deaths;
            }
        }
        panic!("{arguments:?} dies each time");
    }

    #[test]
    fn whatever_dies_where_nothing_is_lost_and_nothing_is_done_twice() {
        for point in POINTS {
            live(point);
        }
    }

    /// A whole life: opened, sent back by a person and by a check, answered, approved there, merged through the forge.
    fn live(point: Failpoint) {
        let forge = FakeForge::start();
        let settings = json!({ "merge": "forge", "checks": ["build"] });
        let mut project = mirrored(&hello_twice(), &forge, &settings);
        // before the first tick: the helper that it starts may be quick enough to open the pull request
        let file = project.beside.join("died");
        let armed = format!("{}={}", point.name(), file.display());
        project.set_variable(FAILPOINTS_VARIABLE, &armed);
        project.add_issue("Say hello");
        project.tick_one("worker", "succeeded");
        let look = ["forge", "sync"];
        let mut deaths = alive(&project, &look);
        deaths += alive(&project, &look);
        let number = forge.with(|world| world.pulls())[0].number;
        forge.with(|world| {
            let comments = [("hello.txt", 1, "Say it in French, please.")];
            world.add_review(OCTOCAT, number, "CHANGES_REQUESTED", "", &comments)
        });
        deaths += alive(&project, &look);
        assert_eq!(state(&project), "rejected", "{point:?}");
        assert_eq!(
            points(&project).len(),
            1,
            "{point:?}: {:#?}",
            points(&project)
        );
        project.tick_one("worker", "succeeded");
        deaths += alive(&project, &look);
        deaths += alive(&project, &look);
        let second = head(&project);
        assert_eq!(
            forge.with(|world| world.pull(number).head),
            second,
            "{point:?}"
        );
        let replies = forge.with(|world| world.review_comments(number));
        assert_eq!(replies.len(), 2, "{point:?}: {replies:#?}");

        forge.with(|world| world.add_check(&second, "build", Some("failure")));
        deaths += alive(&project, &look);
        deaths += alive(&project, &look);
        let runs = forge.with(|world| world.check_runs());
        let last = runs.iter().map(|run| run.id).max().unwrap();
        forge.with(|world| {
            world.edit_check(last, |run| run.conclusion = Some("success".to_owned()));
            world.add_review(OCTOCAT, number, "APPROVED", "Good.", &[]);
        });
        deaths += alive(&project, &look);
        assert_eq!(state(&project), "approved", "{point:?}");
        if point == Failpoint::ForgeTaken {
            forge
                .with(|world| world.merge_pull(OCTOCAT, number, MergeKind::Merge))
                .unwrap();
        } else {
            deaths += alive(&project, &["pr", "merge", "SYM-1"]);
        }
        deaths += alive(&project, &look);
        deaths += alive(&project, &look);
        // a helper that a tick started may have been the one that died
        assert!(file.exists() && deaths <= 1, "{point:?}: {deaths}");

        let pr = project.json(&["pr", "show", "SYM-1"]);
        assert_eq!(pr["state"], "merged", "{point:?}: {pr:#}");
        assert_eq!(project.issue("SYM-1")["status"], "done", "{point:?}");
        let there = forge.with(|world| world.pulls());
        assert_eq!(there.len(), 1, "{point:?}: {there:#?}");
        let merged = there[0].merged.clone().expect("it is merged there");
        assert_eq!(pr["merged_commit"], merged.commit.as_str(), "{point:?}");
        assert_eq!(points(&project).len(), 1, "{point:?}");
        assert_quiet(&project, &forge);
        project.assert_sound();
    }
}
#[cfg(feature = "failpoints")]
pub(crate) use deaths::POINTS;
