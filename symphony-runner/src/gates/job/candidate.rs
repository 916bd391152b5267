//! The merge of a pull request with its base as it is now: what was repaired there since the change began is part of it.

use symphony_core::pull_request::{PullRequest, VerifiedGates};
use symphony_workspace::{BranchName, CommitId, Identity, MergePlan, MergeStyle, Repository};

use super::remembered::{GatesRun, run_remembered};
use crate::confirm::results_on_base;
use crate::error::RunnerError;
use crate::gates::{History, Proof};

/// Results of a pull request's head.
pub(super) struct Gated {
    /// The results.
    pub(super) gates: VerifiedGates,
    /// The tree that they ran on.
    pub(super) tree: String,
}

/// Runs gates on a head. Where it is red and lacks commits of the base, what they come to on the merge of both counts: the
/// base may have been repaired since the change began, and only the merge is ever going to be in use.
///
/// # Errors
/// When a checkout cannot be made or removed, or processes cannot be supervised.
pub(super) async fn gates_of_head(
    run: GatesRun<'_>,
    head: &CommitId,
    fresh: bool,
) -> Result<Gated, RunnerError> {
    let gated = run_on(run, head.clone(), head, fresh).await?;
    if gated.gates.green() {
        return Ok(gated);
    }
    let Some(candidate) = Candidate::of(run.repository, head)? else {
        return Ok(gated);
    };
    let merged = run_on(run, candidate.commit.clone(), head, fresh).await?;
    Ok(Gated {
        gates: candidate.results_of_head(merged.gates),
        ..merged
    })
}

/// Runs gates for a proposal that nothing is left to do, on the commit that its base is at now. Where the base does not have the
/// recorded commit any more, they run on that: the next tick sends the proposal back.
///
/// # Errors
/// As [`gates_of_head`].
pub(super) async fn gates_of_base_now(
    run: GatesRun<'_>,
    proposal: &PullRequest,
    recorded: &CommitId,
) -> Result<Gated, RunnerError> {
    let repository = run.repository;
    let base = repository.branch_head(&BranchName::parse(&proposal.base)?)?;
    let commit = match base {
        Some(base) if repository.is_merged(recorded, &base)? => base,
        _ => recorded.clone(),
    };
    let fresh = proposal.gates_wait.fresh;
    let gated = run_on(run, commit.clone(), &commit, fresh).await?;
    Ok(Gated {
        gates: results_on_base(proposal, commit.as_str(), gated.gates),
        ..gated
    })
}

async fn run_on(
    run: GatesRun<'_>,
    commit: CommitId,
    history: &CommitId,
    fresh: bool,
) -> Result<Gated, RunnerError> {
    let history = History::Of(history.clone());
    let gates = run.job.config.gates.clone();
    let proof = Proof::of(run.request(), commit, &history, gates)?;
    let proven = run_remembered(run, &proof, fresh).await?;
    Ok(Gated {
        gates: proven.gates,
        tree: proof.tree().as_str().to_owned(),
    })
}

/// A pull request's head, merged with its base.
#[derive(Debug)]
struct Candidate {
    /// The merge; no branch has it.
    commit: CommitId,
    head: CommitId,
    base: CommitId,
}

impl Candidate {
    /// Merges a head with the base as it is now; none when the head has all of the base already, or conflicts with it.
    ///
    /// # Errors
    /// When there is no base, or git fails.
    fn of(repository: &Repository, head: &CommitId) -> Result<Option<Self>, RunnerError> {
        let base = repository.base()?;
        let planned = repository.plan_merge(
            &base.commit,
            head,
            MergeStyle::FastForward,
            "Merge for its gates",
            &Identity::symphony(),
        )?;
        Ok(match planned {
            MergePlan::Merge(commit) => Some(Self {
                commit,
                head: head.clone(),
                base: base.commit,
            }),
            MergePlan::AlreadyMerged
            | MergePlan::FastForward(_)
            | MergePlan::Conflict(_)
            | MergePlan::Unrelated => None,
        })
    }

    /// Makes results of the merge those of the head, and says what it was merged with.
    fn results_of_head(&self, gates: VerifiedGates) -> VerifiedGates {
        VerifiedGates {
            commit: self.head.as_str().to_owned(),
            merged_with: Some(self.base.as_str().to_owned()),
            ..gates
        }
    }
}
