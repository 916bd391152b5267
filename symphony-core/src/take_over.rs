//! Taking an issue over: a person works in its agent's session, and no agent starts on it until they give it back.
//!
//! While the session is open, the issue is in progress like with any other run. After that it is blocked by the person,
//! which every list already shows (`docs/design/0044`).

use crate::id::{IssueId, RunId};
use crate::issue::{BlockedBy, IssueEvent, IssueState, IssueStatus, Review};

/// What the decisions depend on.
#[derive(Debug, Clone, Copy)]
pub struct TakeOverFacts<'a> {
    /// The issue.
    pub issue: &'a IssueId,
    /// Its state.
    pub state: &'a IssueState,
    /// Whether something of it is under review.
    pub review: Review,
    /// The run that is live on it, and whether a person works in its session.
    pub live: Option<(&'a RunId, bool)>,
}

/// Why an issue is not taken over, or not released.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "each text shows what its fields are")]
pub enum TakeOverRefusal {
    /// An agent is working on it, or its gates are running.
    #[error("run {run} is working on {issue}")]
    AtWork { issue: IssueId, run: RunId },
    /// Its session is open already.
    #[error("the session of {issue} is already open in a terminal (run {run})")]
    Open { issue: IssueId, run: RunId },
    /// Its work is under review: a session would change what is judged.
    #[error("the work on {issue} is under review, and a session could change it")]
    UnderReview { issue: IssueId },
    /// It is done or cancelled.
    #[error("{issue} is `{status}`")]
    Ended { issue: IssueId, status: IssueStatus },
    /// No one has taken it over.
    #[error("{issue} is `{status}`: no one has taken it over")]
    NotTakenOver { issue: IssueId, status: IssueStatus },
}

/// Decides whether a person can take an issue over; returns the events that bring it into progress.
///
/// # Errors
/// The reason why not.
pub fn plan_take_over(facts: &TakeOverFacts<'_>) -> Result<Vec<IssueEvent>, TakeOverRefusal> {
    refuse_live(facts)?;
    let issue = facts.issue.clone();
    match facts.state.status() {
        status @ (IssueStatus::Done | IssueStatus::Cancelled) => {
            Err(TakeOverRefusal::Ended { issue, status })
        }
        IssueStatus::Review => Err(TakeOverRefusal::UnderReview { issue }),
        // Queued, it would lose the pull request that a person may still want to merge.
        _ if facts.review == Review::Open => Err(TakeOverRefusal::UnderReview { issue }),
        IssueStatus::Backlog | IssueStatus::Blocked => {
            Ok(vec![IssueEvent::Queued, IssueEvent::Dispatched])
        }
        IssueStatus::Todo => Ok(vec![IssueEvent::Dispatched]),
        // No run is live on it: a tick would put it back first.
        IssueStatus::InProgress => Ok(vec![IssueEvent::RunReturned, IssueEvent::Dispatched]),
    }
}

/// Decides whether a person can give an issue back to agents; returns the event that does it.
///
/// # Errors
/// The reason why not.
pub fn plan_release(facts: &TakeOverFacts<'_>) -> Result<IssueEvent, TakeOverRefusal> {
    refuse_live(facts)?;
    let is_taken_over = facts
        .state
        .block()
        .is_some_and(|block| block.by == BlockedBy::TakenOver);
    if is_taken_over {
        return Ok(IssueEvent::Queued);
    }
    Err(TakeOverRefusal::NotTakenOver {
        issue: facts.issue.clone(),
        status: facts.state.status(),
    })
}

