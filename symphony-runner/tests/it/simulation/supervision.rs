//! What supervisors do, on the real store: each step of their runs, and the exit handling.

use symphony_core::agent::AgentType;
use symphony_core::exit_handling::{AfterFault, ExitFault, PutOff, after_fault};
use symphony_core::failure::ErrorClass;
use symphony_core::gates::{BaseComparison, FailurePrint};
use symphony_core::hold::condition_scope;
use symphony_core::id::{IssueId, RunId};
use symphony_core::issue::{Issue, IssueEvent, Priority};
use symphony_core::outcome::FailureLimits;
use symphony_core::pull_request::{PullRequestOf, VerdictKind, VerifiedGate, VerifiedGates};
use symphony_core::retry::after;
use symphony_core::review_point::{AnswerKind, PointMove, PointState};
use symphony_core::run::{Run, RunError, RunStatus, RunTarget};
use symphony_core::tick::HoldScope;
use symphony_runner::supervise::SuperviseMode;
use symphony_store::{
    Actor, Context, GatesAtEnd, GatesFound, NewAnswer, NewHold, NewPullRequest, NewSubtask,
    NewVerdict, RunFinish, RunKey, RunStart, StoreError,
};

use super::agent::{Step, script};
use super::course::Course;
use super::machine::Supervisor;
use super::project_agents::is_of_project;
use super::stage::Trouble;

/// The first hold of a provider that tells no reset time.
const HOLD_MS: u64 = 60_000;

impl Course {
    /// Lets every supervisor do what is due.
    pub(super) fn run_supervisors(&mut self) {
        self.welcome();
        loop {
            let next = self
                .machine
                .supervisors
                .iter()
                .filter(|(id, _)| !self.machine.stopped.contains(*id))
                .filter_map(|(id, supervisor)| Some((supervisor.steps.front()?.0, id)))
                .filter(|(due, _)| *due <= self.machine.passed)
                .min()
                .map(|(_, id)| id.clone());
            let Some(id) = next else { return };
            let supervisor = self.machine.supervisors.get_mut(&id).unwrap();
            let (_, step) = supervisor.steps.pop_front().unwrap();
            let (run, mode) = (supervisor.run.clone(), supervisor.mode);
            self.machine.record_step(&id);
            if let Err(error) = self.do_step(&run, mode, &step) {
                self.stop(&run.id, &error);
            }
        }
    }

    /// Supervisors that a tick started read their run and draw what will happen.
    fn welcome(&mut self) {
        for (id, mode) in std::mem::take(&mut self.machine.born) {
            let run = self.store.run(&id).unwrap();
            if !run.status.is_live() {
                self.machine.locks.remove(&id);
                continue;
            }
            let (trouble, passed) = (self.trouble, self.machine.passed);
            let steps = script(&run, mode, trouble, &mut self.machine.random, passed);
            self.machine
                .supervisors
                .insert(id, Supervisor { run, mode, steps });
        }
    }

    /// A supervisor that cannot write ends; its run is left to the next tick.
    fn stop(&mut self, run: &RunId, error: &StoreError) {
        if !matches!(error, StoreError::DiskFull(_)) {
            self.machine.fail(format_args!("{run}: {error}"));
        }
        self.machine.note(format_args!("{run} stops: {error}"));
        self.machine.supervisors.remove(run);
        self.machine.locks.remove(run);
    }

    fn do_step(&mut self, run: &Run, mode: SuperviseMode, step: &Step) -> Result<(), StoreError> {
        self.machine
            .note(format_args!("{} {}: {step:?}", run.id, run.agent));
        if *step == Step::Killed {
            self.machine.kill(&run.id);
            return Ok(());
        }
        if mode == SuperviseMode::Run {
            if self.store.cancel_requested(&run.id)? {
                return self.end(run, RunStatus::Cancelled, Some(ErrorClass::Cancelled));
            }
            if self.down.contains(&run.provider) {
                return self.end(run, RunStatus::Failed, Some(ErrorClass::Overloaded));
            }
            let issue = run.target.issue();
            let is_poisonous = issue.is_some_and(|issue| self.poisonous.contains(issue));
            if is_poisonous && run.agent != AgentType::Gates && *step != Step::Start {
                self.machine.count("poisonous run");
                return self.end(run, RunStatus::Failed, Some(ErrorClass::ProviderError));
            }
            if self.disk_full && *step == Step::Start {
                self.machine.count("disk full");
                return self.end(run, RunStatus::Failed, Some(ErrorClass::DiskFull));
            }
        }
        match step {
            Step::Start => self.start(run),
            Step::End(status, class) => self.exit(run, mode, (*status, *class)),
            Step::EndAndCall => {
                self.end(run, RunStatus::Succeeded, None)?;
                self.call_late(run)
            }
            Step::Killed => Ok(()),
            call => match self.call(run, call) {
                // what an agent may not do is told to the agent
                Err(
                    StoreError::Transition { .. }
                    | StoreError::Point(_)
                    | StoreError::NotFound { .. },
                ) => {
                    self.machine.count("call refused");
                    Ok(())
                }
                Err(error) if error.is_refusal() => {
                    self.machine.count("call refused");
                    Ok(())
                }
                other => other,
            },
        }
    }

