//! What an import takes, skips and refuses.

use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::issue::{Priority, Size};
use crate::profile::ModelName;

fn line(text: &str) -> IssueLine {
    serde_json::from_str(text).unwrap()
}

fn lines(texts: &[&str]) -> Vec<(usize, IssueLine)> {
    texts
        .iter()
        .enumerate()
        .map(|(i, text)| (i + 1, line(text)))
        .collect()
}

fn known() -> BTreeMap<String, KnownIssue> {
    let issue = |id: &str, title: &str| KnownIssue {
        id: IssueId::parse(id).unwrap(),
        title: title.to_owned(),
    };
    BTreeMap::from([
        ("SYM-1".to_owned(), issue("SYM-1", "Old")),
        ("ext-1".to_owned(), issue("SYM-1", "Old")),
    ])
}

#[test]
fn parents_come_first_and_names_are_found_by_identifier_and_external_id() {
    let lines = lines(&[
        r#"{"title":"Part","identifier":"X-2","parent":"X-1","depends_on":["ext-9","ext-1"]}"#,
        r#"{"title":"Whole","identifier":"X-1"}"#,
        r#"{"title":"Before","external_id":"ext-9"}"#,
        r#"{"title":"Old","identifier":"SYM-1"}"#,
        r#"{"title":"Another","identifier":"SYM-9","external_id":"ext-1"}"#,
    ]);
    let plan = plan_import(&lines, &known()).unwrap();
    let add: Vec<_> = plan
        .add
        .iter()
        .map(|new| (new.line, new.parent.clone(), new.depends_on.clone()))
        .collect();
    let old = IssueId::parse("SYM-1").unwrap();
    assert_eq!(
        add,
        [
            (2, None, vec![]),
            (
                1,
                Some(IssueRef::New(0)),
                // line 5 has the external id, and is the issue that is there
                vec![IssueRef::New(2), IssueRef::Known(old.clone())]
            ),
            (3, None, vec![]),
        ]
    );
    assert_eq!(plan.skip, [(4, old.clone()), (5, old)]);
}

