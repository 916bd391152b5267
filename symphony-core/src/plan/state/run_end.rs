//! The consequences of the end of a phase's run.

use crate::Timestamp;
use serde::{Deserialize, Serialize};

use super::event::{Confirmation, PhaseEvent, ReleaseCause};
use super::outcome::{FailurePolicy, FailureReport, RetryMode, plan_crash, plan_failure};
use super::phase_state::{PhaseFailure, PhaseProgress};
use crate::closed_set::closed_set;
use crate::exit_handling::{AfterFault, ExitFault, after_fault};
use crate::failure::ErrorClass;
use crate::hand_in::RefusedCall;
use crate::id::RunId;
use crate::plan::artifact::Artifact;
use crate::plan::failure::{FailureClass, FailureEvidence, FailurePatterns, classify_failure};
use crate::plan::phase::Phase;
use crate::retry::after;
use crate::review_point::{PointNumber, list_numbers};
use crate::run::{RunError, RunStatus};

/// What is recorded of a phase's outcome while its run lives: the call of `complete_phase`, or a clean exit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum PhaseOutcome {
    /// All success criteria are met.
    Complete,
    /// Its agent exited cleanly, had no way to report, and nothing checks it.
    Unconfirmed,
    /// They are not.
    Failed {
        /// What is missing, and why.
        error: String,
    },
}

closed_set!(
    /// What an agent reports of its phase when it ends it.
    ReportedOutcome, "outcome of a phase", {
        /// All success criteria are met.
        Complete = "complete",
        /// They are not.
        Failed = "failed",
    }
);

/// What happened to the work of a phase that is complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PhaseWork {
    /// It is in its final place: merged, or created there.
    InPlace,
    /// It conflicts with what was merged before, in these files.
    Conflict(Vec<String>),
    /// A check of the phase is red on the merge of its work: its name, and how it ended with the end of its output.
    CheckFailed {
        /// The check.
        check: String,
        /// How it ended.
        output: String,
    },
    /// The branch that it is merged into lost work of other phases: a person decides how to continue.
    BaseLost(String),
    /// It could not be merged, for another reason.
    Unmerged(String),
}

/// The end of a phase's run.
#[derive(Debug, Clone, Copy)]
pub struct PhaseRunEnd<'a> {
    /// The run.
    pub run: &'a RunId,
    /// How it ended.
    pub status: RunStatus,
    /// Why it did not succeed.
    pub error: Option<&'a RunError>,
    /// What was recorded of the outcome.
    pub outcome: Option<&'a PhaseOutcome>,
    /// How many runs of the phase right before it could not be prepared.
    pub unprepared_before: u32,
    /// Why its last call of `complete_phase` was refused.
    pub refused: Option<&'a RefusedCall>,
    /// The unanswered `must` points that keep the phase from being complete.
    pub unanswered: &'a [PointNumber],
    /// What happened to the work, when the phase is complete.
    pub work: &'a PhaseWork,
    /// What it produced.
    pub artifacts: &'a [Artifact],
    /// The plan and the phase: the seed of the delay's jitter.
    pub seed: (&'a str, &'a str),
    /// The project's own patterns of failures.
    pub patterns: Option<&'a FailurePatterns>,
}

impl PhaseRunEnd<'_> {
    fn class_of(&self, error_class: Option<ErrorClass>, text: &str) -> FailureClass {
        let evidence = FailureEvidence {
            error_class,
            http_status: None,
            text,
            patterns: self.patterns,
        };
        classify_failure(&evidence).class
    }
}

/// Returns whether a phase is complete with the end of its run, apart from the result of merging its work.
///
/// A recorded outcome counts whatever came after it, except for tampering and a person's order to end the run: an agent
/// that is slow to exit has still done its work. A clean exit alone is no outcome: [`clean_exit_outcome`] decides when
/// one is recorded for it.
pub const fn is_phase_complete(status: RunStatus, outcome: Option<&PhaseOutcome>) -> bool {
    match (status, outcome) {
        (RunStatus::Tampered | RunStatus::Cancelled, _)
        | (_, Some(PhaseOutcome::Failed { .. }) | None) => false,
        (_, Some(PhaseOutcome::Complete | PhaseOutcome::Unconfirmed)) => true,
    }
}

