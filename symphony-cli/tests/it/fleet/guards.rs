//! What each guard alone prevents: a small fleet, in which one thing goes wrong that nothing else would notice.
//!
//! `.ci/run guards` takes each guard out of a copy of the sources, by `symphony-cli/tests/guards/*.patch`, and demands that its test fails
//! with the problem that the patch names.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::faults::{Field, signal};
use super::namespaces::{Entered, enter};
use super::network::Link;
use super::placing::Queue;
use super::story::{EndOnDrop, Story, report};
use super::verdict::Zombie;
use super::watch::watch;
use crate::support::{
    agents_at_work, agents_of, bash, call, create_pr, git_commit, scenarios, supervisor_of,
    supervisors_at, turn, until, worker,
};

/// Two hosts and one issue, with a lease of a tenth.
const STORY: Story = Story {
    hosts: 2,
    slots: 1,
    issues: 1,
    placed_by: Queue::start,
    divisor: 10,
};
/// The issue.
const ISSUE: &str = "SYM-1";
/// How many sessions wait for the row of a run that they take back.
const TAKEN_BACK: &str = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'UPDATE run SET host%'";
/// How long two agents are left beside each other, so that the watch sees them.
const BESIDE: Duration = Duration::from_secs(2);
/// How long the issue may take when nothing is in its way any more.
const REST_MAX: Duration = Duration::from_mins(2);

/// The file for which agents wait.
fn gate(beside: &Path) -> std::path::PathBuf {
    beside.join("go")
}

fn note(then: &str) -> Value {
    bash(&format!(
        "echo $SYMPHONY_RUN_ID >> work-$(basename \"$PWD\").txt; {then}"
    ))
}

fn clock() -> Value {
    bash("echo clock $(date +%s%3N)")
}

fn hand_in() -> [Value; 2] {
    [bash(&git_commit("-A", "work")), create_pr("Work")]
}

/// Agents that wait for a file outside of their worktree.
fn waiting(beside: &Path) -> Value {
    let wait = note(&format!(
        "while ! test -e {}; do sleep 0.1; done",
        gate(beside).display()
    ));
    let [commit, create_pr] = hand_in();
    scenarios([worker([clock(), wait, commit, create_pr])])
}

/// Agents that comment on their issue after a few seconds.
fn commenting(_beside: &Path) -> Value {
    let comment = turn(call(
        "mcp__symphony__add_comment",
        json!({ "content": "Half of it is done." }),
    ));
    let [commit, create_pr] = hand_in();
    scenarios([worker([
        clock(),
        note("sleep 5"),
        comment,
        commit,
        create_pr,
    ])])
}

/// Plays the story with something that goes wrong, which returns what it saw itself. Returns all problems.
fn problems(
    agents: impl FnOnce(&Path) -> Value,
    act: impl FnOnce(&Field<'_>) -> Vec<String>,
) -> Vec<String> {
    STORY.on_stage(agents, |field| {
        let is_over = AtomicBool::new(false);
        let (mut problems, beside) = std::thread::scope(|scope| {
            let watched = scope.spawn(|| watch(|| is_over.load(Ordering::SeqCst)));
            let _end = EndOnDrop(&is_over);
            let at_work = field.control.begin(scope);
            let problems = act(field);
            field.until_done(REST_MAX);
            drop(at_work);
            is_over.store(true, Ordering::SeqCst);
            (problems, watched.join().unwrap())
        });
        let mut found = field.found();
        found.beside = beside;
        report(&found);
        problems.extend(found.broken());
        problems
    })
}

impl Field<'_> {
    /// Waits for an agent at work; returns its host and its run.
    fn at_work(&self) -> (usize, String) {
        until("an agent at work", || {
            (0..self.hosts.len()).find_map(|host| {
                let supervisors = supervisors_at(&self.host(host).home);
                let (_, run) = supervisors
                    .into_iter()
                    .find(|(_, run)| !agents_of(run).is_empty())?;
                Some((host, run))
            })
        })
    }

    /// Waits until the agent of a run is past its first call, whose answer is in the log of its host.
    fn until_it_waits(&self, host: usize, run: &str) {
        until("the agent waits", || {
            let logs = self.host(host).run_files("stream.ndjson");
            let log = logs.into_iter().find(|(of, _)| of == run)?.1;
            log.contains("SYMPHONY_RUN_ID").then_some(())
        });
    }

    /// Waits until the control has made some more ticks.
    fn tick_more(&self, count: usize) {
        let before = self.control.ticks.load(Ordering::SeqCst);
        until("the control ticks", || {
            let ticks = self.control.ticks.load(Ordering::SeqCst);
            (ticks >= before + count).then_some(())
        });
    }

    fn open_the_gate(&self) {
        std::fs::write(gate(&self.control.project.beside), "").unwrap();
    }

    /// Waits until another run than this one has the issue.
    fn until_succeeded_by_another(&self, run: &str) {
        let other =
            format!("SELECT count(*) FROM run WHERE id <> '{run}' AND begun_at IS NOT NULL");
        until("another run has the issue", || {
            (self.value(&other) != "0").then_some(())
        });
    }

    /// Cuts a host off from something until it was done. It may lose runs.
    fn while_cut_off<T>(&self, host: usize, links: &[Link], act: impl FnOnce() -> T) -> T {
        let set = |is_up| {
            for link in links {
                self.host(host).network.set(*link, is_up);
            }
        };
        let name = self.host(host).name.clone();
        self.record().faulty_hosts.insert(name);
        set(false);
        let done = act();
        set(true);
        done
    }

    /// Asks the database for one value.
    fn value(&self, sql: &str) -> String {
        self.server.rows(sql)[0][0].clone()
    }
}

