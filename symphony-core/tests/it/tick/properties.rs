//! What holds for every snapshot (I1, I6, I7, I16, L1, L5).

use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use symphony_core::agent::AgentType;
use symphony_core::exit_handling::PutOff;
use symphony_core::id::ProjectId;
use symphony_core::issue::{BreakerTarget, Priority, Size};
use symphony_core::outside::BaseView;
use symphony_core::project::WizardState;
use symphony_core::retry::RetryKind;
use symphony_core::run::RunTarget;
use symphony_core::tick::{
    AcceptedPhase, Action, AskedModels, Candidate, CleanUp, DueRetry, GatesState, Hold, HoldScope,
    IntakeCandidate, LiveRun, LockState, NamedProviders, ProjectAgents, ProjectView, Reason,
    ReviewCandidate, Schedule, SlotLimits, Snapshot, SplitIssue, SubtasksOutcome, plan_tick,
};

use super::support::{
    NOW, at, candidate, counts, delivery_review, hold, issue, live, phase, project, review, run_id,
    view,
};

const PROJECTS: [&str; 3] = ["a", "b", "c"];

fn projects() -> impl Strategy<Value = ProjectId> {
    select(PROJECTS.to_vec()).prop_map(project)
}

fn times() -> impl Strategy<Value = i64> {
    NOW - 400..NOW + 400
}

fn agents() -> impl Strategy<Value = AgentType> {
    select(vec![
        AgentType::Worker,
        AgentType::Judge,
        AgentType::Planner,
        AgentType::Researcher,
        AgentType::Scanner,
    ])
}

fn views() -> impl Strategy<Value = ProjectView> {
    (
        option::of(0_u32..4),
        1_u32..6,
        (any::<[bool; 5]>(), project_agents()),
        select(vec![Ok("claude-cli"), Ok("codex-cli"), Err("no provider")]),
        option::of(0_u32..3),
        option::weighted(0.05, Just("bad".to_owned())),
    )
        .prop_map(
            |(
                max_concurrency,
                max_retries,
                (switches, agents),
                provider,
                max_open_reviews,
                broken,
            )| {
                let [judge, planner, researcher, migration, to_todo] = switches;
                ProjectView {
                    max_concurrency,
                    max_retries,
                    breaker_target: if to_todo {
                        BreakerTarget::Todo
                    } else {
                        BreakerTarget::Backlog
                    },
                    provider: provider.map(str::to_owned).map_err(str::to_owned),
                    named_providers: NamedProviders::default(),
                    models: AskedModels::default(),
                    judge_enabled: judge,
                    auto_done: judge,
                    planner_enabled: planner,
                    researcher_enabled: researcher,
                    migration_mode: migration,
                    max_open_reviews,
                    open_reviews: 1,
                    agents,
                    broken,
                    ..view()
                }
            },
        )
}

fn project_agents() -> impl Strategy<Value = ProjectAgents> {
    (
        any::<[bool; 4]>(),
        select(WizardState::ALL.to_vec()),
        prop::bool::weighted(0.1),
        0_u32..12,
        option::of(times()),
        option::of(times()),
    )
        .prop_map(
            |(switches, wizard, wizard_enabled, backlog, scan, research)| {
                let [intake, scanner, researcher, has_todo] = switches;
                ProjectAgents {
                    wizard_enabled,
                    intake_enabled: intake,
                    scanner_enabled: scanner,
                    background_research: researcher,
                    idle_interval_ms: 200_000,
                    idle_since: None,
                    wizard,
                    has_todo,
                    backlog,
                    last_scan: scan.map(at),
                    last_research: research.map(at),
                }
            },
        )
}

fn intake() -> impl Strategy<Value = IntakeCandidate> {
    (70_u64..90, projects(), select(Priority::ALL.to_vec())).prop_map(
        |(number, project, priority)| IntakeCandidate {
            issue: issue(number),
            project,
            priority,
            created_at: at(0),
        },
    )
}

