//! Test health and coverage: what is recorded, what it is compared with, what is refused.

use symphony_core::run::{Run, RunStatus};
use symphony_core::test_health::{BloatFlag, TestReport};
use symphony_store::{NewCoverage, NewTestHealth, Store, TestHealthRecord};

use crate::support::{add, at, by, finish, human, project, store, system, worker};

fn report(run: &Run, test_count: u64, changed_lines: Option<u64>) -> NewTestHealth {
    NewTestHealth {
        project: project(),
        issue: run.target.issue().cloned(),
        report: TestReport {
            test_count,
            duration_ms: 1_500,
            names: vec![],
        },
        changed_lines,
    }
}

fn growth(flags: &[BloatFlag]) -> Vec<(u64, u64)> {
    flags
        .iter()
        .map(|flag| match flag {
            BloatFlag::Growth { previous, now, .. } => (*previous, *now),
            BloatFlag::DuplicateNames { .. } => (0, 0),
        })
        .collect()
}

fn end(store: &mut Store, run: &Run) {
    store
        .finish_run(&system(90), &finish(run, RunStatus::Succeeded, None))
        .expect("a run can be ended");
}

#[test]
fn a_report_is_compared_with_the_last_one_on_other_work_before_the_run() {
    let mut store = store();
    let (a, b) = (add(&mut store, "A").id, add(&mut store, "B").id);
    let record = |store: &mut Store, run: &Run, second, count, lines| {
        let new = report(run, count, lines);
        let record = store.record_test_health(&by(run, second), &new).unwrap();
        growth(&record.flags)
    };
    // runs start at second 2
    let first = worker(&mut store, "w1", &a);
    assert_eq!(record(&mut store, &first, 1, 100, Some(0)), []);
    // its own reports are part of the same change: there is nothing to compare with yet
    assert_eq!(record(&mut store, &first, 2, 400, Some(0)), []);
    let second = worker(&mut store, "w2", &b);
    assert_eq!(record(&mut store, &second, 3, 500, Some(500)), []);
    assert_eq!(record(&mut store, &second, 4, 501, Some(500)), [(400, 501)]);
    // another attempt on the same issue does not make the same tests look old
    end(&mut store, &second);
    let again = worker(&mut store, "w3", &b);
    assert_eq!(record(&mut store, &again, 95, 501, Some(500)), [(400, 501)]);
    // what came from elsewhere after the run had started is not yet below it
    assert_eq!(record(&mut store, &first, 96, 5_000, None), []);
    assert_eq!(record(&mut store, &again, 97, 501, Some(505)), []);
}

#[test]
fn what_is_recorded_comes_back() {
    let mut store = store();
    let issue = add(&mut store, "A").id;
    let run = worker(&mut store, "w1", &issue);
    let mut new = report(&run, 3, None);
    new.report.names = vec!["a_b".into(), "aB".into(), "c".into()];
    let made = store.record_test_health(&by(&run, 5), &new).unwrap();
    assert_eq!(
        made,
        TestHealthRecord {
            project: project(),
            issue: Some(issue.clone()),
            run: Some(run.id.clone()),
            test_count: 3,
            duration_ms: 1_500,
            flags: vec![BloatFlag::DuplicateNames {
                groups: 1,
                names: vec!["a_b".into()]
            }],
            created_at: at(5),
        }
    );
    // a person's report, for no issue
    new.issue = None;
    new.report.names.clear();
    let by_hand = store.record_test_health(&human(6), &new).unwrap();
    assert_eq!(store.test_health(&project(), 5).unwrap(), [by_hand, made]);
    let log = store.events_of_issue(&issue).unwrap();
    assert_eq!(log.last().unwrap().kind, "test_health_recorded");
    end(&mut store, &run);
    store.record_test_health(&by(&run, 7), &new).unwrap_err();
    assert_eq!(store.test_health(&project(), 1).unwrap().len(), 1);
}

#[test]
fn a_run_reports_a_hundred_times() {
    let mut store = store();
    let issue = add(&mut store, "A").id;
    let run = worker(&mut store, "w1", &issue);
    let new = report(&run, 3, None);
    for _ in 0..100 {
        store.record_test_health(&by(&run, 5), &new).unwrap();
    }
    let error = store.record_test_health(&by(&run, 5), &new).unwrap_err();
    assert!(error.to_string().ends_with("the limit is 100 a run"));
}

fn covers(file: &str, concept: &str, notes: &str) -> NewCoverage {
    NewCoverage {
        project: project(),
        file: file.into(),
        concept: concept.into(),
        notes: notes.into(),
    }
}

#[test]
fn a_second_look_at_a_file_for_the_same_concept_replaces_the_first() {
    let mut store = store();
    let issue = add(&mut store, "A").id;
    let run = worker(&mut store, "w1", &issue);
    for (second, new) in [
        (3, covers("src/b.rs", "locks", "none")),
        (4, covers("./src//a.rs", "locks", "one")),
        (5, covers("src/a.rs", "errors", "")),
        (6, covers("src/a.rs", " locks ", "two")),
    ] {
        store.record_coverage(&by(&run, second), &new).unwrap();
    }
    let found: Vec<_> = store
        .coverage(&project(), 10)
        .unwrap()
        .into_iter()
        .map(|c| (c.file, c.concept, c.notes, c.run, c.created_at))
        .collect();
    let row = |file: &str, concept: &str, notes: &str, second| {
        let texts = (file.to_owned(), concept.to_owned(), notes.to_owned());
        (texts.0, texts.1, texts.2, Some(run.id.clone()), at(second))
    };
    assert_eq!(
        found,
        [
            row("src/a.rs", "errors", "", 5),
            row("src/a.rs", "locks", "two", 6),
            row("src/b.rs", "locks", "none", 3),
        ]
    );
}

#[test]
fn a_file_outside_of_the_project_is_refused() {
    let mut store = store();
    for file in ["/etc/passwd", "../a.rs", "src/../../a.rs", ".", "./"] {
        let error = store
            .record_coverage(&human(3), &covers(file, "c", ""))
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("file is `{file}`; a path inside the project is expected, such as src/main.rs")
        );
    }
    for (new, message) in [
        (covers("", "c", ""), "file must not be empty"),
        (covers("a", " ", ""), "concept must not be empty"),
        (
            covers("a", "c\nd", ""),
            "concept must be one line without control characters",
        ),
        (
            covers("a", "c", &"x".repeat(65_537)),
            "notes is 65537 bytes long; the limit is 65536",
        ),
    ] {
        let error = store.record_coverage(&human(3), &new).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
    assert_eq!(store.coverage(&project(), 10).unwrap(), []);
}
