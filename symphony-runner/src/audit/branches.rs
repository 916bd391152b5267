//! Branches: what is merged is in the base (I10), what is reviewed is the head of its branch (I9).

use symphony_core::invariant::{Invariant, Violation};
use symphony_core::outside::Evidence;
use symphony_core::pull_request::{PrState, PullRequest};
use symphony_store::{PrFilter, Project, Store};
use symphony_workspace::{BranchName, CommitId, Repository};

use crate::cancel::live_on;
use crate::error::RunnerError;

pub(super) fn check(
    store: &Store,
    project: &Project,
    repository: &Repository,
    found: &mut Vec<Violation>,
) -> Result<(), RunnerError> {
    let of_project = PrFilter {
        project: Some(project.id.clone()),
        ..PrFilter::default()
    };
    for pr in store.prs(&of_project)? {
        let problem = match pr.state {
            PrState::Merged => merged(repository, &pr)?.map(|detail| (Invariant::I10, detail)),
            PrState::Open | PrState::Approved => {
                reviewed(store, repository, &pr)?.map(|detail| (Invariant::I9, detail))
            }
            PrState::Rejected | PrState::Closed | PrState::Confirmed => None,
        };
        if let Some((invariant, detail)) = problem {
            let subject = format!("{} {}", pr.noun(), pr.id);
            found.push(Violation::new(invariant, subject, detail));
        }
    }
    Ok(())
}

/// The merged commit holds what the approved head changes, and it is in the base.
fn merged(repository: &Repository, pr: &PullRequest) -> Result<Option<String>, RunnerError> {
    let base = BranchName::parse(&pr.base)?;
    let Some(at) = repository.branch_head(&base)? else {
        // A base that a person removed proves nothing.
        return Ok(None);
    };
    let merged = pr.merged_commit.as_deref().unwrap_or(&pr.head_commit);
    let (Ok(head), Ok(merged)) = (CommitId::parse(&pr.head_commit), CommitId::parse(merged)) else {
        return Ok(Some("its commits are not commit ids".to_owned()));
    };
    if !repository.is_merged(&merged, &at)? {
        return Ok(Some(format!("its merged commit {merged} is not in {base}")));
    }
    // If its patches were merged and edited later, they prove nothing any more. A forge may have squashed it onto other changes of
    // the same lines.
    let is_proven_otherwise = pr
        .merged_outside
        .as_ref()
        .is_some_and(|merge| matches!(merge.evidence, Evidence::Patch | Evidence::Forge));
    if !is_proven_otherwise && !repository.holds_changes(&merged, &head)? {
        let detail =
            format!("what was merged ({merged}) does not contain its approved head {head}");
        return Ok(Some(detail));
    }
    Ok(None)
}

/// The branch is where the review expects it, unless a run is working on it.
fn reviewed(
    store: &Store,
    repository: &Repository,
    pr: &PullRequest,
) -> Result<Option<String>, RunnerError> {
    let live = store.runs(&live_on(&pr.of))?;
    if !live.is_empty() {
        return Ok(None);
    }
    let head = repository.branch_head(&BranchName::parse(&pr.branch)?)?;
    let head = head.as_ref().map_or("nowhere", CommitId::as_str);
    Ok((head != pr.head_commit).then(|| {
        format!(
            "its head is {}, its branch {} is at {head}",
            pr.head_commit, pr.branch
        )
    }))
}
