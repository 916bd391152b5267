//! The format of the event log: recorded entries are read, and written as they were.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::{Value, json};
use symphony_core::id::DeliveryId;
use symphony_core::log::{LogEvent, Subject, sentence};

/// Entries as databases hold them: kind and payload, recorded before the log was typed.
const RECORDED: &str = include_str!("log/recorded.tsv");

fn recorded() -> impl Iterator<Item = (&'static str, &'static str)> {
    RECORDED.lines().map(|line| line.split_once('\t').unwrap())
}

#[test]
fn recorded_entries_are_read_and_written_byte_for_byte() {
    for (kind, text) in recorded() {
        let payload: Value = serde_json::from_str(text).unwrap();
        let event = LogEvent::read(kind, &payload);
        assert!(
            !matches!(event, LogEvent::Unknown { .. }),
            "cannot read {kind} {text}"
        );
        assert_eq!(event.kind(), kind);
        assert_eq!(event.payload().to_string(), text, "{kind}");
    }
}

#[test]
fn every_kind_has_a_recorded_entry() {
    let recorded: BTreeSet<_> = recorded().map(|(kind, _)| kind).collect();
    let known: BTreeSet<_> = LogEvent::KINDS.iter().copied().collect();
    assert_eq!(recorded, known);
}

#[test]
fn entries_of_old_versions_without_later_fields_are_read() {
    let event = LogEvent::read(
        "run_ended",
        &json!({ "status": "succeeded", "error": null }),
    );
    let LogEvent::RunEnded {
        counted,
        advanced,
        cap,
        ..
    } = event
    else {
        panic!("{event:?}");
    };
    assert_eq!((counted, advanced, cap), (false, false, None));
}

#[test]
fn an_entry_of_a_newer_version_is_kept_as_it_is() {
    for (kind, payload) in [
        ("tea_made", json!({ "sugar": 2 })),
        ("tea_made", json!([1, null])),
        ("tea_made", Value::Null),
        // a known kind with a status that came later
        ("run_ended", json!({ "status": "abducted", "error": null })),
        ("run_ended", json!("text")),
        ("", json!({})),
    ] {
        let event = LogEvent::read(kind, &payload);
        assert!(matches!(event, LogEvent::Unknown { .. }), "{kind}");
        assert_eq!((event.kind(), event.payload()), (kind, payload));
    }
}

#[test]
fn fields_of_a_newer_version_do_not_hide_an_entry() {
    let event = LogEvent::read("comment_added", &json!({ "comment": "7", "mood": "glad" }));
    assert!(matches!(event, LogEvent::CommentAdded { .. }));
}

#[test]
fn every_recorded_entry_is_a_sentence() {
    let (project, issue) = ("demo".parse().unwrap(), "DEM-3".parse().unwrap());
    let run = "0190a6c2-7b1e-7c3d-9f00-1f2e3d4c5b6a".parse().unwrap();
    let plan = "ship".parse().unwrap();
    let about = Subject {
        at: "1970-01-12T13:32:00Z".parse().unwrap(),
        project: Some(&project),
        issue: Some(&issue),
        run: Some(&run),
        plan: Some(&plan),
    };
    let unknown = ("tea_made", "{\"sugar\":2}");
    let mut table = String::new();
    for (kind, text) in recorded().chain([unknown]) {
        let event = LogEvent::read(kind, &serde_json::from_str(text).unwrap());
        let told = sentence(&event, &about);
        assert!(
            !told.contains(['{', '\n']) && !told.ends_with('.'),
            "{kind}: {told}"
        );
        writeln!(table, "{kind} {text}\n    {told}").unwrap();
    }
    insta::assert_snapshot!("sentences", table);
}

#[test]
fn long_texts_of_many_lines_are_quoted_as_one_short_line() {
    let about = Subject {
        at: "1970-01-12T13:32:00Z".parse().unwrap(),
        project: None,
        issue: None,
        run: None,
        plan: None,
    };
    let reason = format!("\n  {}\nsecond line", "é".repeat(300));
    let event = LogEvent::DeliveryRejected {
        delivery: DeliveryId::new(7),
        reason,
    };
    let expected = format!("Delivery 7 was closed: {}…", "é".repeat(200));
    assert_eq!(sentence(&event, &about), expected);
}
