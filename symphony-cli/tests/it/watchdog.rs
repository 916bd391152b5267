//! What makes no progress is ended: a stopped supervisor, a stuck tick; what only looks so is left alone.

use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use symphony_runner::watchdog::read_record;

use crate::support::{
    Project, WORKER, agents_of, bash, git_in_front, hang, scenario, scenarios, supervisor_of, text,
    until,
};

/// An agent that leaves work, stops its own supervisor, and is silent from then on.
const STOP_SUPERVISOR: &str =
    "echo work > work.txt && kill -STOP $(cut -d ' ' -f 4 /proc/$PPID/stat)";

/// A project whose first agent stops its supervisor. Time limits are short.
fn project(command: &str) -> Project {
    let when = json!({ "match_system": WORKER });
    let project = Project::new(
        "a project",
        &scenarios([scenario("stops", &when, [bash(command), hang()])]),
        &json!({
            "turn_timeout_ms": 2_000,
            "watchdog": { "grace_ms": 1_000 },
            "max_retry_backoff_ms": 600_000,
        }),
    );
    project.add_issue("Stop");
    project
}

fn is_stopped(run: &str) -> bool {
    let stat = supervisor_of(run)
        .and_then(|pid| std::fs::read_to_string(format!("/proc/{pid}/stat")).ok());
    stat.is_some_and(|stat| {
        stat.rsplit_once(')')
            .is_some_and(|(_, rest)| rest.starts_with(" T"))
    })
}

fn start_stopped(project: &Project) -> String {
    let run = project.tick_start();
    until("the stop of the supervisor", || {
        is_stopped(&run).then_some(())
    });
    run
}

/// The names of what a tick does.
fn actions(tick: &Value) -> Vec<String> {
    let actions = tick["actions"].as_array().unwrap();
    actions
        .iter()
        .map(|action| text(&action["action"]))
        .collect()
}

fn assert_ended_as_stuck(project: &Project, run: &str) {
    let ended = until("the end of the run", || {
        let found = project.run(run);
        (found["status"] != "running" && project.lock_is_free(run)).then_some(found)
    });
    assert_eq!(ended["status"], "crashed", "{ended:#}");
    let message = text(&ended["error"]["message"]);
    let seconds = message
        .strip_prefix("its supervisor did not get past the agent's work for ")
        .and_then(|rest| rest.strip_suffix(" s and was ended"));
    assert!(
        seconds.is_some_and(|n| n.parse::<u64>().is_ok_and(|n| n >= 2)),
        "{message}"
    );
    assert_eq!(agents_of(run), [""; 0]);
    assert_eq!(supervisor_of(run), None);
    // its work is kept
    assert_eq!(project.git(&["show", "symphony/SYM-1:work.txt"]), "work");
    let issue = project.issue("SYM-1");
    assert_eq!(
        json!([issue["status"], issue["consecutive_failures"]]),
        json!(["todo", 1])
    );
    until("the end of all processes", || {
        project.processes().is_empty().then_some(())
    });
    project.assert_sound();
}

#[test]
fn a_supervisor_that_its_agent_stopped_is_ended_by_the_second_tick_that_finds_it_late() {
    let project = project(STOP_SUPERVISOR);
    let run = start_stopped(&project);
    let mut seen = Vec::new();
    until("the tick that ends the supervisor", || {
        let tick = project.json(&["tick"]);
        seen.extend(actions(&tick));
        seen.contains(&"end_stuck".to_owned()).then_some(())
    });
    let suspected = seen.iter().filter(|action| *action == "suspect").count();
    assert!(suspected > 0 && seen.len() == suspected + 1, "{seen:?}");
    assert_ended_as_stuck(&project, &run);
}

#[test]
fn who_waits_for_a_run_does_not_wait_for_a_stopped_supervisor() {
    let project = project(STOP_SUPERVISOR);
    let runs = project.tick_wait();
    let run = text(&runs[0]["id"]);
    assert_eq!(runs[0]["status"], "crashed", "{runs:#?}");
    assert_ended_as_stuck(&project, &run);
}

