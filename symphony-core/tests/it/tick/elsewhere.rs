//! Runs of other hosts: what a tick does to them, what they take, and what it says of them.

use std::collections::BTreeMap;

use symphony_core::agent::AgentType;
use symphony_core::placement::{Host, Liveness, Pool, Staff, Whereabouts};
use symphony_core::tick::{GatesState, LiveRun, ProjectView, Snapshot};

use super::support::{candidate, issue, live, plan, project, review, snapshot, started, view};

fn linux() -> Pool {
    Pool::parse("linux").unwrap()
}

fn queued(name: &str, on: u64, agent: AgentType) -> LiveRun {
    LiveRun {
        whereabouts: Whereabouts::Queued {
            pool: linux(),
            workers: 0,
        },
        ..live(name, Some(on), agent)
    }
}

fn begun(name: &str, on: u64, agent: AgentType, liveness: Liveness) -> LiveRun {
    LiveRun {
        whereabouts: Whereabouts::Begun {
            pool: linux(),
            host: Host::parse("build-7").unwrap(),
            liveness,
        },
        ..live(name, Some(on), agent)
    }
}

/// A snapshot whose project `a` has a pool, with so many workers of two slots each.
fn with_pool(workers: u32) -> Snapshot {
    let mut snapshot = snapshot();
    let with_pool = ProjectView {
        pool: Some(linux()),
        ..view()
    };
    snapshot.projects.insert(project("a"), with_pool);
    let staff = Staff {
        workers,
        slots: 2 * workers,
    };
    snapshot.staff = BTreeMap::from([(linux(), staff)]);
    snapshot
}

#[test]
fn only_a_lost_run_and_one_that_waits_in_vain_are_ended() {
    let worker = AgentType::Worker;
    let cancelled = |run: LiveRun| LiveRun {
        cancelled: true,
        ..run
    };
    let of_b = |run: LiveRun| LiveRun {
        project: project("b"),
        ..run
    };
    let alive = || begun("r1", 1, AgentType::Worker, Liveness::Alive);
    for (run, expected) in [
        (queued("r1", 1, worker.clone()), None),
        (
            cancelled(queued("r1", 1, worker.clone())),
            Some("withdraw r1"),
        ),
        // its project has no pool any more
        (of_b(queued("r1", 1, worker.clone())), Some("withdraw r1")),
        (alive(), None),
        // its host hears of it with the next beat
        (cancelled(alive()), None),
        (of_b(alive()), None),
        (begun("r1", 1, worker.clone(), Liveness::Silent), None),
        (
            begun("r1", 1, worker, Liveness::Lost),
            Some("end lost r1 on build-7"),
        ),
    ] {
        let mut snapshot = with_pool(1);
        snapshot.live = vec![run.clone()];
        let expected: Vec<&str> = expected.into_iter().collect();
        assert_eq!(plan(&snapshot), expected, "{run:?}");
    }
    let mut broken = with_pool(1);
    let problem = "no such key".to_owned();
    broken
        .projects
        .insert(project("a"), ProjectView::broken(problem));
    broken.live = vec![queued("r1", 1, AgentType::Worker)];
    assert_eq!(plan(&broken), [""; 0], "its pool is not known now");
}

#[test]
fn a_pause_ends_what_no_worker_has_begun_and_nothing_else() {
    let mut snapshot = with_pool(1);
    snapshot.paused = true;
    snapshot.live = vec![
        queued("r1", 1, AgentType::Worker),
        queued("r2", 2, AgentType::Gates),
        begun("r3", 3, AgentType::Worker, Liveness::Alive),
        begun("r4", 4, AgentType::Worker, Liveness::Silent),
        live("r5", Some(5), AgentType::Worker),
    ];
    assert_eq!(plan(&snapshot), ["withdraw r1", "withdraw r2"]);
}

