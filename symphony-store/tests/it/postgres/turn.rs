//! Ticks of two hosts take turns.

use std::time::{Duration, Instant};

use symphony_store::{HostTurn, Store};

use super::server::Server;
use super::{new_schema, new_store};

#[test]
fn one_tick_at_a_time_works_on_a_database_and_a_broken_one_gives_its_turn_back() {
    let Some(server) = Server::start("") else {
        return;
    };
    let (first, schema) = new_store(&server.address());
    let second = Store::connect(&server.address(), &schema).unwrap();
    let other = Store::connect(&server.address(), &new_schema()).unwrap();
    assert_eq!(first.take_host_turn().unwrap(), HostTurn::Taken);
    assert_eq!(
        first.take_host_turn().unwrap(),
        HostTurn::Taken,
        "it has it"
    );
    assert_eq!(second.take_host_turn().unwrap(), HostTurn::OfAnotherHost);
    assert_eq!(
        other.take_host_turn().unwrap(),
        HostTurn::Taken,
        "another database"
    );
    first.end_host_turn();
    assert_eq!(second.take_host_turn().unwrap(), HostTurn::Taken);
    assert_eq!(first.take_host_turn().unwrap(), HostTurn::OfAnotherHost);
    // a host that dies gives it back, as soon as the server notices
    drop(second);
    let begun = Instant::now();
    while first.take_host_turn().unwrap() == HostTurn::OfAnotherHost {
        assert!(begun.elapsed() < Duration::from_secs(30));
        std::thread::sleep(Duration::from_millis(20));
    }
    // a connection that breaks takes it again, so that no one else gets it in the middle of a tick
    server.stop();
    server.begin();
    assert!(!first.is_paused().unwrap());
    let third = Store::connect(&server.address(), &schema).unwrap();
    assert_eq!(third.take_host_turn().unwrap(), HostTurn::OfAnotherHost);
    first.end_host_turn();
    assert_eq!(third.take_host_turn().unwrap(), HostTurn::Taken);
}

#[test]
fn a_file_has_one_host() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("symphony.db");
    let (first, second) = (Store::open(&path).unwrap(), Store::open(&path).unwrap());
    assert_eq!(first.take_host_turn().unwrap(), HostTurn::Taken);
    assert_eq!(second.take_host_turn().unwrap(), HostTurn::Taken);
}
