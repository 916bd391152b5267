//! Time-outs and killed supervisors, many times, with children that are hard to end: no process stays.

use serde_json::{Value, json};

use super::rounds;
use crate::support::{
    Project, WORKER, agents_of, bash, hang, is_there, kill, scenario, scenarios, supervisor_of,
    text, until,
};

/// Rounds in CI, of each kind.
const ROUNDS: usize = 10;
/// Runs at the same time.
const AT_ONCE: usize = 10;
/// Children of each agent, the shell that waits for them included.
const CHILDREN: usize = 6;

/// Time limits of the agents: what is enough for their children to begin on most machines, and then more.
const LIMITS_MS: [u64; 3] = [15_000, 60_000, 240_000];

/// A shell with a background child, one in a session of its own, one forked twice, one that ignores SIGTERM, and one that
/// stopped itself. Their numbers go to `pids.txt`.
const HARD_TO_END: &str = r#"
echo $$ >> pids.txt
sleep 3600 & echo $! >> pids.txt
setsid bash -c 'echo $$ >> pids.txt; exec sleep 3600' &
(setsid bash -c 'sleep 3600 & echo $! >> pids.txt' &)
bash -c 'trap "" TERM; echo $$ >> pids.txt; while :; do sleep 3600; done' &
bash -c 'echo $$ >> pids.txt; kill -STOP $$; sleep 3600' &
until [ "$(wc -l < pids.txt)" -eq 6 ]; do sleep 0.02; done
sleep 3600
"#;

fn project(config: &Value) -> Project {
    let when = json!({ "match_system": WORKER });
    let turns = [bash(HARD_TO_END), hang()];
    let mut whole = json!({ "max_concurrent_agents": AT_ONCE, "max_retry_backoff_ms": 300_000 });
    for (key, value) in config.as_object().unwrap() {
        whole[key] = value.clone();
    }
    Project::new(
        "a project",
        &scenarios([scenario("hangs", &when, turns)]),
        &whole,
    )
}

/// Starts a run on each of so many new issues, and waits until all their children are there; none when a time limit ended
/// one before.
fn start(project: &Project, count: usize) -> Option<Vec<(String, Vec<i32>)>> {
    for _ in 0..count {
        project.add_issue("Take for ever");
    }
    let tick = project.json(&["tick"]);
    let runs = tick["runs"].as_array().unwrap();
    assert_eq!(runs.len(), count, "{tick:#}");
    let started = runs.iter().map(|run| {
        let (id, issue) = (text(&run["id"]), text(&run["issue"]));
        let pids = until("the children of an agent", || {
            let path = project.worktree(&issue).join("pids.txt");
            let text = std::fs::read_to_string(path).unwrap_or_default();
            let pids: Vec<i32> = text.lines().filter_map(|line| line.parse().ok()).collect();
            let are_there = pids.len() == CHILDREN;
            (are_there || project.lock_is_free(&id)).then_some(are_there.then_some(pids))
        });
        Some((id, pids?))
    });
    started.collect()
}

/// Waits for the end of runs; returns how many processes they left.
fn left(project: &Project, runs: &[(String, Vec<i32>)], status: &str) -> usize {
    let mut left = 0;
    for (run, pids) in runs {
        let ended = until("the end of a run", || {
            let run = project.run(run);
            (run["ended_at"].is_string() && project.lock_is_free(run["id"].as_str()?))
                .then_some(run)
        });
        assert_eq!(ended["status"], status, "{ended:#}");
        left += agents_of(run).len();
        left += pids.iter().filter(|pid| is_there(**pid, run)).count();
        // its retry would be due in the middle of the next batch
        project.json(&["issue", "move", &text(&ended["issue"]), "cancelled"]);
    }
    left
}

fn batches(wanted: usize) -> impl Iterator<Item = usize> {
    (0..wanted)
        .step_by(AT_ONCE)
        .map(move |done| AT_ONCE.min(wanted - done))
}

#[test]
fn time_outs_leave_no_process() {
    let wanted = rounds(ROUNDS);
    let mut found = 0;
    for batch in batches(wanted) {
        let (project, runs) = LIMITS_MS
            .into_iter()
            .find_map(|limit_ms| {
                let project = project(&json!({ "turn_timeout_ms": limit_ms }));
                let runs = start(&project, batch)?;
                Some((project, runs))
            })
            .unwrap();
        found += left(&project, &runs, "timed_out");
    }
    println!("{wanted} time-outs with {CHILDREN} children each left {found} processes");
    assert_eq!(found, 0);
}

#[test]
fn killed_supervisors_leave_no_process() {
    let project = project(&json!({}));
    let wanted = rounds(ROUNDS);
    let mut found = 0;
    for batch in batches(wanted) {
        let runs = start(&project, batch).expect("there is time enough");
        for (run, _) in &runs {
            kill(supervisor_of(run).expect("the run has a supervisor"));
        }
        for (run, _) in &runs {
            until("the lock's release", || {
                project.lock_is_free(run).then_some(())
            });
        }
        project.json(&["tick"]);
        found += left(&project, &runs, "crashed");
    }
    println!("{wanted} killed supervisors with {CHILDREN} children each left {found} processes");
    assert_eq!(found, 0);
}