#[test]
fn all_that_is_wrong_is_said_at_once_with_its_line() {
    let labels = format!(r#"{{"title":"x","labels":["{}"]}}"#, "l".repeat(101));
    let lines = lines(&[
        r#"{"title":" "}"#,
        &labels,
        r#"{"title":"a","parent":"nobody","depends_on":["no-one"]}"#,
        r#"{"title":"b","identifier":"B","external_id":"e"}"#,
        r#"{"title":"c","identifier":"B","external_id":"e"}"#,
        r#"{"title":"d","identifier":"D","depends_on":["E"]}"#,
        r#"{"title":"e","identifier":"E","depends_on":["D"]}"#,
        r#"{"title":"f","identifier":"F","parent":"G"}"#,
        r#"{"title":"g","identifier":"G","parent":"F"}"#,
    ]);
    let problems = plan_import(&lines, &BTreeMap::new()).unwrap_err();
    let said: Vec<String> = problems
        .iter()
        .map(|problem| format!("{}: {}", problem.line, problem.problem))
        .collect();
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn a_document_has_a_limit() {
    let one = (1, IssueLine::titled("t"));
    let problems = plan_import(&vec![one; IMPORT_ISSUES_MAX + 1], &BTreeMap::new()).unwrap_err();
    assert!(
        problems[0].problem.contains("at most 10000"),
        "{problems:?}"
    );
}

#[test]
fn a_blocked_issue_waits_for_its_open_parts_here_too() {
    let lines = lines(&[
        r#"{"title":"Open part","identifier":"X-1","status":"blocked"}"#,
        r#"{"title":"a","parent":"X-1","status":"review"}"#,
        r#"{"title":"Closed part","identifier":"X-2","status":"blocked"}"#,
        r#"{"title":"b","parent":"X-2","status":"done"}"#,
        r#"{"title":"Not blocked","identifier":"X-3","status":"todo"}"#,
        r#"{"title":"c","parent":"X-3"}"#,
    ]);
    let plan = plan_import(&lines, &BTreeMap::new()).unwrap();
    let waits: Vec<usize> = plan
        .add
        .iter()
        .filter(|issue| issue.waits_for_parts)
        .map(|issue| issue.line)
        .collect();
    assert_eq!(waits, [1]);
}

#[test]
fn what_was_under_way_elsewhere_begins_anew() {
    for (status, expected) in [
        ("backlog", IssueStatus::Backlog),
        ("todo", IssueStatus::Todo),
        ("in_progress", IssueStatus::Todo),
        ("review", IssueStatus::Todo),
        ("blocked", IssueStatus::Backlog),
        ("done", IssueStatus::Done),
        ("cancelled", IssueStatus::Cancelled),
    ] {
        let line = line(&format!(r#"{{"title":"t","status":"{status}"}}"#));
        assert_eq!(line.state().status(), expected);
    }
}

fn any_issue() -> impl Strategy<Value = IssueLine> {
    let word = "[A-Za-zäß:,#\\\\-]{1,8}";
    let line = proptest::collection::vec(word, 1..4).prop_map(|words| words.join(" "));
    let text = proptest::collection::vec(
        prop_oneof![
            line.clone(),
            Just("## not a heading".to_owned()),
            Just("\\## nor this".to_owned()),
            Just("- status: said in words".to_owned()),
            Just(String::new()),
            Just("  indented\r".to_owned()),
        ],
        0..6,
    )
    .prop_map(|lines| lines.join("\n").trim_matches('\n').to_owned());
    (
        proptest::option::of("[A-Z]{1,3}-[1-9]"),
        line.clone(),
        text,
        select(IssueStatus::ALL.to_vec()),
        select(Priority::ALL.to_vec()),
        proptest::option::of(select(Size::ALL.to_vec())),
        proptest::collection::vec("[a-z:,]{1,6}", 0..3),
        proptest::option::of("[A-Z]-[1-9]"),
        proptest::collection::vec("[A-Z]-[1-9]", 0..3),
        proptest::option::of("[a-z#/-]{1,9}"),
        proptest::option::of("codex-cli|scripted"),
        proptest::option::of("[a-z][a-z0-9.-]{0,9}"),
    )
        .prop_map(
            |(
                identifier,
                title,
                description,
                status,
                priority,
                size,
                labels,
                parent,
                depends_on,
                external_id,
                agent,
                model,
            )| {
                IssueLine {
                    identifier,
                    title,
                    description,
                    status,
                    priority,
                    size,
                    labels,
                    parent,
                    depends_on,
                    external_id,
                    agent,
                    model: model.map(|name| ModelName::parse(&name).unwrap()),
                }
            },
        )
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(issues in proptest::collection::vec(any_issue(), 0..5)) {
        let fields = |read: Vec<(usize, IssueLine)>| read.into_iter().map(|(_, issue)| issue).collect::<Vec<_>>();
        prop_assert_eq!(&fields(read_json_lines(&write_json_lines(&issues)).unwrap()), &issues);
        let markdown = write_markdown(&issues);
        prop_assert_eq!(&fields(read_markdown(&markdown).unwrap()), &issues, "{}", markdown);
    }

    #[test]
    fn no_document_is_a_panic(text in "(## |- [a-z ]{1,12}: ?|\\PC{0,12}|\n|\\{\"title\":){0,12}") {
        let _read = read_markdown(&text);
        if let Ok(lines) = read_json_lines(&text) {
            let _plan = plan_import(&lines, &BTreeMap::new());
        }
    }
}

#[test]
fn a_document_written_by_hand_is_read() {
    let text = "# My backlog\n\nNotes.\n\n## First\n\nDo it.\n- status: of the art\n\n## Second\n- priority: high\n- depends on: First\n";
    let read = read_markdown(text).unwrap();
    let shown: Vec<_> = read
        .iter()
        .map(|(line, issue)| {
            (
                *line,
                issue.title.as_str(),
                issue.description.as_str(),
                issue.priority,
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            (5, "First", "Do it.\n- status: of the art", Priority::None),
            (10, "Second", "", Priority::High)
        ]
    );
    let problems = read_markdown("## A\n- priority: high up\n- size: 3\n").unwrap_err();
    let lines: Vec<usize> = problems.iter().map(|problem| problem.line).collect();
    assert_eq!(lines, [2, 3], "{problems:?}");
}
