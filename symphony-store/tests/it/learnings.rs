//! Learnings: what is streamed, given, retired, imported and prepared anew.

use std::collections::BTreeMap;
use std::path::Path;

use proptest::prelude::*;
use rusqlite::Connection;
use symphony_core::id::{IssueId, LearningId, ProjectId};
use symphony_core::issue::CommentAuthor;
use symphony_core::learning::{Learning, LearningSource, LearningState, LearningType};
use symphony_core::run::RunStatus;
use symphony_learning::{
    ALGORITHM_VERSION, Hit, Options, Prepared, Relevance, Subject, rank_best, search,
};
use symphony_store::{
    Imported, LearningAddition, LearningFilter, LearningRecord, LearningScope, NewLearning,
    NewProject, RankedLearning, Store, StoreError,
};

use crate::support::{
    add, add_project, at, by, finish, human, new_issue, project, store, system, worker,
};

fn id(text: &str) -> LearningId {
    LearningId::parse(text).unwrap()
}

fn new_learning(name: &str, pattern: &str) -> NewLearning {
    NewLearning {
        id: id(name),
        project: project(),
        issue: None,
        commit: None,
        pattern: pattern.into(),
        learning_type: None,
        applies_to: vec![],
    }
}

fn learn(store: &mut Store, name: &str, pattern: &str) -> LearningRecord {
    let new = new_learning(name, pattern);
    added(store.add_learning(&human(1), &new).unwrap())
}

fn added(addition: LearningAddition) -> LearningRecord {
    match addition {
        LearningAddition::Added(record) => record,
        other => panic!("{other:?}"),
    }
}

fn subject() -> Subject {
    Subject::issue("Parser fails", "on src/parser.rs with a cache", &["db"])
}

fn names(ranked: &[RankedLearning]) -> Vec<&str> {
    ranked
        .iter()
        .map(|ranked| ranked.record.learning.id.as_str())
        .collect()
}

fn given(store: &mut Store) -> Vec<String> {
    let best = store
        .best_learnings(&project(), None, &subject(), at(9), Options::default())
        .unwrap();
    best.ids().iter().map(ToString::to_string).collect()
}

fn other_project(store: &mut Store, name: &str, prefix: &str) -> ProjectId {
    let id = ProjectId::parse(name).unwrap();
    let root = format!("/{name}").into();
    let new = NewProject {
        id: id.clone(),
        name: format!("The {name}"),
        root,
        prefix: prefix.into(),
    };
    store.add_project(&human(0), &new).unwrap();
    id
}

fn record(
    number: usize,
    pattern: String,
    kind: Option<LearningType>,
    age: i64,
    issue: Option<IssueId>,
) -> LearningRecord {
    LearningRecord {
        learning: Learning {
            id: id(&format!("l-{number}")),
            pattern,
            learning_type: kind,
            applies_to: if number.is_multiple_of(3) {
                vec!["src/parser.rs".into()]
            } else {
                vec![]
            },
            labels: if number.is_multiple_of(4) {
                vec!["db".into()]
            } else {
                vec!["ui".into()]
            },
            created_at: at(-age),
        },
        project: project(),
        issue,
        run: None,
        commit: None,
        author: CommentAuthor::Human,
        state: if number % 11 == 5 {
            LearningState::Retired
        } else {
            LearningState::Accepted
        },
        sources: vec![],
    }
}

fn kind() -> impl Strategy<Value = Option<LearningType>> {
    prop_oneof![
        Just(None),
        Just(Some(LearningType::Convention)),
        Just(Some(LearningType::Pattern)),
        Just(Some(LearningType::Gotcha)),
    ]
}

/// Few words, so that many texts contain others and many are equal.
fn texts() -> impl Strategy<Value = Vec<(String, Option<LearningType>, i64, bool)>> {
    let word = prop_oneof![
        Just("cache"),
        Just("parser"),
        Just("the"),
        Just("Füße"),
        Just("!"),
        Just("x_1")
    ];
    let text = proptest::collection::vec(word, 1..5).prop_map(|words| words.join(" "));
    proptest::collection::vec((text, kind(), 0..9_000_000_i64, any::<bool>()), 0..120)
}

