//! What goes wrong at a forge, on the way there, and in its configuration: logs that cannot be read, jobs that may not run again
//! yet, one pull request that cannot be read, branches with commits of others.

use serde_json::{Value, json};
use symphony_core::Timestamp;
use symphony_fakes::{FakeForge, Fault, On};

use crate::forges::{
    BRANCH, OCTOCAT, head, hello, hello_twice, mirrored, opened, points, state, sync,
};
use crate::plan_support::{any_phase, plan_of};
use crate::support::{
    Project, bash, call, commit, create_pr, scenario, scenarios, text, turn, until,
};

/// Ends the newest run of a check.
fn end(forge: &FakeForge, name: &str, conclusion: &str) {
    forge.with(|world| {
        let runs = world.check_runs();
        let of_name = runs.iter().filter(|run| run.name == name);
        let last = of_name.map(|run| run.id).max().expect("it has a run");
        world.edit_check(last, |run| run.conclusion = Some(conclusion.to_owned()));
    });
}

fn first_point(project: &Project) -> String {
    text(&points(project)[0]["text"])
}

#[test]
fn a_log_that_cannot_be_read_keeps_no_work_from_being_sent_back() {
    let forge = FakeForge::start();
    let settings = json!({ "checks": ["build", "lint"], "rerun": false });
    let project = mirrored(&hello_twice(), &forge, &settings);
    opened(&project, &forge);
    let commit = head(&project);
    forge.with(|world| {
        let job = world.add_check(&commit, "build", Some("failure"));
        world.set_log(job, Some("boom\n"));
    });
    forge.fail(On::any().with("/logs"), Fault::status(500, "oops"));
    sync(&project);
    assert_eq!(state(&project), "rejected");
    let said = first_point(&project);
    assert!(said.contains("Its log could not be read: "), "{said}");
    project.assert_sound();
}

#[test]
fn a_look_that_ends_early_starts_no_job_twice_and_counts_no_commit_twice() {
    let forge = FakeForge::start();
    let project = mirrored(
        &hello_twice(),
        &forge,
        &json!({ "checks": ["build", "lint"] }),
    );
    opened(&project, &forge);
    let commit = head(&project);
    let build = forge.with(|world| world.add_check(&commit, "build", Some("failure")));
    sync(&project);
    end(&forge, "build", "failure");
    let lint = forge.with(|world| world.add_check(&commit, "lint", Some("failure")));
    let wait = Fault::status(429, "{}").with_header("retry-after", "1");
    forge.fail(On::any().with("/logs"), wait);
    for _ in 0..7 {
        let answer = project.symphony(&["forge", "sync"]);
        assert_ne!(answer.code, 0, "{answer:#?}");
    }
    assert_eq!(forge.with(|world| world.reruns()), [build, lint]);
    assert_eq!(state(&project), "open");
    forge.heal();
    sync(&project);
    assert_eq!(state(&project), "rejected", "after one commit, not eight");
    assert_eq!(points(&project).len(), 1);
    project.assert_sound();
}

#[test]
fn a_job_whose_workflow_still_runs_is_asked_for_later() {
    let forge = FakeForge::start();
    let project = mirrored(
        &hello_twice(),
        &forge,
        &json!({ "checks": ["build", "lint"] }),
    );
    opened(&project, &forge);
    let commit = head(&project);
    let (build, lint) = forge.with(|world| {
        let build = world.add_check(&commit, "build", Some("failure"));
        (build, world.add_check(&commit, "lint", Some("failure")))
    });
    sync(&project);
    sync(&project);
    assert_eq!(forge.with(|world| world.reruns()), [build]);
    assert_eq!(
        state(&project),
        "open",
        "the other one has its second run to come"
    );
    end(&forge, "build", "success");
    sync(&project);
    assert_eq!(forge.with(|world| world.reruns()), [build, lint]);
    end(&forge, "lint", "success");
    sync(&project);
    assert_eq!(state(&project), "open");
    let shown = project.ok(&["pr", "show", "SYM-1"]);
    assert!(shown.contains("lint: passed when it ran again"), "{shown}");
    project.assert_sound();
}

#[test]
fn the_end_of_a_log_is_plain_text() {
    let forge = FakeForge::start();
    let settings = json!({ "checks": ["build"], "rerun": false });
    let project = mirrored(&hello_twice(), &forge, &settings);
    opened(&project, &forge);
    let commit = head(&project);
    forge.with(|world| {
        let job = world.add_check(&commit, "build", Some("failure"));
        let line = "2026-01-01T00:00:00.0000000Z \u{1b}[31merror\u{1b}[0m \u{0} \u{202e}evil\r\n";
        world.set_log(job, Some(&line.repeat(20_000)));
    });
    sync(&project);
    let said = first_point(&project);
    assert!(said.ends_with("error  evil\nerror  evil"), "{said}");
    assert!(said.matches("error").count() > 80, "{said}");
}

