//! A fleet: one PostgreSQL, one hub, one control and several hosts, each in a network of its own, under faults: every issue is done once.

mod certificates;
mod control;
mod faults;
mod gather;
mod guards;
mod host;
mod hub;
mod namespaces;
mod network;
mod placing;
mod plan;
mod server;
#[cfg(feature = "temporal-service")]
mod service;
mod story;
mod verdict;
mod watch;

use std::time::Instant;

use self::control::{Control, play};
use self::host::{Host, HostSettings};
use self::hub::{Hub, Place};
use self::namespaces::{Entered, enter};
use self::placing::{Placing, Queue, config};
use self::plan::{Counts, plan};
use self::server::Server;
use self::story::{Story, report};
use crate::chance::Chance;
use crate::support::until;

#[test]
fn two_hosts_do_every_issue_once() {
    if enter("fleet::two_hosts_do_every_issue_once") != Entered::Here {
        return;
    }
    network::prepare();
    let variables = [("SYMPHONY_TEST_LEASE_DIVISOR".to_owned(), "6".to_owned())];
    let server = Server::start();
    let control = Control::new(&server, &Queue, &variables, Place::Bare, |_| play());
    let folder = &control.project.beside;
    let hub = Hub::start(folder, Place::Bare);
    let settings = HostSettings {
        config: config(
            &Queue,
            &server.remote_address(&folder.join("authority.pem")),
        ),
        slots: 4,
        variables: variables.to_vec(),
        git: String::new(),
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

/// Hosts under faults.
const HOSTS: u8 = 8;

#[test]
fn a_fleet_under_faults_does_every_issue_once() {
    if enter("fleet::a_fleet_under_faults_does_every_issue_once") == Entered::Here {
        assert_sound_under_faults(Queue::start, counts());
    }
}

/// Temporal gives the runs out, and breaks as well: it is killed, loses all that it knows, and cannot be reached.
#[cfg(feature = "temporal-service")]
#[test]
fn a_fleet_placed_by_temporal_under_faults_does_every_issue_once() {
    if enter("fleet::a_fleet_placed_by_temporal_under_faults_does_every_issue_once")
        == Entered::Here
    {
        let start = || service::Service::start(symphony_temporal::Edition::Recent);
        assert_sound_under_faults(start, counts().with_service());
    }
}

/// A service without standalone activities, where each run is a workflow.
#[cfg(feature = "temporal-service")]
#[test]
fn a_fleet_placed_by_an_older_service_under_faults_does_every_issue_once() {
    if enter("fleet::a_fleet_placed_by_an_older_service_under_faults_does_every_issue_once")
        == Entered::Here
    {
        let start = || service::Service::start(symphony_temporal::Edition::Older);
        assert_sound_under_faults(start, Counts::TENTH.with_service());
    }
}

/// Returns the counts that the environment names.
fn counts() -> Counts {
    Counts::named(std::env::var("SYMPHONY_TEST_FLEET").ok().as_deref())
}

fn assert_sound_under_faults(placed_by: fn() -> Box<dyn Placing>, counts: Counts) {
    let is_whole = counts.issues == Counts::WHOLE.issues;
    let story = Story {
        hosts: HOSTS,
        slots: if is_whole { 16 } else { 2 },
        issues: counts.issues,
        placed_by,
        divisor: if is_whole { 1 } else { 10 },
    };
    let seed = Chance::new().below(usize::MAX) as u64;
    let found = story.play(&plan(counts, usize::from(HOSTS), story.lease(), seed));
    report(&found);
    let problems = found.problems(story.lease());
    assert!(problems.is_empty(), "{problems:#?}");
}
