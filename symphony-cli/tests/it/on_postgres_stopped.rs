//! A control that sleeps in the middle of a tick, and has lost its session and its turn when it goes on: another control has ticked meanwhile.
//!
//! The other control is another host: it has a folder of its own for state, where it finds no lock of a tick.

use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use symphony_core::config::ServerAddress;
use symphony_core::id::IssueId;
use symphony_core::run::Run;
use symphony_store::Store;
use symphony_workspace::{FAILPOINTS_VARIABLE, Failpoint};

use crate::on_postgres::{address, elsewhere, psql, repository};
use crate::on_postgres_control::{claimed, control_at, control_that_loses_hosts, host, pool};
use crate::support::{Answer, Project, bash, scenarios, until, worker};

/// The number of the lock that is the turn.
const LOCK: u32 = 0x5359_4d50;

/// Ends the session that has the turn among hosts, as the server does with one whose host sleeps.
fn end_the_turn(address: &str) {
    let schema = address.rsplit("schema=").next().unwrap();
    psql(&format!(
        "SELECT 1 / count(*) FROM (SELECT pg_terminate_backend(pid, 10000) FROM pg_locks WHERE locktype = 'advisory'
             AND classid = {LOCK} AND objid = (hashtext('{schema}')::bigint & 4294967295)::oid) AS ended"
    ));
}

/// Ticks on the other control.
fn tick_elsewhere(project: &Project) -> Value {
    let answer = elsewhere(project, &["tick", "--json"]);
    assert_eq!(answer.code, 0, "{answer:#?}");
    answer.json()
}

/// A tick that sleeps at a point.
struct Stopped(Option<Child>);

impl Stopped {
    /// Ticks until that point, and ends the session of the tick at the server.
    fn at(project: &Project, address: &str, point: Failpoint) -> Self {
        let reached = project.beside.join("reached");
        let armed = format!("stop:{}={}", point.name(), reached.display());
        let mut tick = project.command(&["tick"]);
        tick.env(FAILPOINTS_VARIABLE, armed);
        tick.stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let tick = tick.spawn().unwrap();
        let stat = format!("/proc/{}/stat", tick.id());
        let stopped = Self(Some(tick));
        until("the tick sleeps", || {
            let stat = std::fs::read_to_string(&stat).unwrap();
            (reached.exists() && stat.contains(") T ")).then_some(())
        });
        end_the_turn(address);
        stopped
    }

    /// Lets it go on; returns what it printed.
    fn go_on(mut self) -> Answer {
        let tick = self.0.take().unwrap();
        let pid = Pid::from_raw(i32::try_from(tick.id()).unwrap()).unwrap();
        kill_process(pid, Signal::CONT).unwrap();
        tick.wait_with_output().unwrap().into()
    }

    /// Lets it go on, and checks that it says this, and changes nothing: the one live run is that of the other control.
    fn assert_changes_nothing(self, project: &Project, store: &Store, said: &str, live: &Run) {
        let before = recorded(store);
        let answer = self.go_on();
        assert_eq!(
            (answer.code, answer.stdout.as_str()),
            (0, said),
            "{answer:#?}"
        );
        assert_eq!(recorded(store), before);
        assert_eq!(store.live_runs().unwrap(), std::slice::from_ref(live));
        project.assert_sound();
    }
}

impl Drop for Stopped {
    /// One that a test left asleep ends with it.
    fn drop(&mut self) {
        if let Some(tick) = &mut self.0 {
            tick.kill().unwrap();
            tick.wait().unwrap();
        }
    }
}

/// Returns what is recorded of all that happened, which must not change any more.
fn recorded(store: &Store) -> Vec<String> {
    let events = store.events_after(0, 10_000).unwrap();
    events.iter().map(|event| format!("{event:?}")).collect()
}

