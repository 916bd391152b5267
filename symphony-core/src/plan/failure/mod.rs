//! Why a phase failed, and when it is retried (spec: plan, "Failures").

mod class;
mod classify;
mod custom;
mod patterns;
mod retry;
mod tool_output;
mod words;

pub use class::FailureClass;
pub use classify::{Classification, Confidence, FailureEvidence, classify_failure};
pub use custom::{
    FAILURE_PATTERN_CHARS_MAX, FAILURE_PATTERNS_MAX, FailurePatterns, is_failure_pattern,
};
pub use retry::{RetryPolicy, retry_delay_ms};
