//! Issues that an agent would do again, although the base has their merge: the database is older than the repository.

use std::collections::BTreeMap;

use symphony_core::id::IssueId;
use symphony_core::invariant::{Invariant, Violation};
use symphony_core::outside::{LandedIssue, RecordedIssue, ShownMerge, landed, merged_issue};
use symphony_core::pull_request::PrState;
use symphony_store::{IssueFilter, PrFilter, Project, Store};
use symphony_workspace::{Base, Repository};

use crate::error::RunnerError;

/// Characters of a commit that are shown.
const COMMIT_CHARS: usize = 10;

pub(super) fn check(
    store: &Store,
    project: &Project,
    repository: &Repository,
    base: &Base,
    found: &mut Vec<Violation>,
) -> Result<(), RunnerError> {
    let merges = repository.shown_merges(&base.branch, &base.commit)?;
    let shown: Vec<ShownMerge> = merges
        .into_iter()
        .filter_map(|(commit, text)| {
            let issue = merged_issue(&text)?;
            let commit = commit.to_string();
            Some(ShownMerge { commit, issue })
        })
        .collect();
    if shown.is_empty() {
        return Ok(());
    }
    for issue in landed(&recorded(store, project)?, &shown) {
        let detail = describe(&issue, base);
        found.push(Violation::new(Invariant::I10, issue.issue.as_str(), detail));
    }
    Ok(())
}

/// Reads what the database has of the issues of a project.
fn recorded(store: &Store, project: &Project) -> Result<Vec<RecordedIssue>, RunnerError> {
    let merged = PrFilter {
        project: Some(project.id.clone()),
        state: Some(PrState::Merged),
        ..PrFilter::default()
    };
    let mut merged_by_issue: BTreeMap<IssueId, Vec<String>> = BTreeMap::new();
    for pr in store.prs(&merged)? {
        if let (Some(issue), Some(commit)) = (pr.of.issue(), pr.merged_commit) {
            let merges = merged_by_issue.entry(issue.clone());
            merges.or_default().push(commit);
        }
    }
    let all = IssueFilter {
        project: Some(project.id.clone()),
        ..IssueFilter::default()
    };
    let issues = store.list_issues(&all)?.items.into_iter();
    Ok(issues
        .map(|issue| RecordedIssue {
            merged: merged_by_issue.remove(&issue.id).unwrap_or_default(),
            status: issue.state.status(),
            issue: issue.id,
        })
        .collect())
}

fn describe(landed: &LandedIssue, base: &Base) -> String {
    let LandedIssue {
        issue,
        status,
        commit,
    } = landed;
    let commit = commit.get(..COMMIT_CHARS).unwrap_or(commit);
    format!(
        "it is in `{status}`, but {} has its merge ({commit}), so an agent would do the work again: `symphony issue \
         close {issue} --done --reason TEXT` records that it is done",
        base.branch
    )
}