/// A second issue, whose agent makes another change.
fn hello_again() -> Value {
    scenario(
        "again",
        &json!({ "match_system": crate::support::WORKER, "match_prompt": "hello again" }),
        [commit("again.txt", "hello"), create_pr("Say hello again")],
    )
}

#[test]
fn one_pull_request_that_the_forge_fails_for_keeps_no_other_back() {
    let forge = FakeForge::start();
    let script = scenarios([hello_again(), hello()]);
    let project = mirrored(&script, &forge, &json!({}));
    let number = opened(&project, &forge);
    forge.with(|world| world.add_review(OCTOCAT, number, "COMMENTED", "Hm.", &[]));
    project.add_issue("Say hello again");
    project.tick_one("worker", "succeeded");
    for (path, status, said) in [
        (format!("/pulls/{number}/reviews"), 502, "too large"),
        (format!("/pulls/{number}"), 404, "does not exist"),
    ] {
        forge.heal();
        forge.fail(On::any().with(&path), Fault::status(status, "too large"));
        let view = until("the exchange of the other pull request", || {
            project.ok(&["tick", "--wait"]);
            let view = sync(&project);
            (forge.with(|world| world.pulls().len()) == 2).then_some(view)
        });
        assert!(text(&view["problems"][0]).contains(said), "{view:#}");
        let inbox = project.ok(&["inbox"]);
        assert!(
            inbox.contains(said) && !inbox.contains("on hold"),
            "{inbox}"
        );
    }
    // a server that fails for everything is left in peace
    forge.heal();
    forge.fail(On::any().with("/pulls"), Fault::status(502, "oops"));
    forge.fail(
        On::any().with("/branches/main").after(2),
        Fault::status(502, "oops"),
    );
    let answer = project.symphony(&["forge", "sync"]);
    assert!(answer.stdout.contains("status 502"), "{answer:#?}");
    forge.heal();
    let view = sync(&project);
    assert_eq!(view["problems"], json!([]), "{view:#}");
    assert_eq!(forge.with(|world| world.pulls().len()), 2);
    project.assert_sound();
}

#[test]
fn what_is_in_the_way_here_is_reported_and_waited_for() {
    let forge = FakeForge::start();
    let project = mirrored(&scenarios([hello()]), &forge, &json!({}));
    opened(&project, &forge);
    let theirs = forge.with(|world| world.push_file(OCTOCAT, "main", "theirs.txt", "theirs\n"));
    let lock = project.root.join(".git/index.lock");
    std::fs::write(&lock, "").unwrap();
    let view = sync(&project);
    let problem = text(&view["problems"][0]);
    assert!(
        problem.contains("`main` cannot be moved forward: "),
        "{view:#}"
    );
    assert!(problem.contains("index.lock"), "{view:#}");
    let inbox = project.ok(&["inbox"]);
    assert!(inbox.contains("cannot be moved forward"), "{inbox}");
    std::fs::remove_file(&lock).unwrap();
    let view = sync(&project);
    assert_eq!(view["problems"], json!([]), "{view:#}");
    assert_eq!(project.git(&["rev-parse", "main"]).trim(), theirs);

    // a look that cannot begin is recorded too, and not tried again at every tick
    let main = project.git(&["rev-parse", "main"]).trim().to_owned();
    project.git(&["checkout", "--quiet", "--detach"]);
    project.git(&["update-ref", "-d", "refs/heads/main"]);
    let answer = project.symphony(&["forge", "sync"]);
    assert_ne!(answer.code, 0, "{answer:#?}");
    let status = project.ok(&["forge", "status"]);
    assert!(
        status.contains("on this machine, ") && status.contains("branch"),
        "{status}"
    );
    assert!(status.contains("on hold"), "{status}");
    forge.take_exchanges();
    for _ in 0..2 {
        project.symphony(&["tick", "--wait"]);
    }
    assert!(forge.take_exchanges().is_empty());
    project.git(&["update-ref", "refs/heads/main", &main]);
    project.git(&["checkout", "--quiet", "main"]);
    let view = sync(&project);
    assert_eq!(view["problems"], json!([]), "{view:#}");
    assert!(!project.ok(&["forge", "status"]).contains("on hold"));
}

