//! What stops a trial of prompts, and what its folder must be to go on: nothing that every case would meet counts as a result.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::prompt_trial_support::{project, sets, trial, write};
use crate::support::{Answer, Project, bash, create_pr, git_commit, scenarios, worker};

fn scenario_of(project: &Project) -> PathBuf {
    project.beside.join("scenario.json")
}

fn trial_folder(project: &Project, name: &str) -> PathBuf {
    project.root.join(".symphony/trials").join(name)
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

/// The shipped prompts would silently take the place of a copy that is gone.
#[test]
fn a_trial_goes_on_only_with_the_sets_that_it_was_started_with() {
    let project = project("copies", 2);
    let sets = sets(&project, "plain", "careful");
    // a limit that the first case reaches
    let scenario = scenario_of(&project);
    let mut agents: Value =
        serde_json::from_str(&std::fs::read_to_string(&scenario).unwrap()).unwrap();
    for agent in agents["scenarios"].as_array_mut().unwrap() {
        agent["usage"] = json!({ "input_tokens": 100, "output_tokens": 10 });
    }
    std::fs::write(&scenario, agents.to_string()).unwrap();
    let begin = trial(&sets, &["--name", "copies", "--max-tokens", "100"]);
    project.ok(&begin);
    let copy = trial_folder(&project, "copies").join("sets/B");
    let (file, away) = (copy.join("profiles/worker.md"), copy.with_extension("away"));
    let text = std::fs::read_to_string(&file).unwrap();

    for (problem, damage) in [
        ("has changed since the trial was started", "edited"),
        ("is gone", "gone"),
    ] {
        if damage == "gone" {
            std::fs::rename(&copy, &away).unwrap();
        } else {
            std::fs::write(&file, format!("{text}More.\n")).unwrap();
        }
        for again in [&["prompt", "trial", "--name", "copies"][..], &begin[..]] {
            let refused = project.symphony(again);
            assert_eq!(refused.code, 4, "{damage}: {refused:#?}");
            let told = format!("the copy {} of the set B {problem}", copy.display());
            assert!(refused.stderr.contains(&told), "{damage}: {refused:#?}");
        }
        // what has ended can be looked at
        let report = project.json(&["prompt", "trial", "--name", "copies", "--report"]);
        assert_eq!(report["ended"], 1);
        std::fs::write(&file, &text).unwrap_or_else(|_| std::fs::rename(&away, &copy).unwrap());
    }
    let answer = project.json(&["prompt", "trial", "--name", "copies"]);
    assert_eq!(answer["ended"], 2, "{answer:#}");
}

#[test]
fn a_damaged_file_of_a_trial_is_named_with_what_to_do() {
    let project = project("damaged", 1);
    let sets = sets(&project, "careful", "careful");
    project.ok(&trial(&sets, &["--name", "damaged"]));
    let folder = trial_folder(&project, "damaged");
    let tells = |path: &Path, content: &str, told: [&str; 2]| {
        let before = std::fs::read_to_string(path).unwrap();
        write(path.to_owned(), content);
        let refused = project.symphony(&["prompt", "trial", "--name", "damaged"]);
        assert_eq!(refused.code, 1, "{refused:#?}");
        let place = format!("{} cannot be read: ", path.display());
        for told in [place.as_str(), told[0], told[1]] {
            assert!(refused.stderr.contains(told), "{told}: {refused:#?}");
        }
        write(path.to_owned(), &before);
    };
    let case = folder.join("cases/SYM-1-A.json");
    let again = "remove the file, and the trial runs its case again";
    tells(&case, "", ["it is empty", again]);
    let other = std::fs::read_to_string(&case).unwrap();
    let other = other.replace("\"A\"", "\"B\"");
    tells(&case, &other, ["it is about SYM-1 with B", again]);
    let over = "to start over";
    for name in ["trial.json", "issues.json"] {
        tells(&folder.join(name), "", ["it is empty", over]);
    }
    let spent = folder.join("spent/SYM-1-A.json");
    tells(&spent, "{", ["line 1", "is then not counted as spent"]);
    // the folders are made again
    std::fs::remove_dir_all(folder.join("cases")).unwrap();
    let answer = project.json(&["prompt", "trial", "--name", "damaged"]);
    assert_eq!(answer["ended"], 1, "{answer:#}");
}

#[test]
fn a_file_of_issues_in_another_encoding_is_named_with_its_line() {
    let project = project("latin", 1);
    let sets = sets(&project, "careful", "careful");
    let text = b"{\"version\": 1,\n\"issues\": [{\"title\": \"caf\xe9\"}]}";
    std::fs::write(project.root.join("issues.json"), text).unwrap();
    let refused = project.symphony(&trial(&sets, &[]));
    assert_eq!(refused.code, 1, "{refused:#?}");
    assert!(
        refused.stderr.contains("issues.json: line 2 is not UTF-8"),
        "{refused:#?}"
    );
}
