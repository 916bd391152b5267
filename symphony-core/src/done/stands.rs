//! Whether a proposal can be confirmed now: one decision for the tick, for a person and for the database.

use std::fmt;

use serde::Serialize;

use super::base::BaseEffect;
use crate::gates::{ConfiguredGate, GatesAge};
use crate::id::IssueId;
use crate::listing::list_few;
use crate::pull_request::{PrState, PullRequest, SET_UP_GATE, VerdictKind};
use crate::review_point::PointNumber;

/// Most names of one kind that a sentence lists; the rest is counted.
const NAMED_MAX: usize = 5;

/// What the database knows of a proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DoneRecord {
    /// The proposal, with its gates and its verdict.
    pub proposal: PullRequest,
    /// The `must` points of its issue that are open.
    pub open_must: Vec<PointNumber>,
    /// The sub-tasks of its issue that have not ended.
    pub open_subtasks: Vec<IssueId>,
    /// What runs on its issue left uncommitted, by name: a notice of it waits for a person.
    pub left_behind: Vec<String>,
    /// Whether a person edited or commented on the issue after its judge had started.
    pub changed_since_verdict: bool,
}

/// What git and the configuration know of a proposal's base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseNow {
    /// Its name.
    pub name: String,
    /// The commit that it is at.
    pub head: String,
    /// How its commits since the proposal affect the evidence.
    pub effect: BaseEffect,
    /// The gates of the project, as they are defined now.
    pub gates: Vec<ConfiguredGate>,
}

/// Who confirms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfirmedBy {
    /// A person, whose word needs no verdict of a judge.
    Person,
    /// Symphony itself, if `auto_done` leaves that to it.
    AutoDone,
}

/// What is in the way of a confirmation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Obstacle {
    /// It has ended.
    Ended {
        /// The state.
        state: PrState,
    },
    /// `must` points of reviews are open.
    MustPoints {
        /// Their numbers.
        points: Vec<PointNumber>,
    },
    /// Sub-tasks have not ended.
    OpenSubtasks {
        /// The sub-tasks.
        subtasks: Vec<IssueId>,
    },
    /// Its base branch could not be read.
    BaseUnknown {
        /// The branch.
        base: String,
    },
    /// The base changed what the evidence is about.
    BaseMoved {
        /// What changed.
        why: String,
    },
    /// Required gates are red.
    GatesRed {
        /// The gates.
        gates: Vec<String>,
    },
    /// The gates have not run.
    GatesNotRun,
    /// The gates ran on an older commit of the base.
    GatesOnOlderBase {
        /// The branch.
        base: String,
    },
    /// The gates, or what their results depend on, changed after they ran.
    GatesChanged,
    /// No required gate could have kept it back.
    NothingVerifies,
    /// No judge has approved it.
    NotJudged,
    /// A person changed the issue, or commented on it, after its judge began to read.
    ChangedSinceVerdict,
    /// Runs left work that no commit has.
    WorkLeft {
        /// What, by name.
        left: Vec<String>,
    },
}

impl Obstacle {
    /// Returns whether it stops even a person: their word is as good as a judge's, and they decide about what has no
    /// gate.
    pub const fn stops_a_person(&self) -> bool {
        !matches!(
            self,
            Self::NothingVerifies
                | Self::NotJudged
                | Self::ChangedSinceVerdict
                | Self::WorkLeft { .. }
        )
    }

    /// Returns whether a run of the gates may remove it.
    pub const fn asks_for_gates(&self) -> bool {
        matches!(
            self,
            Self::GatesNotRun | Self::GatesOnOlderBase { .. } | Self::GatesChanged
        )
    }

    /// Returns the command that resolves it; `None` if Symphony continues on its own, or another command of the same
    /// list resolves it.
    pub fn answer(&self, issue: &IssueId) -> Option<String> {
        match self {
            Self::MustPoints { points } => {
                let numbers: Vec<String> = points.iter().map(ToString::to_string).collect();
                Some(format!(
                    "symphony point close {issue} {}",
                    numbers.join(" ")
                ))
            }
            Self::OpenSubtasks { subtasks } => subtasks
                .first()
                .map(|subtask| format!("symphony explain {subtask}")),
            Self::GatesRed { .. } => Some(format!("symphony pr check {issue}")),
            _ => None,
        }
    }
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ended { state } => write!(f, "it is {state}"),
            Self::MustPoints { points } => {
                let names: Vec<String> = points.iter().map(ToString::to_string).collect();
                let (noun, verb) = number(names.len(), "review point", "review points");
                write!(f, "{noun} {} (`must`) {verb} open", few(&names))
            }
            Self::OpenSubtasks { subtasks } => {
                let names: Vec<String> = subtasks.iter().map(ToString::to_string).collect();
                let (noun, _) = number(names.len(), "sub-task", "sub-tasks");
                write!(f, "{noun} {} {} not ended", few(&names), has(names.len()))
            }
            Self::BaseUnknown { base } => write!(f, "its base `{base}` could not be checked"),
            Self::BaseMoved { why } => write!(f, "a worker has to check it again: {why}"),
            Self::GatesRed { gates } => {
                let (noun, verb) = number(gates.len(), "gate", "gates");
                write!(
                    f,
                    "required {noun} {} {verb} red on its base commit",
                    few(gates)
                )
            }
            Self::GatesNotRun => f.write_str("its gates have not run"),
            Self::GatesOnOlderBase { base } => write!(
                f,
                "its gates ran on an older commit of `{base}` and run again"
            ),
            Self::GatesChanged => f.write_str(
                "the gates or their environment changed after they ran, and they run again",
            ),
            Self::NothingVerifies => f.write_str("no required gate verifies it"),
            Self::NotJudged => f.write_str("no judge has approved it"),
            Self::ChangedSinceVerdict => {
                f.write_str("a person edited or commented on the issue after its judge had started")
            }
            Self::WorkLeft { left } => {
                write!(f, "runs on it left work that no commit has: {}", few(left))
            }
        }
    }
}

