//! Running the configured gates, some of them in parallel.

use symphony_core::config::Gate;
use symphony_core::gates::groups;
use symphony_core::pull_request::VerifiedGate;
use symphony_core::watchdog::Step;
use symphony_workspace::Failpoint;

use super::checkout::{GateCheckout, Surroundings, log_of};
use super::result::GateCommand;
use super::running::Running;
use crate::error::RunnerError;
use crate::process::Supervision;
use crate::supervise::Company;

impl GateCheckout<'_> {
    /// Runs gates for the first time, in the order of the configuration. Neighbours that are `parallel` run at the same
    /// time.
    ///
    /// # Errors
    /// When processes cannot be supervised.
    pub async fn run_gates(
        &self,
        supervision: &Supervision,
        gates: &[Gate],
    ) -> Result<Vec<VerifiedGate>, RunnerError> {
        run_gates(self, supervision, gates, 1).await
    }
}

/// Runs gates for the `number`th time, in a checkout in which none has run before: what a failed try left there, and
/// git ignores, could make a gate green. The results are in the order of the gates.
pub(super) async fn run_gates(
    checkout: &GateCheckout<'_>,
    supervision: &Supervision,
    gates: &[Gate],
    number: u64,
) -> Result<Vec<VerifiedGate>, RunnerError> {
    let mut results = Vec::with_capacity(gates.len());
    for batch in groups(gates) {
        let limit = batch.iter().map(|gate| gate.timeout_ms).max();
        checkout
            .request
            .steps
            .enter_commands(Step::Gates, limit.unwrap_or_default());
        // Once per batch, since gates that run at the same time see each other's files anyway.
        let remark = checkout.restore()?;
        let names = batch.iter().map(|gate| gate.name.as_str());
        let _running = Running::note(&checkout.request.logs, names);
        results.extend(run_batch(checkout, supervision, batch, number, remark.as_deref()).await?);
    }
    Ok(results)
}

/// Runs gates at the same time, and returns the results in their order.
async fn run_batch(
    checkout: &GateCheckout<'_>,
    supervision: &Supervision,
    batch: &[Gate],
    number: u64,
    remark: Option<&str>,
) -> Result<Vec<VerifiedGate>, RunnerError> {
    let surroundings = |company| Surroundings {
        company,
        remark: remark.map(str::to_owned),
    };
    if let [gate] = batch {
        let alone = surroundings(Company::Alone);
        return Ok(vec![
            run_gate(checkout, supervision, gate, number, alone).await?,
        ]);
    }
    let running: Vec<_> = batch
        .iter()
        .map(|gate| {
            run_gate(
                checkout,
                supervision,
                gate,
                number,
                surroundings(Company::Others),
            )
        })
        .collect();
    let ended = join_all(running).await;
    // Until all have ended, a process that left its gate's session cannot be distinguished from those of other gates.
    supervision.end_rest().await?;
    ended.into_iter().collect()
}

async fn run_gate(
    checkout: &GateCheckout<'_>,
    supervision: &Supervision,
    gate: &Gate,
    number: u64,
    surroundings: Surroundings,
) -> Result<VerifiedGate, RunnerError> {
    tracing::info!(gate = %gate.name, commit = %checkout.commit(), number, "gate starts");
    let command = GateCommand {
        name: &gate.name,
        required: gate.required,
        line: &gate.command,
        limit: gate.timeout_ms,
    };
    let title = title_of_try(&gate.name, number);
    let log = log_of(&title);
    let result = checkout.run_in(supervision, &command, &title, log, surroundings);
    let result = result.await?;
    tracing::info!(gate = %gate.name, passed = result.passed, "gate ended");
    Failpoint::GateRan.reach();
    Ok(result)
}

/// Returns the name of a gate's try in logs.
fn title_of_try(name: &str, number: u64) -> String {
    if number == 1 {
        name.to_owned()
    } else {
        format!("{name} (try {number})")
    }
}

/// Waits for all futures, and returns the results in their order.
async fn join_all<F: Future>(futures: Vec<F>) -> Vec<F::Output> {
    let mut running: Vec<_> = futures.into_iter().map(Box::pin).collect();
    let mut outputs: Vec<Option<F::Output>> = running.iter().map(|_| None).collect();
    std::future::poll_fn(|context| {
        let mut waits = false;
        for (future, output) in running.iter_mut().zip(&mut outputs) {
            if output.is_none() {
                match future.as_mut().poll(context) {
                    std::task::Poll::Ready(ready) => *output = Some(ready),
                    std::task::Poll::Pending => waits = true,
                }
            }
        }
        if waits {
            std::task::Poll::Pending
        } else {
            std::task::Poll::Ready(())
        }
    })
    .await;
    outputs.into_iter().flatten().collect()
}
