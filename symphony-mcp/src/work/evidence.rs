//! From what a worker names as evidence to a proposal's record: each item is looked up where the worker says it is.

use symphony_core::done::{EvidenceFound, EvidenceKind, NewEvidence, check_evidence, normal_path};
use symphony_core::hand_in::RefusalKind;
use symphony_core::id::{IssueId, PrId};
use symphony_core::pull_request::{PrState, PullRequestOf};
use symphony_core::tools::Tool;
use symphony_core::wording::counted;
use symphony_store::{NewProposal, Store, StoreError};
use symphony_workspace::{CommitId, Repository, TreeEntry};

use crate::answer::ToolError;
use crate::identity::IssueWorkspace;
use crate::work::change::require_clean_branch;
use crate::work::committable::{Nested, base_head, open, settle_nested};

/// Where evidence is looked up.
struct Place<'a> {
    store: &'a Store,
    repository: &'a Repository,
    issue: &'a IssueId,
    workspace: &'a IssueWorkspace,
    /// The commit of the worktree, which is part of the base.
    head: &'a CommitId,
    /// The head of the base branch.
    base: &'a CommitId,
}

/// Checks a proposal against the worktree, the base and the database.
///
/// # Errors
/// What the agent has to do first, or which item of evidence is wrong.
pub(crate) fn read_proposal(
    store: &Store,
    issue: &IssueId,
    workspace: &IssueWorkspace,
    reason: String,
    evidence: &[NewEvidence],
) -> Result<NewProposal, ToolError> {
    let (repository, worktree) = open(workspace)?;
    let head = require_clean_branch(&repository, &worktree, workspace, Tool::ProposeDone)?;
    let base = base_head(&repository, &workspace.base)?;
    settle_nested(&repository, &worktree, &base, Nested::Refuse, issue)
        .map_err(|error| error.with_kind(RefusalKind::NestedRepository))?;
    let ahead = repository.commits_ahead(&base, &head)?;
    // Commits without a change are the base's own, from before it was rewritten: what the agent looked at is the base.
    let head = if ahead > 0 && repository.have_same_tree(&base, &head)? {
        base.clone()
    } else {
        head
    };
    if !repository.is_merged(&head, &base)? {
        let base = workspace.base.as_str();
        return Err(ToolError::of_kind(
            RefusalKind::UnmergedCommits,
            format!(
                "your branch has {} that `{base}` does not have: something was left to do. Hand that in with `create_pr`, or, when \
                 none of it is needed, drop it with `git reset --hard {base}` and call propose_done again",
                counted(ahead as u64, "commit")
            ),
        ));
    }
    let place = Place {
        store,
        repository: &repository,
        issue,
        workspace,
        head: &head,
        base: &base,
    };
    let mut checked = Vec::with_capacity(evidence.len());
    for (at, item) in evidence.iter().enumerate() {
        let found = place.find(item)?;
        let kept = check_evidence(at + 1, item, issue, found)
            .map_err(|error| ToolError::of_kind(RefusalKind::Evidence, error.to_string()))?;
        checked.push(kept);
    }
    Ok(NewProposal {
        issue: issue.clone(),
        branch: workspace.branch.as_str().to_owned(),
        base: workspace.base.as_str().to_owned(),
        base_commit: head.as_str().to_owned(),
        reason,
        evidence: checked,
    })
}

impl Place<'_> {
    fn find(&self, item: &NewEvidence) -> Result<EvidenceFound, ToolError> {
        match item.kind {
            EvidenceKind::Commit => self.commit(&item.reference),
            EvidenceKind::PullRequest => self.pull_request(&item.reference),
            EvidenceKind::Gate => Ok(self.gate(&item.reference)),
            EvidenceKind::File => self.file(&item.reference),
        }
    }

    fn file(&self, typed: &str) -> Result<EvidenceFound, ToolError> {
        let path = match normal_path(typed) {
            Ok(path) => path,
            Err(why) => return Ok(EvidenceFound::NoPath(why)),
        };
        Ok(match self.repository.tree_entry(self.head, &path)? {
            Some(TreeEntry::File) => EvidenceFound::File { path },
            Some(TreeEntry::Folder) => EvidenceFound::Folder { path },
            None => EvidenceFound::Missing,
        })
    }

    fn commit(&self, digits: &str) -> Result<EvidenceFound, ToolError> {
        let Some(commit) = self.repository.commit_named(&digits.to_ascii_lowercase())? else {
            return Ok(EvidenceFound::Missing);
        };
        let base = || self.workspace.base.as_str().to_owned();
        if !self.repository.is_merged(&commit, self.base)? {
            return Ok(EvidenceFound::CommitElsewhere { base: base() });
        }
        if !self.repository.is_merged(&commit, self.head)? {
            return Ok(EvidenceFound::NewerCommit { base: base() });
        }
        Ok(EvidenceFound::Commit {
            files: self.repository.files_of_commit(&commit)?,
            commit: commit.to_string(),
        })
    }

    fn pull_request(&self, number: &str) -> Result<EvidenceFound, ToolError> {
        let Ok(id) = number.trim_start_matches('#').parse::<i64>() else {
            return Ok(EvidenceFound::Missing);
        };
        let pr = match self.store.pr(PrId::new(id)) {
            Ok(pr) => pr,
            Err(StoreError::NotFound { .. }) => return Ok(EvidenceFound::Missing),
            Err(error) => return Err(error.into()),
        };
        let parent = match &pr.of {
            PullRequestOf::Issue(child) => self.store.issue(child)?.parent,
            PullRequestOf::Plan(_) => None,
        };
        if parent.as_ref() != Some(self.issue) {
            return Ok(EvidenceFound::OtherPullRequest {
                of: pr.of.to_string(),
            });
        }
        if pr.state != PrState::Merged {
            return Ok(EvidenceFound::UnmergedPullRequest {
                state: pr.state.name().to_owned(),
            });
        }
        let merged = pr.merged_commit.as_deref().map(CommitId::parse);
        if let Some(Ok(merged)) = merged
            && !self.repository.is_merged(&merged, self.head)?
        {
            return Ok(EvidenceFound::NewerCommit {
                base: self.workspace.base.as_str().to_owned(),
            });
        }
        Ok(EvidenceFound::MergedPullRequest {
            files: pr.files.into_iter().map(|file| file.path).collect(),
        })
    }

    fn gate(&self, name: &str) -> EvidenceFound {
        let known = &self.workspace.gates;
        if known.iter().any(|gate| gate == name) {
            EvidenceFound::Gate
        } else {
            EvidenceFound::UnknownGate {
                known: known.clone(),
            }
        }
    }
}
