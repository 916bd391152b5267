//! What a person may do at any time to the workflows of a service, and what an update of it leaves of them.

use std::time::Duration;

use symphony_temporal::{Control, Edition, OfferEnd, Standing, Submitted, Times, queue_of};

use crate::support::{Service, offered, pool, run, times, until};

/// Does something with the workflow of a run, and returns what the program prints.
fn by_hand(service: &Service, verb: &str, number: u32, more: &[&str]) -> String {
    let id = run(number).to_string();
    let mut arguments = vec!["workflow", verb, "--workflow-id", &id];
    arguments.extend(more);
    let output = service.server.by_hand(&arguments).unwrap();
    let printed = [output.stdout, output.stderr].concat();
    String::from_utf8_lossy(&printed).into_owned()
}

fn until_closed(control: &mut Control, number: u32) {
    until("its workflow has ended", || {
        (control.standing(&run(number)).unwrap() == Standing::Closed).then_some(())
    });
}

#[test]
fn a_workflow_that_a_person_cancels_ends_with_its_activity() {
    let service = Service::start(Edition::Older);
    let mut control = service.control();
    let quick = Times {
        beat: Duration::from_secs(1),
        ..times()
    };
    // a worker has the first one, and the second waits
    let worker = service.worker("h1", quick);
    worker.want(1);
    control.submit(&run(1), &pool(), quick).unwrap();
    assert_eq!(offered(&worker), run(1));
    control.submit(&run(2), &pool(), quick).unwrap();
    for number in [1, 2] {
        by_hand(&service, "cancel", number, &[]);
        until_closed(&mut control, number);
    }
    // a run that still waits is handed over by the next tick, and is all that the worker is offered
    worker.want(1);
    let submitted = control.submit(&run(2), &pool(), quick).unwrap();
    assert_eq!(submitted, Submitted::Now);
    assert_eq!(offered(&worker), run(2));
}

#[test]
fn a_workflow_that_is_no_run_fails_and_disturbs_no_other() {
    let service = Service::start(Edition::Older);
    let mut control = service.control();
    let worker = service.worker("h1", times());
    let queue = queue_of(&pool());
    for kind in ["another", "symphony.run"] {
        let more = ["--type", kind, "--task-queue", &queue];
        by_hand(&service, "start", 9, &more);
        until_closed(&mut control, 9);
        let shown = by_hand(&service, "show", 9, &[]);
        assert!(shown.contains("another version"), "{shown}");
    }
    worker.want(1);
    control.submit(&run(1), &pool(), times()).unwrap();
    assert_eq!(offered(&worker), run(1));
    assert_eq!(worker.problem(), None);
}

#[test]
fn questions_and_signals_of_a_person_change_nothing() {
    let service = Service::start(Edition::Older);
    let mut control = service.control();
    let worker = service.worker("h1", times());
    worker.want(1);
    control.submit(&run(1), &pool(), times()).unwrap();
    assert_eq!(offered(&worker), run(1));
    by_hand(&service, "signal", 1, &["--name", "hello"]);
    let answer = by_hand(&service, "query", 1, &["--name", "state"]);
    assert!(answer.contains("answers no queries"), "{answer}");
    assert_eq!(control.standing(&run(1)).unwrap(), Standing::Open);
    worker.end(&run(1), OfferEnd::Done);
    until_closed(&mut control, 1);
    let shown = by_hand(&service, "show", 1, &[]);
    assert!(shown.contains("COMPLETED"), "{shown}");
    assert_eq!(worker.problem(), None);
}

#[test]
fn a_workflow_that_an_update_of_the_service_left_keeps_its_run_from_no_worker() {
    let service = Service::start(Edition::Recent);
    let mut control = service.control();
    let queue = queue_of(&pool());
    let more = ["--type", "symphony.run", "--task-queue", &queue];
    let printed = by_hand(&service, "start", 1, &more);
    assert!(printed.contains("RunId"), "{printed}");
    let submitted = control.submit(&run(1), &pool(), times()).unwrap();
    assert_eq!(submitted, Submitted::Now);
    let worker = service.worker("h1", times());
    worker.want(1);
    assert_eq!(offered(&worker), run(1));
}
