//! The merge of a pull request with its current base, which includes whatever was repaired there since the change was
//! started.

use symphony_core::pull_request::{PullRequest, VerifiedGates};
use symphony_workspace::{BranchName, CommitId, Identity, MergePlan, MergeStyle, Repository};

use super::remembered::{GatesRun, run_remembered};
use crate::confirm::results_on_base;
use crate::error::RunnerError;
use crate::gates::{History, Proof};

/// The results for a pull request's head.
pub(super) struct Gated {
    /// The results.
    pub(super) gates: VerifiedGates,
    /// The tree that they ran on.
    pub(super) tree: String,
}

/// Runs gates on a head. If it is red and lacks commits of the base, their results on the merge of both count: the base
/// may have been repaired since the change was started, and only the merge will ever be used.
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

/// Runs gates for a proposal that nothing is left to do, on the current commit of its base. If the base no longer has
/// the recorded commit, they run on that one, and the next tick sends the proposal back.
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
    let proof = if fresh { proof.cold() } else { proof };
    let proven = run_remembered(run, &proof, fresh).await?;
    Ok(Gated {
        gates: proven.gates,
        tree: proof.tree().as_str().to_owned(),
    })
}

/// A pull request's head merged with its base.
#[derive(Debug)]
struct Candidate {
    /// The merge, which is on no branch.
    commit: CommitId,
    head: CommitId,
    base: CommitId,
}

impl Candidate {
    /// Merges a head with the current base. Returns `None` if the head already has all of the base, or conflicts with
    /// it.
    ///
    /// # Errors
    /// When the base branch does not exist, or git fails.
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

    /// Turns results of the merge into those of the head, with the commit that it was merged with.
    fn results_of_head(&self, gates: VerifiedGates) -> VerifiedGates {
        VerifiedGates {
            commit: self.head.as_str().to_owned(),
            merged_with: Some(self.base.as_str().to_owned()),
            ..gates
        }
    }
}