fn candidates() -> impl Strategy<Value = Candidate> {
    (
        1_u64..40,
        projects(),
        option::of(select(vec![
            "ready", "research", "grooming", "spike", "gone",
        ])),
        select(Priority::ALL.to_vec()),
        option::of(select(Size::ALL.to_vec())),
        any::<[bool; 2]>(),
        0_i64..4,
        (0_u32..3, 0_u32..7),
        option::of((select(RetryKind::ALL.to_vec()), times())),
        vec(40_u64..50, 0..2),
    )
        .prop_map(
            |(number, project, label, priority, size, flags, born, runs, retry, waits_for)| {
                Candidate {
                    project,
                    phase: label.map(phase),
                    priority,
                    size,
                    needs_planning: flags[0],
                    has_subtasks: flags[1],
                    created_at: at(born),
                    waits_for: waits_for.into_iter().map(issue).collect(),
                    counts: counts(runs.0, runs.1),
                    retry: retry.map(|(kind, due_at)| DueRetry {
                        kind,
                        due_at: at(due_at),
                        attempt: 1,
                    }),
                    ..candidate(number)
                }
            },
        )
}

fn reviews() -> impl Strategy<Value = ReviewCandidate> {
    (
        20_u64..60,
        projects(),
        select(Priority::ALL.to_vec()),
        any::<[bool; 3]>(),
        option::of(times()),
        0_u32..7,
    )
        .prop_map(
            |(number, project, priority, flags, judged, runs)| ReviewCandidate {
                project,
                priority,
                gates: if flags[0] || !flags[2] {
                    GatesState::Verified
                } else {
                    GatesState::due()
                },
                has_verdict: flags[1],
                last_judged_at: judged.map(at),
                counts: counts(0, runs),
                ..if flags[2] {
                    review(number)
                } else {
                    delivery_review(number)
                }
            },
        )
}

fn holds() -> impl Strategy<Value = Hold> {
    let scope = prop_oneof![
        select(vec!["claude-cli", "codex-cli"]).prop_map(|name| HoldScope::Provider(name.into())),
        projects().prop_map(HoldScope::Project),
        projects().prop_map(HoldScope::Gates),
        Just(HoldScope::Everything),
    ];
    (scope, times(), option::of(0_u64..12)).prop_map(|(scope, until, canary)| Hold {
        tried: None,
        canary: canary.map(|n| run_id(&format!("r{n}"))),
        ..hold(scope, until)
    })
}

fn lives() -> impl Strategy<Value = Vec<LiveRun>> {
    let one = (
        option::of(1_u64..70),
        projects(),
        agents(),
        any::<bool>(),
        option::weighted(0.2, (1_u32..20, -1_000_i64..1_000)),
    );
    vec(one, 0..6).prop_map(|runs| {
        let mut seen = BTreeSet::new();
        runs.into_iter()
            .filter(|(on, ..)| on.is_none_or(|number| seen.insert(number)))
            .enumerate()
            .map(|(i, (on, project, agent, free, put_off))| LiveRun {
                project,
                lock: if free {
                    LockState::Free
                } else {
                    LockState::Held
                },
                interactive: false,
                put_off: put_off.map(|(tries, seconds)| PutOff {
                    tries,
                    due_at: at(NOW + seconds),
                    problem: "git was killed".into(),
                }),
                ..live(&format!("r{i}"), on, agent)
            })
            .collect()
    })
}