fn hits(learnings: &[Learning], hits: &[Hit]) -> Vec<(String, f64)> {
    hits.iter()
        .map(|hit| (learnings[hit.index].id.to_string(), hit.score))
        .collect()
}

fn scores(ranked: &[RankedLearning]) -> Vec<(String, f64)> {
    ranked
        .iter()
        .map(|ranked| (ranked.record.learning.id.to_string(), ranked.hit.score))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn what_is_streamed_is_what_ranking_the_loaded_records_gives(texts in texts()) {
        let mut store = store();
        let own = add(&mut store, "Own").id;
        let records: Vec<LearningRecord> = texts
            .into_iter()
            .zip(0..)
            .map(|((text, kind, age, is_own), number)| record(number, text, kind, age, is_own.then(|| own.clone())))
            .collect();
        store.import_learnings(&human(1), &project(), &records).unwrap();
        let filter = LearningFilter { project: Some(project()), ..LearningFilter::default() };
        let loaded = |filter| -> Vec<Learning> {
            store.learnings(filter).unwrap().into_iter().map(|record| record.learning).collect()
        };
        let (siblings, all) = (loaded(&filter), loaded(&LearningFilter::default()));
        let expected = rank_best(&siblings, &subject(), at(9), Options::default()).unwrap();
        let found = store.best_learnings(&project(), Some(&LearningSource::Issue(own)), &subject(), at(9), Options::default()).unwrap();
        prop_assert_eq!(scores(&found.conventions), hits(&siblings, &expected.conventions));
        prop_assert_eq!(scores(&found.tactical), hits(&siblings, &expected.tactical));

        let expected = search(&all, "parser cache", Relevance::Matching, at(9), Options::default()).unwrap();
        let found = store.search_learnings(LearningScope::Installation, "parser cache", Relevance::Matching, at(9), Options::default()).unwrap();
        prop_assert_eq!(scores(&found), hits(&all, &expected));
    }
}

#[test]
fn a_learning_keeps_author_run_commit_and_the_labels_of_its_issue() {
    let mut store = store();
    let mut new = new_issue("One");
    new.labels = vec!["db".into()];
    let issue = store.add_issue(&human(1), &new).unwrap().id;
    let run = worker(&mut store, "run-1", &issue);
    let learning = NewLearning {
        issue: Some(issue.clone()),
        commit: Some("c0ffee".into()),
        applies_to: vec!["src/a.rs".into()],
        ..new_learning("a", "Sort the fixtures")
    };
    let found = added(store.add_learning(&by(&run, 3), &learning).unwrap());
    let expected = LearningRecord {
        learning: Learning {
            id: id("a"),
            pattern: "Sort the fixtures".into(),
            learning_type: None,
            applies_to: vec!["src/a.rs".into()],
            labels: vec!["db".into()],
            created_at: at(3),
        },
        project: project(),
        issue: Some(issue.clone()),
        run: Some(run.id.clone()),
        commit: Some("c0ffee".into()),
        author: CommentAuthor::Agent(run.agent.clone()),
        state: LearningState::Proposed,
        sources: vec![LearningSource::Issue(issue)],
    };
    assert_eq!(found, expected);
    assert_eq!(store.learning(&id("a")).unwrap(), expected);
}