    fn as_run(&self, run: &Run) -> Context {
        let key = RunKey::of(run);
        Context {
            actor: Actor::Run(key),
            now: self.machine.now(),
        }
    }

    fn start(&mut self, run: &Run) -> Result<(), StoreError> {
        let context = self.as_run(run);
        let mut start = RunStart {
            metadata: serde_json::json!({}),
            ..RunStart::default()
        };
        // intake works in a temporary folder
        let issue = run.target.issue().filter(|_| !is_of_project(run));
        if let Some(issue) = issue {
            start.worktree = Some(format!(".symphony-workspaces/{issue}"));
            let system = Context::system(self.machine.now());
            self.store.record_worktree(&system, issue, true)?;
        }
        self.store.record_start(&context, &run.id, &start)?;
        Ok(())
    }

    fn call(&mut self, run: &Run, call: &Step) -> Result<(), StoreError> {
        let context = self.as_run(run);
        if is_of_project(run)
            && let Some(done) = self.call_of_project(run, &context, call)
        {
            return done;
        }
        let Some(issue) = run.target.issue().cloned() else {
            return Ok(());
        };
        match call {
            Step::OpenPr => {
                self.answer_points(&context, &issue)?;
                let new = NewPullRequest {
                    branch: format!("symphony/{issue}"),
                    of: issue.into(),
                    title: "A change".into(),
                    body: "As asked.".into(),
                    base: "main".into(),
                    base_commit: "base".into(),
                    head_commit: format!("h{}", self.machine.number()),
                    diff: String::new(),
                    files: vec![],
                    reported_gates: vec![],
                    checklist: vec![],
                };
                self.store.create_pr(&context, &new)?;
            }
            Step::Claim(how) => {
                self.answer_points(&context, &issue)?;
                return self.claim_phase(run, &context, *how);
            }
            Step::Verdict(kind) if matches!(run.target, RunTarget::Delivery(..)) => {
                return self.judge_delivery(run, &context, *kind);
            }
            Step::Verdict(kind) => {
                let RunTarget::PullRequest(_, id) = &run.target else {
                    return Ok(());
                };
                let head = self.store.pr(*id)?.head_commit;
                let verdict = self.verdict_closing(&issue, *kind, &head)?;
                self.store.record_review(&context, *id, &verdict)?;
            }
            Step::FalseVerdict => return self.speak_falsely(run, &context),
            Step::Block => {
                let event = IssueEvent::AgentBlocked {
                    reason: "it needs a word".into(),
                };
                self.store
                    .move_issue_with_comment(&context, &issue, &event, "Why?")?;
            }
            Step::HandBack => {
                self.store
                    .move_issue(&context, &issue, &IssueEvent::HandedBack)?;
            }
            Step::Subtask => {
                let new = NewSubtask {
                    parent: issue,
                    title: format!("part {}", self.machine.number()),
                    description: "A part of it.".into(),
                    priority: Some(Priority::Medium),
                    size: None,
                    depends_on: vec![],
                };
                let made = self.store.add_subtask(&context, &new)?;
                self.open.push(made.issue.id);
            }
            _ => {
                self.store.add_comment(&context, &issue, "At work.")?;
            }
        }
        Ok(())
    }

    /// An author answers every open point; now and then with a question, which blocks the issue.
    fn answer_points(&mut self, context: &Context, issue: &IssueId) -> Result<(), StoreError> {
        let of = PullRequestOf::from(issue.clone());
        let points = self.store.review_points(&of)?;
        for point in points.iter().filter(|point| point.is_open_must()) {
            let kind = match self.machine.random.below(10) {
                0 if self.trouble == Trouble::Wild => AnswerKind::Question,
                1..4 => AnswerKind::Declined,
                _ => AnswerKind::Fixed,
            };
            let answer = NewAnswer {
                point: point.number,
                kind,
                commit: None,
                text: "so".into(),
            };
            self.store.answer_point(context, &of, &answer)?;
        }
        Ok(())
    }

