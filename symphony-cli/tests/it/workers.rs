//! Workers with folders of their own, on a database on a server: their runs are those of a single machine, and the control's folder sees
//! nothing but results.

mod broken;
mod control;
mod daemon;
mod host;
mod own_server;
mod proxy;
#[cfg(feature = "temporal-service")]
mod temporal;
mod upkeep;

use std::fs::File;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use symphony_core::exit_handling::PutOff;
use symphony_core::id::RunId;
use symphony_core::run::Run;
use symphony_store::HandedProject;

use self::control::Control;
use self::daemon::Daemon;
use self::host::Host;
use self::own_server::OwnServer;
use self::proxy::Proxy;
use crate::support::{
    JUDGE, Project, WORKER, agents_of, approving_judge, bash, commit, create_pr, git_in_front,
    kill, scenario, scenarios, supervisor_of, text, until,
};

fn greeting() -> Value {
    scenarios([
        approving_judge(),
        scenario(
            "begins",
            &json!({ "match_system": WORKER }),
            [commit("hello.txt", "hello"), create_pr("Say hello")],
        ),
    ])
}

/// An agent that says something and then waits for a file outside of its worktree, for two minutes at most: then its command is ended.
fn waiting(control_beside: &std::path::Path) -> Value {
    let gate = control_beside.join("go");
    let wait = format!("while ! test -e {}; do sleep 0.1; done", gate.display());
    waiting_by(vec![wait])
}

/// An agent that waits in the same way for a count of minutes, with a command for each.
#[cfg(feature = "temporal-service")]
fn waiting_for_minutes(control_beside: &std::path::Path, minutes: usize) -> Value {
    let gate = control_beside.join("go");
    let wait = format!(
        "while ! test -e {} && [ $SECONDS -lt 60 ]; do sleep 0.1; done",
        gate.display()
    );
    waiting_by(vec![wait; minutes])
}

/// An agent that shows its environment and waits by these commands before it does its work.
fn waiting_by(mut waits: Vec<String>) -> Value {
    waits[0].insert_str(0, "env > seen.env; echo at work; ");
    waits.last_mut().unwrap().push_str("; rm seen.env");
    let works = [commit("hello.txt", "hello"), create_pr("Say hello")];
    let turns = waits.iter().map(|wait| bash(wait)).chain(works);
    scenarios([
        scenario("judges", &json!({ "match_system": JUDGE }), [bash("true")]),
        scenario("waits", &json!({ "match_system": WORKER }), turns),
    ])
}

/// A control with one issue, whose agent waits.
fn with_waiting_agent(name: &str) -> (Control, String) {
    let control = Control::new(name, &json!({}));
    let scenario = control.project.beside.join("scenario.json");
    std::fs::write(scenario, waiting(&control.project.beside).to_string()).unwrap();
    let issue = control.project.add_issue("Say hello");
    (control, issue)
}

/// Waits until the agent has called its tool: before that it needs answers of its supervisor, which a test may stop.
fn until_at_work(control: &Control, host: &Host, run: &RunId) {
    until("the agent is at work", || {
        let log = host.run_file(control, run, "stream.ndjson");
        log.contains("seen.env").then_some(())
    });
}