#[test]
fn a_person_ends_a_run_whose_supervisor_does_not_answer() {
    let project = project(STOP_SUPERVISOR);
    project.configure_more(&json!({ "turn_timeout_ms": 600_000 }));
    let run = start_stopped(&project);
    let cancelled = project.json(&["runs", "cancel", "--force", "SYM-1"]);
    assert_eq!(
        json!([
            cancelled["id"],
            cancelled["status"],
            cancelled["error"]["message"]
        ]),
        json!([
            run,
            "cancelled",
            "ended by a person; the supervisor had not answered"
        ])
    );
    assert_eq!(agents_of(&run), [""; 0]);
    assert_eq!(supervisor_of(&run), None);
    assert_eq!(project.git(&["show", "symphony/SYM-1:work.txt"]), "work");
    let issue = project.issue("SYM-1");
    assert_eq!(
        json!([issue["status"], issue["consecutive_failures"]]),
        json!(["todo", 0])
    );
    until("the end of all processes", || {
        project.processes().is_empty().then_some(())
    });
    project.assert_sound();
}

#[test]
fn force_leaves_a_supervisor_that_answers_its_own_end() {
    let project = project("echo work > work.txt");
    let run = project.tick_start();
    until("the agent's work", || {
        project.run_log_has(&run, "[tool_result]").then_some(())
    });
    let cancelled = project.json(&["runs", "cancel", "--force", "SYM-1"]);
    assert_eq!(
        cancelled["error"]["message"], "ended by a person",
        "{cancelled:#}"
    );
}

/// Writes over the record in the lock file of a run, as its agent could.
fn forge(project: &Project, run: &str, record: &Value) {
    let path = project.run_folder(run).join("lock");
    let mut file = std::fs::File::options().write(true).open(path).unwrap();
    writeln!(file, "{:<511}", record.to_string()).unwrap();
}

#[test]
fn a_record_of_another_boot_or_from_the_future_is_believed_no_longer_than_none() {
    let project = project("echo work > work.txt");
    let patient = |watchdog: Value| {
        project.configure_more(&json!({ "turn_timeout_ms": 600_000, "watchdog": watchdog }));
    };
    patient(json!({ "grace_ms": 1_000 }));
    let run = project.tick_start();
    until("the agent's work", || {
        project.run_log_has(&run, "[tool_result]").then_some(())
    });
    let record = read_record(&project.run_folder(&run).join("lock")).unwrap();
    let mut rebooted = serde_json::to_value(&record).unwrap();
    rebooted["begun"] = json!({ "boot": "another", "at_ms": 0 });
    let mut future = serde_json::to_value(&record).unwrap();
    future["begun"]["at_ms"] = json!(u64::MAX);
    for forged in [rebooted, future] {
        forge(&project, &run, &forged);
        assert_eq!(actions(&project.json(&["tick"])), ["suspect"]);
        let begun = Instant::now();
        until("more than the grace", || {
            (begun.elapsed() > Duration::from_millis(1_500)).then_some(())
        });
        assert_eq!(actions(&project.json(&["tick"])), ["suspect"]);
        assert_eq!(project.run(&run)["status"], "running");
        assert!(!project.lock_is_free(&run));
    }
    // nothing can be read: that is believed as long as a step takes
    patient(json!({ "grace_ms": 1_000, "step_timeout_ms": 1_000 }));
    until("the end of a run that records nothing", || {
        let tick = project.json(&["tick"]);
        actions(&tick)
            .contains(&"end_stuck".to_owned())
            .then_some(())
    });
    let ended = until("the end of the run", || {
        let found = project.run(&run);
        (found["status"] != "running" && project.lock_is_free(&run)).then_some(found)
    });
    let message = text(&ended["error"]["message"]);
    assert!(
        message.starts_with("its supervisor recorded no step for "),
        "{message}"
    );
    assert_eq!(agents_of(&run), [""; 0]);
}

/// A project whose git hangs while a file is there.
struct HangingGit {
    project: Project,
    flag: std::path::PathBuf,
}

