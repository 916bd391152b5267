//! What is said of a run that lives: here, in a pool, or on another host.

use std::fmt;

use crate::id::RunId;
use crate::placement::{Liveness, Whereabouts};
use crate::wording::counted;

/// Counts the runs that wait in a pool, as the beginning of a sentence.
pub(super) fn waiting_runs(count: u32) -> String {
    let wait = if count == 1 { "waits" } else { "wait" };
    format!("{} {wait}", counted(count.into(), "run"))
}

/// Writes what a run does, or waits for.
pub(super) fn write_running(
    f: &mut fmt::Formatter<'_>,
    run: &RunId,
    at: &Whereabouts,
) -> fmt::Result {
    match (at, at.words()) {
        (Whereabouts::Queued { .. }, Some(waits)) => write!(f, "run {run} {waits}"),
        (_, None) => write!(f, "run {run} is working on it"),
        (
            Whereabouts::Begun {
                liveness: Liveness::Alive,
                ..
            },
            Some(on),
        ) => write!(f, "run {run} is working on it {on}"),
        (_, Some(silent)) => write!(f, "run {run}: {silent}"),
    }
}
