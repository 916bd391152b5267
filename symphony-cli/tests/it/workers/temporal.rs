//! Runs that a Temporal service gives out: its death keeps new runs waiting and ends none, and whatever it repeats starts nothing twice.

use std::time::Duration;

use serde_json::{Value, json};
use symphony_core::id::RunId;
use symphony_core::placement::{Lease, Pool};
use symphony_core::run::Run;
use symphony_temporal::{
    Control as Client, DevServer, Edition, OfferEnd, Offers, Standing, Submitted, Times,
};
#[cfg(feature = "failpoints")]
use symphony_workspace::{FAILPOINTS_VARIABLE, Failpoint};
use tempfile::TempDir;

use super::control::Control;
use super::host::{DIVISOR, Host};
use super::{greeting, until_at_work, waiting, waiting_for_minutes};
use crate::support::{supervisor_of, until};

/// Makes two tests of each function: with a service that has standalone activities, and with an older one.
macro_rules! on_both_editions {
    ($($(#[$when:meta])? $test:ident)*) => {
        mod recent {
            $($(#[$when])?
            #[test]
            fn $test() {
                super::$test(super::Edition::Recent);
            })*
        }

        mod older {
            $($(#[$when])?
            #[test]
            fn $test() {
                super::$test(super::Edition::Older);
            })*
        }
    };
}

on_both_editions! {
    an_issue_becomes_a_merged_change_through_a_service
    a_killed_service_keeps_new_runs_waiting_and_ends_none
    a_service_that_dies_again_and_again_ends_no_run
    a_run_whose_host_dies_is_followed_by_one_on_another_host
    an_offer_that_dies_with_its_host_goes_to_another
    a_run_that_is_offered_twice_is_started_once
    #[cfg(feature = "failpoints")]
    a_run_whose_control_died_after_its_claim_is_handed_over_by_the_next_tick
    a_run_that_waits_at_a_service_can_be_cancelled
    a_pause_gives_a_run_back_to_the_service_and_loses_nothing
    a_namespace_that_is_not_there_is_named_and_runs_wait
    a_worker_without_its_database_keeps_no_offers
}

/// A service, and a control whose pool is served through it.
struct Placed {
    server: DevServer,
    control: Control,
    _folder: TempDir,
}

impl Placed {
    fn new(edition: Edition, name: &str, scenarios: &Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let server = DevServer::start(edition, folder.path()).unwrap();
        let control = Control::new(name, scenarios);
        let placed = Self {
            server,
            control,
            _folder: folder,
        };
        until("the service has its namespace", || {
            placed.client().check().ok()
        });
        placed.configure(placed.more());
        placed
    }

    /// One issue, whose agent waits until it may go on.
    fn with_waiting_agent(edition: Edition, name: &str) -> (Self, String) {
        let placed = Self::new(edition, name, &json!({}));
        let beside = &placed.control.project.beside;
        std::fs::write(beside.join("scenario.json"), waiting(beside).to_string()).unwrap();
        let issue = placed.control.project.add_issue("Say hello");
        (placed, issue)
    }

    /// What names the service in the configuration of any host.
    fn more(&self) -> Value {
        json!({ "placement": "temporal", "temporal": { "address": self.server.address() } })
    }

    fn configure(&self, mut more: Value) {
        more["pool"] = json!("linux");
        more["hub"] = json!(self.control.project.root);
        self.control.project.configure_more(&more);
    }

    fn host(&self, name: &str, slots: u32) -> Host {
        self.control.host_with(name, slots, &self.more())
    }

    fn client(&self) -> Client {
        until("the service answers", || {
            Client::connect(&self.server.settings(), "test").ok()
        })
    }

    /// Returns the first run of an agent.
    fn run_of(&self, agent: &str) -> Option<Run> {
        let mut runs = self.control.runs().into_iter();
        runs.find(|run| run.agent.name() == agent)
    }

    /// Returns the first run on an issue.
    fn run_on(&self, issue: &str) -> Option<Run> {
        let mut runs = self.control.runs().into_iter();
        runs.find(|run| run.target.issue().is_some_and(|on| on.as_str() == issue))
    }

    /// Ticks until a worker has begun the run of the agent.
    fn until_begun(&self) -> Run {
        until("a worker has the run", || {
            self.control.tick();
            self.run_of("worker").filter(|run| run.host.is_some())
        })
    }

    /// Ticks until the run of an agent waits.
    fn until_waiting(&self) -> RunId {
        let run = until("a run waits", || {
            self.control.tick();
            self.run_of("worker")
        });
        assert_eq!(run.host, None);
        run.id
    }

    /// Ticks until the results are brought in, and the audit finds nothing.
    fn until_audit_finds_nothing(&self) {
        let project = &self.control.project;
        until("the audit finds nothing", || {
            self.control.tick();
            (project.symphony(&["doctor", "--audit"]).code == 0).then_some(())
        });
    }

    /// Asserts that an agent had the issue only once, and that the audit finds nothing.
    fn assert_done_once(&self) {
        self.until_audit_finds_nothing();
        let runs = self.control.runs();
        let workers = runs.iter().filter(|run| run.agent.name() == "worker");
        assert_eq!(workers.count(), 1, "{runs:#?}");
    }

    /// Lets the agent go on, and asserts that its run succeeds, ends its activity, and was the only one.
    fn assert_ends_well(&self, run: &RunId) {
        self.let_go();
        let ended = self.control.until_ended(run);
        assert_eq!(ended.status.name(), "succeeded", "{ended:#?}");
        self.until_closed(run);
        self.assert_done_once();
    }

    fn let_go(&self) {
        std::fs::write(self.control.project.beside.join("go"), "").unwrap();
    }

    fn until_closed(&self, run: &RunId) {
        let mut client = self.client();
        until("the activity has ended", || {
            (client.standing(run).unwrap() == Standing::Closed).then_some(())
        });
    }
}

/// The times of activities, as short as those of the hosts are here.
fn times() -> Times {
    Lease::default().shortened(DIVISOR.parse().unwrap()).into()
}

fn host_of(run: &Run) -> &str {
    run.host.as_ref().map_or("", |host| host.as_str())
}

fn an_issue_becomes_a_merged_change_through_a_service(edition: Edition) {
    let placed = Placed::new(edition, "placed", &greeting());
    let control = &placed.control;
    let issue = control.project.add_issue("Say hello");
    let _hosts = ["h1", "h2"].map(|name| placed.host(name, 1));
    control.until_approved();
    let runs = control.runs();
    assert_eq!(runs.len(), 3, "{runs:#?}");
    for run in &runs {
        assert_eq!(run.status.name(), "succeeded", "{run:#?}");
        assert!(["h1", "h2"].contains(&host_of(run)), "{run:#?}");
        // The supervisor of the author begins the gates itself. Of the others the service hears the end.
        if run.agent.name() != "gates" {
            placed.until_closed(&run.id);
        }
    }
    control.project.json(&["pr", "merge", &issue]);
    assert_eq!(control.project.git(&["show", "main:hello.txt"]), "hello");
    let doctor = control.project.symphony(&["doctor"]).stdout;
    let address = placed.server.address();
    let gives = match edition {
        Edition::Recent => format!("Temporal at {address} hands out runs\n"),
        Edition::Older => format!("Temporal at {address} hands out runs, as workflows"),
    };
    assert!(doctor.contains(&gives), "{doctor}");
    control.project.assert_sound();
}

fn a_killed_service_keeps_new_runs_waiting_and_ends_none(edition: Edition) {
    let (mut placed, first) = Placed::with_waiting_agent(edition, "temporal");
    let host = placed.host("h1", 2);
    let begun = placed.until_begun();
    until_at_work(&placed.control, &host, &begun.id);
    placed.server.kill();
    // a second one is claimed, and no one is asked to begin it
    let project = &placed.control.project;
    let second = project.add_issue("Say more");
    let report = project.symphony(&["tick", "--json"]);
    let away = format!("cannot reach Temporal at {}", placed.server.address());
    assert!(report.stdout.contains(&away), "{report:#?}");
    let waiting = placed.run_on(&second).unwrap();
    assert_eq!(waiting.host, None);
    let doctor = project.symphony(&["doctor"]).stdout;
    assert!(doctor.contains(&away), "{doctor}");
    until("the worker reports it as well", || {
        host.log().contains(&away).then_some(())
    });
    // the first goes on to its end, gates included
    placed.let_go();
    let ended = placed.control.until_ended(&begun.id);
    assert_eq!(ended.status.name(), "succeeded", "{ended:#?}");
    let gates = until("the gates have run", || {
        placed.run_of("gates").filter(|run| !run.status.is_live())
    });
    assert_eq!(gates.status.name(), "succeeded", "{gates:#?}");
    assert_eq!(placed.control.run(&waiting.id).host, None);
    assert_eq!(host.log().matches(&away).count(), 1, "{}", host.log());
    placed.server.begin().unwrap();
    until("the second is begun", || {
        placed.control.project.symphony(&["tick"]);
        placed.control.run(&waiting.id).host
    });
    let ended = placed.control.until_ended(&waiting.id);
    assert_eq!(ended.status.name(), "succeeded", "{ended:#?}");
    assert_ne!(project.issue(&first)["status"], "todo");
    placed.until_audit_finds_nothing();
}

fn a_service_that_dies_again_and_again_ends_no_run(edition: Edition) {
    let (mut placed, _) = Placed::with_waiting_agent(edition, "outages");
    let beside = &placed.control.project.beside;
    let waits = waiting_for_minutes(beside, 15);
    std::fs::write(beside.join("scenario.json"), waits.to_string()).unwrap();
    // outages of 30 and 120 s: as they are in the soak, and else as much shorter as the lease is
    let is_whole = std::env::var("SYMPHONY_TEST_FLEET").is_ok_and(|part| part == "whole");
    let (seconds, heartbeat) = if is_whole {
        ([30, 120], 20)
    } else {
        ([3, 12], 2)
    };
    let more = placed.more();
    let host = if is_whole {
        placed.control.host_without_haste("h1", &more)
    } else {
        placed.host("h1", 1)
    };
    let run = placed.until_begun();
    until_at_work(&placed.control, &host, &run.id);
    let supervisor = supervisor_of(run.id.as_str()).unwrap();
    let kills = [0; 5].into_iter().chain(seconds);
    for seconds in kills {
        placed.server.kill();
        std::thread::sleep(Duration::from_secs(seconds));
        placed.control.tick();
        placed.server.begin().unwrap();
        // long enough for a heartbeat, or for an answer that there is nothing to beat for
        std::thread::sleep(Duration::from_secs(heartbeat + 1));
        let now = placed.control.run(&run.id);
        assert!(now.status.is_live(), "{now:#?}");
        assert_eq!((host_of(&now), now.fence), ("h1", run.fence), "{now:#?}");
        assert_eq!(supervisor_of(run.id.as_str()), Some(supervisor));
    }
    placed.assert_ends_well(&run.id);
}

fn a_run_whose_host_dies_is_followed_by_one_on_another_host(edition: Edition) {
    let (placed, _) = Placed::with_waiting_agent(edition, "lost");
    let host = placed.host("h1", 1);
    let lost = placed.until_begun();
    until_at_work(&placed.control, &host, &lost.id);
    // worker, supervisor and agent are gone for good
    drop(host);
    until("the tick that ends the run", || {
        placed.control.tick();
        Some(()).filter(|()| !placed.control.run(&lost.id).status.is_live())
    });
    let error = placed.control.run(&lost.id).error.unwrap();
    assert_eq!(error.class.name(), "host_lost", "{error:?}");
    let _next = placed.host("h2", 1);
    placed.let_go();
    let second = until("another host has done it", || {
        placed.control.tick();
        let mut runs = placed.control.runs().into_iter();
        runs.find(|run| run.agent.name() == "worker" && run.status.name() == "succeeded")
    });
    assert_eq!(host_of(&second), "h2", "{second:#?}");
    assert_ne!(second.id, lost.id);
    placed.until_closed(&lost.id);
    placed.until_audit_finds_nothing();
}

fn an_offer_that_dies_with_its_host_goes_to_another(edition: Edition) {
    let (placed, _) = Placed::with_waiting_agent(edition, "offered");
    let pool = Pool::parse("linux").unwrap();
    // a host that is offered the run and then falls silent: it beats once in an hour
    let silent: Times = Lease::new(3_600_000 - 60_000, 3_600_000 - 30_000, 3_600_000)
        .unwrap()
        .into();
    let settings = placed.server.settings();
    let dying = Offers::open(settings, pool, "h0".to_owned(), silent).unwrap();
    dying.want(1);
    let run = placed.until_waiting();
    let offer = until("the run is offered", || dying.next());
    assert_eq!(offer.run, run);
    let _host = placed.host("h1", 1);
    placed.let_go();
    let begun = placed.until_begun();
    assert_eq!((&begun.id, host_of(&begun)), (&run, "h1"));
    assert_eq!(placed.control.until_ended(&run).status.name(), "succeeded");
    // what the silent one answers at last changes nothing
    dying.end(&run, OfferEnd::Done);
    drop(dying);
    placed.assert_done_once();
}

fn a_run_that_is_offered_twice_is_started_once(edition: Edition) {
    let (placed, _) = Placed::with_waiting_agent(edition, "twice");
    let mut first = placed.host("h1", 2);
    let run = placed.until_begun();
    until_at_work(&placed.control, &first, &run.id);
    let supervisor = supervisor_of(run.id.as_str()).unwrap();
    // the run goes on without its worker, and the service believes that it is lost
    first.kill_worker();
    let second = placed.host("h2", 1);
    placed.until_closed(&run.id);
    let pool = Pool::parse("linux").unwrap();
    let mut client = placed.client();
    let submitted = client.submit(&run.id, &pool, times()).unwrap();
    assert_eq!(submitted, Submitted::Now);
    // the other host is offered it, asks the database, and says that there is nothing to do
    placed.until_closed(&run.id);
    let now = placed.control.run(&run.id);
    assert_eq!((host_of(&now), now.fence), ("h1", run.fence), "{now:#?}");
    assert_eq!(supervisor_of(run.id.as_str()), Some(supervisor));
    let log = second.log();
    assert!(!log.contains(run.id.as_str()), "{log}");
    // its own host is offered it as well, and starts no second supervisor
    drop(second);
    first.begin(&[]);
    let submitted = client.submit(&run.id, &pool, times()).unwrap();
    assert_eq!(submitted, Submitted::Now);
    assert_kept(&placed, &run.id);
    assert_eq!(supervisor_of(run.id.as_str()), Some(supervisor));
    placed.assert_ends_well(&run.id);
}

/// Asserts that a worker keeps an activity and beats for it, past the time after which the service gives up what no one beats for.
fn assert_kept(placed: &Placed, run: &RunId) {
    let pool = Pool::parse("linux").unwrap();
    std::thread::sleep(Duration::from_secs(3));
    let settings = placed.server.settings();
    let other = Offers::open(settings, pool, "h9".to_owned(), times()).unwrap();
    other.want(1);
    std::thread::sleep(Duration::from_secs(10));
    assert_eq!(other.next(), None, "a worker has it");
    let standing = placed.client().standing(run).unwrap();
    assert_eq!(standing, Standing::Open, "and beats for it");
}

#[cfg(feature = "failpoints")]
fn a_run_whose_control_died_after_its_claim_is_handed_over_by_the_next_tick(edition: Edition) {
    let (placed, _) = Placed::with_waiting_agent(edition, "unheard");
    let project = &placed.control.project;
    let died = project.beside.join("died");
    let armed = format!("{}={}", Failpoint::TickClaimed.name(), died.display());
    let mut tick = project.command(&["tick"]);
    let status = tick.env(FAILPOINTS_VARIABLE, armed).status().unwrap();
    assert!(died.exists() && !status.success(), "{status:?}");
    let run = placed.run_of("worker").unwrap().id;
    let mut client = placed.client();
    assert_eq!(client.standing(&run).unwrap(), Standing::Unknown);
    placed.control.tick();
    assert_eq!(client.standing(&run).unwrap(), Standing::Open);
    let _host = placed.host("h1", 1);
    placed.let_go();
    let begun = placed.until_begun();
    assert_eq!((&begun.id, host_of(&begun)), (&run, "h1"));
    placed.control.until_ended(&run);
    placed.assert_done_once();
}

fn a_run_that_waits_at_a_service_can_be_cancelled(edition: Edition) {
    let placed = Placed::new(edition, "withdrawn", &greeting());
    let issue = placed.control.project.add_issue("Say hello");
    let waits = placed.until_waiting();
    let project = &placed.control.project;
    project.ok(&["runs", "cancel", waits.as_str()]);
    assert!(!placed.control.run(&waits).status.is_live());
    placed.until_closed(&waits);
    // a worker that comes now is offered nothing of it
    let host = placed.host("h1", 1);
    let again = until("the next run has a worker", || {
        project.symphony(&["issue", "retry", &issue]);
        placed.control.tick();
        let mut runs = placed.control.runs().into_iter();
        runs.find(|run| run.agent.name() == "worker" && host_of(run) == "h1")
    });
    assert_ne!(again.id, waits);
    assert!(!host.log().contains(waits.as_str()), "{}", host.log());
}

fn a_pause_gives_a_run_back_to_the_service_and_loses_nothing(edition: Edition) {
    let placed = Placed::new(edition, "paused", &greeting());
    let project = &placed.control.project;
    project.add_issue("Say hello");
    let waits = placed.until_waiting();
    project.ok(&["pause"]);
    let _host = placed.host("h1", 1);
    placed.until_closed(&waits);
    let run = placed.control.run(&waits);
    assert!(run.status.is_live() && run.waits_in_pool(), "{run:?}");
    // no tick came during the pause, so the same run is handed over again
    project.ok(&["resume"]);
    let begun = placed.until_begun();
    assert_eq!((&begun.id, host_of(&begun)), (&waits, "h1"));
    placed.control.until_ended(&waits);
    placed.assert_done_once();
}

fn a_namespace_that_is_not_there_is_named_and_runs_wait(edition: Edition) {
    let placed = Placed::new(edition, "nowhere", &greeting());
    let mut more = placed.more();
    more["temporal"]["namespace"] = json!("nowhere");
    placed.configure(more.clone());
    let project = &placed.control.project;
    for title in ["Say hello", "Say more"] {
        project.add_issue(title);
    }
    let missing = format!(
        "Temporal at {} has no namespace `nowhere`",
        placed.server.address()
    );
    let answer = project.symphony(&["tick", "--json"]);
    let report: Value = serde_json::from_str(&answer.stdout).unwrap();
    assert_eq!(placed.control.runs().len(), 2);
    let problems = report["problems"].as_array().unwrap();
    let found: Vec<&Value> = problems
        .iter()
        .filter(|problem| problem.to_string().contains(&missing))
        .collect();
    assert_eq!(found.len(), 1, "for all runs: {report:#}");
    let doctor = project.symphony(&["doctor"]).stdout;
    assert!(doctor.contains(&missing), "{doctor}");
    assert!(
        doctor.contains("temporal operator namespace create"),
        "{doctor}"
    );
    let host = placed.control.host_with("h1", 2, &more);
    until("the worker reports it", || {
        host.log().contains(&missing).then_some(())
    });
    assert!(placed.control.runs().iter().all(|run| run.host.is_none()));
    drop(host);
    // with the right name, the same runs are handed over by the next tick
    placed.configure(placed.more());
    let _host = placed.host("h2", 2);
    until("both runs have begun", || {
        placed.control.tick();
        let runs = placed.control.runs();
        runs.iter().all(|run| run.host.is_some()).then_some(())
    });
}

fn a_worker_without_its_database_keeps_no_offers(edition: Edition) {
    let (placed, _) = Placed::with_waiting_agent(edition, "away");
    let proxy = super::Proxy::before(&placed.control.address);
    let mut more = placed.more();
    more["database"] = json!(proxy.address());
    let mut host = placed.control.host_with("h1", 1, &more);
    until("the worker is there", || {
        let status = placed.control.project.ok(&["status"]);
        status.contains("h1").then_some(())
    });
    proxy.fall_silent();
    until("the worker has seen it", || {
        let log = host.log();
        log.contains("the database cannot be reached").then_some(())
    });
    let run = placed.until_waiting();
    // another host gets it, whatever the first one was offered
    let _other = placed.host("h2", 1);
    let begun = placed.until_begun();
    assert_eq!((&begun.id, host_of(&begun)), (&run, "h2"));
    host.kill_worker();
}