#[test]
fn an_issue_becomes_a_merged_change_on_two_hosts() {
    let mut control = Control::new("workers", &greeting());
    let hub = control.project.root.clone();
    control
        .project
        .configure_more(&json!({ "pool": "linux", "hub": hub }));
    let issue = control.project.add_issue("Say hello");
    let (mut one, mut two) = (control.host("h1", 2), control.host("h2", 2));
    let pr = control.until_approved();
    let runs: Vec<Run> = control.runs();
    let mut agents: Vec<&str> = runs.iter().map(|run| run.agent.name()).collect();
    agents.sort_unstable();
    assert_eq!(agents, ["gates", "judge", "worker"]);
    for run in &runs {
        assert_eq!(run.status.name(), "succeeded", "{run:#?}");
        let host = run.host.as_ref().unwrap().as_str();
        assert!(["h1", "h2"].contains(&host), "{run:#?}");
        let folder = control.project.run_folder(run.id.as_str());
        assert!(!folder.exists(), "{}", folder.display());
    }
    assert!(!control.project.worktree(&issue).exists());
    let worker = runs
        .iter()
        .find(|run| run.agent.name() == "worker")
        .unwrap();
    let commits = control.store.run_commits(&worker.id).unwrap();
    assert_eq!(json!(commits.result), pr["head_commit"], "{pr:#}");
    // a worker removes the worktree of an ended issue at its start and now and then, and not while its clone is locked, as by a run that
    // is being prepared
    let clones = [&one, &two].map(|host| host.data.join("projects").join(control.id.as_str()));
    let folders = clones.iter().map(|clone| clone.join(".git"));
    // a host that took no run has no clone
    let locks: Vec<File> = folders
        .filter(|folder| folder.exists())
        .map(|folder| {
            let lock = File::create(folder.join("symphony.lock")).unwrap();
            lock.lock().unwrap();
            lock
        })
        .collect();
    control.project.json(&["pr", "merge", &issue]);
    assert_eq!(control.project.git(&["show", "main:hello.txt"]), "hello");
    assert_eq!(control.project.issue(&issue)["status"], "done");
    let left = || {
        let worktrees = clones
            .iter()
            .map(|clone| clone.join(".symphony-workspaces").join(&issue));
        worktrees.filter(|worktree| worktree.exists()).count()
    };
    assert!(left() > 0, "it stayed for the next run");
    // a worker that starts again meanwhile takes the next run all the same
    for host in [&mut one, &mut two] {
        host.kill_worker();
    }
    let second = control.project.add_issue("Say more");
    let next = control.claim_issue(&second);
    for host in [&mut one, &mut two] {
        host.begin(&[]);
    }
    until("the next run has begun", || control.run(&next).host);
    assert!(left() > 0, "no one else may remove it");
    drop(locks);
    until("no worktree is left", || (left() == 0).then_some(()));
    control.until_ended(&next);
    // its log came to the database
    let id = worker.id.as_str();
    let log = control.project.ok(&["runs", "logs", id]);
    assert!(log.contains("create_pr"), "{log}");
    let raw = control.project.symphony(&["runs", "logs", "--raw", id]);
    assert!(raw.stderr.contains("only on"), "{raw:#?}");
    control.project.assert_sound();
}

#[test]
fn a_supervisor_that_is_killed_is_finished_from_its_worktree() {
    let (mut control, issue) = with_waiting_agent("killed");
    let host = control.host("h1", 1);
    let run = control.claim_issue(&issue);
    until_at_work(&control, &host, &run);
    let environment = until("the agent has shown its environment", || {
        let worktree = host.data.join("projects").join(control.id.as_str());
        let path = worktree
            .join(".symphony-workspaces")
            .join(&issue)
            .join("seen.env");
        let text = std::fs::read_to_string(path).ok()?;
        text.contains("SYMPHONY_RUN_ID").then_some(text)
    });
    assert!(!environment.contains("postgres"), "{environment}");
    kill(supervisor_of(run.as_str()).unwrap());
    let ended = control.until_ended(&run);
    assert_eq!(ended.status.name(), "crashed", "{ended:#?}");
    assert_eq!(agents_of(run.as_str()), Vec::<String>::new());
    // what the agent had written is committed and at the hub
    let result = control.store.run_commits(&run).unwrap().result.unwrap();
    let files = control.project.git(&["ls-tree", "--name-only", &result]);
    assert!(files.contains("seen.env"), "{files}");
    assert!(host.log().contains("had died"), "{}", host.log());
}

#[test]
fn a_worker_that_starts_again_looks_after_its_runs_and_drains() {
    let (mut control, issue) = with_waiting_agent("again");
    let mut host = control.host("h1", 1);
    let run = control.claim_issue(&issue);
    until_at_work(&control, &host, &run);
    host.kill_worker();
    // the supervisor goes on without it
    assert!(supervisor_of(run.as_str()).is_some());
    host.begin(&[]);
    let second = control.project.add_issue("Say more");
    let waits = control.claim_issue(&second);
    host.signal(Signal::TERM);
    std::fs::write(control.project.beside.join("go"), "").unwrap();
    let ended = control.until_ended(&run);
    assert_eq!(ended.status.name(), "succeeded", "{ended:#?}");
    assert_eq!(host.until_gone(), 0);
    assert_eq!(
        control.run(&waits).host,
        None,
        "a worker that drains takes nothing"
    );
    host.begin(&["--drain"]);
    assert_eq!(host.until_gone(), 0);
    assert_eq!(control.run(&waits).host, None);
}