/// The host of an agent that works on hears nothing from the database, and another host gets the issue.
#[test]
fn a_host_that_hears_nothing_ends_its_agent_before_another_one_begins() {
    if enter("fleet::guards::a_host_that_hears_nothing_ends_its_agent_before_another_one_begins")
        != Entered::Here
    {
        return;
    }
    let problems = problems(waiting, |field| {
        let (host, run) = field.at_work();
        field.until_it_waits(host, &run);
        field.while_cut_off(host, &[Link::Database], || {
            until("an agent of another run is at work", || {
                let at_work = agents_at_work();
                at_work.keys().any(|other| *other != run).then_some(())
            });
            std::thread::sleep(BESIDE);
        });
        field.open_the_gate();
        Vec::new()
    });
    assert!(problems.is_empty(), "{problems:#?}");
}

/// An agent calls a tool while its supervisor sleeps, which carries the call out when another run has the issue.
#[test]
fn a_call_that_slept_is_refused_when_another_run_has_the_issue() {
    if enter("fleet::guards::a_call_that_slept_is_refused_when_another_run_has_the_issue")
        != Entered::Here
    {
        return;
    }
    let problems = problems(commenting, |field| {
        let (host, run) = field.at_work();
        let supervisor = supervisor_of(&run).unwrap();
        field.until_it_waits(host, &run);
        let name = field.host(host).name.clone();
        field.record().faulty_hosts.insert(name);
        field.record().stopped.insert(run.clone());
        field.record().expected_zombies.insert(Zombie::Supervisor);
        signal(supervisor, Signal::STOP);
        field.until_succeeded_by_another(&run);
        signal(supervisor, Signal::CONT);
        let refused = format!(
            "SELECT count(*) FROM event WHERE run = '{run}' AND kind IN ('write_refused', 'comment_added')"
        );
        until("the call is carried out or refused", || {
            (field.value(&refused) != "0").then_some(())
        });
        Vec::new()
    });
    assert!(problems.is_empty(), "{problems:#?}");
}

/// A beat is under way while the control has found its run lost, and arrives before the control takes the run away.
#[test]
fn a_run_that_beat_since_it_was_found_lost_stays_with_its_host() {
    if enter("fleet::guards::a_run_that_beat_since_it_was_found_lost_stays_with_its_host")
        != Entered::Here
    {
        return;
    }
    let problems = problems(waiting, |field| {
        let (host, run) = field.at_work();
        field.until_it_waits(host, &run);
        let has_it = field.while_cut_off(host, &Link::ALL, || {
            let beat = field.server.begin_beat(&run);
            until("the control takes the run away", || {
                (field.value(TAKEN_BACK) != "0").then_some(())
            });
            beat.arrive();
            field.tick_more(2);
            field.value(&format!("SELECT host FROM run WHERE id = '{run}'"))
        });
        field.open_the_gate();
        let name = field.host(host).name.clone();
        if has_it != name {
            return vec![format!(
                "run {run} was taken away from {name}, which had been heard from"
            )];
        }
        Vec::new()
    });
    assert!(problems.is_empty(), "{problems:#?}");
}

/// A person commits to the branch of an issue while a run of another host works on it.
#[test]
fn a_branch_that_was_moved_by_hand_is_not_replaced_by_a_result() {
    if enter("fleet::guards::a_branch_that_was_moved_by_hand_is_not_replaced_by_a_result")
        != Entered::Here
    {
        return;
    }
    let problems = problems(waiting, |field| {
        let (host, run) = field.at_work();
        field.until_it_waits(host, &run);
        let project = &field.control.project;
        let branch = format!("symphony/{ISSUE}");
        let own = project.git(&["commit-tree", "main^{tree}", "-p", "main", "-m", "by hand"]);
        project.git(&["branch", &branch, &own]);
        field.open_the_gate();
        let ended = format!("SELECT status FROM run WHERE id = '{run}'");
        until("the run has ended", || {
            (field.value(&ended) == "succeeded").then_some(())
        });
        field.tick_more(3);
        let is_there = project.git(&["for-each-ref", "--contains", &own, "refs/heads/"]);
        if is_there.is_empty() {
            return vec![format!("the commit of a person on {branch} was replaced")];
        }
        // the person takes the commit elsewhere, and the result is brought in
        project.git(&["branch", "-m", &branch, "by-hand"]);
        Vec::new()
    });
    assert!(problems.is_empty(), "{problems:#?}");
}
