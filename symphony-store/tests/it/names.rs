//! Who asked is kept with what others carry out later: the end of a run, and a merge that was cut off.

use symphony_core::asker::Verification;
use symphony_core::user::{Attribution, Source, UserName};
use symphony_store::{Actor, Context, EventFilter, Person};

use crate::ends::open_pr;
use crate::support::{add, assert_sound, at, human, moved, store, system, worker};

fn person(user: &str, verification: Verification) -> Person {
    Person {
        verification,
        attribution: Attribution {
            source: Some(Source::Web),
            user: Some(UserName::parse(user).unwrap()),
        },
    }
}

fn by(person: &Person, second: i64) -> Context {
    Context {
        actor: Actor::Human(person.clone()),
        now: at(second),
    }
}

#[test]
fn the_end_of_a_run_names_the_person_who_asked_first() {
    let mut store = store();
    let [ada, bo] = ["ada", "bo"].map(|user| person(user, Verification::Verified));
    let issue = add(&mut store, "One").id;
    let run = worker(&mut store, "r1", &issue);
    store.request_cancel(&by(&ada, 3), &run.id).unwrap();
    store.request_cancel(&by(&bo, 4), &run.id).unwrap();
    let requested = |store: &symphony_store::Store| {
        let events = store.events(&EventFilter::default()).unwrap();
        let of = events.into_iter();
        of.filter(|event| event.kind == "run_cancel_requested")
            .collect::<Vec<_>>()
    };
    let [event] = requested(&store).try_into().unwrap();
    assert_eq!(event.attribution, ada.attribution);
    assert_eq!((event.run, event.issue), (Some(run.id), Some(issue)));

    // what Symphony ends by itself, nobody has asked for
    let other = add(&mut store, "Two").id;
    let run = worker(&mut store, "r2", &other);
    store.request_cancel(&system(5), &run.id).unwrap();
    assert_eq!(requested(&store).len(), 1);
}

#[test]
fn a_merge_that_has_begun_knows_who_ordered_it() {
    let unverified = Verification::Unverified("it had no terminal".to_owned());
    for ordered in [
        person("ada", Verification::Verified),
        person("bo", unverified),
    ] {
        let mut store = store();
        let issue = add(&mut store, "One").id;
        let pr = open_pr(&mut store, &issue);
        let seen = store.pr(pr).unwrap();
        store
            .record_merge_intent(&by(&ordered, 8), &seen, moved("b", "m"))
            .unwrap();
        let intent = store.merge_intent(pr).unwrap().unwrap();
        assert_eq!(intent.merged, "m");
        assert_eq!(intent.by, Some(ordered));
        store.record_merge(&human(9), pr, "m").unwrap();
        assert_sound(&mut store);
    }
}
