//! A server that restarts, is full, or is a standby.

use std::time::{Duration, Instant};

use symphony_store::{IssueFilter, Store, StoreError};

use super::new_store;
use super::server::Server;
use crate::support::{add, human};

#[test]
fn what_was_open_before_a_restart_works_after_it() {
    let Some(server) = Server::start("") else {
        return;
    };
    let (mut store, _) = new_store(&server.address());
    add(&mut store, "before");
    // a person restarts it
    server.stop();
    server.begin();
    add(&mut store, "after a restart");
    // it is killed, and what comes next is a read, alone and in a transaction
    server.kill();
    server.begin();
    assert_eq!(
        store
            .list_issues(&IssueFilter::default())
            .unwrap()
            .items
            .len(),
        2
    );
    server.kill();
    server.begin();
    assert_eq!(store.open_items().unwrap().issues.len(), 2);
    // it comes back while a write waits for it
    server.stop();
    std::thread::scope(|threads| {
        threads.spawn(|| {
            std::thread::sleep(Duration::from_secs(2));
            server.begin();
        });
        add(&mut store, "while it was away");
    });
    assert_eq!(
        store
            .list_issues(&IssueFilter::default())
            .unwrap()
            .items
            .len(),
        3
    );
    // it stays away
    server.stop();
    let begun = Instant::now();
    let error = store.set_paused(&human(9), true).unwrap_err();
    assert!(matches!(error, StoreError::Unreachable(_)), "{error:?}");
    assert!(
        error
            .to_string()
            .starts_with("the database cannot be reached: no PostgreSQL server answers"),
        "{error}"
    );
    assert!(
        begun.elapsed() >= Duration::from_secs(9),
        "{:?}",
        begun.elapsed()
    );
    // whoever connects for the first time is answered at once
    let begun = Instant::now();
    let error = Store::connect(&server.address(), "other").unwrap_err();
    assert!(matches!(error, StoreError::Unreachable(_)), "{error:?}");
    assert!(
        begun.elapsed() < Duration::from_secs(5),
        "{:?}",
        begun.elapsed()
    );
}

#[test]
fn a_full_server_is_waited_for_and_a_standby_is_named() {
    let full = "-c max_connections=4 -c superuser_reserved_connections=0 -c max_wal_senders=0";
    let Some(server) = Server::start(full) else {
        return;
    };
    let address = server.address();
    let (store, schema) = new_store(&address);
    let mut others: Vec<Store> = (0..3)
        .map(|_| Store::connect(&address, &schema).unwrap())
        .collect();
    let error = Store::connect(&address, &schema).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("has no connection left (`max_connections`)"),
        "{error}"
    );
    std::thread::scope(|threads| {
        threads.spawn(|| {
            std::thread::sleep(Duration::from_secs(1));
            others.clear();
        });
        Store::connect(&address, &schema).unwrap();
    });
    drop(store);
    server.stop();
    server.set_standby(true);
    server.begin();
    let error = Store::connect(&address, &schema).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("the PostgreSQL server is a standby"),
        "{error}"
    );
    server.stop();
    server.set_standby(false);
    server.begin();
    Store::connect(&address, &schema).unwrap();
    let error = Store::connect(
        &format!("{address} password=x").replace("dbname=postgres", "dbname=none"),
        &schema,
    );
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("refuses the connection: database \"none\" does not exist"),
        "{error}"
    );
}

#[test]
fn what_the_server_gave_up_on_can_be_done_again() {
    let Some(server) = Server::start("") else {
        return;
    };
    let address = server.address();
    let (mut store, schema) = new_store(&address);
    // whatever keeps it, its disk for example, is a lock here
    let keeping = server.hold(&format!("LOCK TABLE \"{schema}\".setting; SELECT 'locked'"));
    let (error, mut store) = std::thread::scope(|scope| {
        let writing = scope.spawn(move || (store.set_paused(&human(9), true).unwrap_err(), store));
        server.wait_for(
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'",
            "1",
        );
        server.ask(
            "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock'",
        );
        writing.join().unwrap()
    });
    assert!(matches!(error, StoreError::Overtaxed(_)), "{error:?}");
    assert_eq!(
        error.to_string(),
        "the database's server could not carry out a statement: canceling statement due to user request"
    );
    keeping.commit();
    assert!(!store.is_paused().unwrap());
    store.set_paused(&human(10), true).unwrap();
    assert!(store.is_paused().unwrap());
}

#[test]
fn a_server_that_is_frozen_keeps_no_one_waiting_for_ever() {
    let Some(server) = Server::start("") else {
        return;
    };
    let address = server.address();
    let (mut store, schema) = new_store(&address);
    let issue = add(&mut store, "before").id;
    let mut writer = Store::connect(&address, &schema).unwrap();
    let frozen = server.freeze();
    let begun = Instant::now();
    let id = issue.clone();
    let reader = std::thread::spawn(move || (store.issue(&id).map(|_| ()).unwrap_err(), store));
    let writing =
        std::thread::spawn(move || (writer.set_paused(&human(9), true).unwrap_err(), writer));
    let first = Store::connect(&address, &schema).map(|_| ()).unwrap_err();
    let (text, first) = (first.to_string(), begun.elapsed());
    let (read, store) = reader.join().unwrap();
    let (written, mut writer) = writing.join().unwrap();
    let waited = begun.elapsed();
    for error in [read, written] {
        assert!(matches!(error, StoreError::Unreachable(_)), "{error:?}");
        let text = error.to_string();
        assert!(text.contains("does not answer within 10 s"), "{text}");
    }
    assert!(
        text.contains("it may be suspended, or its disk may hang"),
        "{text}"
    );
    assert!(first < Duration::from_secs(15), "{first:?}");
    // an answer has 20 s, and a new connection 10 s
    assert!(waited < Duration::from_secs(45), "{waited:?}");
    drop(frozen);
    assert_eq!(store.issue(&issue).unwrap().title, "before");
    writer.set_paused(&human(10), true).unwrap();
    assert!(store.is_paused().unwrap());
}
