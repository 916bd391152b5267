//! A control whose project has a pool: what it claims, says and ends. The store's own functions act as the workers.

use serde_json::{Value, json};
use symphony_core::Timestamp;
use symphony_core::config::ServerAddress;
use symphony_core::failure::ErrorClass;
use symphony_core::id::RunId;
use symphony_core::outcome::FailureLimits;
use symphony_core::placement::{Host, Lease, Pool};
use symphony_core::run::{Run, RunStatus};
use symphony_store::{Beat, Context, GatesAtEnd, RunFinish, Store, StoreError, Worker};

use crate::on_postgres::{address, repository};
use crate::support::{Project, scenarios, text, until};

/// By how much the lease is shortened where a host is to be lost: it is silent after 4.5 s and given up after 10.5 s.
const DIVISOR: &str = "20";

pub(crate) fn pool() -> Pool {
    Pool::parse("linux").unwrap()
}

pub(crate) fn host(name: &str) -> Host {
    Host::parse(name).unwrap()
}

/// A project whose runs wait in a pool, and the database as a worker opens it.
fn control(schema: &str) -> (Project, Store) {
    let (project, store, _address) = control_at(schema);
    (project, store)
}

/// As [`control`], with the address of the database.
pub(crate) fn control_at(schema: &str) -> (Project, Store, String) {
    let address = address(schema);
    let project = repository(&address).set_up(&scenarios([]), &json!({ "pool": "linux" }));
    let store = Store::open_on(&ServerAddress::parse(&address).unwrap()).unwrap();
    (project, store, address)
}

/// As [`control_at`], for a test that waits until a host is lost.
pub(crate) fn control_that_loses_hosts(schema: &str) -> (Project, Store, String) {
    let (mut project, store, address) = control_at(schema);
    project.set_variable("SYMPHONY_TEST_LEASE_DIVISOR", DIVISOR);
    (project, store, address)
}

/// Ticks, and returns the run that was claimed for the pool.
pub(crate) fn claimed(project: &Project, store: &Store) -> Run {
    let id = project.tick_start();
    let run = store.run(&RunId::parse(id).unwrap()).unwrap();
    assert_eq!((&run.pool, &run.host), (&Some(pool()), &None));
    run
}

/// Ticks until a run is claimed: an issue whose run ended without a pull request waits for a second.
fn claimed_soon(project: &Project, store: &Store) -> Run {
    until("the next run", || {
        let tick = project.json(&["tick"]);
        let id = tick["runs"][0]["id"].as_str()?;
        Some(store.run(&RunId::parse(id).unwrap()).unwrap())
    })
}

fn here(store: &mut Store, name: &str) {
    let worker = Worker {
        pool: pool(),
        host: host(name),
        version: 1,
        clock_ahead_ms: 0,
        unprepared: 0,
        slots: 1,
        folder: String::new(),
        fence_ms: 60_000,
    };
    store.worker_seen(&worker, Lease::default()).unwrap();
}

fn finish(run: &Run, status: RunStatus) -> RunFinish {
    RunFinish {
        run: run.id.clone(),
        fence: run.fence,
        status,
        error: None,
        exit_code: Some(0),
        usage: None,
        output_tail: String::new(),
        metadata: serde_json::Map::new(),
        phase: None,
        gates: GatesAtEnd::Due,
        hold: None,
        ahead: None,
        cap: None,
        limits: FailureLimits {
            max_retries: 15,
            max_backoff_ms: 1,
            breaker_target: symphony_core::issue::BreakerTarget::Backlog,
        },
    }
}

#[test]
fn a_run_of_a_pool_waits_for_a_worker_and_everyone_says_so() {
    let (project, mut store) = control("waits");
    let issue = project.add_issue("Say hello");
    let run = claimed(&project, &store);
    assert!(
        !project.run_folder(run.id.as_str()).exists(),
        "nothing is started here"
    );
    let shown = |expected: &str| {
        let explained = project.ok(&["explain", &issue]);
        assert!(explained.contains(expected), "{explained}");
        let status = project.ok(&["status"]);
        assert!(status.contains(expected), "{status}");
    };
    shown("waits for a worker of pool linux (none seen)");
    assert_eq!(
        project.json(&["tick"])["runs"],
        json!([]),
        "it is claimed once"
    );
    here(&mut store, "h1");
    shown("waits for a worker of pool linux (1 seen)");
    store.take(&pool(), &host("h1")).unwrap().unwrap();
    shown("on host h1");
    here(&mut store, "h1");
    let status = project.json(&["status"]);
    assert_eq!(status["workers"][0]["alive"], true, "{status:#}");
    let doctor = project.symphony(&["doctor"]).stdout;
    assert!(
        doctor.contains("workers: pool linux: 1 worker (h1)"),
        "{doctor}"
    );
    let running = &status["running"][0];
    assert_eq!(running["host"], "h1", "{running:#}");
    assert_eq!(running["whereabouts"]["at"], "begun", "{running:#}");
    assert_eq!(status["slots_taken"], 0, "{status:#}");
    store
        .finish_run(&now(), &finish(&run, RunStatus::Succeeded))
        .unwrap();
    assert_eq!(project.issue(&issue)["status"], "todo");
}

