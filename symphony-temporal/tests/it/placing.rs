//! Runs that are handed over, taken, returned and cancelled.

use std::time::Duration;

use symphony_core::config::TemporalSettings;
use symphony_temporal::{
    Control, Edition, Form, OfferEnd, Offers, Standing, Submitted, TemporalError,
};

use crate::support::{Service, offered, on_both_editions, pool, run, times, until};

on_both_editions! {
    a_run_is_offered_to_one_worker_that_has_a_free_slot
    a_run_that_a_worker_returns_is_handed_over_again
    a_cancelled_run_is_offered_to_no_worker
    a_worker_wants_no_more_than_it_says_with_what_it_was_offered
    a_namespace_that_is_not_there_is_named
    a_worker_that_falls_silent_loses_what_it_was_offered_and_others_get_it
}

fn a_run_is_offered_to_one_worker_that_has_a_free_slot(edition: Edition) {
    let service = Service::start(edition);
    let mut control = service.control();
    let form = match edition {
        Edition::Recent => Form::Activity,
        Edition::Older => Form::Workflow,
    };
    assert_eq!(control.check().unwrap(), form);
    for number in [1, 2] {
        assert_eq!(
            control.submit(&run(number), &pool(), times()).unwrap(),
            Submitted::Now
        );
        assert_eq!(
            control.submit(&run(number), &pool(), times()).unwrap(),
            Submitted::Before
        );
    }
    let (one, two) = (service.worker("h1", times()), service.worker("h2", times()));
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(one.next(), None, "it has not asked");
    one.want(1);
    let first = offered(&one);
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(one.next(), None, "it wanted one");
    two.want(4);
    let second = offered(&two);
    let mut both = [first.clone(), second.clone()];
    both.sort();
    assert_eq!(both, [run(1), run(2)]);
    assert_eq!(control.standing(&first).unwrap(), Standing::Open);
    one.end(&first, OfferEnd::Done);
    two.end(&second, OfferEnd::Done);
    until("both have ended", || {
        let mut closed = |number| control.standing(&run(number)).unwrap() == Standing::Closed;
        let (first, second) = (closed(1), closed(2));
        (first && second).then_some(())
    });
    assert_eq!(control.standing(&run(3)).unwrap(), Standing::Unknown);
}

fn a_run_that_a_worker_returns_is_handed_over_again(edition: Edition) {
    let service = Service::start(edition);
    let mut control = service.control();
    control.submit(&run(1), &pool(), times()).unwrap();
    let worker = service.worker("h1", times());
    worker.want(1);
    let end = OfferEnd::Returned {
        why: "the database is away".to_owned(),
    };
    worker.end(&offered(&worker), end);
    until("the service has it back", || {
        (control.standing(&run(1)).unwrap() == Standing::Closed).then_some(())
    });
    assert_eq!(
        control.submit(&run(1), &pool(), times()).unwrap(),
        Submitted::Now
    );
    worker.want(1);
    assert_eq!(offered(&worker), run(1));
    // a worker that ends gives back what it was offered, and not what it took
    control.submit(&run(2), &pool(), times()).unwrap();
    worker.want(1);
    until("the other one is offered", || {
        worker.has_next().then_some(())
    });
    drop(worker);
    // where a run is a workflow, another worker of the pool ends it, whether or not it has a slot
    let _full = service.worker("h2", times());
    until("the service has the other one back", || {
        (control.standing(&run(2)).unwrap() == Standing::Closed).then_some(())
    });
    assert_eq!(control.standing(&run(1)).unwrap(), Standing::Open);
}

fn a_cancelled_run_is_offered_to_no_worker(edition: Edition) {
    let service = Service::start(edition);
    let mut control = service.control();
    control.submit(&run(1), &pool(), times()).unwrap();
    control.cancel(&run(1), "taken out of its pool").unwrap();
    control.cancel(&run(1), "once more").unwrap();
    control.cancel(&run(9), "never there").unwrap();
    assert_eq!(control.standing(&run(1)).unwrap(), Standing::Closed);
    control.submit(&run(2), &pool(), times()).unwrap();
    let worker = service.worker("h1", times());
    worker.want(4);
    assert_eq!(offered(&worker), run(2));
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(worker.next(), None);
}

fn a_worker_wants_no_more_than_it_says_with_what_it_was_offered(edition: Edition) {
    let service = Service::start(edition);
    let mut control = service.control();
    for number in [1, 2] {
        control.submit(&run(number), &pool(), times()).unwrap();
    }
    let worker = service.worker("h1", times());
    // as a worker with one slot says in each round, whether or not an offer has come meanwhile
    for _ in 0..20 {
        worker.want(1);
        std::thread::sleep(Duration::from_millis(100));
    }
    let first = offered(&worker);
    assert_eq!(worker.next(), None);
    let other = service.worker("h2", times());
    other.want(1);
    assert_ne!(offered(&other), first);
}

fn a_namespace_that_is_not_there_is_named(edition: Edition) {
    let service = Service::start(edition);
    service.control().submit(&run(1), &pool(), times()).unwrap();
    let nowhere = TemporalSettings {
        namespace: "nowhere".to_owned(),
        ..service.server.settings()
    };
    let mut control = Control::connect(&nowhere, "control").unwrap();
    let is_named = |error: &TemporalError| matches!(error, TemporalError::NoNamespace { namespace, .. } if namespace == "nowhere");
    let error = control.check().unwrap_err();
    assert!(is_named(&error), "{error:?}");
    let error = control.submit(&run(1), &pool(), times()).unwrap_err();
    assert!(is_named(&error), "{error:?}");
    let worker = Offers::open(nowhere, pool(), "h1".to_owned(), times()).unwrap();
    worker.want(1);
    let problem = until("the worker has noticed", || worker.problem());
    assert!(problem.ends_with("has no namespace `nowhere`"), "{problem}");
    assert_eq!(worker.next(), None);
}

fn a_worker_that_falls_silent_loses_what_it_was_offered_and_others_get_it(edition: Edition) {
    let service = Service::start(edition);
    let mut control = service.control();
    // a worker that beats once in a minute where one in two seconds is expected
    let mut silent = times();
    (silent.beat, silent.dead) = (Duration::from_mins(1), Duration::from_secs(2));
    control.submit(&run(1), &pool(), silent).unwrap();
    let worker = service.worker("h1", silent);
    worker.want(1);
    assert_eq!(offered(&worker), run(1));
    until("the service gives it up", || {
        (control.standing(&run(1)).unwrap() == Standing::Closed).then_some(())
    });
    assert_eq!(
        control.submit(&run(1), &pool(), times()).unwrap(),
        Submitted::Now
    );
    let other = service.worker("h2", times());
    other.want(1);
    assert_eq!(offered(&other), run(1));
    // what the first one says now is heard by no one, and disturbs nothing
    worker.end(&run(1), OfferEnd::Done);
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(control.standing(&run(1)).unwrap(), Standing::Open);
    assert_eq!(worker.problem(), None);
}
