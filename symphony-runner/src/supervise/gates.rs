//! Gates: run on the recorded commit when a pull request waits for them (spec: orchestrator, "Verified, not reported").

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use symphony_core::config::{CommandLine, Gate, Millis};
use symphony_core::pull_request::{VerifiedGate, VerifiedGates};
use symphony_workspace::Failpoint;

use super::command::{CommandCall, CommandOutcome, run_command};
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
        let command = GateCommand {
            name: &gate.name,
            required: gate.required,
            line: &gate.command,
            limit: gate.timeout_ms,
        };
        let result = gate_result(&command, run_command(supervision, call).await)?;
        tracing::info!(gate = %gate.name, passed = result.passed, "gate ended");
        results.push(result);
        Failpoint::GateRan.reach();
    }
    Ok(VerifiedGates {
        commit: commit.to_owned(),
        results,
    })
}

/// What a result tells of the command that it is of.
#[derive(Debug)]
pub(crate) struct GateCommand<'a> {
    /// The gate's name.
    pub(crate) name: &'a str,
    /// Whether a red one sends the change back.
    pub(crate) required: bool,
    /// The command.
    pub(crate) line: &'a CommandLine,
    /// Its time limit.
    pub(crate) limit: Millis,
}

/// Makes the result of a gate from what became of its command. One that could not be started is red: it says nothing good
/// about the change.
pub(crate) fn gate_result(
    gate: &GateCommand<'_>,
    outcome: Result<CommandOutcome, RunnerError>,
) -> Result<VerifiedGate, RunnerError> {
    let result = |passed, exit_code, duration_ms, output| VerifiedGate {
        name: gate.name.to_owned(),
        required: gate.required,
        passed,
        exit_code,
        duration_ms,
        output,
    };
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(RunnerError::Process(error)) => {
            let output = format!("`{}` could not be run: {error}", gate.line);
            return Ok(result(false, None, 0, output));
        }
        Err(other) => return Err(other),
    };
    let exit_code = outcome.exit.code.filter(|_| !outcome.timed_out);
    let last = last_chars(&outcome.output, OUTPUT_CHARS_MAX);
    let output = if exit_code.is_some() {
        last
    } else {
        format!("{last}\n[{}]", outcome.how(gate.limit))
    };
    let duration_ms = u64::try_from(outcome.duration.as_millis()).unwrap_or(u64::MAX);
    Ok(result(outcome.passed(), exit_code, duration_ms, output))
}