fn snapshots() -> impl Strategy<Value = Snapshot> {
    (
        prop::bool::weighted(0.05),
        (0_u32..8, option::of((agents(), 0_u32..3))),
        vec(views(), PROJECTS.len()),
        vec(holds(), 0..2),
        lives(),
        vec(candidates(), 0..20),
        vec(reviews(), 0..6),
        (
            vec(intake(), 0..6),
            vec(1_u64..60, 0..4),
            vec((60_u64..70, select(SubtasksOutcome::ALL.to_vec())), 0..4),
            vec(60_u64..70, 0..3),
        ),
    )
        .prop_map(
            |(
                paused,
                (total, by_agent),
                views,
                mut holds,
                live,
                candidates,
                reviews,
                (intake, ended, split, accepted),
            )| {
                holds.sort_by(|a, b| a.scope.cmp(&b.scope));
                holds.dedup_by(|a, b| a.scope == b.scope);
                Snapshot {
                    watched: BTreeMap::new(),
                    base: BaseView::default(),
                    left_worktrees: Vec::new(),
                    lost_documents: Vec::new(),
                    plans: Vec::new(),
                    stuck_tick: None,
                    staff: BTreeMap::new(),
                    unpromoted: BTreeMap::new(),
                    paused,
                    slots: SlotLimits {
                        total,
                        by_agent: by_agent.into_iter().collect(),
                        gates: 2,
                    },
                    projects: PROJECTS.into_iter().map(project).zip(views).collect(),
                    holds,
                    live,
                    candidates,
                    reviews,
                    intake,
                    split: split
                        .into_iter()
                        .map(|(number, outcome)| SplitIssue {
                            issue: issue(number),
                            project: project("a"),
                            outcome,
                        })
                        .collect(),
                    accepted: accepted
                        .into_iter()
                        .map(|number| AcceptedPhase {
                            issue: issue(number),
                            project: project("a"),
                        })
                        .collect(),
                    clean_ups: ended
                        .into_iter()
                        .map(|number| CleanUp {
                            issue: issue(number),
                            project: project("a"),
                            put_off: None,
                            since: None,
                        })
                        .collect(),
                    leftovers: Vec::new(),
                }
            },
        )
}

/// Keeps one row an issue, as the database does: an order of rows then means nothing.
fn distinct(mut snapshot: Snapshot) -> Snapshot {
    let mut seen = BTreeSet::new();
    snapshot
        .candidates
        .retain(|c| seen.insert(Some(c.issue.clone())));
    snapshot
        .reviews
        .retain(|r| seen.insert(r.of.issue().cloned()));
    snapshot
        .intake
        .retain(|c| seen.insert(Some(c.issue.clone())));
    snapshot
        .split
        .retain(|s| seen.insert(Some(s.issue.clone())));
    snapshot
        .accepted
        .retain(|a| seen.insert(Some(a.issue.clone())));
    snapshot
        .clean_ups
        .retain(|c| seen.insert(Some(c.issue.clone())));
    snapshot
}

fn starts(schedule: &Schedule) -> impl Iterator<Item = &symphony_core::tick::StartRun> {
    schedule.actions.iter().filter_map(|action| match action {
        Action::StartRun(start) => Some(start),
        _ => None,
    })
}

/// Says whether counting live and planned runs by a key ever passes the limit of that key because of a planned one.
fn within<K: Ord>(
    live: impl Iterator<Item = K>,
    planned: impl Iterator<Item = K>,
    limit: impl Fn(&K) -> Option<u32>,
) -> bool {
    let mut counts: BTreeMap<K, u32> = BTreeMap::new();
    for key in live {
        *counts.entry(key).or_default() += 1;
    }
    for key in planned {
        let max = limit(&key).unwrap_or(u32::MAX);
        let count = counts.entry(key).or_default();
        *count += 1;
        if *count > max {
            return false;
        }
    }
    true
}

fn sorted(schedule: &Schedule) -> (Vec<String>, Vec<String>) {
    let mut others: Vec<String> = schedule
        .actions
        .iter()
        .filter(|action| !matches!(action, Action::StartRun(_)))
        .map(|action| format!("{action:?}"))
        .chain(schedule.decisions.iter().map(|d| format!("{d:?}")))
        .collect();
    others.sort();
    (starts(schedule).map(|s| format!("{s:?}")).collect(), others)
}