fn now() -> Context {
    Context::system(Timestamp::now())
}

#[test]
fn a_run_that_no_worker_has_begun_is_taken_out_of_its_pool() {
    let (project, mut store) = control("withdrawn");
    let issue = project.add_issue("Say hello");
    let run = claimed(&project, &store);
    project.ok(&["runs", "cancel", run.id.as_str()]);
    assert_eq!(project.run(run.id.as_str())["status"], "cancelled");
    assert_eq!(project.issue(&issue)["status"], "todo");
    assert_eq!(store.take(&pool(), &host("h1")).unwrap(), None);

    // so is one whose project has left the pool, of which workers are told
    let run = claimed(&project, &store);
    assert_eq!(handed_pool(&store), json!("linux"));
    project.configure_more(
        &json!({ "pool": null, "max_concurrent_agents": 1, "scanner_enabled": false }),
    );
    project.ok(&["pause"]);
    let tick = project.json(&["tick"]);
    assert_eq!(tick["actions"][0]["action"], "withdraw", "{tick:#}");
    let ended = project.run(run.id.as_str());
    assert_eq!(ended["status"], "cancelled", "{ended:#}");
    assert_eq!(project.issue(&issue)["status"], "todo");
    assert_eq!(handed_pool(&store), Value::Null);
    project.assert_sound();
}

/// Returns the pool that is named in what workers were handed of the only project.
fn handed_pool(store: &Store) -> Value {
    let project = store.projects().unwrap().remove(0).id;
    let handed = store.handed_project(&project).unwrap().unwrap();
    handed.layers[0]["pool"].clone()
}

#[test]
fn a_pause_takes_what_no_worker_has_begun_out_of_its_pool() {
    let (project, mut store) = control("paused");
    let begun = project.add_issue("Say hello");
    let at_work = claimed(&project, &store);
    store.take(&pool(), &host("h1")).unwrap().unwrap();
    let issue = project.add_issue("Say goodbye");
    project.ok(&["tick"]);
    let waits = |store: &Store| {
        let live = store.live_runs().unwrap();
        live.into_iter().find(Run::waits_in_pool)
    };
    let waiting = waits(&store).unwrap();
    assert_eq!(
        project.ok(&["pause"]),
        "No new agent starts until you run `symphony resume`. Running agents continue: 1. Runs that wait for a worker do not \
         start, and the next tick ends them: 1.\n"
    );
    assert_eq!(store.take(&pool(), &host("h1")).unwrap(), None);
    assert_eq!(project.run(waiting.id.as_str())["status"], "starting");
    let tick = project.ok(&["tick"]);
    assert!(
        tick.contains("before a worker started it: Symphony is paused"),
        "{tick}"
    );
    assert_eq!(project.run(waiting.id.as_str())["status"], "cancelled");
    assert_eq!(project.issue(&issue)["status"], "todo");
    let explained = project.ok(&["explain", &issue]);
    assert!(explained.contains("Symphony is paused"), "{explained}");
    assert_eq!(waits(&store), None);

    store.beat(&at_work.id, at_work.fence).unwrap();
    project.ok(&["resume"]);
    project.ok(&["tick"]);
    let again = waits(&store).unwrap();
    assert_eq!(again.attempt, 1, "the pause used no attempt");
    let taken = store.take(&pool(), &host("h1")).unwrap();
    assert_eq!(taken.map(|run| run.id), Some(again.id.clone()));
    for run in [&at_work, &again] {
        let run = store.run(&run.id).unwrap();
        store
            .finish_run(&now(), &finish(&run, RunStatus::Succeeded))
            .unwrap();
    }
    assert_eq!(project.issue(&begun)["status"], "todo");
    project.assert_sound();
}

