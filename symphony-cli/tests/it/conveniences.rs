//! Small things that a person expects of a command line.

use serde_json::json;

use symphony_core::agent::AgentType;
use symphony_core::failure::ErrorClass;
use symphony_core::id::IssueId;
use symphony_core::run::RunTarget;

use crate::records::{claimed_run, end_run, failed_run};
use crate::support::{Project, scenarios};
use crate::transcript::{Transcript, assert_transcript};

#[test]
fn help_is_a_command_too() {
    let project = Project::recorded();
    let same = |asked: &[&str], flag: &[&str]| {
        let asked = project.ok(asked);
        assert!(asked.contains("Usage: symphony"), "{asked}");
        assert_eq!(asked, project.ok(flag));
    };
    same(&["help"], &["--help"]);
    same(&["help", "issue"], &["issue", "--help"]);
    same(&["help", "issue", "close"], &["issue", "close", "--help"]);
    same(&["-C", ".", "-q", "help", "tick"], &["tick", "--help"]);
    assert_eq!(project.symphony(&["help", "nonsense"]).code, 2);
}

#[test]
fn a_number_is_an_issue_of_the_project() {
    let project = Project::recorded();
    project.add_issue("One");
    for number in ["1", "#1", "01"] {
        assert_eq!(
            project.json(&["issue", "show", number])["identifier"],
            "SYM-1"
        );
    }
    assert_eq!(project.json(&["explain", "1"])["identifier"], "SYM-1");
    let root = project.root.display().to_string();
    let mut elsewhere = project.command(&["issue", "show", "1", "--json", "-C", &root]);
    let shown = elsewhere.current_dir("/").output().unwrap();
    assert!(shown.status.success(), "{shown:#?}");
    assert_eq!(project.symphony(&["issue", "show", "9"]).code, 3);
    assert_eq!(project.symphony(&["issue", "show", "0"]).code, 2);
}

#[test]
fn a_name_that_is_not_there_is_guessed() {
    let project = Project::recorded();
    let transcript = Transcript::of(&project)
        .run(&["config", "set", "provider", "codex"])
        .run(&["profile", "set", "wroker", "--model", "opus"])
        .run(&["profile", "show", "zzz"])
        .run(&["phase", "show", "reserch"])
        .run(&["issue", "list", "--status", "tod"]);
    assert_transcript!("guesses", transcript);
    assert_eq!(
        project
            .symphony(&["profile", "set", "worker", "--model", "opus"])
            .code,
        0
    );
}

#[test]
fn the_same_learning_is_refused_with_the_one_that_is_there() {
    let project = Project::recorded();
    let first = project.json(&["learnings", "add", "Use tabs"]);
    let id = first["id"].as_str().unwrap();
    let again = project.symphony(&["learnings", "add", " Use tabs "]);
    assert_eq!(again.code, 4, "{again:#?}");
    assert!(again.stderr.contains(id), "{again:#?}");
    project.ok(&["learnings", "retire", id]);
    let retired = project.symphony(&["learnings", "add", "Use tabs"]);
    assert!(retired.stderr.contains("learnings restore"), "{retired:#?}");
    project.ok(&["learnings", "add", "Use tabs in Makefiles"]);
}

#[test]
fn a_long_list_says_that_it_is_cut_and_goes_on() {
    let project = Project::recorded();
    let titles = (1..=105).map(|n| json!({ "title": format!("Issue {n}") }).to_string());
    let lines = titles.collect::<Vec<_>>().join("\n");
    let file = project.beside.join("issues.jsonl");
    std::fs::write(&file, lines).unwrap();
    project.ok(&["issue", "import", &file.display().to_string()]);
    let first = project.symphony(&["issue", "list"]);
    assert_eq!(first.stdout.lines().count(), 101, "{first:#?}");
    assert!(
        first
            .stderr
            .contains("`--after SYM-100` shows the next page"),
        "{first:#?}"
    );
    let rest = project.symphony(&["issue", "list", "--after", "SYM-100"]);
    assert_eq!((rest.stdout.lines().count(), rest.stderr.as_str()), (6, ""));
    let all = project.json(&["issue", "list"]);
    assert_eq!(all["items"].as_array().unwrap().len(), 105);
    assert_eq!(all["next"], json!(null));
    let page = project.json(&["issue", "list", "-n", "10"]);
    assert_eq!(page["next"], "SYM-10");
    let status = project.json(&["status"]);
    assert_eq!(status["queue_more"], 5);
    assert!(project.ok(&["status"]).contains("and 5 more:"));
}

#[test]
fn waiting_for_work_that_cannot_run_is_a_failure() {
    let project = Project::new("project", &scenarios([]), &json!({}));
    let issue = IssueId::parse(project.add_issue("One")).unwrap();
    let run = claimed_run(&project, RunTarget::Issue(issue), AgentType::Worker);
    end_run(&project, &run, ErrorClass::Overloaded, 15);
    for command in [&["tick", "--wait"][..], &["run", "--until-idle"]] {
        let answer = project.symphony(command);
        assert_eq!(answer.code, 1, "{command:?} {answer:#?}");
        let said = format!("{}{}", answer.stdout, answer.stderr);
        assert!(
            said.contains("Nothing can run although 1 issue waits"),
            "{said}"
        );
    }
    project.ok(&["resume"]);
    project.ok(&["issue", "close", "SYM-1", "--done", "--reason", "r"]);
    project.ok(&["run", "--until-idle"]);
}

#[test]
fn explain_names_the_last_failure() {
    let project = Project::recorded();
    let issue = project.add_issue("One");
    failed_run(&project, &issue);
    let text = project.ok(&["explain", &issue]);
    assert!(text.contains("Its last run failed "), "{text}");
    let failure = &project.json(&["explain", &issue])["last_failure"];
    assert_eq!(failure["class"], "agent_failed", "{failure:#}");
    assert!(
        failure["message"].is_string() && failure["at"].is_string(),
        "{failure:#}"
    );
    assert_eq!(project.json(&["status"])["spent_today"]["tokens"], json!(0));
}
