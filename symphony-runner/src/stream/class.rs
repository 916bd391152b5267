//! The error class of an HTTP status.

use symphony_core::failure::ErrorClass;

/// Returns the class of an HTTP status; `None` for a status that is no error.
pub(crate) fn class_of_status(status: u16) -> Option<ErrorClass> {
    match status {
        401 | 403 => Some(ErrorClass::AuthFailed),
        402 => Some(ErrorClass::CreditExhausted),
        404 => Some(ErrorClass::ModelError),
        408 => Some(ErrorClass::ProviderError),
        413 => Some(ErrorClass::PromptTooLong),
        429 => Some(ErrorClass::RateLimited),
        529 => Some(ErrorClass::Overloaded),
        400..=499 => Some(ErrorClass::InvalidRequest),
        500..=599 => Some(ErrorClass::ProviderError),
        _ => None,
    }
}