fn refuse_live(facts: &TakeOverFacts<'_>) -> Result<(), TakeOverRefusal> {
    let issue = facts.issue.clone();
    match facts.live {
        None => Ok(()),
        Some((run, true)) => Err(TakeOverRefusal::Open {
            issue,
            run: run.clone(),
        }),
        Some((run, false)) => Err(TakeOverRefusal::AtWork {
            issue,
            run: run.clone(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::issue::{Block, apply};

    fn blocked(by: BlockedBy) -> IssueState {
        let reason = String::new();
        IssueState::Blocked(Block { by, reason })
    }

    fn names(events: &[IssueEvent]) -> Vec<&'static str> {
        events.iter().map(IssueEvent::name).collect()
    }

    #[test]
    fn an_issue_is_taken_over_wherever_no_one_is_at_work_and_nothing_is_judged() {
        use IssueState::{Backlog, Cancelled, Done, InProgress, Todo};
        let issue = IssueId::parse("SYM-1").unwrap();
        let run = RunId::parse("0190-a").unwrap();
        let dispatched = "dispatched";
        let under_review = || {
            Err(TakeOverRefusal::UnderReview {
                issue: issue.clone(),
            })
        };
        let ended = |status| {
            Err(TakeOverRefusal::Ended {
                issue: issue.clone(),
                status,
            })
        };
        let (open, none) = (Review::Open, Review::None);
        for (state, review, live, expected) in [
            (Todo, none, None, Ok(vec![dispatched])),
            (Backlog, none, None, Ok(vec!["queued", dispatched])),
            (
                blocked(BlockedBy::Agent),
                none,
                None,
                Ok(vec!["queued", dispatched]),
            ),
            (
                blocked(BlockedBy::TakenOver),
                none,
                None,
                Ok(vec!["queued", dispatched]),
            ),
            (InProgress, none, None, Ok(vec!["run_returned", dispatched])),
            (blocked(BlockedBy::Gates), open, None, under_review()),
            (IssueState::Review, open, None, under_review()),
            (IssueState::Review, none, None, under_review()),
            (Done, none, None, ended(IssueStatus::Done)),
            (Cancelled, none, None, ended(IssueStatus::Cancelled)),
            (
                InProgress,
                none,
                Some(false),
                Err(TakeOverRefusal::AtWork {
                    issue: issue.clone(),
                    run: run.clone(),
                }),
            ),
            (
                InProgress,
                none,
                Some(true),
                Err(TakeOverRefusal::Open {
                    issue: issue.clone(),
                    run: run.clone(),
                }),
            ),
        ] {
            let planned = plan_take_over(&TakeOverFacts {
                issue: &issue,
                state: &state,
                review,
                live: live.map(|interactive| (&run, interactive)),
            });
            if let Ok(events) = &planned {
                let mut at = state.clone();
                for event in events {
                    at = apply(&at, event).unwrap();
                }
                assert_eq!(at, InProgress, "{state:?}");
            }
            assert_eq!(planned.map(|e| names(&e)), expected, "{state:?} {review:?}");
        }
    }

    #[test]
    fn only_what_a_person_has_is_released_and_only_once_they_have_left() {
        let issue = IssueId::parse("SYM-1").unwrap();
        let run = RunId::parse("0190-a").unwrap();
        let not = |status| TakeOverRefusal::NotTakenOver {
            issue: issue.clone(),
            status,
        };
        for (state, live, expected) in [
            (blocked(BlockedBy::TakenOver), None, Ok("queued")),
            (
                blocked(BlockedBy::Agent),
                None,
                Err(not(IssueStatus::Blocked)),
            ),
            (IssueState::Todo, None, Err(not(IssueStatus::Todo))),
            (
                IssueState::InProgress,
                Some(true),
                Err(TakeOverRefusal::Open {
                    issue: issue.clone(),
                    run: run.clone(),
                }),
            ),
            (
                IssueState::InProgress,
                Some(false),
                Err(TakeOverRefusal::AtWork {
                    issue: issue.clone(),
                    run: run.clone(),
                }),
            ),
        ] {
            let planned = plan_release(&TakeOverFacts {
                issue: &issue,
                state: &state,
                review: Review::None,
                live: live.map(|interactive| (&run, interactive)),
            });
            assert_eq!(planned.map(|event| event.name()), expected, "{state:?}");
        }
    }
}