impl HangingGit {
    fn new() -> Self {
        let mut project = project("true");
        project.configure_more(&json!({
            "watchdog": { "grace_ms": 1_000, "tick_timeout_ms": 1_000 },
        }));
        let flag = project.beside.join("git hangs");
        let hang = format!("[ -e '{}' ] && exec sleep 3600", flag.display());
        git_in_front(&mut project, &hang);
        Self { project, flag }
    }

    /// Starts a tick that hangs; returns when its step is past the limit.
    fn stuck_tick(&self) -> Child {
        std::fs::write(&self.flag, "").unwrap();
        let mut tick = self.project.command(&["tick"]);
        tick.stdout(Stdio::null()).stderr(Stdio::null());
        let child = tick.spawn().unwrap();
        let lock = self.project.root.join(".symphony/symphony.tick.lock");
        until("the turn of the tick", || {
            let notes = std::fs::read_to_string(&lock).unwrap_or_default();
            let record: Value = serde_json::from_str(notes.lines().nth(1)?).ok()?;
            (record["pid"] == json!(child.id())).then_some(())
        });
        until("a tick that is reported", || {
            let answer = self.project.symphony(&["tick", "--dry-run", "--json"]);
            (answer.code == 5).then_some(())
        });
        child
    }
}

#[test]
fn a_tick_that_is_stuck_is_reported_by_the_others_and_then_ended() {
    let hanging = HangingGit::new();
    let project = &hanging.project;
    let mut stuck = hanging.stuck_tick();
    let pid = stuck.id();
    let expected = format!(
        "the tick of process {pid} has been stuck at reading the state of the projects for "
    );
    std::fs::remove_file(&hanging.flag).unwrap();

    let status = project.json(&["status"]);
    assert_eq!(
        json!([status["stuck_tick"]["pid"], status["stuck_tick"]["step"]]),
        json!([pid, "observe"]),
        "{status:#}"
    );
    assert!(project.ok(&["status"]).contains(&expected));
    let inbox = project.json(&["inbox"]);
    let item = &inbox["items"][0];
    assert_eq!(item["kind"], "stuck", "{inbox:#}");
    assert!(
        text(&item["text"]).starts_with(&format!("the tick of process {pid} did not get past "))
    );

    // a look only looks
    let look = project.symphony(&["tick", "--dry-run"]);
    assert_eq!(
        (look.code, look.stderr.contains(&expected)),
        (5, true),
        "{look:#?}"
    );
    assert_eq!(stuck.try_wait().unwrap(), None);

    let said = until("the tick that goes on", || {
        let answer = project.symphony(&["tick"]);
        if answer.code == 5 {
            assert!(answer.stderr.contains(&expected), "{answer:#?}");
            return None;
        }
        Some(answer)
    });
    assert_eq!(said.code, 0, "{said:#?}");
    let line = format!(
        "the tick of process {pid} did not get past reading the state of the projects for "
    );
    assert!(
        said.stdout.contains(&line) && said.stdout.contains("started run"),
        "{said:#?}"
    );
    assert_eq!(stuck.wait().unwrap().signal(), Some(9));
    assert_eq!(project.json(&["status"])["stuck_tick"], Value::Null);
    assert_eq!(project.json(&["inbox"])["items"], json!([]));
    let left = project.processes();
    assert!(
        !left.iter().any(|line| line.contains("sleep")),
        "its git is gone: {left:?}"
    );
}