#[test]
fn a_run_whose_host_is_lost_ends_and_its_issue_goes_on_elsewhere() {
    let (project, mut store, _address) = control_that_loses_hosts("lost");
    let issue = project.add_issue("Say hello");
    let run = claimed(&project, &store);
    store.take(&pool(), &host("h1")).unwrap().unwrap();
    let mut seen = Vec::new();
    let tick = until("the tick that ends it", || {
        let tick = project.json(&["tick"]);
        seen.push(project.ok(&["explain", &issue]));
        let actions = tick["actions"].as_array().unwrap().clone();
        let ends = actions.iter().any(|action| action["action"] == "end_lost");
        ends.then_some(tick)
    });
    let silent = "host h1 does not answer, and may still come back with its work";
    assert!(seen.iter().any(|text| text.contains(silent)), "{seen:#?}");
    let events = tick["events"].to_string();
    assert!(events.contains("host h1 did not come back"), "{tick:#}");
    let ended = project.run(run.id.as_str());
    assert_eq!(ended["status"], "crashed", "{ended:#}");
    assert_eq!(ended["error"]["class"], "host_lost", "{ended:#}");
    // the zombie's writes are refused
    assert_eq!(store.beat(&run.id, run.fence).unwrap(), Beat::Lost);
    let begun = claimed(&project, &store);
    assert_eq!(begun.attempt, 1, "the lost run used no attempt");
    store.take(&pool(), &host("h2")).unwrap().unwrap();
    let taken = store.run(&begun.id).unwrap();
    let stale = Run {
        fence: run.fence,
        ..taken
    };
    let late = store.finish_run(&now(), &finish(&stale, RunStatus::Succeeded));
    assert!(
        matches!(late, Err(StoreError::Superseded { .. })),
        "{late:?}"
    );
    assert_eq!(ErrorClass::HostLost.words(), "host lost");
    store
        .finish_run(&now(), &finish(&begun, RunStatus::Succeeded))
        .unwrap();
    assert_eq!(text(&project.issue(&issue)["status"]), "todo");
    project.assert_sound();
}

/// The database says that the run is the control's, and that it lives: the next control ends it.
#[cfg(feature = "failpoints")]
#[test]
fn a_run_that_was_taken_back_by_a_tick_that_died_is_ended_by_another() {
    use symphony_workspace::{FAILPOINTS_VARIABLE, Failpoint};

    let (mut project, mut store, _address) = control_that_loses_hosts("taken_back");
    let issue = project.add_issue("Say hello");
    let run = claimed(&project, &store);
    store.take(&pool(), &host("h1")).unwrap().unwrap();
    let died = project.beside.join("died");
    let armed = format!("{}={}", Failpoint::LostTakenBack.name(), died.display());
    project.set_variable(FAILPOINTS_VARIABLE, &armed);
    until("the tick that dies", || {
        let tick = project.command(&["tick"]).output().unwrap();
        died.exists().then_some(tick)
    });
    let left = store.run(&run.id).unwrap();
    assert!(left.status.is_live() && left.fence > run.fence, "{left:?}");
    assert_eq!(store.beat(&run.id, run.fence).unwrap(), Beat::Lost);
    until("the tick that ends it", || {
        project.ok(&["tick"]);
        (project.run(run.id.as_str())["error"]["class"] == "host_lost").then_some(())
    });
    assert_eq!(project.issue(&issue)["status"], "todo");
    project.assert_sound();
}

/// No host was lost, so nothing counts towards the hosts that an issue may lose.
#[cfg(feature = "failpoints")]
#[test]
fn a_run_that_was_taken_out_of_its_pool_by_a_tick_that_died_ends_as_cancelled() {
    use symphony_workspace::{FAILPOINTS_VARIABLE, Failpoint};

    let (mut project, mut store) = control("withdrawn_dead");
    let issue = project.add_issue("Say hello");
    let run = claimed(&project, &store);
    project.ok(&["pause"]);
    let died = project.beside.join("died");
    let armed = format!("{}={}", Failpoint::RunWithdrawn.name(), died.display());
    project.set_variable(FAILPOINTS_VARIABLE, &armed);
    project.command(&["tick"]).output().unwrap();
    assert!(died.exists());
    assert!(store.run(&run.id).unwrap().status.is_live());
    assert!(store.is_withdrawn(&run.id).unwrap());
    assert_eq!(store.take(&pool(), &host("h1")).unwrap(), None);
    let tick = project.ok(&["tick"]);
    assert!(
        tick.contains("was taken out of pool linux before a worker started it"),
        "{tick}"
    );
    assert_eq!(project.run(run.id.as_str())["status"], "cancelled");
    assert_eq!(project.issue(&issue)["status"], "todo");
    project.assert_sound();
}

