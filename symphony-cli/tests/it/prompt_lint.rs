//! `symphony prompt lint`, and who else looks at prompts: `doctor`, `init`, `config check`.

use serde_json::{Value, json};

use crate::support::{Project, text};

const PUSH: &str = "`push your branch`: agents never push";

fn write(project: &Project, file: &str, content: &str) {
    let path = project.root.join(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

/// File, line, severity and rule of each finding.
fn rows(answer: &Value) -> Vec<(String, u64, String, String)> {
    let row = |item: &Value| {
        (
            text(&item["file"]),
            item["line"].as_u64().unwrap(),
            text(&item["severity"]),
            text(&item["rule"]),
        )
    };
    answer["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(row)
        .collect()
}

fn row(file: &str, line: u64, severity: &str, rule: &str) -> (String, u64, String, String) {
    (file.to_owned(), line, severity.to_owned(), rule.to_owned())
}

#[test]
fn shipped_prompts_are_right_and_each_finding_says_what_to_do() {
    let project = Project::repository("lint");
    project.ok(&["init", "--prefix", "SYM"]);
    assert_eq!(
        project.ok(&["prompt", "lint"]),
        "Found no problems in the prompts.\n"
    );
    assert!(
        project.json(&["prompt", "lint"])["items"]
            .as_array()
            .unwrap()
            .is_empty()
    );

    write(
        &project,
        "CLAUDE.md",
        "# Rules\n\nAlways push your branch.\n",
    );
    write(&project, "WORKFLOW.md", "Work on {{ issue.title }}.\n");
    write(
        &project,
        ".symphony/prompts/background-scan.md",
        "Call `create_pr`.\n",
    );
    write(&project, ".symphony/prompts/judge.md", "Judge.\n");
    write(&project, "told.md", "Call `approve_pr` yourself.\n");
    project.ok(&["profile", "set", "worker", "--instructions", "told.md"]);
    let answer = project.symphony(&["prompt", "lint", "--json"]);
    assert_eq!(answer.code, 0, "warnings do not fail: {answer:?}");
    assert_eq!(
        rows(&answer.json()),
        [
            row(
                ".symphony/prompts/background-scan.md",
                1,
                "warning",
                "dead_text"
            ),
            row(
                ".symphony/prompts/background-scan.md",
                1,
                "warning",
                "tool_names"
            ),
            row(".symphony/prompts/judge.md", 1, "warning", "dead_text"),
            row("CLAUDE.md", 3, "warning", "contradiction"),
            row("WORKFLOW.md", 1, "warning", "placeholder"),
            row("instructions of worker", 1, "warning", "tool_names"),
        ]
    );
    let told = project.ok(&["prompt", "lint"]);
    let expected = format!(
        "warning  CLAUDE.md:3: {PUSH}\n         fix: leave it out: Symphony runs the command in `publish` for each opened pull request\n"
    );
    assert!(told.contains(&expected), "{told}");

    write(
        &project,
        ".symphony/prompts/profiles/worker.md",
        "---\nname: W\ntype: judge\ndescription: D.\ntools: [creat_pr]\n---\nWork.\n",
    );
    let answer = project.symphony(&["prompt", "lint"]);
    assert_eq!(answer.code, 1, "{answer:?}");
    assert!(
        answer
            .stderr
            .contains("the prompts have 2 errors and 6 warnings"),
        "{answer:?}"
    );
    // the judge is the shipped one still, for whoever would be dispatched
    assert_eq!(project.symphony(&["profile", "show", "judge"]).code, 1);
}

#[test]
fn doctor_init_and_the_configuration_look_at_the_prompts_too() {
    let project = Project::repository("lint");
    write(&project, "CLAUDE.md", "Push your branch.\n");
    let told = project.ok(&["init", "--prefix", "SYM"]);
    assert!(
        told.contains("Your own texts for agents have 1 warning")
            && told.contains("  CLAUDE.md:1: `Push your branch`: agents never push\n"),
        "{told}"
    );
    assert_eq!(project.json(&["init"])["prompts"][0]["file"], "CLAUDE.md");

    let checked = project.ok(&["config", "check"]);
    assert!(
        checked.starts_with("The configuration is valid.\nwarning: CLAUDE.md:1: "),
        "{checked}"
    );
    let doctor = project.symphony(&["doctor", "--json"]).json();
    let checks = doctor["items"].as_array().unwrap();
    let check = checks
        .iter()
        .find(|check| check["check"] == "prompts")
        .unwrap();
    assert_eq!(
        (&check["status"], &check["detail"]),
        (
            &json!("warning"),
            &json!("CLAUDE.md:1: `Push your branch`: agents never push")
        )
    );

    write(
        &project,
        ".symphony/prompts/phases/audit.md",
        "no contract\n",
    );
    let checked = project.symphony(&["config", "check", "--json"]);
    assert_eq!(checked.code, 1, "{checked:?}");
    let problem = &checked.json()["items"][0];
    assert_eq!(
        (&problem["severity"], &problem["line"], &problem["key"]),
        (&json!("error"), &json!(1), &Value::Null)
    );
    assert!(
        checked
            .stderr
            .contains("the prompts have 1 error and 1 warning"),
        "{checked:?}"
    );
}

#[test]
fn a_prompts_folder_that_is_set_and_missing_is_reported_by_all_who_would_read_it() {
    let project = Project::repository("lint");
    project.ok(&["init", "--prefix", "SYM", "--no-try"]);
    project.configure(&json!({ "prefix": "SYM", "provider": "command",
        "providers": { "command": { "command": "true" } }, "prompts_dir": "own" }));
    project.add_issue("Say hello");
    let found = "the folder own, which `prompts_dir` names, does not exist";
    for command in [
        &["config", "check"][..],
        &["prompt", "lint"],
        &["doctor"],
        &["tick"],
    ] {
        let answer = project.symphony(command);
        assert_eq!(answer.code, 1, "{command:?}: {answer:?}");
        let told = format!("{}{}", answer.stdout, answer.stderr);
        assert!(told.contains(found), "{command:?}: {told}");
    }
    let inbox = project.ok(&["inbox"]);
    assert!(inbox.contains(found), "{inbox}");
    assert!(project.ok(&["runs", "list"]).contains("No runs"));

    write(&project, "own", "a file");
    let answer = project.symphony(&["prompt", "lint"]);
    assert!(
        answer.stdout.contains("is a file, not a folder"),
        "{answer:?}"
    );
    std::fs::remove_file(project.root.join("own")).unwrap();
    std::fs::create_dir(project.root.join("own")).unwrap();
    project.ok(&["prompt", "lint"]);
    project.ok(&["config", "check"]);
}

/// The heading that a contract requires is misspelt, so that nobody would read the criteria of its documents.
#[test]
fn a_misspelt_heading_of_a_contract_is_reported_once_wherever_prompts_are_looked_at() {
    let project = Project::repository("lint");
    let shipped = include_str!("../../../prompts/phases/grooming.md");
    let misspelt = shipped.replacen("  - Acceptance Criteria\n", "  - Acceptence Criteria\n", 1);
    let file = ".symphony/prompts/phases/grooming.md";
    write(&project, file, &misspelt);
    let line = 1 + misspelt
        .lines()
        .position(|line| line == "  - Acceptence Criteria")
        .unwrap();
    let finding = format!(
        "{file}:{line}: `Acceptence Criteria` is not recognised as the heading of acceptance criteria"
    );
    let told = [
        project.ok(&["init", "--prefix", "SYM"]),
        project.ok(&["prompt", "lint"]),
        project.ok(&["config", "check"]),
        project.symphony(&["doctor"]).stdout,
    ];
    for told in told {
        assert_eq!(told.matches(&finding).count(), 1, "{told}");
    }
    let lint = project.json(&["prompt", "lint"]);
    assert_eq!(
        rows(&lint)[0],
        row(
            file,
            u64::try_from(line).unwrap(),
            "warning",
            "near_heading"
        )
    );
}