#[test]
fn a_retired_learning_is_never_given_until_it_is_restored() {
    let mut store = store();
    let other = other_project(&mut store, "other", "OTH");
    for name in ["a", "b"] {
        learn(&mut store, name, &format!("cache {name}"));
    }
    let all = |store: &mut Store| {
        let search = store
            .search_learnings(
                LearningScope::Installation,
                "cache",
                Relevance::Matching,
                at(9),
                Options::default(),
            )
            .unwrap();
        let cross = store
            .cross_project_learnings(&other, &subject(), at(9))
            .unwrap();
        let cross: Vec<RankedLearning> =
            cross.into_iter().map(|learning| learning.ranked).collect();
        let listed = store.learnings(&LearningFilter::default()).unwrap();
        let mut listed: Vec<String> = listed
            .iter()
            .map(|record| record.learning.id.to_string())
            .collect();
        listed.sort();
        assert_eq!(given(store), listed);
        assert_eq!(names(&search), listed);
        assert_eq!(names(&cross), listed);
        listed
    };
    assert_eq!(all(&mut store), ["a", "b"]);
    let retired = store.retire_learnings(&human(2), &[id("a")]).unwrap();
    assert_eq!(retired[0].state, LearningState::Retired);
    assert_eq!(all(&mut store), ["b"]);
    let only = LearningFilter {
        states: vec![LearningState::Retired],
        ..LearningFilter::default()
    };
    assert_eq!(store.learnings(&only).unwrap(), retired);
    // a second time, and one that stands already, change nothing
    store
        .retire_learnings(&human(2), &[id("a"), id("a")])
        .unwrap();
    store
        .accept_learnings(&human(3), &[id("a"), id("b")])
        .unwrap();
    assert_eq!(all(&mut store), ["a", "b"]);
}

#[test]
fn learnings_are_retired_all_or_none_and_by_people_only() {
    let mut store = store();
    learn(&mut store, "a", "cache");
    let error = store
        .retire_learnings(&human(2), &[id("a"), id("none")])
        .unwrap_err();
    assert_eq!(error.to_string(), "there is no learning `none`");
    let issue = add(&mut store, "One").id;
    let run = worker(&mut store, "run-1", &issue);
    let error = store
        .retire_learnings(&by(&run, 3), &[id("a")])
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "only people can accept and retire learnings"
    );
    assert_eq!(given(&mut store), ["a"]);
}

#[test]
fn how_the_runs_that_were_given_a_learning_ended_is_counted() {
    let mut store = store();
    for name in ["a", "b", "c"] {
        learn(&mut store, name, &format!("cache {name}"));
    }
    let mut run_with = |name: &str, learnings: &[&str], status: Option<RunStatus>| {
        let issue = add(&mut store, name).id;
        let run = worker(&mut store, name, &issue);
        let ids: Vec<LearningId> = learnings.iter().map(|name| id(name)).collect();
        for _ in 0..2 {
            store.record_given(&by(&run, 3), &run.id, &ids).unwrap();
        }
        if let Some(status) = status {
            store
                .finish_run(&system(4), &finish(&run, status, None))
                .unwrap();
        }
        run
    };
    run_with("run-1", &["a", "b"], Some(RunStatus::Succeeded));
    let over = run_with("run-2", &["a"], Some(RunStatus::Failed));
    run_with("run-3", &["a"], None);
    let uses = store.learning_uses(&LearningFilter::default()).unwrap();
    let found: Vec<_> = uses
        .iter()
        .map(|learning| (learning.record.learning.id.as_str(), learning.given()))
        .collect();
    assert_eq!(found, [("a", 3), ("b", 1), ("c", 0)]);
    let statuses = [RunStatus::Succeeded, RunStatus::Failed, RunStatus::Starting];
    assert_eq!(uses[0].runs, statuses.map(|status| (status, 1)).into());
    assert_eq!(uses[1].runs, BTreeMap::from([(RunStatus::Succeeded, 1)]));
    assert_eq!(
        (uses[0].last_given_at, uses[2].last_given_at),
        (Some(at(2)), None)
    );
    let first = LearningFilter {
        limit: Some(1),
        ..LearningFilter::default()
    };
    assert_eq!(store.learning_uses(&first).unwrap(), uses[..1]);

    let error = store
        .record_given(&by(&over, 5), &over.id, &[id("b")])
        .unwrap_err();
    assert!(matches!(error, StoreError::Superseded { .. }), "{error}");
}