    /// A judge's verdict, which closes the points of judges when it is for the change.
    pub(super) fn verdict_closing(
        &self,
        issue: &IssueId,
        kind: VerdictKind,
        commit: &str,
    ) -> Result<NewVerdict, StoreError> {
        let points = self.store.review_points(&issue.clone().into())?;
        let closed = points
            .iter()
            .filter(|point| kind == VerdictKind::Approved && point.is_open() && !point.is_persons())
            .map(|point| PointMove {
                number: point.number,
                to: PointState::Closed,
                remark: None,
            });
        let mut verdict = NewVerdict::plain(kind, commit, "Looked at it.");
        verdict.points.moved = closed.collect();
        Ok(verdict)
    }

    /// A judge that speaks about another commit, or a worker about its own work: never recorded.
    fn speak_falsely(&mut self, run: &Run, context: &Context) -> Result<(), StoreError> {
        let Some(issue) = run.target.issue() else {
            return Ok(());
        };
        if let Some(claim) = self.store.open_delivery(issue)? {
            self.speak_falsely_of_claim(run, context, &claim);
            return Ok(());
        }
        let Some(pr) = self.store.open_pr(issue)? else {
            return Ok(());
        };
        let commit = if run.target.is_review() {
            "h0"
        } else {
            &pr.head_commit
        };
        let spoken = self.store.record_review(
            context,
            pr.id,
            &NewVerdict::plain(VerdictKind::Approved, commit, ""),
        );
        if spoken.is_ok() {
            self.machine.fail(format_args!(
                "I9: {} could judge {} on {commit}",
                run.id, pr.id
            ));
        }
        self.machine.count("verdict refused");
        Ok(())
    }

    /// A call in the name of a run that is over: always refused.
    fn call_late(&mut self, run: &Run) -> Result<(), StoreError> {
        let context = self.as_run(run);
        let refused = match run.target.issue() {
            None => self.call_late_on_project(run, &context),
            Some(issue) => match self.store.add_comment(&context, issue, "One more word.") {
                Err(error) => error,
                Ok(_) => self
                    .machine
                    .fail(format_args!("F1: {} wrote after its end", run.id)),
            },
        };
        match refused {
            StoreError::Superseded { .. } => {
                self.machine.count("late call refused");
                Ok(())
            }
            error => Err(error),
        }
    }

    /// Exit handling.
    /// The exit handling of a run whose agent came to this; now and then git dies in it, and it is put off.
    fn exit(
        &mut self,
        run: &Run,
        mode: SuperviseMode,
        came_to: (RunStatus, Option<ErrorClass>),
    ) -> Result<(), StoreError> {
        let recorded = self.store.exit_handling(&run.id)?;
        let tries = recorded.as_ref().map_or(0, |exit| exit.tries) + 1;
        let (status, class) = match recorded {
            Some(exit) => serde_json::from_value(exit.outcome).unwrap(),
            None => came_to,
        };
        assert!(mode == SuperviseMode::Finish || tries == 1, "{}", run.id);
        let git_dies = self.trouble == Trouble::Wild
            && run.agent != AgentType::Gates
            && self.machine.random.chance(1, 12);
        let after_fault = after_fault(ExitFault::Machine, tries, u64::MAX);
        let AfterFault::Again(wait) = after_fault else {
            return self.end(run, RunStatus::Failed, Some(ErrorClass::WorktreeFailed));
        };
        if !git_dies {
            return self.end(run, status, class);
        }
        let context = Context::system(self.machine.now());
        let outcome = serde_json::to_value((status, class)).unwrap();
        self.store.begin_exit(&context, &run.id, &outcome)?;
        let put_off = PutOff {
            tries,
            due_at: after(context.now, wait),
            problem: "git was killed".to_owned(),
        };
        self.store.put_exit_off(&context, &run.id, &put_off)?;
        self.machine.count("exit handling put off");
        self.machine.supervisors.remove(&run.id);
        self.machine.locks.remove(&run.id);
        Ok(())
    }

