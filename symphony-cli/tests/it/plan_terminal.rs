//! `plan run` on a terminal, as a person sees it: what stands on the screen, and what keys do.

use std::os::unix::process::ExitStatusExt as _;

use serde_json::{Value, json};

use crate::plan_support::{
    any_phase, failed, gated, of_phase, open_gate, phase, plan_of, run_statuses, until_phase,
};
use crate::support::{Project, Terminal, scenario, scenarios, until};

const ERROR: &str = "2 tests failed: expected 1 but got 2\nin a line of words that is too long for a terminal of few columns";

/// A project whose `plan.md` waits for a decision on `doubtful`, while `middle` and `other` stand at gates of theirs.
fn project(phases: &[(&str, &[&str])], doubtful: &Value) -> Project {
    let project = Project::new(
        "project",
        &json!({ "scenarios": [] }),
        &json!({ "gates": [] }),
    );
    let beside = project.beside.to_str().unwrap();
    let file = scenarios([
        gated(beside, "middle"),
        gated(beside, "other"),
        scenario("doubts", doubtful, [failed(ERROR)]),
        any_phase(),
    ]);
    std::fs::write(project.beside.join("scenario.json"), file.to_string()).unwrap();
    std::fs::write(project.root.join("plan.md"), plan_of(phases)).unwrap();
    project
}

/// Lines that move: those of phases at work, without what changes from one moment to the next, and bars.
fn moving(lines: &[String]) -> Vec<String> {
    let is_spinner = |c: char| ('\u{2801}'..='\u{28ff}').contains(&c);
    lines
        .iter()
        .filter_map(|line| match line.strip_prefix(is_spinner) {
            Some(rest) => {
                let (head, event) = rest.trim_start().split_once(": ")?;
                // how long it has taken is one word, or two
                let mut words = event.split(' ').filter(|word| !word.is_empty());
                let first = words.find(|word| !word.starts_with(|c: char| c.is_ascii_digit()))?;
                let event: Vec<&str> = std::iter::once(first).chain(words).collect();
                Some(format!("{head}: {}", event.join(" ")))
            }
            None => (line.starts_with('[') && line.contains("] ")).then(|| line.clone()),
        })
        .collect()
}

/// The text on a screen, the lines put together again that were too long for it.
fn unbroken(lines: &[String], columns: usize) -> String {
    let mut text = String::new();
    for line in lines {
        text.push_str(line);
        let length = line.chars().count();
        // a blank at the edge cannot be seen
        match columns - length {
            0 => {}
            1 => text.push(' '),
            _ => text.push('\n'),
        }
    }
    text
}

const QUESTION: &str = "\
Phase doubtful (Title of doubtful) failed on attempt 1
  2 tests failed: expected 1 but got 2
  in a line of words that is too long for a terminal of few columns
  class: a fault of the work
  1 retry_once_more: one more attempt
  2 skip_phase: continue without it
  3 abort_branch: abort it and everything that depends on it
  4 abort_all: abort the plan
Press 1, 2, 3 or 4; the other phases continue.
";

fn is_asked(lines: &[String]) -> bool {
    lines.iter().any(|line| line.starts_with("Press 1"))
}

fn watch_a_plan(columns: u16) {
    let phases: &[(&str, &[&str])] = &[
        ("first", &[]),
        ("middle", &["first"]),
        ("other", &["first"]),
        ("doubtful", &["first"]),
        ("last", &["middle", "doubtful"]),
    ];
    let project = project(phases, &of_phase("doubtful"));
    let mut terminal = Terminal::start(&project, columns, &["plan", "run", "--merge", "plan.md"]);
    let width = usize::from(columns);
    let is_at_work = |lines: &[String]| {
        let found = moving(lines);
        let [middle, other, bar] = found.as_slice() else {
            return false;
        };
        middle.starts_with("middle worker: uses Bash: ")
            && other.starts_with("other worker: uses Bash: ")
            && bar == "[████▌░░░░░░░░░░░░░░░] 1/5"
    };
    let seen = terminal.until_seen("the question below two phases at work", |lines| {
        is_asked(lines) && is_at_work(lines)
    });
    assert!(unbroken(&seen, width).contains(QUESTION), "{seen:#?}");
    assert!(!terminal.is_plain(), "keys are taken one by one");

    // keys that are no answer leave only one sentence
    let said = "Press 1, 2, 3 or 4.";
    terminal.press("\n\n\u{1b}[1;5Axyz\n");
    terminal.until_seen("the keys that count", |lines| {
        unbroken(lines, width).contains(said)
    });
    terminal.press("q\n");
    open_gate(&project, "other");
    let seen = terminal.until_seen("the end of a phase beside the question", |lines| {
        moving(lines).last().is_some_and(|bar| bar.ends_with("2/5"))
            && moving(lines).len() == 2
            && unbroken(lines, width).contains("other: worker succeeded after ")
    });
    let text = unbroken(&seen, width);
    assert_eq!(text.matches(said).count(), 1, "{text}");

    terminal.press("2");
    terminal.until_seen("the choice to have its effect", |lines| {
        moving(lines).last().is_some_and(|bar| bar.ends_with("3/5"))
    });
    open_gate(&project, "middle");
    let (code, seen) = terminal.end();
    assert_eq!(code, 0, "{seen:#?}");
    assert_eq!(moving(&seen), [""; 0], "what moved is gone");
    let text = unbroken(&seen, width);
    for line in [
        "Symphony Performance Complete\n\nTotal phases: 5\nCompleted: 5\nFailed: 0\n",
        "- doubtful: complete (skipped)\n",
        "The work is on main.\n",
    ] {
        assert!(text.contains(line), "{line} in {text}");
    }
}

