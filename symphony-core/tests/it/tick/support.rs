//! Short ways to a snapshot, and a plan as lines.

use std::collections::BTreeMap;

use symphony_core::Timestamp;
use symphony_core::agent::AgentType;
use symphony_core::failure::ErrorClass;
use symphony_core::id::{DeliveryId, IssueId, PhaseName, PrId, ProjectId, RunId};
use symphony_core::issue::{AttemptCounts, BreakerTarget, Priority};
use symphony_core::judges_ended::JudgesEnded;
use symphony_core::placement::Whereabouts;
use symphony_core::profile::AgentChoice;
use symphony_core::tick::{
    Action, AskedModels, Candidate, GatesState, Hold, HoldScope, LiveRun, LockState,
    NamedProviders, NoBase, ProjectAgents, ProjectView, Reason, ReviewCandidate, ReviewSubject,
    Schedule, SlotLimits, Snapshot, plan_tick,
};

/// The time of every tick here, unless a test says otherwise.
pub(crate) const NOW: i64 = 10_000;

pub(crate) fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

pub(crate) fn issue(number: u64) -> IssueId {
    IssueId::parse(format!("SYM-{number}")).unwrap()
}

pub(crate) fn project(name: &str) -> ProjectId {
    ProjectId::parse(name).unwrap()
}

pub(crate) fn phase(name: &str) -> PhaseName {
    PhaseName::parse(name).unwrap()
}

pub(crate) fn run_id(name: &str) -> RunId {
    RunId::parse(name).unwrap()
}

pub(crate) fn counts(failures: u32, runs: u32) -> AttemptCounts {
    AttemptCounts {
        consecutive_failures: failures,
        total_runs: runs,
    }
}

pub(crate) fn view() -> ProjectView {
    ProjectView {
        max_concurrency: None,
        max_retries: 15,
        max_backoff_ms: 300_000,
        breaker_target: BreakerTarget::Backlog,
        provider: Ok("claude-cli".into()),
        named_providers: NamedProviders::default(),
        models: AskedModels::default(),
        judge_enabled: true,
        auto_done: false,
        judge_cooldown_ms: 300_000,
        planner_enabled: true,
        researcher_enabled: true,
        migration_mode: true,
        max_open_reviews: None,
        open_reviews: 0,
        phases: BTreeMap::from([
            (phase("research"), AgentType::Researcher),
            (phase("architecture"), AgentType::Architect),
            (phase("grooming"), AgentType::Planner),
            (phase("spike"), AgentType::Worker),
        ]),
        decisive_paths: Vec::new(),
        agents: ProjectAgents::default(),
        gate_names: Vec::new(),
        gates: Vec::new(),
        untried_gates: Vec::new(),
        base_gates: None,
        broken: None,
        no_base: None,
        pool: None,
    }
}

/// Eight slots and the projects `a` and `b`.
pub(crate) fn snapshot() -> Snapshot {
    Snapshot {
        slots: SlotLimits {
            total: 8,
            by_agent: BTreeMap::new(),
            gates: 2,
        },
        projects: BTreeMap::from([(project("a"), view()), (project("b"), view())]),
        ..Snapshot::default()
    }
}

/// An issue of project `a` that a worker can start on.
pub(crate) fn candidate(number: u64) -> Candidate {
    Candidate {
        issue: issue(number),
        project: project("a"),
        phase: None,
        priority: Priority::None,
        size: None,
        needs_planning: false,
        has_subtasks: false,
        created_at: at(i64::try_from(number).unwrap()),
        waits_for: Vec::new(),
        counts: AttemptCounts::default(),
        retry: None,
        repairs: Vec::new(),
        choice: AgentChoice::default(),
    }
}

/// A pull request of project `a` that a judge can look at.
pub(crate) fn review(number: u64) -> ReviewCandidate {
    ReviewCandidate {
        of: issue(number).into(),
        project: project("a"),
        subject: ReviewSubject::PullRequest(PrId::new(i64::try_from(number).unwrap())),
        priority: Priority::None,
        created_at: at(i64::try_from(number).unwrap()),
        gates: GatesState::Verified,
        fixes_gate: false,
        has_verdict: false,
        last_judged_at: None,
        counts: AttemptCounts::default(),
        judges: JudgesEnded::default(),
        persons_points: Vec::new(),
    }
}

pub(crate) fn no_base(problem: &str) -> NoBase {
    NoBase {
        problem: problem.into(),
        answer: "symphony doctor".into(),
    }
}

