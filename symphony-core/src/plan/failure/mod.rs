//! Why a phase failed, and when it is tried again (spec: plan, "Failures").

mod classify;
mod patterns;
mod retry;
mod words;

pub use classify::{Classification, Confidence, FailureClass, FailureEvidence, classify_failure};
pub use retry::{RetryPolicy, retry_delay_ms};
