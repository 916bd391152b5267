//! The input for the judge of a proposal that nothing is left to do, and for a parent's worker about its sub-tasks.

use symphony_core::done::EvidenceKind;
use symphony_core::issue::Issue;
use symphony_core::pull_request::{PrState, PullRequest};
use symphony_prompt::{
    CHILDREN_MAX, ChildInput, DoneReview, EvidenceInput, FileChange, MergedChild, Review,
};
use symphony_store::{IssueFilter, PrFilter, Store};

use super::review_input::gate_results;
use crate::error::RunnerError;

/// Turns the record of a proposal into the judge's input; `None` if it is a change.
pub(crate) fn done_review(pr: &PullRequest) -> Option<Review> {
    let proposal = pr.proposal.as_ref()?;
    let gates = pr.gates_of_head();
    let evidence = proposal.evidence.iter().map(|item| EvidenceInput {
        what: match item.kind {
            EvidenceKind::Commit => format!("commit {}", item.reference),
            EvidenceKind::PullRequest => format!("pull request {}", item.reference),
            EvidenceKind::Gate => format!("gate {}", item.reference),
            EvidenceKind::File => format!("file {}", item.reference),
        },
        note: item.note.clone(),
    });
    Some(Review::Done(Box::new(DoneReview {
        reason: pr.body.clone(),
        evidence: evidence.collect(),
        base: Some(pr.base.clone()),
        base_commit: Some(pr.head_commit.clone()),
        unverified: gates.is_some_and(|gates| !gates.verify_something()),
        gate_results: gate_results(gates),
    })))
}

/// Returns the sub-tasks of a split issue once all of them have ended.
pub(super) fn children(issue: &Issue, store: &Store) -> Result<Vec<ChildInput>, RunnerError> {
    let filter = IssueFilter {
        parent: Some(issue.id.clone()),
        ..IssueFilter::default()
    };
    let found = store.list_issues(&filter)?.items;
    if found
        .iter()
        .any(|child| !child.state.status().is_terminal())
    {
        return Ok(Vec::new());
    }
    let mut children = Vec::with_capacity(found.len());
    for (at, child) in found.into_iter().enumerate() {
        // All others are only named.
        let merged = if at < CHILDREN_MAX {
            merged_child(&child, store)?
        } else {
            None
        };
        children.push(ChildInput {
            status: child.state.status(),
            identifier: child.id,
            title: child.title,
            description: child.description,
            merged,
        });
    }
    Ok(children)
}

fn merged_child(child: &Issue, store: &Store) -> Result<Option<MergedChild>, RunnerError> {
    let filter = PrFilter {
        issue: Some(child.id.clone()),
        state: Some(PrState::Merged),
        ..PrFilter::default()
    };
    let newest = store.prs(&filter)?.into_iter().next();
    Ok(newest.map(|pr| MergedChild {
        number: pr.id.get(),
        commit: pr.merged_commit.unwrap_or(pr.head_commit),
        files: pr
            .files
            .into_iter()
            .map(|file| FileChange {
                path: file.path,
                insertions: file.insertions,
                deletions: file.deletions,
            })
            .collect(),
    }))
}