#[test]
fn a_base_that_the_forge_lacks_is_named_with_what_makes_it() {
    let forge = FakeForge::start();
    let project = mirrored(&scenarios([hello()]), &forge, &json!({}));
    let status = project.ok(&["forge", "status"]);
    assert!(status.starts_with("the forge: not read yet"), "{status}");
    let number = opened(&project, &forge);
    let main = forge
        .git(&["rev-parse", "refs/heads/main"])
        .trim()
        .to_owned();
    forge.git(&["update-ref", "-d", "refs/heads/main"]);
    let words = "the base branch `main` does not exist at `origin`: run `git push origin main` to create it";
    let check = project.symphony(&["forge", "check"]);
    assert!(check.stdout.contains(words), "{check:#?}");
    assert!(!check.stderr.contains("token"), "{check:#?}");
    forge.with(|world| world.add_review(OCTOCAT, number, "COMMENTED", "Hm.", &[]));
    let view = sync(&project);
    assert_eq!(view["problems"], json!([words]), "{view:#}");
    assert_eq!(
        view["taken"], 1,
        "what people write is still read: {view:#}"
    );
    let inbox = project.ok(&["inbox"]);
    assert!(inbox.contains(words), "{inbox}");
    forge.git(&["update-ref", "refs/heads/main", &main]);
    assert_eq!(sync(&project)["problems"], json!([]));
}

/// Works until a pull request here cannot be pushed, since someone else has pushed to its branch. Returns its number there.
fn pushed_over(project: &Project, forge: &FakeForge) -> u64 {
    let number = opened(project, forge);
    forge.with(|world| {
        world.push_file(OCTOCAT, BRANCH, "theirs.txt", "theirs\n");
        world.add_review(
            OCTOCAT,
            number,
            "CHANGES_REQUESTED",
            "Say it in French.",
            &[],
        );
    });
    sync(project);
    project.tick_one("worker", "succeeded");
    until("the problem", || {
        project.ok(&["tick", "--wait"]);
        sync(project);
        let status = project.ok(&["forge", "status"]);
        status.contains("did not push").then_some(())
    });
    number
}

/// Returns the command of the inbox's advice that begins in a way, as words of a shell.
fn advised(project: &Project, begin: &str) -> String {
    let status = project.json(&["forge", "status"]);
    let problem = text(&status["pull_requests"][0]["problem"]);
    let mut parts = problem.split('`');
    let command = parts.find(|part| part.starts_with(begin));
    command.expect("the problem names it").to_owned()
}

/// Runs a command as a person types it.
fn type_in(project: &Project, command: &str) {
    let symphony = env!("CARGO_BIN_EXE_symphony");
    let command = command.replacen("symphony pr ", &format!("'{symphony}' pr "), 1);
    let done = project.program("sh").args(["-c", &command]).output();
    let done = done.unwrap();
    assert!(done.status.success(), "{command}: {done:?}");
}

#[test]
fn commits_of_others_are_taken_in_by_the_command_that_the_inbox_names() {
    let forge = FakeForge::start();
    let merges = scenario(
        "merges",
        &json!({ "match_system": crate::support::WORKER, "match_prompt": "Run git merge" }),
        [
            // the agent has the objects of the project and refs of its own; its prompt names the commit
            bash(
                "git -c user.name=w -c user.email=w@example.invalid merge --no-edit \
                 $(git --git-dir=../../.git rev-parse refs/symphony/remote/origin/symphony/SYM-1)",
            ),
            turn(call(
                "mcp__symphony__answer_review_point",
                json!({ "point": 2, "answer": "fixed", "text": "Merged." }),
            )),
            create_pr("Say bonjour"),
        ],
    );
    let mut script = hello_twice();
    script["scenarios"]
        .as_array_mut()
        .unwrap()
        .insert(0, merges);
    let project = mirrored(&script, &forge, &json!({}));
    let number = pushed_over(&project, &forge);
    let theirs = forge.with(|world| world.pull(number).head);
    let command = advised(&project, "symphony pr reject");
    assert!(command.contains(&theirs), "{command}");
    type_in(&project, &command);
    project.tick_one("worker", "succeeded");
    until("the commits of both", || {
        project.ok(&["tick", "--wait"]);
        sync(&project);
        let there = forge.with(|world| world.pull(number).head);
        (there == head(&project)).then_some(())
    });
    let files = forge.git(&["ls-tree", "--name-only", BRANCH]);
    assert!(
        files.contains("theirs.txt") && files.contains("hello.txt"),
        "{files}"
    );
    let inbox = project.ok(&["inbox"]);
    assert!(!inbox.contains("did not push"), "{inbox}");
    project.assert_sound();
}

