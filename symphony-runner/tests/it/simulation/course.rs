//! One course of events: minute after minute, with what must hold after each.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use symphony_core::agent::AgentType;
use symphony_core::id::{IssueId, ProjectId};
use symphony_core::invariant::Violation;
use symphony_core::tick::{Action, SlotLimits, plan_tick};
use symphony_runner::RunnerError;
use symphony_runner::audit::check_stranded;
use symphony_runner::tick::{ActReport, act, look};
use symphony_store::{AuditRequest, PrFilter, Store, StoreError};

use super::effects::{Crash, SimulatedEffects, TickFaults};
use super::machine::Machine;
use super::project_agents::Remembered;
use super::stage::{Stage, Trouble, four, slots};

/// Minutes between two whole audits, at first.
const FULL_AUDIT_EVERY: i64 = 1_000;
/// Later on the course grows by this part between two, so that all of them together cost as much as a few of the last.
const FULL_AUDIT_PART: i64 = 5;

/// Minutes in which nothing may be stranded at any moment; later each tenth is looked at, since what is stranded stays so.
const STRANDED_EACH_MINUTE: i64 = 2_000;
const STRANDED_EVERY: i64 = 10;

/// Milliseconds of a day.
const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

/// A course of events.
#[derive(Debug)]
pub(super) struct Course {
    pub(super) store: Store,
    pub(super) machine: Machine,
    pub(super) stages: Vec<Stage>,
    pub(super) slots: SlotLimits,
    pub(super) trouble: Trouble,
    /// Issues that have not ended, and some that have.
    pub(super) open: Vec<IssueId>,
    pub(super) ended: Vec<IssueId>,
    /// Providers that are down.
    pub(super) down: BTreeSet<String>,
    /// Issues whose agents' requests the provider always answers with an error.
    pub(super) poisonous: BTreeSet<IssueId>,
    /// Whether worktrees and logs cannot be written.
    pub(super) disk_full: bool,
    pub(super) remembered: Remembered,
    database_full: bool,
    audited: i64,
    next_full_audit: i64,
}

/// How a tick went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Went {
    /// Nothing was put in its way.
    Well,
    /// Something was.
    Disturbed,
}

impl Course {
    pub(super) fn new(seed: u64, trouble: Trouble) -> Self {
        let mut store = Store::open_in_memory().unwrap();
        let stages = four(&mut store);
        Self::on(store, stages, slots(), seed, trouble)
    }

    pub(super) fn on(
        store: Store,
        stages: Vec<Stage>,
        slots: SlotLimits,
        seed: u64,
        trouble: Trouble,
    ) -> Self {
        Self {
            store,
            machine: Machine::new(seed),
            stages,
            slots,
            trouble,
            open: Vec::new(),
            ended: Vec::new(),
            down: BTreeSet::new(),
            poisonous: BTreeSet::new(),
            disk_full: false,
            remembered: Remembered::default(),
            database_full: false,
            audited: 0,
            next_full_audit: FULL_AUDIT_EVERY,
        }
    }

    pub(super) fn stage(&self, id: &ProjectId) -> &Stage {
        let found = self.stages.iter().find(|stage| stage.project.id == *id);
        found.unwrap_or_else(|| self.machine.fail(format_args!("no project {id}")))
    }

