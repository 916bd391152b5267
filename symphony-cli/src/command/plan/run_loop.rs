//! The loop of `plan run`: rounds, what is shown between them, questions, Ctrl-C.

use std::collections::BTreeSet;
use std::time::Duration;

use symphony_core::Timestamp;
use symphony_core::id::{PlanPhaseId, PrId, RunId};
use symphony_core::outside::NoticeKind;
use symphony_core::plan::state::{Choice, OnFailure, PhaseState, PlanAction, PlanStatus};
use symphony_core::run::RunStatus;
use symphony_runner::cancel::end_if_live;
use symphony_runner::merge::{MergeOptions, merge_pr_until};
use symphony_runner::plan::{
    Begun, Conclusion, PlanDrive, PlanOrder, PlanRound, PlanWatch, carry_out_order,
};
use symphony_store::{PlanRecord, Store};
use symphony_view::text::{in_future, plural};
use symphony_view::{PlanResult, StepEventView, failure_text};

use super::dialog::{Dialog, Said, title};
use crate::app::App;
use crate::failure::{Context as _, Exit, Stop};
use crate::interrupt::Interrupts;
use crate::progress::{Progress, Stream};
use crate::reap::reap_supervisors;

/// Time between two checks of the plan.
const LOOK: Duration = Duration::from_millis(100);

/// The loop while it runs.
#[derive(Debug)]
pub(super) struct PlanLoop<'a> {
    app: &'a App,
    drive: PlanDrive<'a>,
    store: &'a mut Store,
    mode: Option<OnFailure>,
    interrupts: Interrupts,
    progress: Progress,
    dialog: Option<Dialog>,
    shown: BTreeSet<RunId>,
    /// What was printed and is not printed again.
    told: BTreeSet<String>,
    after: AfterReview,
}

/// What happens to the pull request of the plan's work once it is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AfterReview {
    /// Ticks have it gated and judged.
    LeaveToTicks,
    /// It is merged at once when its gates are green.
    Merge,
}

/// Says whether no phase of a plan is left to be worked on, for now.
fn is_over(record: &PlanRecord) -> bool {
    let state = &record.state;
    let is_reviewed = state.is_complete()
        && matches!(
            state.status,
            PlanStatus::Review | PlanStatus::AwaitingUserDecision
        );
    state.status.is_ended() || is_reviewed || state.awaits_review(record.completion())
}

/// Why the loop continues.
enum Next {
    Round,
    Leave,
}

impl<'a> PlanLoop<'a> {
    /// Prepares the loop.
    ///
    /// # Errors
    /// When Ctrl-C cannot be listened to.
    pub(super) fn new(
        app: &'a App,
        drive: PlanDrive<'a>,
        store: &'a mut Store,
        mode: Option<OnFailure>,
        after: AfterReview,
    ) -> anyhow::Result<Self> {
        Ok(Self {
            app,
            drive,
            store,
            mode,
            interrupts: Interrupts::listen().context("listen to Ctrl-C")?,
            progress: Progress::new(app.out, Stream::Silent),
            dialog: (mode == Some(OnFailure::Ask)).then(Dialog::default),
            shown: BTreeSet::new(),
            told: BTreeSet::new(),
            after,
        })
    }

    /// Makes rounds until the plan has ended, is paused, or is left by Ctrl-C.
    ///
    /// # Errors
    /// When the database or the repository fails.
    pub(super) fn go_on(mut self, record: &PlanRecord, begun: Begun) -> anyhow::Result<Exit> {
        let how = match begun {
            Begun::New => "begins",
            Begun::Resumed | Begun::Ended => "continues",
        };
        let phases = plural(record.document.phases.len(), "phase");
        self.progress.say(&format!(
            "Plan {} ({}) {how}: {phases}, at most {} at once.",
            record.id, record.path, record.options.max_parallel
        ));
        loop {
            let round = self.drive.round(self.store, self.mode)?;
            self.show(&round)?;
            let status = round.record.state.status;
            if is_over(&round.record) {
                return self.end();
            }
            if status == PlanStatus::Paused && round.live.is_empty() {
                self.progress.clear_bar();
                self.progress
                    .say("The plan is paused: `symphony plan run` continues it.");
                return Ok(Exit::Failed);
            }
            if let Next::Leave = self.watch(&round)? {
                return self.leave(&round);
            }
        }
    }

