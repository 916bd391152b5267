//! Messages say what is expected in the words of a reader, and hints lead to a short answer.

use std::fs;

use crate::support::Project;

/// Asserts the exit code of a command, what its standard error has, and what it has not.
fn assert_says(project: &Project, arguments: &[&str], code: i32, said: &[&str], not: &[&str]) {
    let answer = project.symphony(arguments);
    assert_eq!(answer.code, code, "{answer:#?}");
    for words in said {
        assert!(answer.stderr.contains(words), "{words}: {answer:#?}");
    }
    for words in not {
        assert!(!answer.stderr.contains(words), "{words}: {answer:#?}");
    }
}

#[test]
fn a_hint_about_the_configuration_is_there_for_unknown_keys_only() {
    let project = Project::recorded();
    let keys = "hint: `symphony config show` lists all keys";
    let set = |key, value| ["config", "set", key, value];
    assert_says(
        &project,
        &set("max_retries", "many"),
        1,
        &["expected"],
        &["hint:"],
    );
    assert_says(&project, &set("qqq", "1"), 1, &[keys], &["schema"]);
    let file = project.root.join("symphony.config.json");
    for (text, has_hint) in [
        (r#"{"provider": "nobody"}"#, false),
        (r#"{"qqq": 1}"#, true),
    ] {
        fs::write(&file, text).unwrap();
        let (said, not): (&[&str], &[&str]) = if has_hint {
            (&[keys], &["schema"])
        } else {
            (&["1 problem"], &["hint:"])
        };
        assert_says(&project, &["config", "check"], 1, said, not);
    }
}

#[test]
fn a_missing_state_file_leads_to_the_command_that_creates_one() {
    let project = Project::recorded();
    let hint = "hint: `symphony plan init-state PLAN --output FILE` creates one";
    for arguments in [
        &["plan", "ready", "no.json"][..],
        &["plan", "mark-complete", "no.json", "a"],
        &["plan", "summary", "no.json"],
    ] {
        let said = ["the state file `no.json` was not found: looked for", hint];
        assert_says(&project, arguments, 3, &said, &[]);
    }
}

#[test]
fn a_choice_between_options_reads_as_one() {
    let project = Project::recorded();
    project.add_issue("One");
    for group in ["pr", "done", "phase"] {
        let said = [
            "error: one of --feedback, --point or --reopen is required\n",
            "Usage: symphony",
        ];
        let not = ["the following required"];
        assert_says(&project, &[group, "reject", "SYM-1"], 2, &said, &not);
    }
    let said = ["symphony prompt show --profile scanner"];
    assert_says(&project, &["prompt", "show"], 2, &said, &["Usage"]);
}

#[test]
fn a_phase_that_does_not_exist_is_reported_when_an_issue_is_added() {
    let project = Project::recorded();
    let add = |label| ["issue", "add", "One", "--label", label];
    let said = [
        "the project has no phase `nope`, so no agent will start on SYM-1",
        "`symphony phase list`",
    ];
    assert_says(&project, &add("phase:nope"), 0, &said, &[]);
    for known in ["phase:ready", "phase:research", "nope"] {
        assert_says(&project, &add(known), 0, &[], &["phase"]);
    }
    let inbox = project.ok(&["inbox"]);
    assert!(inbox.contains("not started, "), "{inbox}");
    assert!(!inbox.contains("undispatched"), "{inbox}");
    let items = project.json(&["inbox"]);
    assert_eq!(items["items"][0]["kind"], "undispatched", "{items}");
}

#[test]
fn a_plan_is_named_by_its_file_wherever_it_is_an_option() {
    let project = Project::recorded();
    for command in [&["events"][..], &["runs", "list"]] {
        let said = [
            "no plan with the id or file `plan.md`",
            "hint: `symphony plan list` lists",
        ];
        let arguments = [command, &["--plan", "plan.md"]].concat();
        assert_says(&project, &arguments, 3, &said, &[]);
    }
}