fn shuffled<T>(items: &mut [T], order: &[Index]) {
    for (i, index) in order.iter().enumerate().take(items.len()) {
        let other = index.index(items.len());
        items.swap(i, other);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn a_plan_stays_within_every_limit(snapshot in snapshots()) {
        let schedule = plan_tick(&snapshot, at(NOW));
        // agents and gates have slots of their own
        let is_agent = |agent: &AgentType| *agent != AgentType::Gates;
        prop_assert!(within(
            snapshot.live.iter().filter(|run| run.takes_slot() && is_agent(&run.agent)).map(|_| ()),
            starts(&schedule).filter(|start| is_agent(&start.agent)).map(|_| ()),
            |()| Some(snapshot.slots.total),
        ));
        prop_assert!(within(
            snapshot.live.iter().filter(|run| run.takes_slot() && !is_agent(&run.agent)).map(|_| ()),
            starts(&schedule).filter(|start| !is_agent(&start.agent)).map(|_| ()),
            |()| Some(snapshot.slots.gates),
        ));
        prop_assert!(within(
            snapshot.live.iter().filter(|run| run.takes_slot() && is_agent(&run.agent)).map(|run| run.project.clone()),
            starts(&schedule).filter(|start| is_agent(&start.agent)).map(|start| start.project.clone()),
            |project| snapshot.projects[project].max_concurrency,
        ));
        prop_assert!(within(
            snapshot.live.iter().filter(|run| run.takes_slot()).map(|run| run.agent.clone()),
            starts(&schedule).map(|start| start.agent.clone()),
            |agent| snapshot.slots.by_agent.get(agent).copied(),
        ));
    }

    #[test]
    fn an_issue_has_one_run_at_most(snapshot in snapshots()) {
        let schedule = plan_tick(&snapshot, at(NOW));
        let mut busy: BTreeSet<_> = snapshot.live.iter().filter_map(|run| run.issue.clone()).collect();
        let mut own: BTreeSet<_> = snapshot.live.iter().filter(|run| run.issue.is_none())
            .map(|run| (run.project.clone(), run.agent.clone())).collect();
        for start in starts(&schedule) {
            let first = match start.target.issue() {
                Some(issue) => busy.insert(issue.clone()),
                None => own.insert((start.project.clone(), start.agent.clone())),
            };
            prop_assert!(first, "{start:?}");
        }
        for action in &schedule.actions {
            if let Action::CleanUp { issue, .. } = action {
                prop_assert!(snapshot.live.iter().all(|run| run.issue.as_ref() != Some(issue)));
            }
        }
    }

    #[test]
    fn everything_is_started_or_has_a_reason(snapshot in snapshots()) {
        let schedule = plan_tick(&snapshot, at(NOW));
        let started: BTreeSet<_> = starts(&schedule).filter_map(|start| start.target.issue()).collect();
        let told: BTreeSet<_> = schedule.decisions.iter().map(|decision| &decision.issue).collect();
        prop_assert!(schedule.decisions.iter().all(|decision| !decision.reasons.is_empty()));
        let intake = snapshot.intake.iter().map(|c| &c.issue);
        for issue in snapshot.candidates.iter().map(|c| &c.issue).chain(snapshot.reviews.iter().filter_map(|r| r.of.issue())).chain(intake) {
            prop_assert!(started.contains(issue) || told.contains(issue), "{issue}");
        }
        for split in &snapshot.split {
            let unblocked = schedule.actions.contains(&Action::Unblock { issue: split.issue.clone() });
            prop_assert!(unblocked || told.contains(&split.issue), "{split:?}");
            prop_assert!(!unblocked || snapshot.live.iter().all(|run| run.issue.as_ref() != Some(&split.issue)));
        }
        for (id, project) in &snapshot.projects {
            let told = |agent: AgentType| {
                let starts = starts(&schedule).any(|start| start.agent == agent && start.project == *id && start.target == RunTarget::Project);
                let waits = schedule.project_decisions.iter().filter(|d| d.agent == agent && d.project == *id && !d.reasons.is_empty()).count();
                usize::from(starts) + waits
            };
            let wizard = project.agents.wizard_enabled && project.agents.wizard == WizardState::Pending;
            prop_assert_eq!(told(AgentType::Wizard), usize::from(wizard));
            prop_assert_eq!(told(AgentType::Scanner), usize::from(project.agents.scanner_enabled));
            prop_assert_eq!(told(AgentType::Researcher), usize::from(project.agents.background_research));
            let others = starts(&schedule).any(|start| {
                start.project == *id && start.agent != AgentType::Wizard
            });
            prop_assert!(!(wizard && others), "something starts before the wizard of {}", id);
        }
        for accepted in &snapshot.accepted {
            let advanced = schedule.actions.contains(&Action::AdvancePhase { issue: accepted.issue.clone() });
            prop_assert!(advanced || told.contains(&accepted.issue), "{accepted:?}");
            prop_assert!(!advanced || snapshot.live.iter().all(|run| run.issue.as_ref() != Some(&accepted.issue)));
        }
        for run in snapshot.live.iter().filter(|run| run.lock == LockState::Free) {
            let finished = |action: &Action| matches!(action, Action::FinishCrashed { run: id, .. } if *id == run.run);
            let expected = usize::from(!run.waits(at(NOW)));
            prop_assert_eq!(schedule.actions.iter().filter(|action| finished(action)).count(), expected);
        }
    }

    #[test]
    fn the_order_of_rows_does_not_matter(
        snapshot in snapshots().prop_map(distinct),
        order in vec(any::<Index>(), 20),
    ) {
        let schedule = plan_tick(&snapshot, at(NOW));
        prop_assert_eq!(&schedule, &plan_tick(&snapshot, at(NOW)));
        let mut other = snapshot.clone();
        shuffled(&mut other.candidates, &order);
        shuffled(&mut other.reviews, &order);
        shuffled(&mut other.live, &order);
        shuffled(&mut other.intake, &order);
        shuffled(&mut other.split, &order);
        shuffled(&mut other.accepted, &order);
        shuffled(&mut other.clean_ups, &order);
        prop_assert_eq!(sorted(&schedule), sorted(&plan_tick(&other, at(NOW))));
    }

    #[test]
    fn a_hold_lets_one_probe_through_at_most(snapshot in snapshots()) {
        let schedule = plan_tick(&snapshot, at(NOW));
        for hold in &snapshot.holds {
            // what gates find out says nothing about a provider, a cap or the disk
            let is_gates = |start: &&symphony_core::tick::StartRun| start.agent == AgentType::Gates;
            let covered = |start: &&symphony_core::tick::StartRun| match &hold.scope {
                HoldScope::Provider(_) | HoldScope::Model { .. } => hold.scope.covers_model(&start.provider, None),
                HoldScope::Project(id) => start.project == *id && !is_gates(start),
                HoldScope::Gates(id) => start.project == *id && is_gates(start) && start.target == RunTarget::Project,
                HoldScope::Everything => !is_gates(start),
            };
            let canary_lives = snapshot.live.iter().any(|run| Some(&run.run) == hold.canary.as_ref());
            let most = usize::from(hold.until <= at(NOW) && !canary_lives);
            prop_assert!(starts(&schedule).filter(covered).count() <= most, "{hold:?}");
            prop_assert!(starts(&schedule).filter(covered).all(|start| start.probes.contains(&hold.scope)));
        }
    }

    #[test]
    fn a_free_slot_is_never_left_to_somebody_who_could_use_it(snapshot in snapshots()) {
        let schedule = plan_tick(&snapshot, at(NOW));
        let total = usize::try_from(snapshot.slots.total).unwrap();
        let live = snapshot.live.iter().filter(|run| run.takes_slot() && run.agent != AgentType::Gates).count();
        let used = live + starts(&schedule).filter(|start| start.agent != AgentType::Gates).count();
        let idle = |reason: &Reason| matches!(
            reason,
            Reason::NoSlot { limit: symphony_core::tick::SlotLimit::Total(_) }
        );
        let of_projects = schedule.project_decisions.iter().any(|decision| decision.reasons.iter().any(idle));
        let refused = of_projects || schedule.decisions.iter().any(|decision| decision.reasons.iter().any(idle));
        prop_assert!(!refused || used >= total);
    }

    #[test]
    fn spent_attempts_start_nothing(snapshot in snapshots()) {
        let schedule = plan_tick(&snapshot, at(NOW));
        // what the last attempt handed in is judged all the same: judges have a limit of their own
        for start in starts(&schedule).filter(|start| !start.target.is_review()) {
            prop_assert!(start.attempt <= snapshot.projects[&start.project].max_retries);
        }
    }
}