#[test]
fn commits_of_others_are_replaced_by_the_command_that_the_inbox_names() {
    let forge = FakeForge::start();
    let project = mirrored(&hello_twice(), &forge, &json!({}));
    let number = pushed_over(&project, &forge);
    type_in(&project, &advised(&project, "git push"));
    let view = sync(&project);
    assert_eq!(view["problems"], json!([]), "{view:#}");
    assert_eq!(forge.with(|world| world.pull(number).head), head(&project));
    assert!(forge.with(|world| world.issue(number).is_open));
    assert_eq!(state(&project), "open");
    project.assert_sound();
}

#[test]
fn a_required_check_that_nothing_reports_is_named() {
    let forge = FakeForge::start();
    let project = mirrored(&hello_twice(), &forge, &json!({ "checks": ["biuld"] }));
    opened(&project, &forge);
    let commit = head(&project);
    let main = forge.git(&["rev-parse", "main"]).trim().to_owned();
    forge.with(|world| {
        world.add_status(&commit, "build", "success");
        world.add_status(&main, "build", "success");
    });
    let check = project.symphony(&["forge", "check"]);
    assert!(check.stdout.contains("did you mean `build`?"), "{check:#?}");
    assert_eq!(sync(&project)["problems"], json!([]));

    // half an hour later
    let database = rusqlite::Connection::open(project.root.join(".symphony/symphony.db")).unwrap();
    let checks: String = database
        .query_row("SELECT checks FROM forge_pull", [], |row| row.get(0))
        .unwrap();
    let mut checks: Value = serde_json::from_str(&checks).unwrap();
    let since: Timestamp = serde_json::from_value(checks[0]["missing_since"].take()).unwrap();
    let past = Timestamp::from_millisecond(since.as_millisecond() - 31 * 60_000).unwrap();
    checks[0]["missing_since"] = serde_json::to_value(past).unwrap();
    database
        .execute("UPDATE forge_pull SET checks = ?1", [checks.to_string()])
        .unwrap();
    sync(&project);
    let inbox = project.ok(&["inbox"]);
    assert!(
        inbox.contains("nothing reported the required check `biuld`"),
        "{inbox}"
    );
    assert!(inbox.contains("did you mean `build`?"), "{inbox}");
    project.ok(&["config", "set", "forge.checks", "[\"build\"]"]);
    let view = sync(&project);
    assert_eq!(view["problems"], json!([]), "{view:#}");
    project.ok(&["forge", "check"]);
}

#[test]
fn the_kind_of_a_forge_is_set_without_the_loss_of_its_other_keys() {
    let forge = FakeForge::start();
    let project = mirrored(&hello_twice(), &forge, &json!({ "checks": ["build"] }));
    project.ok(&["config", "set", "forge", "github"]);
    project.ok(&["forge", "check"]);
    let config = project.ok(&["config", "show"]);
    assert!(config.contains("build"), "{config}");
    let refused = project.symphony(&["config", "set", "forge.reviewers.bob", "1"]);
    assert_ne!(refused.code, 0, "{refused:#?}");
    assert!(
        refused.stderr.contains("another user than `ada`"),
        "{refused:#?}"
    );

    project.ok(&["config", "set", "forge.endpoint", "https://127.0.0.1:1"]);
    let check = project.symphony(&["forge", "check"]);
    assert!(check.stderr.contains("`forge.endpoint`"), "{check:#?}");
    assert!(!check.stderr.contains("token"), "{check:#?}");
}

#[test]
fn the_pull_request_of_a_plan_says_which_plan_it_is() {
    let forge = FakeForge::start();
    let script = scenarios([any_phase(), hello()]);
    let project = mirrored(&script, &forge, &json!({}));
    std::fs::write(project.root.join("plan.md"), plan_of(&[("a", &[])])).unwrap();
    project.ok(&["plan", "run", "plan.md"]);
    let number = until("the pull request of the plan", || {
        project.ok(&["tick", "--wait"]);
        sync(&project);
        let pulls = forge.with(|world| world.pulls());
        pulls.first().map(|pull| pull.number)
    });
    let issue = forge.with(|world| world.issue(number));
    assert_eq!(issue.title, "Plan plan: Title of a");
    let body = issue.body.unwrap();
    assert!(body.contains("**Plan `plan`** at"), "{body}");
}