#[test]
fn a_supervisor_that_was_stopped_past_its_lease_ends_its_agent() {
    let (mut control, issue) = with_waiting_agent("stopped");
    let host = control.host("h1", 1);
    let run = control.claim_issue(&issue);
    until_at_work(&control, &host, &run);
    let supervisor = Pid::from_raw(supervisor_of(run.as_str()).unwrap()).unwrap();
    kill_process(supervisor, Signal::STOP).unwrap();
    std::thread::sleep(Duration::from_secs(8));
    assert!(!agents_of(run.as_str()).is_empty(), "no one could end it");
    kill_process(supervisor, Signal::CONT).unwrap();
    let ended = control.until_ended(&run);
    let error = ended.error.unwrap();
    assert!(error.message.contains("lease.fence_ms"), "{error:?}");
    assert_eq!(agents_of(run.as_str()), Vec::<String>::new());
    drop(host);
}

#[test]
fn an_answer_that_never_comes_ends_the_agent_in_time() {
    let (mut control, issue) = with_waiting_agent("silent");
    let proxy = Proxy::before(&control.address);
    let host = control.host_on(proxy.address(), "h1", 1);
    let run = control.claim_issue(&issue);
    until_at_work(&control, &host, &run);
    proxy.fall_silent();
    let silent = Instant::now();
    until("the agent has ended", || {
        agents_of(run.as_str()).is_empty().then_some(())
    });
    // six seconds of the lease, ten for the agent, and what a busy machine takes
    assert!(silent.elapsed() < Duration::from_secs(25), "{silent:?}");
    assert!(control.run(&run).status.is_live(), "no answer, no end");
    proxy.speak_again();
    let ended = control.until_ended(&run);
    let error = ended.error.unwrap();
    assert!(error.message.contains("lease.fence_ms"), "{error:?}");
}

#[test]
fn a_run_that_was_given_up_ends_its_agent_and_writes_nothing() {
    let (mut control, issue) = with_waiting_agent("given");
    let host = control.host("h1", 1);
    let run = control.claim_issue(&issue);
    until_at_work(&control, &host, &run);
    let fence = control.run(&run).fence;
    let taken = control.take_back(&run);
    assert!(taken > fence);
    until("the agent has ended", || {
        agents_of(run.as_str()).is_empty().then_some(())
    });
    until("its supervisor has ended", || {
        supervisor_of(run.as_str()).is_none().then_some(())
    });
    let after = control.run(&run);
    assert!(
        after.status.is_live(),
        "whoever took it back ends it: {after:#?}"
    );
    assert_eq!(control.store.run_commits(&run).unwrap().result, None);
    let log = host.run_file(&control, &run, "supervisor.log");
    assert!(log.contains("was given up"), "{log}");
}

#[test]
fn a_supervisor_that_cannot_end_itself_is_ended_by_its_worker() {
    let (mut control, issue) = with_waiting_agent("zombie");
    let host = control.host("h1", 1);
    let run = control.claim_issue(&issue);
    until_at_work(&control, &host, &run);
    let supervisor = Pid::from_raw(supervisor_of(run.as_str()).unwrap()).unwrap();
    kill_process(supervisor, Signal::STOP).unwrap();
    control.take_back(&run);
    until("its worker has ended it", || {
        host.log()
            .contains("which no longer belongs to this host")
            .then_some(())
    });
    until("the agent has ended", || {
        agents_of(run.as_str()).is_empty().then_some(())
    });
    assert_eq!(supervisor_of(run.as_str()), None);
}

