//! Why a pull request is not merged.

use std::path::Path;

use symphony_core::id::PlanId;
use symphony_core::listing::list_few;
use symphony_core::outside::{reject_for_conflict, ways_on};
use symphony_core::pull_request::{PrState, PullRequest, VerifiedGates};
use symphony_core::review_point::PointError;
use symphony_store::{Store, StoreError};
use symphony_workspace::{CommitId, Repository};

use crate::error::RunnerError;
use crate::merge::MergeOptions;
use crate::repository::{PullRequestPlace, gone_head, way_back};

/// Secrets and conflicting files that a refusal lists.
const LISTED_MAX: usize = 20;

pub(crate) fn refuse_unmergeable(
    store: &Store,
    pr: &PullRequest,
    options: &MergeOptions,
) -> Result<(), RunnerError> {
    crate::tick::refuse_proposal(pr)?;
    if !pr.state.is_open() {
        let more = match pr.state {
            PrState::Rejected | PrState::Closed if pr.of.plan().is_some() => {
                format!(
                    ": `symphony pr approve {} --force --comment TEXT` overrides that",
                    pr.id
                )
            }
            PrState::Rejected => ", so it cannot be merged".to_owned(),
            _ => String::new(),
        };
        return Err(RunnerError::refused(format!(
            "pull request {} is {}{more}",
            pr.id, pr.state
        )));
    }
    store.require_review(pr)?;
    if !options.force {
        refuse_open_points(store, pr)?;
    }
    pr.gates_of_head()
        .map_or(Ok(()), |gates| refuse_red(pr, gates, options, None))
}

/// Refuses a pull request with an open `must` point of a review.
fn refuse_open_points(store: &Store, pr: &PullRequest) -> Result<(), RunnerError> {
    let Err(open) = store.require_points_closed(pr) else {
        return Ok(());
    };
    let StoreError::Point(PointError::Open { points }) = &open else {
        return Err(open.into());
    };
    let subject = pr.of.issue().map_or_else(
        || pr.of.plan().map(ToString::to_string).unwrap_or_default(),
        ToString::to_string,
    );
    Err(RunnerError::refused(format!(
        "pull request {} is not merged: {points} must be closed first. `symphony point list {subject}` shows the \
         points and their answers, `symphony point close {subject} NUMBER` closes one (`--force` merges anyway)",
        pr.id
    )))
}

/// Says that the base branch no longer exists, and both ways to continue.
pub(crate) fn base_gone(store: &Store, pr: &PullRequest) -> Result<RunnerError, RunnerError> {
    let seen = store.base_look(&pr.project, &pr.base)?;
    let commit = seen.as_deref().unwrap_or(&pr.base_commit);
    Ok(RunnerError::refused(format!(
        "pull request {} is not merged: its base branch `{}` no longer exists. {}",
        pr.id,
        pr.base,
        ways_on(&pr.base, commit)
    )))
}

/// Says that the work of a plan conflicts with its base, and how a person gives it to a phase.
/// Symphony chooses none itself.
pub(crate) fn conflicting_plan(pr: &PullRequest, plan: &PlanId, files: &[String]) -> RunnerError {
    let (id, base) = (pr.id, &pr.base);
    RunnerError::refused(format!(
        "pull request {id} is not merged: it conflicts with {base} in {}. `{}`, then `symphony plan retry PHASE \
         --plan {plan}`, gives it back to a phase",
        list_few(files.iter().map(String::as_str), LISTED_MAX),
        reject_for_conflict(&id.to_string(), base)
    ))
}

/// Refuses a head that the repository no longer has, and says how to continue.
pub(crate) fn refuse_gone(
    repository: &Repository,
    pr: &PullRequest,
    head: &CommitId,
) -> Result<(), RunnerError> {
    if repository.has_commit(head)? {
        return Ok(());
    }
    let lost = gone_head(repository, pr.id, &pr.of, head.as_str())?;
    let ways = lost.answers(&pr.reference());
    let ways: Vec<String> = ways.iter().map(|way| format!("`{way}`")).collect();
    Err(RunnerError::refused(format!(
        "pull request {} is not merged: {}. {} continues",
        pr.id,
        lost.found.text(),
        ways.join(" or ")
    )))
}

/// Refuses a branch that has moved since its review: the verdict is about the commit before, and a merge of that commit
/// would leave the later ones behind without a word.
pub(crate) fn refuse_moved(
    repository: &Repository,
    pr: &PullRequest,
    head: &CommitId,
) -> Result<(), RunnerError> {
    let place = PullRequestPlace::of(&pr.of);
    let now = repository.branch_head(&place.branch)?;
    let Some(now) = now.filter(|now| now != head) else {
        return Ok(());
    };
    let back = way_back(repository, &place, head.as_str());
    Err(RunnerError::refused(format!(
        "pull request {} is not merged: its branch {} is at {now}, and {head} was reviewed. `symphony pr reject {} \
         --feedback TEXT` has it opened again with the later commits, `{back}` leaves them out",
        pr.id,
        pr.branch,
        pr.reference()
    )))
}

/// Refuses to move anything after a person has pressed Ctrl-C.
pub(crate) fn refuse_stopped(pr: &PullRequest, stop: &dyn Fn() -> bool) -> Result<(), RunnerError> {
    if !stop() {
        return Ok(());
    }
    Err(RunnerError::refused(format!(
        "pull request {} is not merged: you stopped it. `symphony pr merge {}` merges it",
        pr.id, pr.id
    )))
}

pub(crate) fn refuse_red(
    pr: &PullRequest,
    gates: &VerifiedGates,
    options: &MergeOptions,
    logs: Option<&Path>,
) -> Result<(), RunnerError> {
    if gates.green() || options.force {
        return Ok(());
    }
    let red: Vec<&str> = gates
        .results
        .iter()
        .filter(|gate| gate.required && !gate.passed)
        .map(|gate| gate.name.as_str())
        .collect();
    // `pr show` prints the output of gates on the branch; nothing else prints that of gates on a merge result
    let output = logs.map_or_else(String::new, |logs| {
        format!("; their output is in {}", logs.display())
    });
    Err(RunnerError::refused(format!(
        "pull request {} is not merged: required gates are red on commit {}: {}{output} (`--force` merges anyway)",
        pr.id,
        gates.commit,
        red.join(", ")
    )))
}

/// Refuses a head that brings values of the project's configuration files into the base. They are read
/// again here, since they may have changed since the pull request was opened.
pub(crate) fn refuse_secrets(
    repository: &Repository,
    pr: &PullRequest,
    base: &CommitId,
    head: &CommitId,
) -> Result<(), RunnerError> {
    let place = PullRequestPlace::of(&pr.of);
    let worktree = repository.worktree(&place.key, Some(&place.branch)).ok();
    let scan = repository.scan_secrets(worktree.as_ref(), base, head)?;
    if scan.is_clean() {
        return Ok(());
    }
    Err(RunnerError::refused(format!(
        "pull request {} is not merged: its commits {}",
        pr.id,
        scan.problems(LISTED_MAX)
    )))
}

pub(crate) fn commit_id(text: &str) -> Result<CommitId, RunnerError> {
    CommitId::parse(text).map_err(|error| RunnerError::refused(error.to_string()))
}
