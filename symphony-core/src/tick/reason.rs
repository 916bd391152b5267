//! Why something is not dispatched.

use std::fmt;

use super::running::write_running;
use super::slot_limit::SlotLimit;
use crate::Timestamp;
use crate::listing::list_few;
use crate::wording::{counted, unended};
use serde::Serialize;

use crate::done::{Obstacle, list_obstacles};
use crate::exit_handling::PutOff;
use crate::hold::{Hold, HoldScope};
use crate::id::{IssueId, PhaseName, ProjectId, RunId};
use crate::outside::HeadFound;
use crate::placement::Whereabouts;
use crate::retry::RetryKind;
use crate::review_point::{PointNumber, list_numbers};

/// Most gates that a reason lists; the rest is counted.
const GATES_NAMED_MAX: usize = 3;

/// Most files that a reason lists; the rest is counted.
const FILES_NAMED_MAX: usize = 5;

/// What precedes the time of an automatic retry.
pub const NEXT_TRY: &str = "next try";

/// One reason why an issue is not dispatched now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "reason")]
pub enum Reason {
    /// A human paused all dispatch.
    Paused,
    /// A run is working on it.
    Running {
        /// The run.
        run: RunId,
        /// Whether a person works in its session, in a terminal.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        interactive: bool,
        /// Where it is.
        #[serde(skip_serializing_if = "Whereabouts::is_here")]
        whereabouts: Whereabouts,
    },
    /// The exit handling of its last run could not be done yet.
    ExitPutOff {
        /// The run.
        run: RunId,
        /// Why, and when it is tried again.
        #[serde(flatten)]
        put_off: PutOff,
    },
    /// The result of its last run is still at the hub only.
    Unpromoted {
        /// The run.
        run: RunId,
    },
    /// The project's configuration is broken.
    ProjectBroken {
        /// What is wrong.
        problem: String,
    },
    /// There is no branch to start from.
    NoBase {
        /// Why, and what to do.
        problem: String,
    },
    /// No provider can be used.
    NoProvider {
        /// What to do.
        problem: String,
    },
    /// Something is on hold.
    Held {
        /// The scope of the hold.
        scope: HoldScope,
        /// When one run may start as a probe.
        until: Timestamp,
        /// The reason.
        why: String,
    },
    /// Dependencies are not done.
    WaitingOn {
        /// The issues.
        issues: Vec<IssueId>,
    },
    /// Its next attempt is not due.
    BackingOff {
        /// When it is.
        until: Timestamp,
        /// Why it waits.
        kind: RetryKind,
    },
    /// It waits for its sub-tasks, and all of them were cancelled.
    SubtasksCancelled,
    /// It used up its attempts.
    AttemptsSpent {
        /// How many.
        runs: u32,
        /// The limit.
        limit: u32,
    },
    /// Judges ended without a verdict on it.
    JudgesSpent {
        /// How many, in a row.
        runs: u32,
    },
    /// It conflicts with its base: no judge is paid for what cannot be merged as it is.
    Conflicts {
        /// The base branch.
        base: String,
        /// The files.
        files: Vec<String>,
    },
    /// Its branch is no longer at the reviewed commit: no judge is paid for what cannot be merged as it is.
    HeadMoved {
        /// The branch.
        branch: String,
        /// Where that is.
        now: String,
        /// The command that takes it back.
        back: String,
    },
    /// `must` points of people are open, and no judge continues before a person has closed them.
    PersonsPoints {
        /// Their numbers.
        points: Vec<PointNumber>,
    },
    /// It has no phase label, and migration mode is off.
    NoPhase,
    /// Its phase has no contract in the project's pipeline.
    UnknownPhase {
        /// The phase.
        phase: PhaseName,
    },
    /// It waits for a planner, and planning is off.
    PlanningOff,
    /// Its phase needs a researcher, and research is off.
    ResearchOff,
    /// The maximum number of reviews waits for a human.
    ReviewsFull {
        /// How many wait.
        waiting: u32,
        /// The limit.
        limit: u32,
    },
    /// Judges are off: a human looks.
    JudgeOff,
    /// The gates have not run on the commit to be judged.
    GatesPending,
    /// Required gates failed on the commit to be judged, and no agent repairs it automatically.
    GatesRed,
    /// Its gates could not be run, and are tried again later.
    GatesDelayed {
        /// When they are due.
        until: Timestamp,
        /// Why they could not be run.
        problem: String,
    },
    /// Gates of its project were added or changed: they are tried on the base before an agent is paid.
    GatesUntried {
        /// Their names.
        gates: Vec<String>,
    },
    /// It is to repair gates that pass on the base.
    NothingToRepair {
        /// Their names.
        gates: Vec<String>,
    },
    /// It repairs a gate whose program is missing on this machine.
    ProgramMissing {
        /// The project, which is on hold for it.
        project: ProjectId,
        /// The gate.
        gate: String,
    },
    /// The base branch has its change.
    MergedOutside {
        /// The branch.
        base: String,
    },
    /// There is a verdict: a human merges.
    Judged,
    /// A judge agrees that nothing is left to do: a person confirms it.
    DoneJudged {
        /// Why Symphony would not confirm it, whether or not that is left to it.
        obstacles: Vec<Obstacle>,
    },
    /// The base has moved under the proposal that nothing is left to do: a worker looks again.
    DoneMoved {
        /// What has changed.
        why: String,
    },
    /// A judge looked a moment ago.
    CoolingDown {
        /// When the next may.
        until: Timestamp,
    },
    /// The setup wizard of its project has not ended.
    WizardFirst,
    /// Issues wait in `todo`, so no agent searches for more work.
    WorkWaits,
    /// The backlog is long enough.
    BacklogFull {
        /// The number of issues from which the backlog counts as long.
        limit: u32,
    },
    /// It ran a moment ago.
    RanRecently {
        /// When it may run again.
        until: Timestamp,
    },
    /// No slot is free.
    NoSlot {
        /// Which limit is reached.
        limit: SlotLimit,
    },
}

