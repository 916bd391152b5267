//! The merge of a pull request with its base as it is now: what was repaired there since the change began is part of it.

use symphony_core::pull_request::VerifiedGates;
use symphony_mcp::StoreThread;
use symphony_workspace::{CommitId, Identity, MergePlan, MergeStyle, Repository};

use super::{request, run_remembered};
use crate::error::RunnerError;
use crate::gates::{History, Proof};
use crate::process::Supervision;
use crate::supervise::Job;

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
    job: &Job<'_>,
    store: &StoreThread,
    supervision: &Supervision,
    repository: &Repository,
    (head, fresh): (&CommitId, bool),
) -> Result<Gated, RunnerError> {
    let history = History::Of(head.clone());
    let run = async |commit: CommitId| {
        let gated = (commit, &history);
        let proof = Proof::of(request(job, repository), gated, job.config.gates.clone())?;
        let proven = run_remembered(job, store, supervision, &proof, fresh).await?;
        Ok::<_, RunnerError>(Gated {
            gates: proven.gates,
            tree: proof.tree().as_str().to_owned(),
        })
    };
    let gated = run(head.clone()).await?;
    if gated.gates.green() {
        return Ok(gated);
    }
    let Some(candidate) = Candidate::of(repository, head)? else {
        return Ok(gated);
    };
    let merged = run(candidate.commit.clone()).await?;
    Ok(Gated {
        gates: candidate.results_of_head(merged.gates),
        ..merged
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