/// A claim of the architecture phase that a judge can look at.
pub(crate) fn delivery_review(number: u64) -> ReviewCandidate {
    let claim = DeliveryId::new(i64::try_from(number).unwrap());
    ReviewCandidate {
        subject: ReviewSubject::Delivery(claim, phase("architecture")),
        ..review(number)
    }
}

/// A live run of project `a` whose lock is held.
pub(crate) fn live(name: &str, on: Option<u64>, agent: AgentType) -> LiveRun {
    LiveRun {
        run: run_id(name),
        project: project("a"),
        issue: on.map(issue),
        plan: None,
        agent,
        provider: "claude-cli".into(),
        started_at: at(1),
        lock: LockState::Held,
        put_off: None,
        interactive: false,
        whereabouts: Whereabouts::Here,
        cancelled: false,
    }
}

pub(crate) fn hold(scope: HoldScope, until: i64) -> Hold {
    Hold {
        tried: None,
        scope,
        until: at(until),
        placed_at: at(0),
        class: ErrorClass::Overloaded,
        reason: "529".into(),
        probes: 0,
        canary: None,
        trials: Vec::new(),
    }
}

/// Writes a reason with the moment at which it ends by itself.
pub(crate) fn with_due(reason: &Reason) -> String {
    match reason.due() {
        Some(due) => format!("{reason}; {} at {}", due.then, due.at),
        None => reason.to_string(),
    }
}

/// The plan at [`NOW`], a line for each action and each decision.
pub(crate) fn plan(snapshot: &Snapshot) -> Vec<String> {
    lines(&plan_tick(snapshot, at(NOW)))
}

pub(crate) fn lines(schedule: &Schedule) -> Vec<String> {
    let action = |action: &Action| match action {
        Action::FinishCrashed { run, .. } => format!("finish {run}"),
        Action::Suspect { run, .. } => format!("suspect {run}"),
        Action::EndStuck { run, stuck, .. } => format!("end {run}, which {}", stuck.words()),
        Action::EndLost { run, host, .. } => format!("end lost {run} on {host}"),
        Action::Withdraw { run, .. } => format!("withdraw {run}"),
        Action::AdvancePhase { issue } => format!("advance {issue}"),
        Action::Unblock { issue } => format!("unblock {issue}"),
        Action::OpenBreaker { issue } => format!("open breaker {issue}"),
        Action::RecordMerge(merge) => format!("record merge of {}", merge.of),
        Action::ConfirmDone { issue, pr, .. } => format!("confirm {pr} of {issue}"),
        Action::RefreshProposal(stale) => {
            format!("refresh {} of {} of {}", stale.what, stale.pr, stale.issue)
        }
        Action::ReturnProposal(moved) => format!("return {} of {}", moved.pr, moved.issue),
        Action::NoteBase(notice) => format!("note {} on {}", notice.kind, notice.subject()),
        Action::RememberBase(look) => format!("remember {} at {}", look.branch, look.head),
        Action::CleanUp { issue, .. } => format!("clean up {issue}"),
        Action::TidyRun { run, owner, .. } => format!("tidy {run} ({owner})"),
        Action::StartRun(start) => {
            let on = start
                .target
                .issue()
                .map_or_else(|| format!("project {}", start.project), ToString::to_string);
            let probe = if start.probes.is_empty() {
                ""
            } else {
                " as probe"
            };
            format!("start {} {on} #{}{probe}", start.agent, start.attempt)
        }
    };
    let texts = |reasons: &[Reason]| {
        let texts: Vec<String> = reasons.iter().map(with_due).collect();
        texts.join("; ")
    };
    let decisions = schedule
        .decisions
        .iter()
        .map(|decision| format!("wait {}: {}", decision.issue, texts(&decision.reasons)));
    let of_projects = schedule.project_decisions.iter().map(|decision| {
        let (agent, project) = (&decision.agent, &decision.project);
        format!(
            "wait {agent} project {project}: {}",
            texts(&decision.reasons)
        )
    });
    schedule
        .actions
        .iter()
        .map(action)
        .chain(decisions)
        .chain(of_projects)
        .collect()
}

/// The issues started, in their order.
pub(crate) fn started(snapshot: &Snapshot) -> Vec<String> {
    let schedule = plan_tick(snapshot, at(NOW));
    schedule
        .actions
        .iter()
        .filter_map(|action| match action {
            Action::StartRun(start) => start.target.issue().map(ToString::to_string),
            _ => None,
        })
        .collect()
}
