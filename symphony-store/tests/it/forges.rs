//! What is known of a forge: bases that it has too, and pull requests that ended there.

use std::collections::BTreeMap;

use symphony_core::id::PrId;
use symphony_forge::remote::PullNumber;

use crate::audit::merge_first;
use crate::support::{add, at, project, store, system};

#[test]
fn merges_made_here_are_found_by_the_base_that_they_moved() {
    let mut store = store();
    add(&mut store, "First");
    merge_first(&mut store);
    let merges = store.own_merges(&project(), "main").unwrap();
    let expected = BTreeMap::from([("m1".to_owned(), "base".to_owned())]);
    assert_eq!(merges, expected);
    assert_eq!(
        store.own_merges(&project(), "other").unwrap(),
        BTreeMap::new()
    );
}

#[test]
fn a_pull_request_that_was_closed_on_both_sides_is_watched_for_a_time() {
    let mut store = store();
    add(&mut store, "First");
    merge_first(&mut store);
    let pr = store.pr(PrId::new(1)).unwrap();
    store
        .ensure_forge(&system(8), &project(), "github:acme/web")
        .unwrap();
    let mut pull = store
        .ensure_forge_pull(&system(8), &project(), &pr.branch, pr.id)
        .unwrap();
    pull.number = Some(PullNumber::new(7));
    pull.is_open = false;
    pull.ends.close(at(9));
    store
        .save_forge_pull(&system(9), &pr.of, &pull, &[])
        .unwrap();
    let closed_since = |second| {
        let since = at(second).as_millisecond();
        store
            .closed_forge_pulls(&project(), Some(since))
            .unwrap()
            .len()
    };
    assert_eq!((closed_since(9), closed_since(10)), (1, 0));
    assert!(store.left_forge_pulls(&project()).unwrap().is_empty());
}