#[test]
fn eighty_columns_show_the_plan_its_phases_and_the_question() {
    watch_a_plan(80);
}

#[test]
fn forty_columns_show_them_too() {
    watch_a_plan(40);
}

/// Asked about `doubtful`, a person presses a key; returns the exit code and where the phases stand then.
fn press(key: &str) -> Value {
    // it fails once
    let mut doubtful = of_phase("doubtful");
    doubtful["uses"] = json!(1);
    let phases: &[(&str, &[&str])] = &[("doubtful", &[]), ("behind", &["doubtful"]), ("free", &[])];
    let project = project(phases, &doubtful);
    let mut terminal = Terminal::start(&project, 80, &["plan", "run", "--merge"]);
    terminal.until_seen("the question", is_asked);
    until_phase(&project, "free", "complete");
    terminal.press(key);
    let (code, _) = terminal.end();
    let states = phases
        .iter()
        .map(|(id, _)| phase(&project, id)["status"].clone());
    let states: Vec<Value> = states.collect();
    json!([code, project.json(&["plan", "status"])["status"], states])
}

#[test]
fn the_key_that_is_pressed_has_its_effect() {
    let done = "complete";
    let expected = [
        ("1", json!([0, "completed", [done, done, done]])),
        ("2\n", json!([0, "completed", [done, done, done]])),
        ("3", json!([1, "failed", ["aborted", "blocked", done]])),
        ("4", json!([1, "aborted", ["aborted", "aborted", done]])),
    ];
    std::thread::scope(|scope| {
        let pressed: Vec<_> = expected
            .iter()
            .map(|(key, expected)| (key, expected, scope.spawn(|| press(key))))
            .collect();
        for (key, expected, found) in pressed {
            assert_eq!(found.join().unwrap(), *expected, "{key:?}");
        }
    });
}

#[test]
fn whatever_ends_the_question_the_plan_can_be_resumed() {
    let phases: &[(&str, &[&str])] = &[("doubtful", &[]), ("behind", &["doubtful"])];
    let project = project(phases, &of_phase("doubtful"));
    let decide = "`symphony plan decide --plan plan doubtful CHOICE` decides.";
    let awaits = || {
        assert_eq!(phase(&project, "doubtful")["status"], "awaiting_decision");
    };
    // told to wait, it does not ask; Ctrl-C leaves the plan
    let mut terminal = Terminal::start(
        &project,
        80,
        &["plan", "run", "--merge", "--on-failure", "wait"],
    );
    terminal.until_seen("the command that answers", |lines| {
        unbroken(lines, 80).contains(decide)
    });
    assert!(terminal.is_plain(), "nobody is asked");
    terminal.press("\u{3}");
    let (code, seen) = terminal.end();
    assert_eq!(code, 1, "{seen:#?}");
    assert!(!is_asked(&seen), "{seen:#?}");
    awaits();

    // Ctrl-C at the question
    let mut terminal = Terminal::start(
        &project,
        80,
        &["plan", "run", "--merge", "--on-failure", "ask"],
    );
    terminal.until_seen("the question", is_asked);
    terminal.press("\u{3}");
    let (code, seen) = terminal.end();
    assert_eq!(code, 1, "{seen:#?}");
    let last = seen.last().map(String::as_str);
    let stays = "The plan stays as it is: `symphony plan run` continues it.";
    assert_eq!(last, Some(stays), "{seen:#?}");
    awaits();

    // the window is closed
    let terminal = Terminal::start(&project, 80, &["plan", "run", "--merge"]);
    terminal.until_seen("the question", is_asked);
    let status = terminal.close();
    assert!(!status.success(), "{status:?} {:?}", status.signal());
    awaits();

    // the command is killed; what it left of the terminal's modes is the shell's to mend
    let terminal = Terminal::start(&project, 80, &["plan", "run", "--merge"]);
    terminal.until_seen("the question", is_asked);
    terminal.kill();
    awaits();

    // the input ends: the answer comes from elsewhere
    let mut terminal = Terminal::start(&project, 80, &["plan", "run", "--merge"]);
    terminal.until_seen("the question", is_asked);
    terminal.press("\u{4}");
    terminal.until_seen("the command that answers", |lines| {
        unbroken(lines, 80).contains(decide)
    });
    until("the question to be over", || {
        terminal.is_plain().then_some(())
    });
    project.ok(&["plan", "decide", "doubtful", "skip_phase"]);
    let (code, seen) = terminal.end();
    assert_eq!(code, 0, "{seen:#?}");
    let ran = run_statuses(&project, "plan", "doubtful");
    assert_eq!(ran.len(), 1, "no answer but one began it again: {ran:?}");
}

#[test]
fn a_terminal_that_can_not_move_is_told_line_by_line() {
    let phases: &[(&str, &[&str])] = &[("doubtful", &[]), ("free", &[])];
    let project = project(phases, &of_phase("doubtful"));
    let mut terminal = Terminal::start_on("dumb", &project, 80, &["plan", "run", "--merge"]);
    let decide = "`symphony plan decide --plan plan doubtful CHOICE` decides.";
    let seen = terminal.until_seen("the command that answers", |lines| {
        unbroken(lines, 80).contains(decide)
    });
    assert!(terminal.is_plain(), "nobody is asked");
    assert_eq!(moving(&seen), [""; 0], "{seen:#?}");
    terminal.press("\u{3}");
    assert_eq!(terminal.end().0, 1);
}
