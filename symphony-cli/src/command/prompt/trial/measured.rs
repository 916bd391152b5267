//! What is measured of the work on an issue, from what its database has: the same for a replay and for real work.

use symphony_core::agent::AgentType;
use symphony_core::id::IssueId;
use symphony_core::prompt_trial::{Attempt, HandIn};
use symphony_core::pull_request::{PrState, PullRequest};
use symphony_core::run::Run;
use symphony_core::spending::Spent;
use symphony_core::unit::{Tokens, UsdMicros};
use symphony_store::{PrFilter, RunFilter, Store};

/// Returns all pull requests and proposals of an issue.
///
/// # Errors
/// When the database cannot be read.
pub(super) fn changes(store: &Store, id: &IssueId) -> anyhow::Result<Vec<PullRequest>> {
    Ok(store.prs(&PrFilter {
        issue: Some(id.clone()),
        ..PrFilter::default()
    })?)
}

/// Returns all runs of agents on an issue.
///
/// # Errors
/// When the database cannot be read.
pub(super) fn agent_runs(store: &Store, id: &IssueId) -> anyhow::Result<Vec<Run>> {
    Ok(store.runs(&RunFilter {
        issue: Some(id.clone()),
        agents_only: true,
        ..RunFilter::default()
    })?)
}

/// Returns what was handed in first.
pub(super) fn first_hand_in(changes: &[PullRequest]) -> HandIn {
    let changes = changes.iter().filter(|pr| pr.proposal.is_none());
    changes.min_by_key(|pr| pr.id).map_or(HandIn::None, hand_in)
}

/// Says whether a change was merged.
pub(super) fn is_merged(changes: &[PullRequest]) -> bool {
    let mut changes = changes.iter().filter(|pr| pr.proposal.is_none());
    changes.any(|pr| pr.state == PrState::Merged)
}

fn hand_in(pr: &PullRequest) -> HandIn {
    match &pr.verified_gates {
        Some(gates) if gates.results.is_empty() => HandIn::Ungated,
        Some(gates) if gates.green() => HandIn::Passed,
        Some(_) => HandIn::Failed,
        None => HandIn::Ungated,
    }
}

/// Returns what counts of a run.
pub(super) fn attempt(run: &Run) -> Attempt {
    let says_nothing = run
        .error
        .as_ref()
        .is_some_and(|error| error.class.uses_no_attempt() || error.class.precedes_the_agent());
    let tokens = Spent::of(&run.usage).tokens;
    let ended = run.ended_at.unwrap_or(run.started_at).as_millisecond();
    Attempt {
        counts: run.agent == AgentType::Worker && !says_nothing,
        tokens,
        // an agent that was never asked cost nothing
        cost: run
            .usage
            .cost
            .or_else(|| (tokens == Tokens::ZERO).then_some(UsdMicros::ZERO)),
        ms: u64::try_from(ended - run.started_at.as_millisecond()).unwrap_or(0),
    }
}