    /// Tells what a round did, and asks what has to be asked.
    fn show(&mut self, round: &PlanRound) -> anyhow::Result<()> {
        for event in &round.events {
            self.progress.say(&StepEventView::of_plan(event).text);
        }
        for problem in &round.problems {
            self.tell_once(&format!("Problem: {problem}"));
        }
        self.shown.extend(round.live.keys().cloned());
        let counts = round.record.state.counts();
        self.progress.bar(counts.complete, counts.total);
        let runs: Vec<RunId> = self.shown.iter().cloned().collect();
        self.progress.look(self.store, &runs)?;
        self.tell_retries(&round.record);
        let asked: Vec<PlanPhaseId> = round
            .step
            .actions
            .iter()
            .filter_map(|action| match action {
                PlanAction::AskDecision { phase } => Some(phase.clone()),
                _ => None,
            })
            .collect();
        if let Some(dialog) = &mut self.dialog {
            dialog.ask(&self.progress, &round.record, &asked);
            return Ok(());
        }
        let mode = self.mode.unwrap_or(round.record.options.on_failure);
        if matches!(mode, OnFailure::Ask | OnFailure::Wait) {
            self.tell_waiting(&round.record);
        }
        Ok(())
    }

    fn tell_once(&mut self, text: &str) {
        if self.told.insert(text.to_owned()) {
            self.progress.say(text);
        }
    }

    /// Tells of each failed attempt that is followed by another one when that is.
    fn tell_retries(&mut self, record: &PlanRecord) {
        for (phase, progress) in &record.state.phases {
            let (PhaseState::Retrying { due_at }, Some(failure)) =
                (&progress.state, &progress.failure)
            else {
                continue;
            };
            if self.told.insert(format!("{phase} {due_at}")) {
                let due = in_future(*due_at, Timestamp::now());
                self.progress.say(&format!(
                    "{phase}: {}; attempt {} {due}",
                    failure_text(failure.class, &failure.error),
                    progress.attempts.saturating_add(1),
                ));
            }
        }
    }

    /// Tells of each phase that awaits a decision, and of the first line of why.
    fn tell_waiting(&mut self, record: &PlanRecord) {
        for (phase, progress) in &record.state.phases {
            let PhaseState::AwaitingDecision { asked_at } = progress.state else {
                continue;
            };
            let (Some(failure), true) = (
                &progress.failure,
                self.told.insert(format!("{phase} {asked_at}")),
            ) else {
                continue;
            };
            self.progress.say(&format!(
                "Phase {phase} ({}) failed on attempt {}: {}. `symphony plan decide --plan {} {phase} CHOICE` decides. This command waits; Ctrl-C ends it without a decision.",
                title(record, phase),
                progress.attempts,
                failure_text(failure.class, &failure.error).trim_end_matches('.'),
                record.id
            ));
        }
    }

    /// Shows the running phases until the next round is due.
    fn watch(&mut self, round: &PlanRound) -> anyhow::Result<Next> {
        let watch = PlanWatch::after(round, self.drive.project());
        let runs: Vec<RunId> = self.shown.iter().cloned().collect();
        loop {
            reap_supervisors();
            if self.interrupts.count() > 0 {
                return Ok(Next::Leave);
            }
            if let Some(dialog) = &mut self.dialog {
                match dialog.answer(&self.progress) {
                    Said::Nothing => {}
                    Said::Choice(phase, choice) => {
                        self.answer(&round.record, phase, choice);
                        return Ok(Next::Round);
                    }
                    // as where no one could be asked in the first place
                    Said::End => {
                        self.dialog = None;
                        return Ok(Next::Round);
                    }
                }
            }
            if watch.is_due(self.store, round)? {
                return Ok(Next::Round);
            }
            self.progress.look(self.store, &runs)?;
            self.interrupts.wait(LOOK);
        }
    }