const fn number<'a>(count: usize, one: &'a str, many: &'a str) -> (&'a str, &'static str) {
    if count == 1 {
        (one, "is")
    } else {
        (many, "are")
    }
}

const fn has(count: usize) -> &'static str {
    if count == 1 { "has" } else { "have" }
}

fn few(names: &[String]) -> String {
    list_few(names.iter().map(String::as_str), NAMED_MAX)
}

/// Joins obstacles to one sentence without a full stop.
pub fn list_obstacles(obstacles: &[Obstacle]) -> String {
    let all: Vec<String> = obstacles.iter().map(ToString::to_string).collect();
    all.join("; ")
}

/// Decides whether a proposal can be confirmed. Without a look at its base none can: the proposal is about the current
/// base.
///
/// # Errors
/// Everything that is in the way of `by`, what has ended first.
pub fn stands(
    record: &DoneRecord,
    base: Option<&BaseNow>,
    by: ConfirmedBy,
) -> Result<(), Vec<Obstacle>> {
    let mut obstacles = obstacles(record, base);
    if by == ConfirmedBy::Person {
        obstacles.retain(Obstacle::stops_a_person);
    }
    if obstacles.is_empty() {
        Ok(())
    } else {
        Err(obstacles)
    }
}

fn obstacles(record: &DoneRecord, base: Option<&BaseNow>) -> Vec<Obstacle> {
    let proposal = &record.proposal;
    if !proposal.state.is_open() {
        return vec![Obstacle::Ended {
            state: proposal.state,
        }];
    }
    let mut found = Vec::new();
    if !record.open_must.is_empty() {
        let points = record.open_must.clone();
        found.push(Obstacle::MustPoints { points });
    }
    if !record.open_subtasks.is_empty() {
        let subtasks = record.open_subtasks.clone();
        found.push(Obstacle::OpenSubtasks { subtasks });
    }
    match base {
        None => found.push(Obstacle::BaseUnknown {
            base: proposal.base.clone(),
        }),
        Some(base) => {
            if let BaseEffect::CheckAgain { why } = &base.effect {
                found.push(Obstacle::BaseMoved { why: why.clone() });
            }
            found.extend(gates_obstacle(proposal, base));
            if !base.gates.iter().any(|gate| gate.required) {
                found.push(Obstacle::NothingVerifies);
            }
        }
    }
    let verdict = proposal.verdict_on_head();
    if verdict.is_none_or(|verdict| verdict.kind != VerdictKind::Approved) {
        found.push(Obstacle::NotJudged);
    } else if record.changed_since_verdict {
        found.push(Obstacle::ChangedSinceVerdict);
    }
    if !record.left_behind.is_empty() {
        let left = record.left_behind.clone();
        found.push(Obstacle::WorkLeft { left });
    }
    found
}

/// Compares the gates that ran with the current ones, on the current base. A project without gates has nothing to run.
fn gates_obstacle(proposal: &PullRequest, base: &BaseNow) -> Option<Obstacle> {
    if base.gates.is_empty() {
        return None;
    }
    let Some(found) = proposal.gates_of_head() else {
        return Some(Obstacle::GatesNotRun);
    };
    let ran_on = found.merged_with.as_ref().unwrap_or(&found.commit);
    if *ran_on != base.head {
        let base = base.name.clone();
        return Some(Obstacle::GatesOnOlderBase { base });
    }
    // If the set-up failed, no gate ran that could be compared.
    let is_set_up = found.red().any(|gate| gate.name == SET_UP_GATE);
    if !is_set_up && GatesAge::of_any(found, &base.gates) == GatesAge::Outdated {
        return Some(Obstacle::GatesChanged);
    }
    let is_now = |name: &str| {
        let mut now = base.gates.iter();
        name == SET_UP_GATE || now.any(|gate| gate.required && gate.name == name)
    };
    let red: Vec<String> = found
        .red()
        .filter(|gate| is_now(&gate.name))
        .map(|gate| gate.name.clone())
        .collect();
    (!red.is_empty()).then_some(Obstacle::GatesRed { gates: red })
}

#[cfg(test)]
mod tests;