#[test]
fn what_a_lost_host_had_saved_is_kept_and_shown_to_the_next_run() {
    let (mut control, issue) = with_waiting_agent("saved");
    let hub = control.project.root.clone();
    let more = json!({ "pool": "linux", "hub": hub });
    control.project.configure_more(&more);
    let host = control.host("h1", 1);
    let run = control.claim_issue(&issue);
    until_at_work(&control, &host, &run);
    let reference = format!("refs/symphony/saved/{issue}/{run}");
    let saved = until("what the agent wrote is at the hub", || {
        let listed = ["for-each-ref", "--format=%(objectname)", &reference];
        Some(control.project.git(&listed)).filter(|found| !found.is_empty())
    });
    let files = control.project.git(&["ls-tree", "--name-only", &saved]);
    assert!(files.contains("seen.env"), "{files}");
    assert_eq!(control.store.run_commits(&run).unwrap().result, None);
    // worker, supervisor and agent are gone for good
    drop(host);
    until("the tick that ends the run", || {
        control.tick();
        Some(()).filter(|()| !control.run(&run).status.is_live())
    });
    let error = control.run(&run).error.unwrap();
    assert_eq!(error.class.name(), "host_lost", "{error:?}");
    assert!(error.message.ends_with(&reference), "{error:?}");
    let shown = control.project.ok(&["issue", "show", &issue]);
    assert!(
        shown.contains(&format!("git log -p {reference}")),
        "{shown}"
    );
    let branches = control.project.git(&["branch", "--list", "symphony/*"]);
    assert_eq!(branches, "", "it is no result");
    // the next run finds it in the clone of its own host, and when it succeeds, only its own saved state goes
    let next = control.host("h2", 1);
    let clone = next.data.join("projects").join(control.id.as_str());
    until("another host goes on", || {
        control.tick();
        let runs = control.runs();
        let is_second = |run: &Run| run.host.as_ref().is_some_and(|host| host.as_str() == "h2");
        let second = runs.iter().find(|run| is_second(run))?;
        let log = next.run_file(&control, &second.id, "stream.ndjson");
        log.contains("seen.env").then_some(())
    });
    let found = control
        .project
        .git(&["-C", clone.to_str().unwrap(), "rev-parse", &reference]);
    assert_eq!(found, saved);
}

#[test]
fn a_request_to_end_a_run_does_not_wait_for_the_next_beat() {
    let (mut control, issue) = with_waiting_agent("asked");
    // two minutes apart
    let times = json!({ "beat_ms": 120_000, "fence_ms": 300_000, "dead_ms": 330_000 });
    let lease = json!({ "lease": times });
    control.project.configure_more(&lease);
    let host = control.host_without_haste("h1", &lease);
    let run = control.claim_issue(&issue);
    until_at_work(&control, &host, &run);
    let begun = Instant::now();
    control.project.ok(&["runs", "cancel", run.as_str()]);
    until("the agent has ended", || {
        agents_of(run.as_str()).is_empty().then_some(())
    });
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(30), "{took:?}");
    let ended = control.until_ended(&run);
    assert_eq!(ended.status.name(), "cancelled", "{ended:#?}");
}

#[test]
fn a_worker_whose_clock_is_wrong_takes_nothing_and_says_so() {
    let (mut control, issue) = with_waiting_agent("clock");
    control.set_clock_ahead(45);
    let host = control.host("h1", 1);
    let run = control.claim_issue(&issue);
    until("the worker has seen it", || {
        let log = host.log();
        log.contains("the worker takes no runs: its clock is")
            .then_some(())
    });
    let status = control.project.ok(&["status"]);
    assert!(status.contains("takes no runs: its clock is 4"), "{status}");
    let doctor = control.project.symphony(&["doctor"]).stdout;
    assert!(
        doctor.contains("the worker of pool linux on h1 takes no runs: its clock is 4"),
        "{doctor}"
    );
    assert_eq!(control.run(&run).host, None);
    control.set_clock_ahead(0);
    let host_of = || control.run(&run).host;
    assert_eq!(until("the worker takes it", host_of).as_str(), "h1");
    assert!(
        host.log().contains("The worker takes runs again."),
        "{}",
        host.log()
    );
}

