//! Copies between databases: what arrives is what was there, and work goes on with it.

use std::path::Path;

use symphony_core::failure::ErrorClass;
use symphony_core::run::RunStatus;
use symphony_store::{Context, CopiedTable, Store};

use crate::support::{
    add, add_project, assert_sound, at, by, finish, human, new_pr, store, system, worker,
};

/// A database with a row in many tables, whose newest rows are gone in some.
fn rich(path: &Path) -> Store {
    let mut store = Store::open(path).unwrap();
    add_project(&mut store);
    let first = add(&mut store, "One").id;
    let run = worker(&mut store, "run-1", &first);
    let context = by(&run, 3);
    store
        .add_comment(&context, &first, "ä, \u{1f980} and 'quotes'")
        .unwrap();
    store.create_pr(&context, &new_pr(&first, "aaa")).unwrap();
    let done = finish(&run, RunStatus::Succeeded, None);
    store.finish_run(&system(4), &done).unwrap();
    let second = add(&mut store, "Two").id;
    let failed = worker(&mut store, "run-2", &second);
    let failed = finish(&failed, RunStatus::Failed, Some(ErrorClass::TimedOut));
    store.finish_run(&system(5), &failed).unwrap();
    store.set_paused(&human(6), true).unwrap();
    store.record_log_clean_up(at(7)).unwrap();
    let id = symphony_store::new_installation_id();
    store.adopt_installation(&id).unwrap();
    for number in 0..250 {
        add(&mut store, &format!("Issue {number}"));
    }
    store
}

fn by_name(tables: &[CopiedTable], name: &str) -> u64 {
    tables.iter().find(|table| table.name == name).unwrap().rows
}

#[test]
fn a_database_goes_to_the_other_engine_and_back_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = rich(&folder.path().join("first.db"));
    // PostgreSQL where the tests have one
    let mut between = Store::open_in_memory().unwrap();
    let there = first.copy_to(&mut between).unwrap();
    assert_eq!(by_name(&there, "issue"), 252);
    assert!(by_name(&there, "event") > 252);
    let mut last = Store::open(&folder.path().join("last.db")).unwrap();
    let back = between.copy_to(&mut last).unwrap();
    assert_eq!(back, there);
    assert_sound(&mut between);
    assert_sound(&mut last);
    // work goes on in each with the next numbers, and the triggers count again
    for store in [&mut between, &mut last] {
        assert_eq!(store.installation().unwrap(), first.installation().unwrap());
        assert_eq!(add(store, "Next").id.as_str(), "DEM-253");
        let issue = add(store, "After").id;
        store.set_paused(&human(8), false).unwrap();
        let run = worker(store, "run-3", &issue);
        assert_eq!(run.fence.get(), 3);
        let pr = store
            .create_pr(&by(&run, 9), &new_pr(&issue, "bbb"))
            .unwrap();
        assert_eq!(pr.id.get(), 2);
        let done = finish(&run, RunStatus::Succeeded, None);
        store.finish_run(&system(10), &done).unwrap();
        assert_sound(store);
    }
}

#[test]
fn a_target_with_rows_and_a_source_with_runs_are_refused() {
    let mut source = store();
    let issue = add(&mut source, "One").id;
    let mut full = store();
    let refused = source.copy_to(&mut full).unwrap_err().to_string();
    assert!(refused.starts_with("the target is not empty"), "{refused}");
    let mut empty = Store::open_in_memory().unwrap();
    let run = worker(&mut source, "live", &issue);
    let refused = source.copy_to(&mut empty).unwrap_err().to_string();
    assert!(refused.starts_with("1 run is active"), "{refused}");
    assert_eq!(empty.projects().unwrap().len(), 0);
    let done = finish(&run, RunStatus::Cancelled, None);
    source.finish_run(&Context::system(at(9)), &done).unwrap();
    source.copy_to(&mut empty).unwrap();
}