/// Whether agents of a provider can report what happened to their phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reporting {
    /// By the tool `complete_phase`.
    ByTool,
    /// Not at all: there is only the exit code.
    None,
}

/// Whether the review points that a phase has to answer before it is complete have their answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PointAnswers {
    /// There is none that it must answer.
    Given,
    /// A `must` point has no answer, and no other phase is left to give one.
    Missing,
}

/// Returns the outcome of an agent that exited cleanly without reporting one: the phase's checks decide if there are
/// any; an agent that has no way to report is believed, without confirmation. `None` if it could have reported, or
/// answered a review point, and did not: it is asked again.
pub const fn clean_exit_outcome(
    phase: &Phase,
    reporting: Reporting,
    answers: PointAnswers,
) -> Option<PhaseOutcome> {
    match (phase.checks.is_empty(), reporting, answers) {
        (_, Reporting::ByTool, PointAnswers::Missing) | (true, Reporting::ByTool, _) => None,
        (false, ..) => Some(PhaseOutcome::Complete),
        (true, Reporting::None, _) => Some(PhaseOutcome::Unconfirmed),
    }
}

/// Longest output of a check in a failure, in bytes: with its name it fits into
/// [`ERROR_BYTES_MAX`](super::ERROR_BYTES_MAX).
const CHECK_OUTPUT_BYTES_MAX: usize = 3_500;

/// What a person and the next attempt read about a red check: the end of its output shows what failed.
fn check_error(check: &str, output: &str) -> String {
    let output = output.trim();
    let from = output.ceil_char_boundary(output.len().saturating_sub(CHECK_OUTPUT_BYTES_MAX));
    format!(
        "check `{check}` failed:\n{}",
        output.get(from..).unwrap_or("")
    )
}

/// Decides the consequences of the end of a phase's run.
pub fn route_phase_run_end(
    progress: &PhaseProgress,
    end: &PhaseRunEnd<'_>,
    policy: &FailurePolicy,
    now: Timestamp,
) -> PhaseEvent {
    let fail = |error: &str, class| {
        let report = report(end, error, class);
        plan_failure(progress, &report, policy, now)
    };
    let class = end.error.map(|error| error.class);
    let uses_no_attempt = class.is_some_and(ErrorClass::uses_no_attempt);
    let is_complete = is_phase_complete(end.status, end.outcome);
    if is_complete && !(uses_no_attempt && *end.work != PhaseWork::InPlace) {
        return match end.work {
            PhaseWork::InPlace => PhaseEvent::Completed {
                run: Some(end.run.clone()),
                artifacts: end.artifacts.to_vec(),
                confirmation: match end.outcome {
                    Some(PhaseOutcome::Unconfirmed) => Confirmation::Unconfirmed,
                    _ => Confirmation::Confirmed,
                },
                at: now,
            },
            PhaseWork::CheckFailed { check, output } => {
                fail(&check_error(check, output), FailureClass::CheckFailed)
            }
            PhaseWork::Conflict(files) => fail(
                &format!("merge conflict in {}", files.join(", ")),
                FailureClass::Logic,
            ),
            PhaseWork::BaseLost(reason) => asks(progress, end, policy, reason, now),
            PhaseWork::Unmerged(reason) => {
                let error = format!("the phase's work could not be merged: {reason}");
                fail(&error, end.class_of(None, reason))
            }
        };
    }
    if let (Some(PhaseOutcome::Failed { error }), RunStatus::Succeeded) = (end.outcome, end.status)
    {
        return fail(error, end.class_of(None, error));
    }
    if let (None, RunStatus::Succeeded) = (end.outcome, end.status) {
        return plan_silence(progress, end, policy, now);
    }
    let message = end.error.map_or("", |error| error.message.as_str());
    match class {
        Some(ErrorClass::NotPrepared) => plan_unprepared(progress, end, policy, message, now),
        Some(class) if class.uses_no_attempt() => PhaseEvent::Released {
            run: Some(end.run.clone()),
            cause: match class {
                ErrorClass::Moved => ReleaseCause::Moved,
                _ => ReleaseCause::Held,
            },
        },
        Some(ErrorClass::Crashed) => {
            let report = report(end, message, FailureClass::Unknown);
            plan_crash(progress, &report, policy, now)
        }
        _ => {
            // What the agent said before it failed explains more than how its process ended.
            let said = match end.outcome {
                Some(PhaseOutcome::Failed { error }) => format!("{error}\n{message}"),
                _ => message.to_owned(),
            };
            fail(&said, end.class_of(class, &said))
        }
    }
}

