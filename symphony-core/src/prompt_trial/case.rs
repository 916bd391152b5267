//! The result of an issue with a set of prompts.

use serde::{Deserialize, Serialize};

use super::assignment::PromptSet;
use crate::id::IssueId;
use crate::unit::{Tokens, UsdMicros};

/// How a case ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum CaseEnd {
    /// A reviewer approved the work, or it was merged.
    Approved,
    /// Agents and reviewers ended without an approval.
    NotApproved {
        /// Why it went no further, for a person.
        reason: String,
    },
    /// It shows nothing about the prompts and is not counted in the report.
    LeftOut {
        /// Why, for a person.
        reason: String,
    },
}

/// The result of an issue with a set of prompts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseOutcome {
    /// The issue.
    pub issue: IssueId,
    /// The set.
    pub set: PromptSet,
    /// How it ended.
    #[serde(flatten)]
    pub end: CaseEnd,
    /// Whether all required gates passed on the first hand-in. Work that was never handed in passed none; `None` if the
    /// project has no gates.
    pub gates_first_time: Option<bool>,
    /// Runs of workers that reached their agent and were not ended by an outage.
    pub attempts: u32,
    /// Tokens of all runs.
    pub tokens: Tokens,
    /// The cost of all runs, if the provider reports it for each.
    pub cost: Option<UsdMicros>,
    /// Time that agents ran, in milliseconds; waiting and gates are not in it.
    pub agent_ms: u64,
}

/// A run of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempt {
    /// Whether it is an attempt of a worker that counts: it reached its agent and was not ended by an outage.
    pub counts: bool,
    /// Its tokens.
    pub tokens: Tokens,
    /// Its cost, if the provider reports it.
    pub cost: Option<UsdMicros>,
    /// How long it ran.
    pub ms: u64,
}

/// The first version of the work that was handed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandIn {
    /// Nothing was handed in.
    None,
    /// There are no gates, or none ran on it.
    Ungated,
    /// All required gates passed.
    Passed,
    /// A required gate failed.
    Failed,
}

/// The facts about a case that has ended, from which [`case_outcome`] computes its outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseFacts {
    /// The issue.
    pub issue: IssueId,
    /// The set.
    pub set: PromptSet,
    /// How it ended.
    pub end: CaseEnd,
    /// Whether the project has required gates.
    pub has_gates: bool,
    /// The first version that was handed in.
    pub first: HandIn,
    /// All runs of agents.
    pub runs: Vec<Attempt>,
}

/// Sums up a case. One without an attempt that counts shows nothing about the prompts and is omitted.
pub fn case_outcome(facts: CaseFacts) -> CaseOutcome {
    let counted = facts.runs.iter().filter(|run| run.counts).count();
    let end = match facts.end {
        CaseEnd::NotApproved { reason } if counted == 0 => CaseEnd::LeftOut { reason },
        end => end,
    };
    let gates_first_time = match facts.first {
        HandIn::Passed => Some(true),
        HandIn::Failed => Some(false),
        HandIn::None => facts.has_gates.then_some(false),
        HandIn::Ungated => None,
    };
    // one unknown cost makes the sum a wrong number
    let costs: Option<Vec<UsdMicros>> = facts.runs.iter().map(|run| run.cost).collect();
    let sum = |costs: Vec<UsdMicros>| {
        let micros = costs.iter().map(|cost| cost.get());
        UsdMicros::new(micros.fold(0, u64::saturating_add))
    };
    CaseOutcome {
        issue: facts.issue,
        set: facts.set,
        end,
        gates_first_time,
        attempts: u32::try_from(counted).unwrap_or(u32::MAX),
        tokens: Tokens::new(
            facts
                .runs
                .iter()
                .fold(0, |sum, run| sum.saturating_add(run.tokens.get())),
        ),
        cost: costs.filter(|costs| !costs.is_empty()).map(sum),
        agent_ms: facts
            .runs
            .iter()
            .fold(0, |sum, run| sum.saturating_add(run.ms)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(counts: bool, cost: Option<u64>) -> Attempt {
        Attempt {
            counts,
            tokens: Tokens::new(10),
            cost: cost.map(UsdMicros::new),
            ms: 7,
        }
    }

    fn facts(end: CaseEnd, first: HandIn, runs: Vec<Attempt>) -> CaseFacts {
        CaseFacts {
            issue: IssueId::parse("SYM-1").unwrap(),
            set: PromptSet::B,
            end,
            has_gates: true,
            first,
            runs,
        }
    }

    fn not_approved() -> CaseEnd {
        CaseEnd::NotApproved {
            reason: "blocked".into(),
        }
    }

    #[test]
    fn all_runs_are_paid_and_only_attempts_that_say_something_count() {
        let runs = vec![run(true, Some(5)), run(false, Some(6)), run(true, Some(7))];
        assert_eq!(
            case_outcome(facts(CaseEnd::Approved, HandIn::Failed, runs)),
            CaseOutcome {
                issue: IssueId::parse("SYM-1").unwrap(),
                set: PromptSet::B,
                end: CaseEnd::Approved,
                gates_first_time: Some(false),
                attempts: 2,
                tokens: Tokens::new(30),
                cost: Some(UsdMicros::new(18)),
                agent_ms: 21,
            }
        );
    }

    #[test]
    fn a_cost_that_is_not_known_for_each_run_is_not_known() {
        let cost = |runs| case_outcome(facts(CaseEnd::Approved, HandIn::Passed, runs)).cost;
        assert_eq!(cost(vec![run(true, Some(5)), run(false, None)]), None);
        assert_eq!(cost(Vec::new()), None);
    }

    #[test]
    fn work_that_was_never_handed_in_passed_no_gate() {
        for (first, has_gates, expected) in [
            (HandIn::None, true, Some(false)),
            (HandIn::None, false, None),
            (HandIn::Ungated, true, None),
            (HandIn::Passed, true, Some(true)),
        ] {
            let mut facts = facts(not_approved(), first, vec![run(true, None)]);
            facts.has_gates = has_gates;
            assert_eq!(case_outcome(facts).gates_first_time, expected, "{first:?}");
        }
    }

    #[test]
    fn a_case_that_no_agent_attempted_is_left_out() {
        let left = CaseEnd::LeftOut {
            reason: "blocked".into(),
        };
        for runs in [Vec::new(), vec![run(false, None)]] {
            assert_eq!(
                case_outcome(facts(not_approved(), HandIn::None, runs)).end,
                left
            );
        }
        let tried = facts(not_approved(), HandIn::None, vec![run(true, None)]);
        assert_eq!(case_outcome(tried).end, not_approved());
    }
}