    pub(super) fn summary(&self) -> &BTreeMap<&'static str, u64> {
        &self.machine.summary
    }

    pub(super) fn history(&self) -> Vec<String> {
        self.machine.history()
    }

    /// A minute: what happens by itself, what people do, a tick, and what must hold.
    pub(super) fn step(&mut self) {
        self.machine.passed += 60_000;
        if self.trouble == Trouble::Wild {
            self.weather();
        }
        self.run_supervisors();
        self.people();
        self.tick();
        let minute = self.machine.passed / 60_000;
        if minute >= self.next_full_audit {
            self.full_audit();
            self.next_full_audit = minute + (minute / FULL_AUDIT_PART).max(FULL_AUDIT_EVERY);
        }
    }

    /// The faults are over.
    pub(super) fn calm(&mut self) {
        self.trouble = Trouble::Calm;
        self.down.clear();
        self.poisonous.clear();
        self.disk_full = false;
        self.set_database_full(false);
        for stage in &mut self.stages {
            stage.broken = false;
        }
    }

    /// Goes on until every issue has ended; returns how many ticks that took (L2).
    pub(super) fn drain(&mut self, ticks_max: u64) -> u64 {
        for tick in 0..ticks_max {
            if self.open.is_empty() {
                return tick;
            }
            self.step();
        }
        let left: Vec<String> = self
            .open
            .iter()
            .map(|id| {
                let pr = self.store.open_pr(id).unwrap();
                let pr = pr.map(|pr| (pr.id, pr.state, pr.verdict));
                let claim = self.store.open_delivery(id).unwrap();
                let issue = self.store.issue(id).unwrap();
                format!("{issue:?}\n  pull request {pr:?}\n  claim {claim:?}")
            })
            .collect();
        self.machine
            .fail(format_args!("L2: not ended:\n{}", left.join("\n")))
    }

    /// What happens by itself.
    fn weather(&mut self) {
        let minute = self.machine.random.below(1_000);
        match minute {
            0..4 => {
                let provider = *self.machine.random.pick(&["claude-cli", "codex-cli"]);
                self.down.insert(provider.to_owned());
                self.machine.note(format_args!("{provider} is down"));
            }
            4..24 => self.down.clear(),
            24..27 => self.disk_full = true,
            27..77 => self.disk_full = false,
            77..80 => self.set_database_full(true),
            80..83 => {
                let days = i64::try_from(self.machine.random.below(30 * DAY_MS)).unwrap();
                let forward = self.machine.random.chance(1, 2);
                self.machine.skew += if forward { days } else { -days };
                self.machine.note("the clock jumps");
                self.machine.count("clock jumped");
            }
            83..87 => {
                let stages = self.stages.len() as u64;
                let at = usize::try_from(self.machine.random.below(stages)).unwrap();
                self.stages[at].broken = true;
            }
            87..187 => self
                .stages
                .iter_mut()
                .for_each(|stage| stage.broken = false),
            187..197 => {
                let runs: Vec<_> = self.machine.supervisors.keys().cloned().collect();
                if !runs.is_empty() {
                    let run = self.machine.random.pick(&runs).clone();
                    self.machine.kill(&run);
                }
            }
            297..301 => {
                let runs: Vec<_> = self.machine.supervisors.keys().cloned().collect();
                if !runs.is_empty() {
                    let run = self.machine.random.pick(&runs).clone();
                    self.machine.stop_supervisor(&run);
                }
            }
            301..305 => self.machine.reboot(),
            197..297 => self.set_database_full(false),
            _ => {}
        }
    }

    fn set_database_full(&mut self, full: bool) {
        self.database_full = full;
        self.store.limit_growth(full.then_some(0)).unwrap();
    }

    fn draw_faults(&mut self) -> TickFaults {
        let random = &mut self.machine.random;
        if self.trouble == Trouble::Calm || random.chance(9, 10) {
            return TickFaults::default();
        }
        match random.below(5) {
            0 | 1 => TickFaults {
                crash_after: Some(u32::try_from(random.below(14)).unwrap()),
                ..TickFaults::default()
            },
            2 => TickFaults {
                failing_starts: 1,
                ..TickFaults::default()
            },
            3 => TickFaults {
                failing_locks: 2,
                ..TickFaults::default()
            },
            _ => TickFaults {
                failing_removals: true,
                ..TickFaults::default()
            },
        }
    }

    /// One tick, as the real one goes; sometimes it stands still between its plan and its deeds.
    pub(super) fn tick(&mut self) {
        let faults = self.draw_faults();
        let disturbed = faults != TickFaults::default();
        let stale = self.trouble == Trouble::Wild && self.machine.random.chance(1, 25);
        let mut went = if disturbed || stale || self.database_full {
            Went::Disturbed
        } else {
            Went::Well
        };
        match self.settle_merges() {
            Ok(()) | Err(StoreError::DiskFull(_)) => {}
            Err(error) => self.machine.fail(format_args!("a tick: {error}")),
        }
        let now = self.machine.now();
        let known = self.stages.iter().map(Stage::known).collect();
        let mut effects = SimulatedEffects {
            machine: &mut self.machine,
            faults: TickFaults::default(),
            taken: BTreeSet::new(),
        };
        let observed = look(
            &mut self.store,
            &mut effects,
            known,
            self.slots.clone(),
            now,
        )
        .unwrap();
        let schedule = plan_tick(&observed.snapshot, now);
        if stale {
            self.machine.count("stale plan");
            self.machine.passed += 120_000;
            self.run_supervisors();
            for action in &schedule.actions {
                if let Action::StartRun(start) = action
                    && self.machine.random.chance(1, 3)
                {
                    self.change_mind(&start.target);
                }
            }
        }
        let mut effects = SimulatedEffects {
            machine: &mut self.machine,
            faults,
            taken: BTreeSet::new(),
        };
        let store = &mut self.store;
        let acted = catch_unwind(AssertUnwindSafe(|| {
            act(store, &mut effects, &observed, &schedule.actions)
        }));
        // a process that ends gives up its locks
        for run in std::mem::take(&mut effects.taken) {
            self.machine.locks.remove(&run);
        }
        match acted {
            Ok(Ok(report)) => {
                self.look_back(&schedule.actions, &report, went);
                if !stale {
                    report
                        .started
                        .iter()
                        .for_each(|run| self.look_at_idle_work(run));
                }
            }
            Ok(Err(RunnerError::Store(StoreError::DiskFull(_)))) => went = Went::Disturbed,
            Ok(Err(error)) => self.machine.fail(format_args!("tick: {error}")),
            Err(panic) if panic.is::<Crash>() => {
                self.machine.note("the tick crashes");
                self.machine.count("tick crashed");
                went = Went::Disturbed;
            }
            Err(panic) => std::panic::resume_unwind(panic),
        }
        self.check(went);
    }

    fn look_back(&mut self, actions: &[Action], report: &ActReport, went: Went) {
        let waits_for_config = |problem: &String| problem.contains("its exit handling waits");
        if went == Went::Well && !report.problems.iter().all(waits_for_config) {
            self.machine
                .fail(format_args!("problems: {:?}", report.problems));
        }
        for action in actions {
            match action {
                Action::Unblock { .. } => self.machine.count("sub-tasks ended"),
                Action::OpenBreaker { .. } => self.machine.count("breaker opened"),
                Action::StartRun(start) if !start.probes.is_empty() => {
                    self.machine.count("probed");
                }
                _ => {}
            }
        }
        // a run starts only in its issue's phase, and when its dependencies are done
        for run in &report.started {
            self.look_at_start(run);
            let Some(issue) = run.target.issue().filter(|_| !run.target.is_review()) else {
                continue;
            };
            // what intake looks at is in no phase yet, and waits for nothing; gates have no phase
            if matches!(run.agent, AgentType::Intake | AgentType::Gates) {
                continue;
            }
            let candidate = self.store.candidate(issue).unwrap().unwrap();
            if run.phase != candidate.phase {
                let (was, now) = (&run.phase, &candidate.phase);
                self.machine.fail(format_args!(
                    "I8: {} started in {was:?}, {issue} is in {now:?}",
                    run.id
                ));
            }
            if !candidate.waits_for.is_empty() {
                let on = candidate.waits_for;
                self.machine.fail(format_args!(
                    "I8: {} started while {issue} waits for {on:?}",
                    run.id
                ));
            }
        }
    }

    fn audit_request(&self) -> AuditRequest {
        let view = |stage: &Stage| (stage.project.id.clone(), stage.known().view);
        AuditRequest {
            projects: self.stages.iter().map(view).collect(),
            slots: self.slots.clone(),
        }
    }

    fn refuse(&self, found: &[Violation]) {
        if !found.is_empty() {
            let found: Vec<String> = found.iter().map(ToString::to_string).collect();
            self.machine.fail(found.join("\n"));
        }
    }

    /// What must hold after each tick.
    fn check(&mut self, went: Went) {
        let request = self.audit_request();
        let (found, audited) = self.store.audit_since(&request, self.audited).unwrap();
        self.audited = audited;
        self.refuse(&found);
        let minute = self.machine.passed / 60_000;
        if minute < STRANDED_EACH_MINUTE || minute % STRANDED_EVERY == 0 {
            self.refuse_stranded();
        }
        if went == Went::Disturbed {
            return;
        }
        // L3: one tick after whatever it was, I2 and I3 hold
        let live = self.store.live_runs().unwrap();
        self.check_project_agents(&live);
        for run in live {
            let broken = self.stage(&run.project).broken;
            let exit = self.store.exit_handling(&run.id).unwrap();
            let waits = exit.is_some_and(|exit| exit.waits(self.machine.now()));
            if !broken && !waits && !self.machine.locks.contains(&run.id) {
                self.machine
                    .fail(format_args!("I2: nobody has the lock of {}", run.id));
            }
        }
        for run in &self.machine.strays {
            let project = self.store.run(run).unwrap().project;
            if !self.stage(&project).broken && !self.machine.locks.contains(run) {
                self.machine
                    .fail(format_args!("I3: processes of {run} are left"));
            }
        }
    }

    /// Nothing is stranded, whatever the tick came to: what a crash left is for the next one.
    fn refuse_stranded(&mut self) {
        let now = self.machine.now();
        let known = self.stages.iter().map(Stage::known).collect();
        let mut effects = SimulatedEffects {
            machine: &mut self.machine,
            faults: TickFaults::default(),
            taken: BTreeSet::new(),
        };
        let observed = look(
            &mut self.store,
            &mut effects,
            known,
            self.slots.clone(),
            now,
        )
        .unwrap();
        let found = check_stranded(&mut self.store, &observed.snapshot, now).unwrap();
        self.refuse(&found);
    }

    /// The whole audit, and what git would tell.
    pub(super) fn full_audit(&mut self) {
        let found = self.store.audit(&self.audit_request()).unwrap();
        self.refuse(&found);
        let filter = PrFilter {
            state: Some(symphony_core::pull_request::PrState::Merged),
            ..PrFilter::default()
        };
        for pr in self.store.prs(&filter).unwrap() {
            if !self
                .machine
                .merged
                .contains(&(pr.id, pr.head_commit.clone()))
            {
                self.machine.fail(format_args!(
                    "I10: {} is merged, its head {} is not",
                    pr.id, pr.head_commit
                ));
            }
        }
    }
}