/// Decides the consequences of a run that could not be prepared because of git or the machine: another one, with
/// growing delays. If that does not help for more than an hour, someone decides.
fn plan_unprepared(
    progress: &PhaseProgress,
    end: &PhaseRunEnd<'_>,
    policy: &FailurePolicy,
    error: &str,
    now: Timestamp,
) -> PhaseEvent {
    let tries = end.unprepared_before.saturating_add(1);
    match after_fault(ExitFault::Machine, tries, u64::MAX) {
        AfterFault::Again(wait) => PhaseEvent::PutOff {
            run: Some(end.run.clone()),
            failure: PhaseFailure::new(progress.attempts, error, FailureClass::Resource, now),
            due_at: after(now, wait),
        },
        AfterFault::GiveUp => asks(progress, end, policy, error, now),
    }
}

/// Decides the consequences of a run whose agent exited cleanly without reporting: it is continued once, then someone
/// decides.
fn plan_silence(
    progress: &PhaseProgress,
    end: &PhaseRunEnd<'_>,
    policy: &FailurePolicy,
    now: Timestamp,
) -> PhaseEvent {
    let run = Some(end.run.clone());
    if !progress.is_continued {
        return PhaseEvent::Released {
            run,
            cause: ReleaseCause::Silent,
        };
    }
    asks(progress, end, policy, &silence_error(end), now)
}

/// What a person reads of a phase whose agent ended twice without a report.
fn silence_error(end: &PhaseRunEnd<'_>) -> String {
    let refused = end.refused.map_or_else(String::new, |refused| {
        format!("; {}", refused.why_nothing_came(end.run))
    });
    if end.unanswered.is_empty() {
        return format!(
            "its agent ended twice without saying whether the phase is complete{refused}, and the phase has no checks \
             that could show it. Look at its work, then retry the phase, or skip it, which counts as complete. With \
             `checks` in the plan, Symphony can find out itself"
        );
    }
    format!(
        "its agent ended twice without an answer to {}{refused}. Look at its work, then retry the phase, or skip it, \
         which counts as complete. Before a merge you then have to close what is open",
        list_numbers(end.unanswered)
    )
}

/// Ends an attempt that no other attempt can fix.
fn asks(
    progress: &PhaseProgress,
    end: &PhaseRunEnd<'_>,
    policy: &FailurePolicy,
    error: &str,
    now: Timestamp,
) -> PhaseEvent {
    let run = Some(end.run.clone());
    let failure = PhaseFailure::new(progress.attempts, error, FailureClass::Unknown, now);
    match policy.mode {
        RetryMode::Never => PhaseEvent::Failed { run, failure },
        RetryMode::Again => PhaseEvent::DecisionAsked { run, failure },
    }
}

fn report<'a>(end: &PhaseRunEnd<'a>, error: &'a str, class: FailureClass) -> FailureReport<'a> {
    FailureReport {
        run: Some(end.run),
        error,
        class,
        seed: end.seed,
    }
}