/// Lets a host make a commit on the branch of an issue and bring it to the hub, which is the control's repository, and end the run.
fn brought(
    project: &Project,
    store: &mut Store,
    run: &Run,
    (start, file): (Option<&str>, &str),
) -> String {
    store.take(&pool(), &host("h1")).unwrap().unwrap();
    let issue = run.target.issue().unwrap();
    store.record_worktree(&now(), issue, true).unwrap();
    let tree = {
        let blob = project.git(&["hash-object", "-w", "--stdin"]);
        let entry = format!("100644 blob {blob}\t{file}\n");
        let mut command = project.program("git");
        command.args(["mktree"]);
        let made = assert_cmd::Command::from_std(command)
            .write_stdin(entry)
            .output()
            .unwrap();
        String::from_utf8(made.stdout).unwrap().trim().to_owned()
    };
    let parent = start.map_or_else(|| project.git(&["rev-parse", "main"]), str::to_owned);
    let commit = project.git(&["commit-tree", "-m", "Work", "-p", &parent, &tree]);
    project.git(&[
        "update-ref",
        &format!("refs/symphony/runs/{}", run.id),
        &commit,
    ]);
    if let Some(start) = start {
        store
            .record_start_commit(&run.id, run.fence, start)
            .unwrap();
    }
    store
        .record_result_commit(&run.id, run.fence, &commit)
        .unwrap();
    store
        .finish_run(&now(), &finish(run, RunStatus::Succeeded))
        .unwrap();
    commit
}

#[test]
fn the_result_of_a_run_is_on_the_branch_before_anyone_goes_on() {
    let (project, mut store) = control("results");
    let issue = project.add_issue("Say hello");
    let own = format!("symphony/{issue}");
    let run = claimed(&project, &store);
    let first = brought(&project, &mut store, &run, (None, "one"));
    assert!(
        project
            .ok(&["explain", &issue])
            .contains("is not on its branch yet")
    );
    let tick = project.json(&["tick"]);
    assert!(
        tick["events"]
            .to_string()
            .contains("its branch now has the result of run"),
        "{tick:#}"
    );
    assert_eq!(project.git(&["rev-parse", &own]), first);
    let next = match tick["runs"][0]["id"].as_str() {
        Some(id) => store.run(&RunId::parse(id).unwrap()).unwrap(),
        None => claimed_soon(&project, &store),
    };
    let second = brought(&project, &mut store, &next, (Some(&first), "two"));

    // someone else has moved the branch: nothing of theirs is lost
    let theirs = project.git(&["commit-tree", "-m", "Mine", "-p", &first, "main^{tree}"]);
    project.git(&["branch", "-f", &own, &theirs]);
    let answer = project.symphony(&["tick", "--json"]);
    assert_eq!(answer.code, 1, "a problem is reported: {answer:#?}");
    let answer = answer.json();
    assert_eq!(answer["runs"], json!([]), "{answer:#}");
    let problem = text(&answer["problems"][0]);
    assert!(
        problem.contains(&format!("its branch is at {theirs}, and was at {first}")),
        "{problem}"
    );
    assert_eq!(project.git(&["rev-parse", &own]), theirs);
    project.git(&["branch", "-f", &own, &second]);
    assert_eq!(claimed_soon(&project, &store).pool, Some(pool()));
    project.assert_sound();
}

#[test]
fn workers_get_the_configuration_by_revision_and_secrets_by_name() {
    let (project, store) = control("handed");
    project.configure_more(&json!({
        "pool": "linux", "hub": project.root, "env": { "NPM_TOKEN": "hunter2", "LANG": "C" }, "notify": ["true"],
    }));
    project.ok(&["tick"]);
    let id = store.projects().unwrap().remove(0).id;
    let handed = store.handed_project(&id).unwrap().unwrap();
    assert_eq!(handed.hub.as_deref(), project.root.to_str());
    let document = &handed.layers[0];
    assert_eq!(
        document["env"],
        json!({ "NPM_TOKEN": { "secret": "NPM_TOKEN" }, "LANG": "C" })
    );
    assert_eq!(document.get("notify"), None, "only the control notifies");
    project.ok(&["tick"]);
    assert_eq!(
        store.handed_project(&id).unwrap().unwrap().revision,
        handed.revision
    );
    project.configure_more(&json!({ "pool": "linux" }));
    project.ok(&["tick"]);
    let again = store.handed_project(&id).unwrap().unwrap();
    assert_eq!(again.revision, handed.revision + 1);
    let hub = again.hub.unwrap();
    assert!(
        hub.starts_with("ssh://") && hub.ends_with(project.root.to_str().unwrap()),
        "{hub}"
    );
}
