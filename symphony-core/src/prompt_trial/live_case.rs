//! The result of a piece of work in a live trial: an issue, with everything below it.

use serde::Serialize;

use super::assignment::Assignment;
use super::case::{Attempt, CaseEnd, CaseFacts, CaseOutcome, HandIn, case_outcome};
use crate::id::IssueId;
use crate::issue::IssueState;

/// A run of an agent on an issue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveRun {
    /// Its result.
    pub attempt: Attempt,
    /// The set that it was built with.
    pub prompt_set: Option<Assignment>,
    /// Whether it worked on the issue with prompts: a run that failed earlier has none, and intake only sorts.
    pub has_worked: bool,
}

/// An issue of a piece of work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveIssue {
    /// The issue.
    pub id: IssueId,
    /// Where it is.
    pub state: IssueState,
    /// The first version that was handed in.
    pub first: HandIn,
    /// Whether a change of it was merged.
    pub is_merged: bool,
    /// The runs of agents on it.
    pub runs: Vec<LiveRun>,
}

/// Where a piece of work is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum LiveCase {
    /// Agents, gates or reviewers have it.
    AtWork,
    /// All that has not ended waits in `blocked` or in the backlog.
    Waiting,
    /// All of it has ended.
    Ended(CaseOutcome),
}

/// Decides the state of a piece of work: the issue with a set, and everything below it.
///
/// An issue and its sub-tasks are one case, since they have one set: the result of one says something about the others.
pub fn live_case(assignment: &Assignment, issues: &[LiveIssue], has_gates: bool) -> LiveCase {
    let open: Vec<&IssueState> = issues
        .iter()
        .map(|issue| &issue.state)
        .filter(|state| !matches!(state, IssueState::Done | IssueState::Cancelled))
        .collect();
    let waits =
        |state: &&&IssueState| matches!(state, IssueState::Blocked(_) | IssueState::Backlog);
    if !open.is_empty() {
        return if open.iter().all(|state| waits(&state)) {
            LiveCase::Waiting
        } else {
            LiveCase::AtWork
        };
    }
    let runs = || issues.iter().flat_map(|issue| &issue.runs);
    let is_of_case = |run: &&LiveRun| {
        let set = run.prompt_set.as_ref();
        set.is_some_and(|set| (&set.trial, set.set) == (&assignment.trial, assignment.set))
    };
    LiveCase::Ended(case_outcome(CaseFacts {
        issue: assignment.issue.clone(),
        set: assignment.set,
        end: if runs().any(|run| run.has_worked && !is_of_case(&run)) {
            left_out("agents also worked on it outside the trial")
        } else if runs().all(|run| !run.attempt.counts) {
            left_out("no agent attempted it")
        } else {
            end_of(assignment, issues)
        },
        has_gates,
        first: first_of(issues),
        runs: runs().filter(is_of_case).map(|run| run.attempt).collect(),
    }))
}

/// Returns the result of a piece of work that has ended.
fn end_of(assignment: &Assignment, issues: &[LiveIssue]) -> CaseEnd {
    let top = issues.iter().find(|issue| issue.id == assignment.issue);
    let reason = match top.map(|issue| &issue.state) {
        Some(IssueState::Cancelled) => "it was cancelled",
        _ if issues.iter().any(|issue| issue.is_merged) => return CaseEnd::Approved,
        _ => "it was finished without a change of an agent",
    };
    CaseEnd::NotApproved {
        reason: reason.to_owned(),
    }
}

/// Returns what was handed in first, of all issues that a worker attempted: one failure is one of the whole.
fn first_of(issues: &[LiveIssue]) -> HandIn {
    let attempted = |issue: &&LiveIssue| issue.runs.iter().any(|run| run.attempt.counts);
    let of = |one: HandIn| {
        issues
            .iter()
            .filter(attempted)
            .any(|issue| issue.first == one)
    };
    let worst = [
        HandIn::Failed,
        HandIn::None,
        HandIn::Passed,
        HandIn::Ungated,
    ];
    worst
        .into_iter()
        .find(|one| of(*one))
        .unwrap_or(HandIn::None)
}