#[test]
fn a_host_without_its_hub_rests_and_goes_on_when_that_answers() {
    let mut control = Control::new("rests", &greeting());
    let mut hub = Daemon::of(&control.project.root);
    control.hand_hub(hub.address());
    let issues = ["One", "Two", "Three", "Four"].map(|title| control.project.add_issue(title));
    let runs = issues.map(|issue| control.claim_issue(&issue));
    let mut host = control.host("h1", 2);
    let is_not_prepared = |control: &Control, run| {
        let ended = control.until_ended(run);
        assert_eq!(ended.error.unwrap().class.name(), "not_prepared");
    };
    for run in &runs[..2] {
        is_not_prepared(&control, run);
    }
    let unprepared = |control: &Control| control.store.workers().unwrap()[0].worker.unprepared;
    until("the hub was asked again, in vain", || {
        (unprepared(&control) >= 2).then_some(())
    });
    let words = "takes no runs: its host could not prepare a run, or reach the hub,";
    let status = control.project.ok(&["status"]);
    assert!(status.contains(words), "{status}");
    let doctor = control.project.symphony(&["doctor"]);
    assert!(doctor.stdout.contains(words), "{doctor:#?}");
    let log = host.log();
    assert!(
        log.contains("the worker takes no runs: its host could not prepare"),
        "{log}"
    );
    assert!(log.contains(hub.address()), "it names the hub: {log}");
    for run in &runs[2..] {
        assert_eq!(control.run(run).host, None, "it stays in the pool");
    }
    // a worker that starts again tries one run, and rests
    let failures = unprepared(&control);
    host.kill_worker();
    host.begin(&[]);
    is_not_prepared(&control, &runs[2]);
    until("it goes on with what the last worker knew", || {
        (unprepared(&control) > failures).then_some(())
    });
    assert_eq!(control.run(&runs[3]).host, None, "it stays in the pool");
    hub.start();
    let ended = control.until_ended(&runs[3]);
    assert_eq!(ended.status.name(), "succeeded", "{ended:#?}");
    assert_eq!(unprepared(&control), 0);
    let log = host.log();
    assert!(log.contains("The worker takes runs again."), "{log}");
}

/// Returns what was handed over of the project, and its configuration with a secret that no host has.
fn lacking_a_secret(control: &Control) -> (HandedProject, Value) {
    let handed = control.store.handed_project(&control.id).unwrap().unwrap();
    let mut layers = handed.layers.clone();
    let secret = json!({ "env": { "NPM_TOKEN": { "secret": "NPM_TOKEN" } } });
    layers.as_array_mut().unwrap().push(secret);
    (handed, layers)
}

#[test]
fn a_host_without_a_projects_secret_ends_its_runs_at_once_and_says_which_one() {
    let mut control = Control::new("secret", &greeting());
    let (handed, layers) = lacking_a_secret(&control);
    let hub = handed.hub.as_deref();
    control
        .store
        .hand_project(&control.id, &layers, hub)
        .unwrap();
    let secrets = control.project.beside.join("secrets");
    std::fs::create_dir(&secrets).unwrap();
    let issue = control.project.add_issue("Say hello");
    let run = control.claim_issue(&issue);
    let more = json!({ "database": control.address, "worker": { "secrets_dir": secrets } });
    let host = control.host_with("h1", 1, &more);
    let ended = control.until_ended(&run);
    let error = ended.error.unwrap();
    assert_eq!(error.class.name(), "not_prepared");
    for words in ["host h1 could not start it", "`NPM_TOKEN`", "secrets_dir"] {
        assert!(error.message.contains(words), "{error:#?}");
    }
    let shown = control.project.issue(&issue);
    assert_eq!(shown["status"], "todo", "{shown:#}");
    assert_eq!(shown["total_runs"], 0, "{shown:#}");
    control.project.assert_sound();
    assert!(host.log().contains("`NPM_TOKEN`"), "{}", host.log());
    let unprepared = |control: &Control| control.store.workers().unwrap()[0].worker.unprepared;
    until("the host rests", || {
        (unprepared(&control) > 0).then_some(())
    });
    until("it says so", || {
        let log = host.log();
        log.contains("the worker takes no runs: its host could not prepare")
            .then_some(())
    });
    std::fs::write(secrets.join("NPM_TOKEN"), "of this host\n").unwrap();
    let second = control.project.add_issue("Say more");
    let next = control.claim_issue(&second);
    let ended = control.until_ended(&next);
    assert_eq!(ended.status.name(), "succeeded", "{ended:#?}");
    until("it rests no more", || {
        (unprepared(&control) == 0).then_some(())
    });
}

