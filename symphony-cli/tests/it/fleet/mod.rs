//! A fleet: one PostgreSQL, one hub, one control and several hosts, each in a network of its own, under faults: every issue is done once.

mod control;
mod host;
mod hub;
mod namespaces;
mod network;
mod programs;
mod server;

use std::time::Instant;

use serde_json::json;

use self::control::Control;
use self::host::{Host, HostSettings};
use self::hub::Hub;
use self::namespaces::{Entered, enter};
use self::server::Server;
use crate::support::until;

#[test]
fn two_hosts_do_every_issue_once() {
    if enter("fleet::two_hosts_do_every_issue_once") != Entered::Here {
        return;
    }
    network::prepare();
    let variables = [("SYMPHONY_TEST_LEASE_DIVISOR".to_owned(), "6".to_owned())];
    let server = Server::start();
    let control = Control::new(&server, &variables, &json!({}));
    let folder = &control.project.beside;
    let hub = Hub::start(folder);
    let settings = HostSettings {
        database: server.remote_address(&folder.join("authority.pem")),
        slots: 4,
        variables: variables.to_vec(),
    };
    let begun = Instant::now();
    let issues = control.add_issues(8);
    let hosts = [1, 2].map(|number| Host::new(folder, number, &settings));
    std::thread::scope(|scope| {
        let _at_work = control.begin(scope);
        until("every issue is done", || {
            let done = server.rows("SELECT id FROM issue WHERE status = 'done'");
            (done.len() == issues.len()).then_some(())
        });
    });
    println!("{} issues were done in {:?}", issues.len(), begun.elapsed());
    for host in &hosts {
        assert!(host.worker().is_some());
        assert!(host.log().contains("Started run"), "{}", host.log());
    }
    let handed_in = hub.git(&["for-each-ref", "refs/symphony/runs/"]);
    assert_eq!(handed_in.lines().count(), issues.len(), "{handed_in}");
    for issue in &issues {
        let noted = control
            .project
            .git(&["show", &format!("main:work-{issue}.txt")]);
        assert_eq!(noted.lines().count(), 1, "{issue}: {noted}");
    }
    for answer in control.audit() {
        assert_eq!(answer.code, 0, "{answer:#?}");
    }
}
