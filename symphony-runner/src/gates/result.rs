//! The result of a gate, made from the outcome of its command.

use symphony_core::config::{CommandLine, Millis};
use symphony_core::pull_request::VerifiedGate;

use crate::error::RunnerError;
use crate::output::last_chars;
use crate::supervise::CommandOutcome;

/// How many characters of a gate's output are recorded with its result. Its log has more.
const OUTPUT_CHARS_MAX: usize = 16_000;

/// What a result includes about its command.
#[derive(Debug)]
pub(crate) struct GateCommand<'a> {
    /// The gate's name.
    pub(crate) name: &'a str,
    /// Whether a red result rejects the change.
    pub(crate) required: bool,
    /// The command.
    pub(crate) line: &'a CommandLine,
    /// Its time limit.
    pub(crate) limit: Millis,
}

/// Makes the result of a gate from the outcome of its command. If it could not be started, it is red: nothing shows
/// that the change is good.
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
        cached: false,
        definition: None,
        failed_tries: Vec::new(),
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