#[test]
fn a_process_that_does_not_have_the_turn_is_not_ended_whatever_is_recorded() {
    let hanging = HangingGit::new();
    let project = &hanging.project;
    let mut stuck = hanging.stuck_tick();
    let mut innocent = project.program("sleep").arg("3600").spawn().unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", innocent.id())).unwrap();
    let start_time: u64 = stat
        .rsplit_once(')')
        .unwrap()
        .1
        .split_whitespace()
        .nth(19)
        .unwrap()
        .parse()
        .unwrap();
    let path = project.root.join(".symphony/symphony.tick.lock");
    let notes = std::fs::read_to_string(&path).unwrap();
    let mut record: Value = serde_json::from_str(notes.lines().nth(1).unwrap()).unwrap();
    record["pid"] = json!(innocent.id());
    record["start_time"] = json!(start_time);
    std::fs::write(&path, format!("\n{record}\n")).unwrap();
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(3) {
        assert_eq!(project.symphony(&["tick"]).code, 5);
    }
    assert_eq!(innocent.try_wait().unwrap(), None);
    assert_eq!(stuck.try_wait().unwrap(), None);
    for child in [&mut innocent, &mut stuck] {
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

#[test]
fn a_supervisor_that_goes_on_after_a_suspicion_is_left_alone() {
    let project = project("echo work > work.txt");
    let run = project.tick_start();
    until("the agent's work", || {
        project.run_log_has(&run, "[tool_result]").then_some(())
    });
    let pid = supervisor_of(&run).expect("it lives");
    let signal = |signal| kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
    signal(Signal::STOP);
    until("a suspicion", || {
        let tick = project.json(&["tick"]);
        (actions(&tick) == ["suspect"]).then_some(())
    });
    signal(Signal::CONT);
    let ended = until("the end of the run", || {
        let found = project.run(&run);
        (found["status"] != "running" && project.lock_is_free(&run)).then_some(found)
    });
    // its own time limit ends it, and nobody else
    assert_eq!(ended["status"], "timed_out", "{ended:#}");
}

/// Whoever dies in the middle of ending what is stuck, the next command goes on.
#[cfg(feature = "failpoints")]
mod deaths {
    use symphony_workspace::Failpoint;

    use super::*;
    use crate::deaths::{CANCEL, Deaths, TICK};

    #[test]
    fn a_tick_that_dies_while_it_ends_a_supervisor_is_followed_by_another_one() {
        for row in [
            &[(Failpoint::WatchdogNoted, TICK)] as crate::deaths::Row,
            &[(Failpoint::WatchdogKilled, TICK)],
        ] {
            let mut project = project(STOP_SUPERVISOR);
            let run = start_stopped(&project);
            let deaths = Deaths::arm(&mut project, row);
            until("the death, and the repair", || {
                deaths.give(&project, &["tick"]).unwrap();
                (project.run(&run)["status"] == "crashed").then_some(())
            });
            deaths.check().unwrap();
            assert_ended_as_stuck(&project, &run);
        }
    }

    #[test]
    fn a_person_who_forces_the_end_may_die_in_the_middle() {
        let mut project = project(STOP_SUPERVISOR);
        project.configure_more(&json!({ "turn_timeout_ms": 600_000 }));
        let run = start_stopped(&project);
        let deaths = Deaths::arm(&mut project, &[(Failpoint::WatchdogKilled, CANCEL)]);
        assert!(
            deaths
                .give(&project, &["runs", "cancel", "--force", "SYM-1"])
                .unwrap()
        );
        deaths.check().unwrap();
        project.ok(&["tick"]);
        let ended = until("the exit handling", || {
            let found = project.run(&run);
            (found["status"] != "running" && project.lock_is_free(&run)).then_some(found)
        });
        assert_eq!(ended["status"], "cancelled", "{ended:#}");
        assert_eq!(project.issue("SYM-1")["consecutive_failures"], 0);
    }

    #[test]
    fn a_tick_that_dies_after_it_ended_another_one_has_taken_nothing_with_it() {
        let mut hanging = HangingGit::new();
        let mut stuck = hanging.stuck_tick();
        std::fs::remove_file(&hanging.flag).unwrap();
        let deaths = Deaths::arm(
            &mut hanging.project,
            &[(Failpoint::WatchdogTickKilled, TICK)],
        );
        until("the death of the tick that ends the other one", || {
            drop(hanging.project.command(&["tick"]).output().unwrap());
            (deaths.count() == 1).then_some(())
        });
        deaths.check().unwrap();
        stuck.wait().unwrap();
        assert!(hanging.project.ok(&["tick"]).contains("started run"));
    }
}
