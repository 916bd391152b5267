//! Ticks of two hosts take turns.

use std::net::TcpListener;
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

#[test]
fn a_server_asks_within_seconds_whether_its_client_is_there() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let settings = format!("-c listen_addresses=127.0.0.1 -p {port}");
    let Some(server) = Server::start(&settings) else {
        return;
    };
    let address = server.address().replace("host=", "folder=");
    let named = address
        .split(' ')
        .filter(|part| !part.starts_with("folder="));
    let named: Vec<&str> = named.collect();
    let address = format!("host=127.0.0.1 port={port} {}", named.join(" "));
    let (store, _) = new_store(&address);
    // what the system shows of the server's side (Linux, `proc_net_tcp`): its address, and a timer, of kind 2 once all is acknowledged
    let own = format!("0100007F:{port:04X}");
    let begun = Instant::now();
    let hundredths = loop {
        let connections = std::fs::read_to_string("/proc/net/tcp").unwrap();
        let rows = connections
            .lines()
            .map(|line| line.split_whitespace().collect());
        let is_connected = |fields: &Vec<&str>| fields[1] == own && fields[3] == "01";
        let mut timers = rows.filter(is_connected).map(|fields| fields[5].to_owned());
        let timer = timers.next().unwrap();
        if let Some(hundredths) = timer.strip_prefix("02:") {
            break u64::from_str_radix(hundredths, 16).unwrap();
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "{timer}");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert!(hundredths <= 1_000, "{hundredths}");
    drop(store);
}