/// When a reason ends without help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    /// The time.
    pub at: Timestamp,
    /// What happens then, in words that precede a time: `next try`.
    pub then: &'static str,
}

impl Reason {
    /// Makes it of what is on hold.
    pub fn held(hold: &Hold) -> Self {
        Self::Held {
            scope: hold.scope.clone(),
            until: hold.until,
            why: hold.reason.clone(),
        }
    }

    /// Returns whether this lasts until a person acts on the issue or plan itself.
    pub const fn is_for_person(&self) -> bool {
        matches!(
            self,
            Self::Judged
                | Self::DoneJudged { .. }
                | Self::JudgeOff
                | Self::SubtasksCancelled
                | Self::AttemptsSpent { .. }
                | Self::JudgesSpent { .. }
                | Self::Conflicts { .. }
                | Self::HeadMoved { .. }
                | Self::PersonsPoints { .. }
                | Self::PlanningOff
                | Self::ResearchOff
                | Self::NoPhase
                | Self::NothingToRepair { .. }
                | Self::UnknownPhase { .. }
        )
    }

    /// Returns when this ends without help; `None` if something else, or a person, ends it.
    pub fn due(&self) -> Option<Due> {
        let (at, then) = match self {
            Self::ExitPutOff { put_off, .. } => (put_off.due_at, NEXT_TRY),
            Self::Held { until, .. }
            | Self::GatesDelayed { until, .. }
            | Self::BackingOff {
                until,
                kind: RetryKind::Backoff,
            } => (*until, NEXT_TRY),
            Self::BackingOff {
                until,
                kind: RetryKind::Continuation,
            } => (*until, "continues"),
            Self::CoolingDown { until } | Self::RanRecently { until } => (*until, "again"),
            _ => return None,
        };
        // what has no end waits for a person
        (at != Timestamp::MAX).then_some(Due { at, then })
    }
}

impl Reason {
    /// Returns the reason without what the gates of a project on hold say: for a list, below or beside which that is
    /// shown once.
    pub fn brief(&self) -> String {
        match self {
            Self::Held {
                scope: HoldScope::Gates(id),
                ..
            } => format!("project {id} is on hold until its gates pass on the base"),
            _ => self.to_string(),
        }
    }
}