#[test]
fn other_projects_give_ten_at_most_with_their_names() {
    let mut store = store();
    learn(&mut store, "own", "cache of our own");
    let (first, last) = (
        other_project(&mut store, "aaa", "AAA"),
        other_project(&mut store, "zzz", "ZZZ"),
    );
    for number in 0..14 {
        let project = if number % 2 == 0 {
            first.clone()
        } else {
            last.clone()
        };
        let pattern = format!("cache number {number:02}");
        let new = NewLearning {
            project,
            ..new_learning(&format!("o-{number:02}"), &pattern)
        };
        store.add_learning(&human(number), &new).unwrap();
    }
    let found = store
        .cross_project_learnings(&project(), &subject(), at(20))
        .unwrap();
    let found: Vec<_> = found
        .iter()
        .map(|learning| {
            (
                learning.project_name.as_str(),
                learning.ranked.record.learning.id.as_str(),
            )
        })
        .collect();
    assert_eq!(found.len(), 10);
    assert_eq!(found[..2], [("The zzz", "o-13"), ("The aaa", "o-12")]);
}

/// Opens the database beside the store: what another process, or an older version, would have left.
fn beside(path: &Path) -> Connection {
    Connection::open(path).unwrap()
}

fn forms(path: &Path) -> Vec<(String, Vec<u8>)> {
    let conn = beside(path);
    let mut statement = conn
        .prepare("SELECT learning, prepared FROM learning_prepared ORDER BY learning")
        .unwrap();
    let rows = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap();
    rows.map(Result::unwrap).collect()
}

#[test]
fn what_another_version_prepared_is_prepared_anew_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("symphony.db");
    let mut store = Store::open(&path).unwrap();
    add_project(&mut store);
    let records =
        ["a", "b", "c", "d"].map(|name| learn(&mut store, name, &format!("cache {name}")));
    let right: Vec<(String, Vec<u8>)> = records
        .iter()
        .map(|record| {
            (
                record.learning.id.to_string(),
                Prepared::new(&record.learning).into_bytes(),
            )
        })
        .collect();
    assert_eq!(forms(&path), right);
    let before = given(&mut store);

    let other_version = (ALGORITHM_VERSION + 1).to_le_bytes();
    for (name, bytes) in [
        ("a", &other_version[..]),
        ("b", &[]),
        ("c", &right[2].1[..40]),
    ] {
        beside(&path)
            .execute(
                "UPDATE learning_prepared SET prepared = ?2 WHERE learning = ?1",
                (name, bytes),
            )
            .unwrap();
    }
    assert_eq!(given(&mut store), before);
    assert_eq!(forms(&path), right);
}

#[test]
fn a_database_of_the_first_schema_gives_what_it_holds() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("symphony.db");
    let conn = beside(&path);
    conn.execute_batch(include_str!("../../src/database/schema/0001_base.sql"))
        .unwrap();
    conn.execute_batch(
        "PRAGMA user_version = 1;
         INSERT INTO project (id, name, root, prefix, created_at) VALUES ('demo', 'Demo', '/demo', 'DEM', 0);
         INSERT INTO learning (id, project, author, retired, pattern, created_at)
         VALUES ('a', 'demo', 'human', 0, 'cache', 0), ('b', 'demo', 'human', 1, 'parser', 0);",
    )
    .unwrap();
    drop(conn);
    let mut store = Store::open(&path).unwrap();
    assert_eq!(given(&mut store), ["a"]);
    let form = Prepared::new(&store.learning(&id("a")).unwrap().learning).into_bytes();
    assert_eq!(forms(&path), [("a".to_owned(), form)]);
}

