//! Faults: what goes wrong before a turn is served.

use std::time::Duration;

use serde_json::json;

use crate::emit::{ApiFailure, Emitter};
use crate::error::ScriptError;
use crate::scenario::{Fault, Turn};

/// How long a hanging request hangs, in seconds, unless the fault says.
const HANG_SECONDS: f64 = 3600.0;
/// First and longest pause before a failed request is tried again: long enough to be one, short for tests. (The real CLI
/// begins with half a second and goes up to 35 s.)
const RETRY_MS: u64 = 10;
const RETRY_MS_MAX: u64 = 100;
/// Length of the lines of a flood, in bytes, unless the fault says.
const FLOOD_LINE_BYTES: u64 = 1024;
/// A flood is written in pieces of at most this size, so that a line of any length costs no memory.
const FLOOD_PIECE_BYTES: u64 = 64 * 1024;

/// What the faults of a turn come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Served {
    /// The turn is served.
    Turn,
    /// The request failed for good.
    Failed(ApiFailure),
    /// The process ends with this code, without a result.
    Exit(u8),
}

/// Plays the faults of a turn.
pub(crate) async fn serve(
    turn: &Turn,
    emitter: &mut Emitter<'_>,
    retries_max: u32,
) -> Result<Served, ScriptError> {
    let mut retries = 0;
    let mut attempt = 0;
    loop {
        attempt += 1;
        let Some(fault) = turn.fault(attempt) else {
            return Ok(Served::Turn);
        };
        match fault.kind.as_str() {
            "http" | "cut" | "reset" => {
                let failure = failure(fault);
                if retries >= retries_max || failure.status == Some(400) {
                    return Ok(Served::Failed(failure));
                }
                retries += 1;
                let delay = retry_delay(fault, retries);
                let delay_ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
                emitter.api_retry(retries, retries_max, delay_ms, failure.status)?;
                tokio::time::sleep(delay).await;
            }
            // The real CLI asks for the same turn again without telling.
            "malformed" | "error_event" => {}
            "hang_stream" => sleep(fault.seconds.unwrap_or(HANG_SECONDS)).await,
            "hang" => {
                sleep(fault.seconds.unwrap_or(HANG_SECONDS)).await;
                return Ok(Served::Turn);
            }
            "delay" => {
                sleep(fault.seconds.unwrap_or(1.0)).await;
                return Ok(Served::Turn);
            }
            "slow" => {
                sleep(fault.chunk_delay.unwrap_or(0.1)).await;
                return Ok(Served::Turn);
            }
            "exit" => {
                if fault.partial_line {
                    emitter.bytes(b"{\"type\":\"assistant\",\"message\":{\"id\":\"cut off he")?;
                }
                return Ok(Served::Exit(fault.code.unwrap_or(1)));
            }
            "flood" => flood(fault, emitter)?,
            other => return Err(ScriptError::Fault(other.to_owned())),
        }
    }
}

fn failure(fault: &Fault) -> ApiFailure {
    let status = (fault.kind == "http").then_some(fault.status.unwrap_or(500));
    let message = match (&fault.message, status) {
        (Some(message), _) => message.clone(),
        (None, Some(status)) => format!("scripted {status}"),
        (None, None) => "Connection error.".to_owned(),
    };
    ApiFailure { status, message }
}

fn retry_delay(fault: &Fault, retry: u32) -> Duration {
    if let Some(seconds) = fault.retry_after {
        return seconds_to_duration(seconds);
    }
    let factor = 1_u64.checked_shl(retry - 1).unwrap_or(u64::MAX);
    Duration::from_millis(RETRY_MS.saturating_mul(factor).min(RETRY_MS_MAX))
}

async fn sleep(seconds: f64) {
    tokio::time::sleep(seconds_to_duration(seconds)).await;
}

fn seconds_to_duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::ZERO)
}

/// Writes much output: lines of an event that nobody knows.
fn flood(fault: &Fault, emitter: &mut Emitter<'_>) -> Result<(), ScriptError> {
    let line_bytes = fault.line_bytes.unwrap_or(FLOOD_LINE_BYTES).max(1);
    let mut left = fault.bytes.unwrap_or(FLOOD_LINE_BYTES);
    let frame = json!({"type": "flood", "data": ""}).to_string();
    let (head, tail) = frame
        .split_once("\"\"")
        .expect("the event has one empty string");
    while left > 0 {
        let line = line_bytes.min(left);
        emitter.bytes(format!("{head}\"").as_bytes())?;
        let frame_bytes = u64::try_from(frame.len()).unwrap_or(u64::MAX) + 1;
        let mut filler = line.saturating_sub(frame_bytes);
        while filler > 0 {
            let piece = filler.min(FLOOD_PIECE_BYTES);
            let text = "x".repeat(usize::try_from(piece).unwrap_or_default());
            emitter.bytes(text.as_bytes())?;
            filler -= piece;
        }
        emitter.bytes(format!("\"{tail}\n").as_bytes())?;
        left -= line;
    }
    Ok(())
}