#[test]
fn a_tick_that_slept_before_its_claims_claims_nothing_that_another_has() {
    let (project, mut store, address) = control_at("slept");
    project.add_issue("Say hello");
    let stopped = Stopped::at(&project, &address, Failpoint::TickRecorded);
    let tick = tick_elsewhere(&project);
    assert_eq!(tick["runs"].as_array().unwrap().len(), 1, "{tick:#}");
    let taken = store.take(&pool(), &host("h1")).unwrap().unwrap();
    let refused = format!(
        "SYM-1: worker: not started: run {} is working on it\n",
        taken.id
    );
    stopped.assert_changes_nothing(&project, &store, &refused, &taken);
}

#[test]
fn a_tick_that_slept_after_its_claims_hands_them_over_once() {
    let (project, mut store, address) = control_at("claimed");
    project.add_issue("Say hello");
    let stopped = Stopped::at(&project, &address, Failpoint::TickClaimed);
    let tick = tick_elsewhere(&project);
    assert_eq!(tick["runs"], json!([]), "{tick:#}");
    let taken = store.take(&pool(), &host("h1")).unwrap().unwrap();
    let queued = format!(
        "SYM-1: worker: run {} waits for a worker of pool linux\n",
        taken.id
    );
    stopped.assert_changes_nothing(&project, &store, &queued, &taken);
}

#[test]
fn a_tick_that_slept_when_it_had_taken_a_lost_run_back_ends_no_other() {
    let (project, mut store, address) = control_that_loses_hosts("taken");
    let issue = project.add_issue("Say hello");
    let run = claimed(&project, &store);
    store.take(&pool(), &host("h1")).unwrap().unwrap();
    until("the run may be taken back", || {
        let tick = project.json(&["tick", "--dry-run"]);
        tick["actions"]
            .to_string()
            .contains("end_lost")
            .then_some(())
    });
    let stopped = Stopped::at(&project, &address, Failpoint::LostTakenBack);
    until("another control has ended it", || {
        tick_elsewhere(&project);
        (!store.run(&run.id).unwrap().status.is_live()).then_some(())
    });
    let next = until("the run after it", || {
        tick_elsewhere(&project);
        store.take(&pool(), &host("h2")).unwrap()
    });
    assert_eq!(project.issue(&issue)["status"], "in_progress");
    let ended = format!(
        "run {}: host h1 did not come back, so the run was ended without it\n",
        run.id
    );
    stopped.assert_changes_nothing(&project, &store, &ended, &next);
}

/// Runs of the control itself are its host's. Another host took the database over while none was live, and has one now.
#[test]
fn a_tick_that_slept_while_another_host_took_over_starts_no_run_of_its_own() {
    let address = address("moved");
    let project = repository(&address).set_up(&json!({}), &json!({ "max_concurrent_agents": 2 }));
    let go = project.beside.join("go");
    let wait = format!("while ! test -e {}; do sleep 0.1; done", go.display());
    let waits = scenarios([worker([bash(&wait)])]);
    std::fs::write(project.beside.join("scenario.json"), waits.to_string()).unwrap();
    let store = Store::open_on(&ServerAddress::parse(&address).unwrap()).unwrap();
    let first = project.add_issue("Say hello");
    let stopped = Stopped::at(&project, &address, Failpoint::TickLocked);
    project.ok(&["issue", "move", &first, "backlog"]);
    let second = project.add_issue("Say more");
    let tick = tick_elsewhere(&project);
    assert_eq!(tick["runs"].as_array().unwrap().len(), 1, "{tick:#}");
    project.ok(&["issue", "move", &first, "todo"]);
    let answer = stopped.go_on();
    let refused = format!("{first}: worker: not started: another host has taken over the database");
    assert_eq!(answer.code, 0, "{answer:#?}");
    assert!(answer.stdout.starts_with(&refused), "{answer:#?}");
    let live = store.live_runs().unwrap();
    let on: Vec<_> = live.iter().filter_map(|run| run.target.issue()).collect();
    assert_eq!(on, [&IssueId::parse(second).unwrap()], "{live:#?}");
    std::fs::write(go, "").unwrap();
    project.until_ended(live[0].id.as_str());
    project.assert_sound();
}