#[test]
fn an_import_keeps_what_was_exported_and_skips_what_is_there() {
    let mut from = store();
    let issue = add(&mut from, "One").id;
    let run = worker(&mut from, "run-1", &issue);
    let learning = NewLearning {
        issue: Some(issue.clone()),
        ..new_learning("a", "cache")
    };
    from.add_learning(&by(&run, 3), &learning).unwrap();
    learn(&mut from, "b", "parser");
    from.retire_learnings(&human(4), &[id("b")]).unwrap();
    let everything = LearningFilter {
        states: LearningState::ALL.to_vec(),
        ..LearningFilter::default()
    };
    let exported = from.learnings(&everything).unwrap();

    // into another installation with a project of the same name: the issue and the run do not exist there
    let mut into = store();
    let imported = into
        .import_learnings(&human(5), &project(), &exported)
        .unwrap();
    assert_eq!(
        imported,
        Imported {
            added: 2,
            skipped: 0
        }
    );
    // and so the person who imports a proposal accepts it
    let without = |record: &LearningRecord| LearningRecord {
        issue: None,
        run: None,
        sources: vec![],
        state: match record.state {
            LearningState::Proposed => LearningState::Accepted,
            state => state,
        },
        ..record.clone()
    };
    let expected: Vec<LearningRecord> = exported.iter().map(without).collect();
    assert_eq!(into.learnings(&everything).unwrap(), expected);
    assert_eq!(given(&mut into), ["a"]);

    // once more into the same one
    let imported = from
        .import_learnings(&human(5), &project(), &exported)
        .unwrap();
    assert_eq!(
        imported,
        Imported {
            added: 0,
            skipped: 2
        }
    );
    assert_eq!(from.learnings(&everything).unwrap(), exported);

    // into another project, where an issue of that name belongs to somebody else
    let other = other_project(&mut into, "other", "OTH");
    add(&mut into, "One");
    let renamed = LearningRecord {
        learning: Learning {
            id: id("c"),
            ..exported[0].learning.clone()
        },
        ..exported[0].clone()
    };
    into.import_learnings(&human(6), &other, std::slice::from_ref(&renamed))
        .unwrap();
    let found = into.learning(&id("c")).unwrap();
    assert_eq!(
        found,
        LearningRecord {
            project: other,
            ..without(&renamed)
        }
    );
}

#[test]
fn an_import_with_a_bad_learning_imports_nothing() {
    let mut store = store();
    let bad = record(1, "  ".into(), None, 0, None);
    let records = [record(0, "cache".into(), None, 0, None), bad];
    let error = store
        .import_learnings(&human(1), &project(), &records)
        .unwrap_err();
    assert!(matches!(error, StoreError::Field(_)), "{error}");
    assert_eq!(store.learnings(&LearningFilter::default()).unwrap(), []);
}

#[test]
fn a_learning_is_found_by_either_end_of_its_id() {
    let mut store = store();
    for (name, text) in [("0199-aa", "one"), ("0199-ab", "two"), ("ab", "three")] {
        learn(&mut store, name, text);
    }
    let found = |text: &str| {
        store
            .find_learning(text)
            .map(|record| record.learning.id.to_string())
            .map_err(|e| e.to_string())
    };
    assert_eq!(found("aa"), Ok("0199-aa".into()));
    assert_eq!(found("ab"), Ok("ab".into()));
    assert_eq!(found("-ab"), Err("there is no learning `-ab`".into()));
    assert_eq!(found("9-ab"), Ok("0199-ab".into()));
    assert_eq!(
        found("0199"),
        Err(
            "several learnings match `0199`: 0199-aa, 0199-ab; the last characters of the id make it unique"
                .into()
        )
    );
    assert_eq!(found("%"), Err("there is no learning `%`".into()));
    assert_eq!(found("zz"), Err("there is no learning `zz`".into()));
}

/// What lies in rows of their own, and what lies in packs.
fn places(path: &Path) -> (i64, i64) {
    let count = |sql: &str| beside(path).query_row(sql, [], |row| row.get(0)).unwrap();
    (
        count("SELECT count(*) FROM learning_prepared"),
        count("SELECT count(*) FROM learning_pack"),
    )
}