fn left_out(reason: &str) -> CaseEnd {
    CaseEnd::LeftOut {
        reason: reason.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::issue::{Block, BlockedBy};
    use crate::prompt_trial::{PromptSet, TrialName};
    use crate::unit::Tokens;

    fn id(number: u32) -> IssueId {
        IssueId::parse(format!("SYM-{number}")).unwrap()
    }

    fn given(set: PromptSet) -> Assignment {
        Assignment {
            trial: TrialName::parse("words").unwrap(),
            set,
            issue: id(1),
        }
    }

    fn run(set: Option<PromptSet>, counts: bool) -> LiveRun {
        LiveRun {
            attempt: Attempt {
                counts,
                tokens: Tokens::new(10),
                cost: None,
                ms: 5,
            },
            prompt_set: set.map(given),
            has_worked: true,
        }
    }

    fn issue(number: u32, state: IssueState, first: HandIn, runs: Vec<LiveRun>) -> LiveIssue {
        LiveIssue {
            id: id(number),
            is_merged: state == IssueState::Done,
            state,
            first,
            runs,
        }
    }

    fn case(issues: &[LiveIssue]) -> LiveCase {
        live_case(&given(PromptSet::B), issues, true)
    }

    fn blocked() -> IssueState {
        IssueState::Blocked(Block {
            by: BlockedBy::Human,
            reason: "a question".into(),
        })
    }

    fn end(case: LiveCase) -> CaseEnd {
        match case {
            LiveCase::Ended(outcome) => outcome.end,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn only_what_has_ended_as_a_whole_is_a_case() {
        for (states, expected) in [
            (vec![IssueState::Todo], LiveCase::AtWork),
            (vec![IssueState::Done, IssueState::Review], LiveCase::AtWork),
            (vec![blocked(), IssueState::InProgress], LiveCase::AtWork),
            (vec![IssueState::Done, blocked()], LiveCase::Waiting),
            (vec![IssueState::Backlog], LiveCase::Waiting),
        ] {
            let issues: Vec<LiveIssue> = states
                .iter()
                .zip(1..)
                .map(|(state, number)| issue(number, state.clone(), HandIn::None, vec![]))
                .collect();
            assert_eq!(case(&issues), expected, "{states:?}");
        }
    }

    #[test]
    fn a_case_is_the_issue_with_all_below_it() {
        let b = || run(Some(PromptSet::B), true);
        let judge = || run(Some(PromptSet::B), false);
        let plan = issue(1, IssueState::Done, HandIn::None, vec![judge()]);
        let one = issue(2, IssueState::Done, HandIn::Passed, vec![b(), judge()]);
        let two = issue(3, IssueState::Done, HandIn::Failed, vec![b(), b(), judge()]);
        let found = case(&[plan.clone(), one.clone(), two]);
        let LiveCase::Ended(outcome) = found else {
            panic!("{found:?}")
        };
        assert_eq!(
            (outcome.end, outcome.gates_first_time, outcome.attempts),
            (CaseEnd::Approved, Some(false), 3)
        );
        assert_eq!((outcome.tokens, outcome.agent_ms), (Tokens::new(60), 30));
        let LiveCase::Ended(outcome) = case(&[plan, one]) else {
            panic!()
        };
        assert_eq!(outcome.gates_first_time, Some(true));
    }

    #[test]
    fn what_the_set_is_not_the_cause_of_is_left_out() {
        let b = run(Some(PromptSet::B), true);
        let done = |runs| case(&[issue(1, IssueState::Done, HandIn::Passed, runs)]);
        assert_eq!(end(done(vec![b.clone()])), CaseEnd::Approved);
        for other in [None, Some(PromptSet::A)] {
            let mut run = run(other, true);
            assert_eq!(
                end(done(vec![b.clone(), run.clone()])),
                left_out("agents also worked on it outside the trial")
            );
            run.has_worked = false;
            assert_eq!(end(done(vec![b.clone(), run])), CaseEnd::Approved);
        }
        let outage = run(Some(PromptSet::B), false);
        assert_eq!(end(done(vec![outage])), left_out("no agent attempted it"));
        let given_up = issue(1, IssueState::Cancelled, HandIn::None, vec![b.clone()]);
        assert!(matches!(
            end(case(&[given_up])),
            CaseEnd::NotApproved { .. }
        ));
        let by_hand = LiveIssue {
            is_merged: false,
            ..issue(1, IssueState::Done, HandIn::None, vec![b])
        };
        assert!(matches!(end(case(&[by_hand])), CaseEnd::NotApproved { .. }));
    }
}
