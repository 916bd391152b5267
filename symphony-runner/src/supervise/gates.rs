//! Gates: run on the recorded commit when a pull request waits for them (spec: orchestrator, "Verified, not reported").

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use symphony_core::config::Gate;
use symphony_core::pull_request::{VerifiedGate, VerifiedGates};
use symphony_workspace::Failpoint;

use super::command::{CommandCall, run_command};
use crate::error::RunnerError;
use crate::output::last_chars;
use crate::process::Supervision;

/// Characters of a gate's output that are recorded with its result; its log has more.
const OUTPUT_CHARS_MAX: usize = 16_000;

/// Where gates run.
#[derive(Debug)]
pub(crate) struct GatePlace {
    /// Symphony's own executable.
    pub(crate) executable: PathBuf,
    /// Their environment: the agent's, without the socket.
    pub(crate) environment: BTreeMap<OsString, OsString>,
    /// A checkout of the commit.
    pub(crate) checkout: PathBuf,
    /// Where their logs go.
    pub(crate) logs: PathBuf,
}

impl GatePlace {
    fn log(&self, gate: &str) -> PathBuf {
        let name: String = gate
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() || c == '-' {
                    c
                } else {
                    '_'
                }
            })
            .take(64)
            .collect();
        self.logs.join(format!("gate-{name}.log"))
    }
}

/// Runs gates, one after the other, in a checkout of the commit.
pub(crate) async fn run_gates(
    supervision: &Supervision,
    place: &GatePlace,
    gates: &[Gate],
    commit: &str,
) -> Result<VerifiedGates, RunnerError> {
    let mut results = Vec::new();
    for gate in gates {
        tracing::info!(gate = %gate.name, commit, "gate starts");
        let call = CommandCall {
            executable: &place.executable,
            line: &gate.command,
            limit: gate.timeout_ms,
            environment: place.environment.clone(),
            directory: &place.checkout,
            input: None,
            log: place.log(&gate.name),
        };
        let outcome = run_command(supervision, call).await;
        let result = match outcome {
            Ok(outcome) => VerifiedGate {
                name: gate.name.clone(),
                required: gate.required,
                passed: outcome.passed(),
                exit_code: outcome.exit.code.filter(|_| !outcome.timed_out),
                duration_ms: u64::try_from(outcome.duration.as_millis()).unwrap_or(u64::MAX),
                output: if outcome.passed() || outcome.exit.code.is_some() && !outcome.timed_out {
                    last_chars(&outcome.output, OUTPUT_CHARS_MAX)
                } else {
                    format!(
                        "{}\n[{}]",
                        last_chars(&outcome.output, OUTPUT_CHARS_MAX),
                        outcome.how(gate.timeout_ms)
                    )
                },
            },
            // a gate that can not be started is red: it says nothing good about the change
            Err(RunnerError::Process(error)) => VerifiedGate {
                name: gate.name.clone(),
                required: gate.required,
                passed: false,
                exit_code: None,
                duration_ms: 0,
                output: format!("the gate `{}` could not be run: {error}", gate.command),
            },
            Err(other) => return Err(other),
        };
        tracing::info!(gate = %gate.name, passed = result.passed, "gate ended");
        results.push(result);
        Failpoint::GateRan.reach();
    }
    Ok(VerifiedGates {
        commit: commit.to_owned(),
        results,
    })
}
