//! A restored database gives out no number again, and publishes nothing a second time.

use std::collections::{BTreeMap, BTreeSet};

use symphony_core::id::{InstallationId, RunId};
use symphony_core::identity::Seen;
use symphony_core::publication::PublicationState;
use symphony_core::restore::loss_of;
use symphony_core::run::RunStatus;
use symphony_store::{BackupFile, PublishWish, Store, StoreError, new_installation_id};

use crate::support::{add, at, by, finish, human, new_pr, project, store, system, worker};

fn seen(issues: &[(&str, u64)], fence: u64, runs: &[&str]) -> Seen {
    Seen {
        issues: issues
            .iter()
            .map(|(prefix, number)| ((*prefix).to_owned(), *number))
            .collect(),
        fence,
        runs: runs.iter().map(|run| RunId::parse(*run).unwrap()).collect(),
        ..Seen::default()
    }
}

#[test]
fn numbers_go_on_above_everything_that_was_seen() {
    let mut store = store();
    let issue = add(&mut store, "One").id;
    let run = worker(&mut store, "known", &issue);
    assert_eq!(run.fence.get(), 1);
    let found = seen(
        &[("DEM", 7), ("OTHER", 99)],
        3,
        &["known", "lost-1", "lost-2"],
    );
    let record = store
        .record_restore(&human(10), &found, &BTreeSet::new())
        .unwrap();
    assert_eq!(record.next_numbers, BTreeMap::from([(project(), 8)]));
    assert_eq!(add(&mut store, "Two").id.as_str(), "DEM-8");
    // two of the seen runs are unknown: each had a number above the highest that was seen
    let next = add(&mut store, "Three").id;
    assert_eq!(worker(&mut store, "next", &next).fence.get(), 6);
    // doing it again, with less, lowers nothing
    let again = store
        .record_restore(&human(11), &seen(&[("DEM", 2)], 1, &[]), &BTreeSet::new())
        .unwrap();
    assert_eq!(again.next_numbers, BTreeMap::new());
    assert_eq!(add(&mut store, "Four").id.as_str(), "DEM-10");
    let four = add(&mut store, "Five").id;
    assert_eq!(worker(&mut store, "later", &four).fence.get(), 7);
}

#[test]
fn what_may_have_been_published_is_not_published_again_by_itself() {
    let mut store = store();
    let mut prs = Vec::new();
    for (number, title) in ["One", "Two"].into_iter().enumerate() {
        let issue = add(&mut store, title).id;
        let run = worker(&mut store, &format!("run-{number}"), &issue);
        let opened = store
            .create_pr(&by(&run, 3), &new_pr(&issue, "head"))
            .unwrap();
        store
            .finish_run(&system(4), &finish(&run, RunStatus::Succeeded, None))
            .unwrap();
        prs.push(opened.id);
    }
    // one was being published when the backup was made, the other after it
    let begun = store.begin_publication(&system(5), prs[0], PublishWish::Opened);
    assert!(begun.unwrap().is_some());
    let record = store
        .record_restore(&human(10), &Seen::default(), &BTreeSet::from([project()]))
        .unwrap();
    assert_eq!(record.unknown_publications, 2);
    for pr in prs {
        let publication = store.publication(pr).unwrap().unwrap();
        assert_eq!(publication.state, PublicationState::Failed);
        assert!(publication.output.contains("Symphony cannot tell whether"));
        let again = store.begin_publication(&system(20), pr, PublishWish::Opened);
        assert_eq!(again.unwrap(), None);
    }
    let waiting = store.waiting_issues(&project(), 15, at(21)).unwrap();
    assert_eq!(waiting.len(), 2, "{waiting:#?}");
}

#[test]
fn an_id_is_adopted_once_and_every_copy_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("symphony.db");
    let mut store = Store::open(&path).unwrap();
    assert_eq!(store.installation().unwrap(), None);
    let first = new_installation_id();
    assert_eq!(store.adopt_installation(&first).unwrap(), first);
    let second = InstallationId::parse("0".repeat(32)).unwrap();
    assert_eq!(store.adopt_installation(&second).unwrap(), first);
    crate::support::add_project(&mut store);

    let copy = folder.path().join("copy.db");
    store.backup_to(&copy).unwrap();
    let refused = store.backup_to(&copy).unwrap_err();
    assert!(matches!(refused, StoreError::Refused { .. }), "{refused}");
    let backup = BackupFile::open(&copy).unwrap();
    backup.check().unwrap();
    let contents = backup.contents().unwrap();
    assert_eq!(contents.installation, Some(first));
    assert_eq!(contents.projects.len(), 1);
    let held = backup.holdings().unwrap();
    assert_eq!(held, store.holdings().unwrap());
    let issue = add(&mut store, "Later").id;
    let loss = loss_of(&store.holdings().unwrap(), Some(&held));
    assert_eq!(loss.issues, [issue]);
    // one file, for its owner alone
    let names: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("copy"))
        .collect();
    assert_eq!(names, ["copy.db"]);
}

#[test]
fn an_empty_file_is_not_taken_for_a_database_and_a_damaged_backup_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("symphony.db");
    std::fs::write(&path, "").unwrap();
    let empty = Store::open_existing(&path).unwrap_err();
    assert!(matches!(empty, StoreError::Empty { .. }), "{empty}");
    assert_eq!(path.metadata().unwrap().len(), 0);
    let backup = BackupFile::open(&path).unwrap();
    assert!(backup.contents().is_err());

    drop(Store::open(&path).unwrap());
    let mut bytes = std::fs::read(&path).unwrap();
    let half = bytes.len() / 2;
    bytes[half..].fill(0xff);
    let damaged = folder.path().join("damaged.db");
    std::fs::write(&damaged, bytes).unwrap();
    let backup = BackupFile::open(&damaged).unwrap();
    assert!(backup.check().is_err());
}

#[test]
fn a_moved_project_keeps_its_place_to_itself() {
    let mut store = store();
    let new = std::path::Path::new("/new");
    let moved = store.move_project(&human(5), &project(), new).unwrap();
    assert_eq!(moved.root, new);
    assert_eq!(
        store.project_at(std::path::Path::new("/demo")).unwrap(),
        None
    );
    // again: a second command found it moved at the same moment
    store.move_project(&human(6), &project(), new).unwrap();
}
