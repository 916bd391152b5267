//! Plan files and state files that somebody damaged: every command ends with an answer or an error, never otherwise.

use std::fs;
use std::path::Path;

use proptest::prelude::{ProptestConfig, Strategy, any, prop, prop_oneof, proptest};
use serde_json::Value;

use crate::support::Project;

/// Cases of each property: each starts the program once or twice.
const CASES: u32 = 48;
const STATE: &str = ".symphony-state.json";

/// One thing that happens to a file.
#[derive(Debug, Clone)]
enum Damage {
    /// The rest is lost.
    Cut(prop::sample::Index),
    /// A byte becomes another one.
    Byte(prop::sample::Index, u8),
    /// A piece comes in.
    Piece(prop::sample::Index, &'static str),
    /// A stretch stands there twice.
    Twice(prop::sample::Index, prop::sample::Index),
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = any::<prop::sample::Index>;
    let piece = prop::sample::select(vec![
        "```symphony-phases\n",
        "```",
        "[",
        "]",
        "{",
        "}",
        "\"",
        ",",
        ":",
        "null",
        "-1",
        "1e999",
        "\\ud800",
        "\u{0}",
        "\n",
        "\"id\"",
        "\"phases\": 1,",
        "\"top\"",
        "\"running\"",
        "\"complete\"",
        "\u{feff}",
        "99999999999999999999",
    ]);
    prop_oneof![
        at().prop_map(Damage::Cut),
        (at(), any::<u8>()).prop_map(|(at, byte)| Damage::Byte(at, byte)),
        (at(), piece).prop_map(|(at, piece)| Damage::Piece(at, piece)),
        (at(), at()).prop_map(|(from, to)| Damage::Twice(from, to)),
    ]
}

fn damaged(whole: &[u8], damages: &[Damage]) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    for damage in damages {
        let length = bytes.len().max(1);
        match damage {
            Damage::Cut(at) => bytes.truncate(at.index(length)),
            Damage::Byte(at, byte) => {
                if let Some(old) = bytes.get_mut(at.index(length)) {
                    *old = *byte;
                }
            }
            Damage::Piece(at, piece) => {
                let at = at.index(length).min(bytes.len());
                bytes.splice(at..at, piece.bytes());
            }
            Damage::Twice(from, to) => {
                let (from, to) = (from.index(length), to.index(length));
                let stretch = from.min(to)..from.max(to).min(bytes.len());
                let copy = bytes.get(stretch.clone()).unwrap_or_default().to_vec();
                bytes.splice(stretch.start..stretch.start, copy);
            }
        }
    }
    bytes
}

/// A project with the example plan, begun.
fn project() -> (Project, Vec<u8>, Vec<u8>) {
    let project = Project::repository("plans");
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/plans/todo-api.md");
    fs::copy(example, project.root.join("plan.md")).unwrap();
    project.ok(&["plan", "init-state", "plan.md"]);
    project.ok(&[
        "plan",
        "mark-complete",
        STATE,
        "set-up",
        r#"[{"type": "note", "content": "x"}]"#,
    ]);
    project.ok(&["plan", "mark-failed", STATE, "storage", "3 tests failed"]);
    let plan = fs::read(project.root.join("plan.md")).unwrap();
    let state = fs::read(project.root.join(STATE)).unwrap();
    (project, plan, state)
}

#[test]
fn a_damaged_plan_is_right_or_has_problems() {
    let (project, plan, _) = project();
    proptest!(ProptestConfig::with_cases(CASES), |(damages in prop::collection::vec(damage(), 1..4))| {
        fs::write(project.root.join("plan.md"), damaged(&plan, &damages)).unwrap();
        let answer = project.symphony(&["plan", "check", "plan.md", "--json"]);
        assert!(matches!(answer.code, 0 | 1), "{damages:?}: {answer:#?}");
        if answer.stdout.is_empty() {
            assert!(answer.stderr.contains("is not UTF-8"), "{damages:?}: {answer:#?}");
        } else {
            let checked: Value = serde_json::from_str(&answer.stdout).unwrap();
            assert_eq!(checked["valid"], answer.code == 0, "{checked:#}");
            assert_eq!(checked["problems"].as_array().unwrap().is_empty(), answer.code == 0);
        }
    });
}

#[test]
fn a_damaged_state_file_is_changed_as_a_whole_or_left_alone() {
    let (project, _, state) = project();
    let path = project.root.join(STATE);
    proptest!(ProptestConfig::with_cases(CASES), |(damages in prop::collection::vec(damage(), 1..4))| {
        let before = damaged(&state, &damages);
        fs::write(&path, &before).unwrap();
        let line = project.symphony(&["plan", "statusline"]);
        assert_eq!((line.code, line.stderr.as_str()), (0, ""), "{damages:?}: {line:#?}");
        let answer = project.symphony(&["plan", "mark-complete", STATE, "wire-format"]);
        let after = fs::read(&path).unwrap();
        if answer.code == 0 {
            let state: Value = serde_json::from_slice(&after).unwrap();
            assert_eq!(state["phases"]["wire-format"]["status"], "complete");
            // what is written is read again
            project.ok(&["plan", "ready", STATE]);
        } else {
            assert!(matches!(answer.code, 1 | 3 | 4), "{damages:?}: {answer:#?}");
            assert!(answer.stderr.starts_with("error: "), "{damages:?}: {answer:#?}");
            assert_eq!(after, before, "{damages:?}");
        }
    });
}
