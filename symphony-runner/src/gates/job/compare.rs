//! The same gates on the base commit: is the change at fault, or the place it runs in?

use std::collections::BTreeSet;

use symphony_core::config::Gate;
use symphony_core::gates::{BaseComparison, failure_print};
use symphony_core::pull_request::{SET_UP_GATE, VerifiedGate, VerifiedGates};
use symphony_workspace::Repository;

use super::request;
use crate::error::RunnerError;
use crate::gates::proof::Proof;
use crate::process::Supervision;
use crate::supervise::Job;

/// Runs the red gates of a pull request on its base, and says whether they fail in the same way.
pub(super) async fn compare_with_base(
    job: &Job<'_>,
    supervision: &Supervision,
    repository: &Repository,
    gates: &VerifiedGates,
    folder: &str,
) -> Result<BaseComparison, RunnerError> {
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
    // what passed before says nothing about whether it fails now
    let on_base = proof.run(supervision, &BTreeSet::new()).await?;
    // the same place by name, so that one folder stands for both
    let print = |gates: &VerifiedGates| failure_print(gates, &[folder]);
    let same = print(&on_base.gates).is_some() && print(&on_base.gates) == print(gates);
    Ok(if same {
        BaseComparison::SameFailure
    } else {
        BaseComparison::Different
    })
}
