//! What is printed has no power over a terminal, and a reader may go away.

use std::io::Read as _;
use std::process::Stdio;

use serde_json::json;

use crate::support::Project;

/// A text that clears the screen, sets the window's title, and turns what follows round.
const EVIL: &str = "Fix \u{1b}[2J\u{1b}]0;owned\u{7} it\u{202e}";
/// What of it a title may have.
const EVIL_TITLE: &str = "Fix \u{202e}it";

/// What Symphony itself writes: bold, dimmed, green, red, yellow, cyan, and their ends.
const OUR_CODES: [u8; 8] = [0, 1, 2, 31, 32, 33, 36, 39];

fn project() -> Project {
    let project = Project::repository("tool");
    project.ok(&["init", "--prefix", "SYM"]);
    project
}

#[test]
fn stored_texts_have_no_power_over_the_terminal() {
    let project = project();
    let body = format!("{EVIL}\r\nsecond \u{9b}31m line");
    project.ok(&[
        "issue",
        "add",
        EVIL_TITLE,
        "--description",
        &body,
        "--label",
        "needs-planning",
    ]);
    project.ok(&["issue", "comment", "SYM-1", &body]);
    for arguments in [
        &["issue", "list"][..],
        &["issue", "show", "SYM-1"],
        &["status"],
        &["explain", "SYM-1"],
        &["inbox"],
        &["clean", "--dry-run"],
        &["tick", "--dry-run"],
        &["issue", "edit", "SYM-1", "--priority", "low"],
    ] {
        for colour in ["never", "auto", "always"] {
            let answer = project.symphony(&[arguments, &["--color", colour]].concat());
            // our own headings may be bold and our words of a state coloured; nothing else may command the terminal
            let plain = OUR_CODES.iter().fold(answer.stdout.clone(), |text, code| {
                text.replace(&format!("\u{1b}[{code}m"), "")
            });
            let active = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
            assert!(!plain.contains(active), "{arguments:?}: {plain:?}");
        }
    }
    let error = project.symphony(&["issue", "show", "SYM-\u{1b}[2J"]);
    assert!(!error.stderr.contains("\u{1b}[2J"), "{error:?}");
}

#[test]
fn json_keeps_texts_as_they_are() {
    let project = project();
    project.ok(&["issue", "add", EVIL_TITLE, "--description", EVIL]);
    let issue = project.json(&["issue", "show", "SYM-1"]);
    assert_eq!(
        (&issue["title"], &issue["description"]),
        (&json!(EVIL_TITLE), &json!(EVIL))
    );
}

#[test]
fn colours_come_when_they_are_asked_for_and_no_color_wins_over_auto() {
    let mut project = project();
    project.ok(&["issue", "add", "T"]);
    let has_colour =
        |project: &Project, arguments: &[&str]| project.ok(arguments).contains('\u{1b}');
    assert!(!has_colour(&project, &["issue", "show", "SYM-1"]));
    assert!(has_colour(
        &project,
        &["issue", "show", "SYM-1", "--color", "always"]
    ));
    project.set_variable("NO_COLOR", "1");
    assert!(!has_colour(&project, &["issue", "show", "SYM-1"]));
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let project = project();
    let text = "word ".repeat(12_000);
    project.ok(&["issue", "add", "Long", "--description", &text]);
    for arguments in [
        &["issue", "show", "SYM-1"][..],
        &["issue", "show", "SYM-1", "--json"],
        &["config", "schema"],
        &["--help"],
    ] {
        let mut child = project
            .command(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdout = child.stdout.take().unwrap();
        let mut first = [0; 10];
        stdout.read_exact(&mut first).unwrap();
        drop(stdout);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert_eq!(
            String::from_utf8(output.stderr).unwrap(),
            "",
            "{arguments:?}"
        );
    }
}

#[test]
fn wrong_usage_is_exit_code_2_on_standard_error() {
    let project = project();
    for arguments in [
        &["no-such-command"][..],
        &["issue"],
        &["issue", "add"],
        &["issue", "move", "SYM-1", "nowhere"],
        &["tick", "--wait", "--dry-run"],
        &["--quiet", "--verbose", "status"],
        &["run", "--interval", "0"],
        &["mcp", "--socket", "x", "--db", "y"],
        &["supervise"],
    ] {
        let answer = project.symphony(arguments);
        assert_eq!(
            (answer.code, answer.stdout.as_str()),
            (2, ""),
            "{arguments:?}: {answer:?}"
        );
        assert!(
            answer.stderr.starts_with("error:") || answer.stderr.contains("Usage:"),
            "{answer:?}"
        );
    }
}