/// Without times: the caller adds [`Reason::due`] in a form that suits its reader.
impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Paused => f.write_str("Symphony is paused (`symphony resume` ends the pause)"),
            Self::Running {
                run,
                interactive: false,
                whereabouts,
            } => write_running(f, run, whereabouts),
            Self::Running {
                run,
                interactive: true,
                ..
            } => write!(
                f,
                "a person has taken it over and works in its session (run {run})"
            ),
            Self::ExitPutOff { run, put_off } => write!(
                f,
                "the work of run {run} is not saved yet (tried {}): {}",
                counted(put_off.tries.into(), "time"),
                put_off.problem
            ),
            Self::Unpromoted { run } => write!(
                f,
                "the result of run {run} is not on its branch yet: each tick tries to bring it in, and says what is in the way"
            ),
            Self::ProjectBroken { problem } => {
                write!(f, "the project's configuration is broken: {problem}")
            }
            Self::NoBase { problem } => write!(f, "its project is on hold: {problem}"),
            Self::NoProvider { problem } => write!(f, "no provider can be used: {problem}"),
            Self::Held { scope, why, .. } => match scope {
                HoldScope::Gates(_) => write!(f, "{}: {}", self.brief(), unended(why)),
                scope => write!(f, "{scope} is on hold: {}", unended(why)),
            },
            Self::WaitingOn { issues } => {
                f.write_str("waits for ")?;
                for (i, issue) in issues.iter().enumerate() {
                    write!(f, "{}{issue}", if i == 0 { "" } else { ", " })?;
                }
                Ok(())
            }
            Self::BackingOff {
                kind: RetryKind::Backoff,
                ..
            } => f.write_str("it failed"),
            Self::BackingOff {
                kind: RetryKind::Continuation,
                ..
            } => f.write_str("its last run ended before its work did"),
            Self::SubtasksCancelled => f.write_str(
                "all its sub-tasks were cancelled: waits for a person (`symphony issue move` to `todo` continues \
                 without them)",
            ),
            Self::AttemptsSpent { runs, limit } => write!(
                f,
                "used {runs} of {} without progress (`symphony issue retry` clears the count)",
                counted((*limit).into(), "run")
            ),
            Self::JudgesSpent { runs } => write!(
                f,
                "it waits for a person's verdict: {} ended without one",
                counted((*runs).into(), "judge")
            ),
            Self::Conflicts { base, files } => write!(
                f,
                "it waits for a person: it conflicts with {base} in {}",
                list_few(files.iter().map(String::as_str), FILES_NAMED_MAX)
            ),
            Self::HeadMoved { branch, now, back } => {
                let found = HeadFound::Moved {
                    branch: branch.clone(),
                    now: now.clone(),
                    back: back.clone(),
                };
                write!(f, "it waits for a person: {}", found.text())
            }
            Self::PersonsPoints { points } => write!(
                f,
                "it waits for a person to close {}: only people can close points raised by people",
                list_numbers(points)
            ),
            Self::NoPhase => f.write_str("has no `phase:` label, and migration_mode is off"),
            Self::UnknownPhase { phase } => {
                write!(
                    f,
                    "the project has no phase `{phase}` (`symphony phase list` lists its phases)"
                )
            }
            Self::PlanningOff => f.write_str("waits for a planner, but planner_enabled is off"),
            Self::ResearchOff => {
                f.write_str("its phase needs a researcher, but researcher_enabled is off")
            }
            Self::ReviewsFull { waiting, limit } => {
                let reviews = counted((*waiting).into(), "review");
                let wait = if *waiting == 1 { "waits" } else { "wait" };
                write!(
                    f,
                    "{reviews} {wait} for a person (max_open_reviews is {limit})"
                )
            }
            Self::JudgeOff => {
                f.write_str("it waits for a person's verdict (judge_enabled is off)")
            }
            Self::GatesPending => f.write_str("its gates have not run yet"),
            Self::GatesRed => f.write_str("required gates are red, and it waits for a person"),
            Self::GatesDelayed { problem, .. } => {
                write!(f, "its gates could not be run: {problem}")
            }
            Self::GatesUntried { gates } => {
                let names = list_few(gates.iter().map(String::as_str), GATES_NAMED_MAX);
                let (gate, have, they) = if gates.len() == 1 {
                    ("gate", "has", "it is")
                } else {
                    ("gates", "have", "they are")
                };
                write!(
                    f,
                    "{gate} {names} {have} not passed on the base with the current configuration: {they} tried there first"
                )
            }
            Self::NothingToRepair { gates } => {
                let names = list_few(gates.iter().map(String::as_str), GATES_NAMED_MAX);
                let passes = if gates.len() == 1 { "passes" } else { "pass" };
                write!(f, "{names} {passes} on the base, so there is nothing to fix")
            }
            Self::ProgramMissing { gate, .. } => write!(
                f,
                "gate {gate} needs a program that is missing on this machine, and no agent can install it"
            ),
            Self::MergedOutside { base } => write!(
                f,
                "{base} has its change: the next tick records that it was merged outside Symphony"
            ),
            Self::Judged => f.write_str("it is approved and waits for a person to merge it"),
            Self::DoneJudged { obstacles } => {
                f.write_str("a judge agrees that nothing is left to do, and a person has to confirm it")?;
                if obstacles.is_empty() {
                    return Ok(());
                }
                write!(f, ": {}", list_obstacles(obstacles))
            }
            Self::DoneMoved { why } => write!(f, "a worker checks it again: {why}"),
            Self::CoolingDown { .. } => f.write_str("it was judged a moment ago"),
            Self::WizardFirst => f.write_str("its project's setup wizard runs first"),
            Self::WorkWaits => f.write_str("issues wait in `todo`: it runs when there are none"),
            Self::BacklogFull { limit } => write!(
                f,
                "the backlog has {limit} issues or more: it runs when there are fewer"
            ),
            Self::RanRecently { .. } => f.write_str("ran a moment ago"),
            Self::NoSlot { limit } => write!(f, "{limit}"),
        }
    }
}

#[cfg(test)]
mod tests;
