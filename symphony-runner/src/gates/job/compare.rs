//! The same gates on the base commit: is the change at fault, or the place it runs in?

use std::collections::BTreeSet;

use symphony_core::config::Gate;
use symphony_core::gates::{BaseComparison, BaseRecord, compare_with_base};
use symphony_core::pull_request::{SET_UP_GATE, VerifiedGate, VerifiedGates};
use symphony_mcp::StoreThread;
use symphony_workspace::Repository;

use super::request;
use crate::error::RunnerError;
use crate::gates::proof::Proof;
use crate::process::Supervision;
use crate::supervise::Job;

/// What came of the red gates of a pull request on its base.
pub(super) struct Compared {
    /// How it compares.
    pub(super) comparison: BaseComparison,
    /// The results on the base.
    pub(super) base: VerifiedGates,
}

/// The red gates of a pull request, on its base.
pub(super) struct OnBase<'a> {
    proof: Proof<'a>,
}

impl<'a> OnBase<'a> {
    /// Finds out what their results on the base depend on.
    ///
    /// # Errors
    /// When there is no base, or the files to copy cannot be listed.
    pub(super) fn of(
        job: &'a Job<'_>,
        repository: &'a Repository,
        gates: &VerifiedGates,
    ) -> Result<Self, RunnerError> {
        let red: Vec<&VerifiedGate> = gates.results.iter().filter(|gate| gate.is_red()).collect();
        let set_up_failed = red.iter().any(|gate| gate.name == SET_UP_GATE);
        let again: Vec<Gate> = job
            .config
            .gates
            .iter()
            .filter(|gate| set_up_failed || red.iter().any(|red| red.name == gate.name))
            .cloned()
            .collect();
        let base = repository.base()?;
        let proof = Proof::of(request(job, repository), base.commit, again)?;
        Ok(Self { proof })
    }

    /// The digests under which passes of them are remembered.
    pub(super) fn keys(&self) -> &[String] {
        self.proof.keys()
    }

    /// Says what is recorded of them, by the digests that passed.
    pub(super) fn record(&self, passed: &BTreeSet<String>) -> BaseRecord {
        if self.keys().iter().all(|key| passed.contains(key)) {
            BaseRecord::Passed
        } else {
            BaseRecord::Unknown
        }
    }

    /// Runs them, and says whether they are red there, too. What passes is remembered, so that an honest red gate costs the
    /// comparison once for a base.
    pub(super) async fn compare(
        &self,
        job: &Job<'_>,
        store: &StoreThread,
        supervision: &Supervision,
        gates: &VerifiedGates,
    ) -> Result<Compared, RunnerError> {
        // what passed before says nothing about whether it fails now
        let on_base = self.proof.run(supervision, &BTreeSet::new()).await?;
        let (project, passes) = (job.project.id.clone(), on_base.passes);
        store
            .call(move |store| store.record_gate_passes(&Job::as_system(), &project, &passes))
            .await??;
        Ok(Compared {
            comparison: compare_with_base(gates, &on_base.gates),
            base: on_base.gates,
        })
    }
}