/// A run whose agent has ended while its hub is away, so that its exit handling waits.
struct PutOffRun {
    control: Control,
    hub: Daemon,
    host: Host,
    run: RunId,
    issue: String,
}

impl PutOffRun {
    fn new(name: &str) -> Self {
        let mut control = Control::new(name, &json!({}));
        let gate = control.project.beside.join("go");
        let wait = format!("while ! test -e {}; do sleep 0.1; done", gate.display());
        let turns = [bash(&wait), commit("hello.txt", "hello")];
        let waits = scenarios([scenario("waits", &json!({ "match_system": WORKER }), turns)]);
        let scenario = control.project.beside.join("scenario.json");
        std::fs::write(scenario, waits.to_string()).unwrap();
        let mut hub = Daemon::of(&control.project.root);
        hub.start();
        control.hand_hub(hub.address());
        let issue = control.project.add_issue("Say hello");
        let run = control.claim_issue(&issue);
        let host = control.host("h1", 1);
        until("the agent is at work", || {
            let log = host.run_file(&control, &run, "stream.ndjson");
            log.contains("while ! test").then_some(())
        });
        hub.stop();
        std::fs::write(gate, "").unwrap();
        let new = Self {
            control,
            hub,
            host,
            run,
            issue,
        };
        until("it is put off", || new.put_off());
        new
    }

    fn put_off(&self) -> Option<PutOff> {
        let store = &self.control.store;
        store.exit_handling(&self.run).unwrap()?.put_off
    }

    fn hand(&mut self, layers: &Value, hub: Option<&str>) {
        let Control { store, id, .. } = &mut self.control;
        store.hand_project(id, layers, hub).unwrap();
    }
}

#[test]
fn a_run_whose_result_waits_for_the_hub_stays_alive() {
    let mut waiting = PutOffRun::new("put_off");
    // meanwhile its host cannot even read the project
    let (handed, lacking) = lacking_a_secret(&waiting.control);
    let address = handed.hub.as_deref();
    waiting.hand(&lacking, address);
    until("it is put off for that", || {
        let problem = waiting.put_off()?.problem;
        problem.contains("NPM_TOKEN").then_some(())
    });
    waiting.hand(&handed.layers, address);
    let due_at = until("two waits are over", || {
        let put_off = waiting.put_off().filter(|put_off| put_off.tries >= 3);
        put_off.map(|put_off| put_off.due_at)
    });
    let PutOffRun {
        control,
        mut hub,
        run,
        host: _host,
        ..
    } = waiting;
    // nearly all of its 20 s: longer than the 9 s after which a run is silent, with a lease that is ten times as short
    let last = due_at.as_millisecond() - 4_000;
    while symphony_core::Timestamp::now().as_millisecond() < last {
        let status = control.project.ok(&["status"]);
        assert!(!status.contains("does not answer"), "{status}");
        std::thread::sleep(Duration::from_millis(500));
    }
    hub.start();
    let ended = control.until_ended(&run);
    assert_eq!(ended.status.name(), "succeeded", "{ended:#?}");
    let result = control.store.run_commits(&run).unwrap().result.unwrap();
    let files = control.project.git(&["ls-tree", "--name-only", &result]);
    assert!(files.contains("hello.txt"), "{files}");
}

#[test]
fn a_run_that_no_one_can_finish_ends_when_someone_asks_for_it() {
    let mut waiting = PutOffRun::new("unfinished");
    let (handed, lacking) = lacking_a_secret(&waiting.control);
    waiting.hand(&lacking, handed.hub.as_deref());
    let control = &waiting.control;
    let id = waiting.run.as_str();
    control.project.ok(&["runs", "cancel", id]);
    let ended = control.run(&waiting.run);
    assert_eq!(ended.status.name(), "cancelled", "{ended:#?}");
    let message = ended.error.unwrap().message;
    for words in ["host h1 could not hand in what it did", "NPM_TOKEN"] {
        assert!(message.contains(words), "{message}");
    }
    let shown = control.project.issue(&waiting.issue);
    assert_eq!(shown["status"], "todo", "{shown:#}");
}