    pub(super) fn end(
        &mut self,
        run: &Run,
        status: RunStatus,
        class: Option<ErrorClass>,
    ) -> Result<(), StoreError> {
        let (gates, base_hold) = self.gates_at_end(run, status)?;
        let stage = self.stage(&run.project);
        let limits = FailureLimits {
            max_retries: stage.config.max_retries,
            max_backoff_ms: stage.config.max_retry_backoff_ms.get(),
            breaker_target: stage.config.circuit_breaker_status,
        };
        let finish = RunFinish {
            run: run.id.clone(),
            fence: run.fence,
            status,
            error: class.map(|class| RunError {
                class,
                message: "simulated".into(),
            }),
            exit_code: Some(0),
            usage: None,
            output_tail: "the last words".into(),
            metadata: serde_json::Map::new(),
            gates,
            cap: None,
            phase: None,
            hold: base_hold.or_else(|| class.and_then(|class| self.hold(run, class))),
            ahead: None,
            limits,
        };
        let context = Context::system(self.machine.now());
        let issue = run.target.issue();
        let before = issue.map(|id| self.store.issue(id)).transpose()?;
        let ended = self.store.finish_run(&context, &finish)?;
        if is_of_project(run) {
            let error = ended.run.error.as_ref();
            let held = error.is_some_and(|error| error.class.is_hold());
            self.look_at_end(run, held, before.as_ref());
        }
        if ended.run.error.as_ref().map(|error| error.class) != class
            && class.is_some_and(ErrorClass::is_hold)
        {
            self.machine.count("fault of an item");
        }
        if before.map(|issue| issue.phase()) != ended.issue.as_ref().map(Issue::phase) {
            self.machine.count("phase passed");
        }
        if let Some(issue) = &ended.issue {
            self.machine.note(format_args!(
                "{} is {}, {} is {} ({:?})",
                run.id,
                ended.run.status,
                issue.id,
                issue.state.status(),
                issue.counts
            ));
        }
        self.machine.supervisors.remove(&run.id);
        self.machine.locks.remove(&run.id);
        Ok(())
    }

    /// What a run of gates found out: a result, or none. Now and then the base fails, too.
    fn gates_at_end(
        &mut self,
        run: &Run,
        status: RunStatus,
    ) -> Result<(GatesAtEnd, Option<NewHold>), StoreError> {
        let RunTarget::Gates(issue, _) = &run.target else {
            return Ok((GatesAtEnd::Due, None));
        };
        let pr = self.store.open_pr_of(issue)?;
        let Some(pr) = pr.filter(|_| status == RunStatus::Succeeded) else {
            self.machine.count("gates not run");
            return Ok((GatesAtEnd::Due, None));
        };
        let gates = self.gates(pr.head_commit);
        let is_red = !gates.green();
        let of_base = is_red && self.machine.random.chance(1, 5);
        let hold = of_base.then(|| NewHold {
            tried: None,
            scope: HoldScope::Gates(run.project.clone()),
            class: ErrorClass::BaseGatesFailed,
            reason: "simulated".into(),
            until: None,
            first_ms: HOLD_MS,
        });
        if of_base {
            self.machine.count("base red");
        }
        let same = format!("failure {}", self.machine.random.below(4));
        let found = GatesFound::Ran {
            tree: gates.commit.clone(),
            gates,
            print: is_red.then(|| FailurePrint::stored(same)),
            base: if of_base {
                BaseComparison::AllRed
            } else {
                BaseComparison::Green
            },
        };
        Ok((GatesAtEnd::Found(found), hold))
    }

    fn gates(&mut self, commit: String) -> VerifiedGates {
        let passed = self.trouble == Trouble::Calm || !self.machine.random.chance(15, 100);
        if !passed {
            self.machine.count("gate red");
        }
        let gate = VerifiedGate {
            name: "test".into(),
            required: true,
            passed,
            exit_code: Some(i32::from(!passed)),
            duration_ms: 1,
            output: String::new(),
            cached: false,
            definition: None,
            failed_tries: Vec::new(),
        };
        VerifiedGates {
            merged_with: None,
            commit,
            results: vec![gate],
        }
    }

    fn hold(&mut self, run: &Run, class: ErrorClass) -> Option<NewHold> {
        if !class.is_hold() {
            return None;
        }
        self.machine.count("held");
        let now = self.machine.now();
        let told = self.trouble == Trouble::Wild && self.machine.random.chance(1, 4);
        Some(NewHold {
            tried: None,
            scope: condition_scope(class, &run.provider, run.model.as_deref()),
            class,
            reason: "simulated".into(),
            until: told.then(|| after(now, 40 * 60_000)),
            first_ms: HOLD_MS,
        })
    }
}