#[test]
fn runs_of_other_hosts_take_none_of_this_hosts_slots() {
    let mut snapshot = with_pool(1);
    snapshot.slots.total = 1;
    snapshot.live = vec![
        begun("r1", 1, AgentType::Worker, Liveness::Alive),
        queued("r2", 2, AgentType::Worker),
        begun("r3", 3, AgentType::Gates, Liveness::Alive),
    ];
    snapshot.candidates = vec![candidate(4), candidate(5), candidate(6)];
    let mut of_b = candidate(7);
    of_b.project = project("b");
    let mut second = candidate(8);
    second.project = project("b");
    snapshot.candidates.extend([of_b, second]);
    assert_eq!(started(&snapshot), ["SYM-7", "SYM-4", "SYM-5", "SYM-6"]);

    // the limits of the project and of an agent type are for all hosts
    snapshot.candidates.truncate(3);
    let limited = ProjectView {
        pool: Some(linux()),
        max_concurrency: Some(3),
        ..view()
    };
    snapshot.projects.insert(project("a"), limited);
    assert_eq!(started(&snapshot), ["SYM-4"]);
    snapshot.projects = with_pool(1).projects;
    snapshot.slots.by_agent.insert(AgentType::Worker, 4);
    assert_eq!(started(&snapshot), ["SYM-4", "SYM-5"]);

    // neither do gates of other hosts wait for a slot here
    let mut snapshot = with_pool(1);
    snapshot.slots.gates = 0;
    let mut due = review(1);
    due.gates = GatesState::due();
    snapshot.reviews = vec![due];
    assert_eq!(plan(&snapshot)[0], "start gates SYM-1 #1");
}

#[test]
fn as_many_runs_wait_in_a_pool_as_its_workers_may_soon_take() {
    for (workers, slots, begun_already, waiting, expected) in [
        (0, 0, 0, 0, 16),
        (1, 2, 0, 10, 6),
        (1, 2, 2, 16, 0),
        (2, 4, 0, 16, 16),
        (1, 24, 0, 0, 24),
        (1, 24, 0, 16, 8),
        (1, 24, 5, 0, 19),
        (1, 24, 24, 0, 16),
    ] {
        let mut snapshot = with_pool(workers);
        snapshot.staff.insert(linux(), Staff { workers, slots });
        let wait = (0..waiting).map(|n| queued(&format!("r{n}"), 100 + n, AgentType::Worker));
        let at_work = (0..begun_already).map(|n| {
            begun(
                &format!("b{n}"),
                200 + n,
                AgentType::Worker,
                Liveness::Alive,
            )
        });
        snapshot.live = wait.chain(at_work).collect();
        snapshot.candidates = (1..=40).map(candidate).collect();
        let count = started(&snapshot).len();
        assert_eq!(
            count, expected,
            "{workers} workers, {slots} slots, {begun_already} begun, {waiting} waiting"
        );
        let max = usize::try_from(waiting).unwrap() + expected;
        let left = format!("wait SYM-40: {max} runs wait already for a worker of pool linux");
        assert!(plan(&snapshot).contains(&left), "{:#?}", plan(&snapshot));
    }
}

#[test]
fn a_reason_says_where_the_run_is() {
    let worker = AgentType::Worker;
    for (run, expected) in [
        (
            queued("r1", 1, worker.clone()),
            "run r1 waits for a worker of pool linux (none seen)",
        ),
        (
            begun("r1", 1, worker.clone(), Liveness::Alive),
            "run r1 is working on it on host build-7",
        ),
        (
            begun("r1", 1, worker, Liveness::Silent),
            "run r1: host build-7 does not answer, and may still come back with its work",
        ),
    ] {
        let mut snapshot = with_pool(0);
        snapshot.live = vec![run];
        snapshot.reviews = vec![review(1)];
        assert_eq!(plan(&snapshot), [format!("wait SYM-1: {expected}")]);
    }
}

#[test]
fn no_agent_goes_on_before_the_last_result_is_on_the_branch() {
    let mut snapshot = with_pool(1);
    let run = || super::support::run_id("r9");
    snapshot.candidates = vec![candidate(1), candidate(2)];
    snapshot.reviews = vec![review(3), review(4)];
    snapshot.unpromoted = BTreeMap::from([(issue(1), run()), (issue(3), run())]);
    let waits = "the result of run r9 is not on its branch yet: each tick tries to bring it in, and says what is in the way";
    assert_eq!(
        plan(&snapshot),
        [
            "start judge SYM-4 #1".to_owned(),
            "start worker SYM-2 #1".to_owned(),
            format!("wait SYM-3: {waits}"),
            format!("wait SYM-1: {waits}"),
        ]
    );
}
