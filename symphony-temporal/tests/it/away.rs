//! A service that is away, silent, or killed in the middle.

use std::net::{Ipv4Addr, TcpListener};
use std::time::{Duration, Instant};

use symphony_core::config::{TemporalAddress, TemporalSettings};
use symphony_temporal::{Control, Edition, OfferEnd, Standing, Submitted, TemporalError};

use crate::support::{Service, offered, on_both_editions, pool, run, times, until};

on_both_editions! {
    a_server_that_was_killed_goes_on_where_it_was
}

fn settings(port: u16) -> TemporalSettings {
    TemporalSettings {
        address: TemporalAddress::parse(&format!("http://127.0.0.1:{port}")).unwrap(),
        namespace: "default".to_owned(),
        authority: None,
        certificate: None,
        api_key: None,
    }
}

#[test]
fn a_service_that_does_not_answer_is_given_up_soon() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let begun = Instant::now();
    let error = Control::connect(&settings(port), "control").unwrap_err();
    assert!(begun.elapsed() < Duration::from_secs(12), "{begun:?}");
    let text = error.to_string();
    assert!(text.contains(&format!("http://127.0.0.1:{port}")), "{text}");
    drop(listener);
    let error = Control::connect(&settings(port), "control").unwrap_err();
    assert!(
        matches!(error, TemporalError::Unreachable { .. }),
        "{error:?}"
    );
    let missing = TemporalSettings {
        address: TemporalAddress::parse("https://localhost:1").unwrap(),
        authority: Some("/nowhere/ca.pem".into()),
        ..settings(1)
    };
    let error = Control::connect(&missing, "control").unwrap_err();
    assert!(error.to_string().contains("/nowhere/ca.pem"), "{error}");
}

fn a_server_that_was_killed_goes_on_where_it_was(edition: Edition) {
    let mut service = Service::start(edition);
    let mut control = service.control();
    control.submit(&run(1), &pool(), times()).unwrap();
    let worker = service.worker("h1", times());
    worker.want(1);
    assert_eq!(offered(&worker), run(1));
    control.submit(&run(2), &pool(), times()).unwrap();
    service.server.kill();
    let error = control.submit(&run(3), &pool(), times()).unwrap_err();
    assert!(
        matches!(error, TemporalError::Unreachable { .. }),
        "{error:?}"
    );
    // the end of a run meanwhile
    worker.want(1);
    worker.end(&run(1), OfferEnd::Done);
    until("the worker knows", || worker.problem());
    service.server.begin().unwrap();
    let mut control = service.control();
    until("the worker has the service back", || {
        worker.problem().is_none().then_some(())
    });
    assert_eq!(offered(&worker), run(2));
    until("the service has heard the end", || {
        (control.standing(&run(1)).unwrap() == Standing::Closed).then_some(())
    });
    assert_eq!(
        control.submit(&run(2), &pool(), times()).unwrap(),
        Submitted::Before
    );
    assert_eq!(
        control.submit(&run(3), &pool(), times()).unwrap(),
        Submitted::Now
    );
    worker.want(1);
    assert_eq!(offered(&worker), run(3));
}
