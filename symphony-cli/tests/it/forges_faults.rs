//! What goes wrong at a forge, on the way there, and in its configuration: logs that cannot be read, jobs that may not run again
//! yet, one pull request that cannot be read, branches with commits of others.

use serde_json::json;
use symphony_fakes::{FakeForge, Fault, On};

use crate::forges::{head, hello_twice, mirrored, opened, points, state, sync};
use crate::support::{Project, text};

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
