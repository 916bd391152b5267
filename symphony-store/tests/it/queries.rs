//! What a tick sees, and what a broken file says to do.

use std::collections::BTreeMap;

use symphony_core::issue::BreakerTarget;
use symphony_core::placement::Lease;
use symphony_core::tick::{
    AskedModels, NamedProviders, ProjectAgents, ProjectView, SlotLimits, plan_tick,
};
use symphony_store::{IssueEdit, SnapshotRequest, Store};

use crate::support::{add, at, human, project, store};

pub(crate) fn snapshot_request() -> SnapshotRequest {
    let view = ProjectView {
        max_concurrency: None,
        max_retries: 15,
        max_backoff_ms: 300_000,
        breaker_target: BreakerTarget::Backlog,
        provider: Ok("scripted".into()),
        named_providers: NamedProviders::default(),
        models: AskedModels::default(),
        judge_enabled: true,
        auto_done: false,
        judge_cooldown_ms: 0,
        planner_enabled: false,
        researcher_enabled: true,
        migration_mode: true,
        max_open_reviews: None,
        open_reviews: 0,
        phases: BTreeMap::new(),
        decisive_paths: Vec::new(),
        agents: ProjectAgents::default(),
        gate_names: Vec::new(),
        gates: Vec::new(),
        untried_gates: Vec::new(),
        base_gates: None,
        broken: None,
        no_base: None,
        pool: None,
    };
    SnapshotRequest {
        projects: BTreeMap::from([(project(), view)]),
        slots: SlotLimits {
            total: 4,
            by_agent: BTreeMap::new(),
            gates: 2,
        },
        locks: BTreeMap::new(),
        caps: BTreeMap::new(),
        lease: Lease::default(),
    }
}

#[test]
fn blocked_issues_are_not_candidates() {
    let mut store = store();
    let (a, b) = (add(&mut store, "a"), add(&mut store, "b"));
    let edit = IssueEdit {
        depends_on: Some(vec![a.id.clone()]),
        ..IssueEdit::default()
    };
    store.edit_issue(&human(2), &b.id, &edit).unwrap();
    let snapshot = store.load_snapshot(snapshot_request(), at(3)).unwrap();
    let seen: Vec<_> = snapshot.candidates.iter().map(|c| &c.issue).collect();
    assert_eq!(seen, [&a.id]);
    assert_eq!(plan_tick(&snapshot, at(3)).actions.len(), 1);
    assert_eq!(store.candidate(&b.id).unwrap().unwrap().waits_for, [a.id]);
}

#[test]
fn a_file_that_is_no_database_is_called_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    std::fs::write(
        &path,
        "not a database at all, but long enough to be read as a header".repeat(20),
    )
    .unwrap();
    let error = Store::open(&path).unwrap_err().to_string();
    assert!(error.contains("not a SQLite database"), "{error}");
}

#[test]
fn a_newer_schema_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    drop(Store::open(&path).unwrap());
    rusqlite::Connection::open(&path)
        .unwrap()
        .pragma_update(None, "user_version", 99)
        .unwrap();
    let error = Store::open(&path).unwrap_err().to_string();
    let expected = format!(
        "the database {} cannot be opened: its schema has version 99, but this Symphony supports up to {}: a newer version wrote it",
        path.display(),
        symphony_store::SCHEMA_VERSION
    );
    assert_eq!(error, expected);
}

#[test]
fn durability_is_full() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("s.db")).unwrap();
    assert_eq!(store.durability().unwrap(), ("wal".to_owned(), 2));
}

#[test]
fn issues_that_can_not_start_do_not_hide_those_behind_them() {
    let mut store = store();
    for i in 0..600 {
        let mut new = crate::support::new_issue(&format!("unknown phase {i}"));
        new.labels = vec!["phase:no-such".into()];
        store.add_issue(&human(1), &new).unwrap();
    }
    let last = add(&mut store, "ready");
    let snapshot = store.load_snapshot(snapshot_request(), at(3)).unwrap();
    assert!(
        snapshot
            .candidates
            .iter()
            .any(|candidate| candidate.issue == last.id)
    );
    let started = plan_tick(&snapshot, at(3)).actions;
    assert_eq!(started.len(), 1, "{started:?}");
}