    fn answer(&mut self, record: &PlanRecord, phase: PlanPhaseId, choice: Choice) {
        let order = PlanOrder::Decide(phase, choice);
        let project = self.drive.project().clone();
        match carry_out_order(self.store, &App::as_human(), &project, &record.id, &order) {
            Ok((_, warnings)) => warnings
                .iter()
                .for_each(|warning| self.progress.say(&format!("Warning: {warning}"))),
            // another person answered meanwhile
            Err(error) => self
                .progress
                .say(&format!("Your answer has no effect: {error}")),
        }
    }

    /// Opens the pull request of the work, merges it where that was asked for, and sums up.
    fn end(mut self) -> anyhow::Result<Exit> {
        let mut conclusion = self.drive.conclude(self.store)?;
        let mut refusal = None;
        if let (Conclusion::InReview { pr, .. }, AfterReview::Merge) = (&conclusion, self.after) {
            self.progress.clear_bar();
            self.progress
                .say(&format!("Merging pull request {pr}: its gates run first."));
            match self.merge(*pr) {
                // the plan's branches go with the lock that this process holds
                Ok(()) => conclusion = self.drive.conclude(self.store)?,
                Err(error) => refusal = Some(error),
            }
        }
        let Self {
            app,
            store,
            progress,
            drive,
            ..
        } = self;
        let record = store.plan(drive.plan())?;
        progress.clear_bar();
        // they may have changed while its phases were running
        let configured = app.session()?.configured_gates();
        let result = PlanResult::new(store, &record, conclusion, &configured)?;
        app.out.answer(&result)?;
        match refusal {
            Some(error) => Err(error).context("merge the pull request"),
            None => Ok(exit_after(&result)),
        }
    }

    /// Merges the pull request of the work. Only a person may accept work that reached the user's branch outside
    /// Symphony; this order may not: it was given before anyone knew about that work.
    fn merge(&mut self, pr: PrId) -> anyhow::Result<()> {
        let told = self.store.plan_notices(self.drive.plan())?;
        let mut landed = told
            .into_iter()
            .filter(|notice| notice.kind == NoticeKind::Landed && notice.pr == Some(pr));
        if let Some(notice) = landed.next() {
            return Err(Stop::new(Exit::Refused, notice.text)
                .hint(format!("`symphony pr merge {pr}` accepts it"))
                .into());
        }
        let (options, interrupts) = (MergeOptions::default(), self.interrupts.clone());
        let stop = move || interrupts.count() > 0;
        let installation = self.drive.installation();
        merge_pr_until(
            installation,
            self.store,
            &App::as_human(),
            pr,
            &options,
            &stop,
        )?;
        Ok(())
    }

    /// Leaves the running phases to their supervisors, or ends them after a second Ctrl-C.
    fn leave(&mut self, round: &PlanRound) -> anyhow::Result<Exit> {
        let live: Vec<RunId> = round
            .live
            .keys()
            .filter(|run| self.store.run_status(run).is_ok_and(RunStatus::is_live))
            .cloned()
            .collect();
        self.progress.clear_bar();
        if live.is_empty() {
            self.progress
                .say("The plan stays as it is: `symphony plan run` continues it.");
            return Ok(Exit::Failed);
        }
        let phases = plural(live.len(), "phase");
        self.progress.say(&format!(
            "No new phase starts. {phases} running; press Ctrl-C again to end them."
        ));
        if self.interrupts.wait_for_second() {
            self.progress.say("Ending them. Their work is kept.");
            for run in &live {
                end_if_live(self.drive.installation(), self.store, &App::as_human(), run)
                    .with_context(|| format!("end run {run}"))?;
            }
            return Ok(Exit::Failed);
        }
        self.progress
            .say("They continue without this command: `symphony plan run` continues the plan.");
        Ok(Exit::Failed)
    }
}

/// Decides how `plan run` ends.
pub(super) const fn exit_after(result: &PlanResult) -> Exit {
    if result.is_stopped() {
        Exit::Failed
    } else {
        Exit::Done
    }
}
