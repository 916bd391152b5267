//! Simulated weeks: the real store, plan, claims and ends of runs; only processes, git and the clock are replaced.
//!
//! One seed is one course of events: agents that succeed, fail, hang, lie and call after their end, ticks that crash
//! before and after each thing they do, supervisors that are killed, clocks that jump, providers that are down, items
//! whose requests always fail, disks that are full, people who change their minds, phases that are claimed, judged and
//! relabelled, a project that is set up, scanned and triaged by agents of its own. After each tick the cheap part of the audit and the rules about locks
//! and processes are checked, now and then the whole audit. Then the faults stop and everything has to end.
//!
//! `SYMPHONY_SIMULATION_TICKS` and `SYMPHONY_SIMULATION_SEED` make it longer and other; a failure prints both, with what
//! happened last.

mod agent;
mod course;
mod effects;
mod machine;
mod outage;
mod person;
mod phases;
mod poison;
mod project_agents;
mod random;
mod stage;
mod supervision;
mod watchdog;

use course::Course;
use stage::Trouble;

/// Ticks of a simulation in the tests of every change; CI and `just soak` make more.
const TICKS: u64 = 2_000;
/// The seed when none is given.
const SEED: u64 = 20_251_123;
/// Ticks within which everything has ended once the faults are over: days of simulated time, minutes of it per issue.
const DRAIN_TICKS_MAX: u64 = 4_000;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| {
        text.parse()
            .unwrap_or_else(|_| panic!("{name} is `{text}`, expected a number"))
    })
}

#[test]
fn whatever_happens_the_invariants_hold_and_then_everything_ends() {
    let ticks = number("SYMPHONY_SIMULATION_TICKS", TICKS);
    let mut course = Course::new(number("SYMPHONY_SIMULATION_SEED", SEED), Trouble::Wild);
    for _ in 0..ticks {
        course.step();
    }
    course.full_audit();
    let summary = course.summary();
    println!("{ticks} ticks: {summary:?}");
    // a course in which these never happened would prove nothing
    for what in [
        "merged",
        "breaker opened",
        "held",
        "probed",
        "poisonous run",
        "fault of an item",
        "tick crashed",
        "supervisor killed",
        "supervisor stopped",
        "stuck supervisor ended",
        "rebooted",
        "crash finished",
        "sub-tasks ended",
        "gate red",
        "verdict refused",
        "late call refused",
        "disk full",
        "clock jumped",
        "stale plan",
        "claim refused",
        "empty claim refused",
        "claim accepted",
        "claim awaits its judge",
        "claim never settled",
        "claim of another phase refused",
        "phase approved",
        "phase rejected",
        "phase verdict refused",
        "phase passed",
        "a person decided on a phase",
        "label changed",
        "project set up",
        "set-up failed",
        "set-up restarted",
        "scanner ended",
        "background research ended",
        "issue found",
        "twin refused",
        "issue triaged",
        "verdict of an outsider refused",
    ] {
        // a short course, as on a slower engine, need not meet with all of it
        let is_met = ticks < TICKS || summary.contains_key(what);
        assert!(is_met, "no `{what}` in {summary:?}");
    }
    course.calm();
    let needed = course.drain(DRAIN_TICKS_MAX);
    course.full_audit();
    println!("drained within {needed} ticks");
}

#[test]
fn one_seed_is_one_course() {
    let play = |seed| {
        let mut course = Course::new(seed, Trouble::Wild);
        for _ in 0..150 {
            course.step();
        }
        (course.summary().clone(), course.history())
    };
    assert_eq!(play(7), play(7));
    assert_ne!(play(7).1, play(8).1);
}
