//! The same gates on the base commit: is the change at fault, or the place it runs in?

use std::collections::BTreeSet;

use symphony_core::Timestamp;
use symphony_core::config::Gate;
use symphony_core::gates::{
    BaseComparison, BaseRecord, PastFailure, compare_with_base, needs_base_comparison,
    with_those_before,
};
use symphony_core::pull_request::{PullRequestOf, SET_UP_GATE, VerifiedGate, VerifiedGates};
use symphony_store::StoreError;

use super::remembered::GatesRun;
use crate::error::RunnerError;
use crate::gates::proof::Proof;
use crate::supervise::Job;

/// What came of the red gates of a pull request on its base.
pub(super) struct Compared {
    /// How it compares.
    pub(super) comparison: BaseComparison,
    /// The results on the base.
    pub(super) base: VerifiedGates,
}

/// Runs the red gates of a pull request, and those before them, on its base as well, where that may show that the change is not at fault.
///
/// # Errors
/// When there is no base, or the gates cannot be run there.
pub(super) async fn compare_if_needed(
    run: GatesRun<'_>,
    gates: &VerifiedGates,
    of: PullRequestOf,
    failure: PastFailure,
) -> Result<Option<Compared>, RunnerError> {
    let on_base = OnBase::of(run, gates)?;
    // nobody tries a plan's again by itself: whether the base is at fault is found out at once
    if let PullRequestOf::Issue(issue) = of {
        let keys = on_base.keys.clone();
        let (repeated, passed) = run
            .store
            .call(move |store| {
                let repeated = store.repeated_gate_failure(&issue, &failure)?;
                let passed = store.gate_passes(&keys, Timestamp::now())?;
                Ok::<_, StoreError>((repeated, passed))
            })
            .await??;
        if !needs_base_comparison(gates, &repeated, on_base.record(&passed)) {
            return Ok(None);
        }
    }
    let compared = on_base.compare(run, gates).await?;
    Ok(Some(compared))
}

/// The red gates of a pull request with those before them, on its base.
struct OnBase<'a> {
    proof: Proof<'a>,
    /// The digests under which passes of the red ones are remembered.
    keys: Vec<String>,
}

impl<'a> OnBase<'a> {
    /// Finds out what their results on the base depend on.
    ///
    /// # Errors
    /// When there is no base, or the files to copy cannot be listed.
    fn of(run: GatesRun<'a>, gates: &VerifiedGates) -> Result<Self, RunnerError> {
        let red: Vec<&VerifiedGate> = gates.red().collect();
        let set_up_failed = red.iter().any(|gate| gate.name == SET_UP_GATE);
        let is_red = |gate: &Gate| set_up_failed || red.iter().any(|red| red.name == gate.name);
        let again = with_those_before(&run.job.config.gates, |_, gate| is_red(gate));
        let of_red: Vec<bool> = again.iter().map(is_red).collect();
        let base = run.repository.base()?;
        let proof = Proof::of_commit(run.request(), base.commit, again)?;
        let keys = proof.keys().iter().zip(of_red);
        let keys = keys.filter(|(_, is_red)| *is_red);
        let keys = keys.map(|(key, _)| key.clone()).collect();
        Ok(Self { proof, keys })
    }

    /// Says what is recorded of them, by the digests that passed.
    fn record(&self, passed: &BTreeSet<String>) -> BaseRecord {
        if self.keys.iter().all(|key| passed.contains(key)) {
            BaseRecord::Passed
        } else {
            BaseRecord::Unknown
        }
    }

    /// Runs them, and says whether they are red there, too. What passes is remembered, so that an honest red gate costs the
    /// comparison once for a base.
    async fn compare(
        &self,
        run: GatesRun<'_>,
        gates: &VerifiedGates,
    ) -> Result<Compared, RunnerError> {
        // what passed before says nothing about whether it fails now
        let on_base = self.proof.run(run.supervision, &BTreeSet::new()).await?;
        let (project, passes) = (run.job.project.id.clone(), on_base.passes);
        run.store
            .call(move |store| store.record_gate_passes(&Job::as_system(), &project, &passes))
            .await??;
        Ok(Compared {
            comparison: compare_with_base(gates, &on_base.gates),
            base: on_base.gates,
        })
    }
}
