//! What stops a trial of prompts, and what its folder must be to go on: nothing that every case would meet counts as a result.

use std::path::PathBuf;

use serde_json::json;

use crate::prompt_trial_support::{project, sets, trial};
use crate::support::{Answer, Project, bash, create_pr, git_commit, scenarios, worker};

fn scenario_of(project: &Project) -> PathBuf {
    project.beside.join("scenario.json")
}

/// Requires that a trial stopped without a result of any case.
fn assert_stopped(answer: &Answer, reason: &str) {
    assert_eq!(
        (answer.code, &answer.json()["ended"]),
        (1, &json!(0)),
        "{answer:#?}"
    );
    assert!(
        answer.stderr.contains(reason) && answer.stderr.contains("continues it"),
        "{answer:#?}"
    );
}

#[test]
fn agents_that_cannot_start_stop_a_trial_and_no_case_has_ended() {
    let project = project("no-agents", 2);
    let sets = sets(&project, "careful", "careful");
    let (scenario, away) = (scenario_of(&project), project.beside.join("away.json"));
    std::fs::rename(&scenario, &away).unwrap();
    let stopped = project.symphony(&trial(&sets, &["--name", "away", "--json"]));
    assert_stopped(&stopped, "no provider can be used");
    std::fs::write(&scenario, "{").unwrap();
    let stopped = project.symphony(&["prompt", "trial", "--name", "away", "--json"]);
    assert_stopped(&stopped, "no provider can be used");
    std::fs::rename(&away, &scenario).unwrap();
    let answer = project.json(&["prompt", "trial", "--name", "away"]);
    assert_eq!(
        (&answer["report"]["cases_a"], &answer["report"]["cases_b"]),
        (&json!(1), &json!(1)),
        "{answer:#}"
    );
}

/// A worker has done its part when the program of the judge is gone: the case has not come to an end.
#[test]
fn agents_that_cannot_start_in_the_middle_of_a_case_are_no_result() {
    let project = project("half-way", 1);
    let scenario = scenario_of(&project);
    let agents = std::fs::read_to_string(&scenario).unwrap();
    let vanishes = worker([
        bash(&format!(
            "echo hello > hello.txt && {} && rm {}",
            git_commit("hello.txt", "Greet"),
            scenario.display()
        )),
        create_pr("Greet"),
    ]);
    std::fs::write(&scenario, scenarios([vanishes]).to_string()).unwrap();
    let sets = sets(&project, "careful", "careful");
    let stopped = project.symphony(&trial(&sets, &["--name", "half", "--json"]));
    assert_stopped(&stopped, "no provider can be used");
    std::fs::write(&scenario, agents).unwrap();
    let answer = project.json(&["prompt", "trial", "--name", "half"]);
    assert_eq!(answer["cases"][0]["end"], "approved", "{answer:#}");
}
