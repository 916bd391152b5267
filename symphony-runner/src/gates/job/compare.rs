//! The same gates on the base commit: is the change at fault, or the environment?

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

/// The result of the red gates of a pull request on its base.
pub(super) struct Compared {
    /// How the results compare.
    pub(super) comparison: BaseComparison,
    /// The results on the base.
    pub(super) base: VerifiedGates,
}

/// Also runs the red gates of a pull request, and those before them, on its base, if that can show that the change is
/// not at fault.
///
/// # Errors
/// When the base branch does not exist, or the gates cannot run there.
pub(super) async fn compare_if_needed(
    run: GatesRun<'_>,
    gates: &VerifiedGates,
    of: PullRequestOf,
    failure: PastFailure,
) -> Result<Option<Compared>, RunnerError> {
    let on_base = OnBase::of(run, gates)?;
    // The gates of a plan are not tried again on their own, so its base is always compared at once.
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
    /// Determines what their results on the base depend on.
    ///
    /// # Errors
    /// When the base branch does not exist, or the files to copy cannot be listed.
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

    /// Returns what is recorded about them, given the digests that passed.
    fn record(&self, passed: &BTreeSet<String>) -> BaseRecord {
        if self.keys.iter().all(|key| passed.contains(key)) {
            BaseRecord::Passed
        } else {
            BaseRecord::Unknown
        }
    }

    /// Runs them, and returns whether they are also red there. Passes are remembered, so that an honest red gate costs
    /// one comparison per base.
    async fn compare(
        &self,
        run: GatesRun<'_>,
        gates: &VerifiedGates,
    ) -> Result<Compared, RunnerError> {
        // An earlier pass does not show that it passes now.
        let on_base = self.proof.run(run.supervision, &BTreeSet::new()).await?;
        let (project, passes) = (run.job.project.id.clone(), on_base.passes);
        let context = run.job.as_supervisor();
        run.store
            .call(move |store| store.record_gate_passes(&context, &project, &passes))
            .await??;
        Ok(Compared {
            comparison: compare_with_base(gates, &on_base.gates),
            base: on_base.gates,
        })
    }
}