#[test]
fn a_second_worker_of_one_name_leaves_the_runs_of_the_first_alone() {
    let (mut control, issue) = with_waiting_agent("twice");
    let mut first = control.host("h1", 1);
    let run = control.claim_issue(&issue);
    until_at_work(&control, &first, &run);
    let mut second = control.prepared_host("other", 2, &json!({ "database": control.address }));
    second.name = "h1".to_owned();
    second.begin(&[]);
    until("it says why it does nothing", || {
        let log = second.log();
        log.contains("the name `h1` is in use in pool `linux`")
            .then_some(())
    });
    let waits = control.project.add_issue("Say more");
    let waits = control.claim_issue(&waits);
    // the supervisor goes on without its worker, whose name the other one takes over once it is gone
    first.kill_worker();
    let taken = || control.run(&waits).host;
    assert_eq!(until("it takes a run", taken).as_str(), "h1");
    until("it says whose the other run is", || {
        let log = second.log();
        log.contains("was begun with another `--data-dir`")
            .then_some(())
    });
    assert!(control.run(&run).status.is_live());
    std::fs::write(control.project.beside.join("go"), "").unwrap();
    let ended = control.until_ended(&run);
    assert_eq!(ended.status.name(), "succeeded", "{ended:#?}");
    control.until_ended(&waits);
}

#[test]
fn a_supervisor_that_starts_while_the_database_is_away_waits_for_it() {
    let server = OwnServer::start();
    let mut control = Control::on(server.address("away"), &greeting());
    let issue = control.project.add_issue("Say hello");
    let host = control.idle_host("h1");
    let run = control.claim_issue(&issue);
    assert_eq!(control.take_for("h1").id, run);
    server.stop();
    let mut supervisor = host.supervise(&control, &run);
    until("the supervisor has found no server", || {
        let log = host.run_file(&control, &run, "supervisor.log");
        log.contains("goes on when the database can be read")
            .then_some(())
    });
    assert_eq!(supervisor.try_wait().unwrap(), None, "it waits");
    server.begin();
    control.reconnect();
    let ended = control.until_ended(&run);
    assert_eq!(ended.status.name(), "succeeded", "{ended:#?}");
    let status = until("the supervisor has ended", || {
        supervisor.try_wait().unwrap()
    });
    assert!(status.success(), "{status}");
}

#[test]
fn status_passes_by_what_is_at_the_hub_only() {
    let mut control = Control::new("passes", &greeting());
    let beside = control.project.beside.clone();
    let hub = beside.join("hub.git");
    let made = ["init", "-q", "--bare", hub.to_str().unwrap()];
    control.project.git(&made);
    let more = json!({ "pool": "linux", "hub": hub, "judge_enabled": false });
    control.project.configure_more(&more);
    control.project.add_issue("Say hello");
    let _host = control.host("h1", 1);
    control.tick();
    let run = control.runs().remove(0).id;
    let ended = control.until_ended(&run);
    assert_eq!(ended.status.name(), "succeeded", "{ended:#?}");
    let list = control.project.json(&["pr", "list"]);
    let head = text(&list["items"][0]["head_commit"]);
    // what git is asked is noted
    let calls = beside.join("calls");
    let note = format!("echo \"$@\" >> {}", calls.display());
    git_in_front(&mut control.project, &note);
    let asked = || std::fs::read_to_string(&calls).unwrap_or_default();
    let status = || {
        let status = control.project.symphony(&["status"]);
        assert_eq!(
            (status.code, status.stderr.as_str()),
            (0, ""),
            "{status:#?}"
        );
        assert!(status.stdout.contains("Say hello"), "{status:#?}");
    };
    status();
    assert!(!asked().contains(&head), "{}", asked());
    // once it is brought in, it is looked at
    control.tick();
    status();
    assert!(asked().contains(&head), "{}", asked());
}

#[test]
fn a_worker_refuses_a_database_that_is_a_file() {
    let project = Project::repository("project");
    let answer = project.symphony(&["worker", "--pool", "linux"]);
    assert_eq!(answer.code, 4, "{answer:#?}");
    assert!(
        answer
            .stderr
            .contains("needs a database that other hosts can reach"),
        "{answer:#?}"
    );
    assert!(answer.stderr.contains("postgres://"), "{answer:#?}");
}