/// Asserts that what is given is what ranking the loaded records gives.
fn assert_streamed_is_loaded(store: &mut Store) {
    let filter = LearningFilter {
        project: Some(project()),
        ..LearningFilter::default()
    };
    let loaded: Vec<Learning> = store
        .learnings(&filter)
        .unwrap()
        .into_iter()
        .map(|record| record.learning)
        .collect();
    let options = Options::uncapped();
    let expected = rank_best(&loaded, &subject(), at(9), options).unwrap();
    let found = store
        .best_learnings(&project(), None, &subject(), at(9), options)
        .unwrap();
    assert_eq!(
        scores(&found.conventions),
        hits(&loaded, &expected.conventions)
    );
    assert_eq!(scores(&found.tactical), hits(&loaded, &expected.tactical));
}

fn many(store: &mut Store, count: usize) -> Vec<LearningRecord> {
    let kinds = [
        None,
        Some(LearningType::Convention),
        Some(LearningType::Gotcha),
    ];
    let records: Vec<LearningRecord> = (0..count)
        .map(|n| {
            record(
                n,
                format!("cache number {n} of the parser"),
                kinds[n % 3],
                60,
                None,
            )
        })
        .collect();
    store
        .import_learnings(&human(1), &project(), &records)
        .unwrap();
    records
}

#[test]
fn many_learnings_are_packed_and_stay_what_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("symphony.db");
    let mut store = Store::open(&path).unwrap();
    add_project(&mut store);
    let records = many(&mut store, 900);
    let (rows, packs) = places(&path);
    assert_eq!(rows, 0);
    assert!(packs > 1, "{packs}");
    assert_streamed_is_loaded(&mut store);

    let (retired, active): (Vec<_>, Vec<_>) = records
        .iter()
        .partition(|record| record.state == LearningState::Retired);
    let ids = |records: &[&LearningRecord]| -> Vec<LearningId> {
        records
            .iter()
            .map(|record| record.learning.id.clone())
            .collect()
    };
    store
        .retire_learnings(&human(2), &ids(&active[100..103]))
        .unwrap();
    assert!(places(&path).0 > 0, "a pack was taken apart");
    assert_streamed_is_loaded(&mut store);
    store
        .accept_learnings(&human(3), &ids(&active[101..102]))
        .unwrap();
    store
        .accept_learnings(&human(3), &ids(&retired[..40]))
        .unwrap();
    assert_streamed_is_loaded(&mut store);
    for number in 0..300 {
        learn(
            &mut store,
            &format!("more-{number}"),
            &format!("parser {number}"),
        );
    }
    assert!(places(&path).0 <= 256, "rows are packed again");
    assert_streamed_is_loaded(&mut store);
}

#[test]
fn packs_of_another_version_are_prepared_anew_and_packed_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("symphony.db");
    let mut store = Store::open(&path).unwrap();
    add_project(&mut store);
    many(&mut store, 600);
    let before = places(&path);
    let other = (ALGORITHM_VERSION + 1).to_le_bytes();
    let packs = |conn: &Connection| -> Vec<(i64, Vec<u8>)> {
        let mut statement = conn.prepare("SELECT id, forms FROM learning_pack").unwrap();
        let rows = statement
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap();
        rows.map(Result::unwrap).collect()
    };
    let occurrences = |bytes: &[u8], of: &[u8; 8]| {
        bytes
            .array_windows::<8>()
            .filter(|window| *window == of)
            .count()
    };
    let conn = beside(&path);
    for (id, mut forms) in packs(&conn) {
        for at in 0..forms.len() - 8 {
            if forms[at..at + 8] == ALGORITHM_VERSION.to_le_bytes() {
                forms[at..at + 8].copy_from_slice(&other);
            }
        }
        conn.execute(
            "UPDATE learning_pack SET forms = ?2 WHERE id = ?1",
            (id, forms),
        )
        .unwrap();
    }
    let stale = |conn: &Connection| -> usize {
        packs(conn)
            .iter()
            .map(|(_, forms)| occurrences(forms, &other))
            .sum()
    };
    assert!(stale(&conn) > 500);
    assert_streamed_is_loaded(&mut store);
    assert_eq!(stale(&conn), 0);
    assert_eq!(places(&path), before);
    assert_streamed_is_loaded(&mut store);
}
