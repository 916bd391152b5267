//! The error of a run whose outcome is missing.

use crate::failure::ErrorClass;
use crate::run::RunError;

/// A missing outcome; if the call for it was refused, that is the reason.
pub(super) fn missing(message: &str, why: Option<String>) -> RunError {
    match why {
        Some(why) => {
            let message = message.split_once(" (").map_or(message, |(text, _)| text);
            no_outcome(&format!("{message}: {why}"))
        }
        None => no_outcome(message),
    }
}

pub(super) fn no_outcome(message: &str) -> RunError {
    RunError {
        class: ErrorClass::NoOutcome,
        message: message.to_owned(),
    }
}
