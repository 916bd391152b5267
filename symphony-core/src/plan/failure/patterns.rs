//! The table of texts by which failures are known.

use super::class::FailureClass;

/// What to search for. Words are lower case; `a|b` matches either.
#[derive(Debug)]
pub(super) enum Pattern {
    /// Words in a row.
    Phrase(&'static str),
    /// Words in a row, and later on the same line others.
    Gap(&'static str, &'static str),
    /// A number in the position of a status.
    Status(&'static str),
}

use Pattern::{Gap, Phrase, Status};

/// Patterns by class, in the order in which classes are tried.
pub(super) const TEXT_PATTERNS: &[(FailureClass, &[Pattern])] = &[
    (FailureClass::Timeout, TIMEOUT),
    (FailureClass::Permanent, PERMANENT),
    (FailureClass::Logic, LOGIC),
    (FailureClass::Transient, TRANSIENT),
    (FailureClass::Resource, RESOURCE),
];

const TIMEOUT: &[Pattern] = &[
    Phrase("phase|execution timeout"),
    Phrase("timed out"),
    Phrase("deadline exceeded"),
    Phrase("time limit exceeded|reached"),
    Phrase("max|maximum turns exceeded|reached"),
    Phrase("error_max_turns"),
];

const PERMANENT: &[Pattern] = &[
    Phrase("syntax error|errors"),
    Phrase("syntaxerror"),
    Phrase("invalid configuration|config"),
    Phrase("invalid json"),
    Phrase("missing required"),
    Phrase("dependency|dependencies not installed"),
    Phrase("module not found"),
    Phrase("modulenotfounderror"),
    Phrase("cannot find module"),
    Phrase("cannot resolve"),
    Phrase("unknown model"),
];

const LOGIC: &[Pattern] = &[
    Phrase("test|tests failed"),
    Phrase("failed test|tests"),
    Phrase("assertion|assertions failed"),
    Phrase("assertionerror"),
    Gap("expected", "but got"),
    Phrase("type error|errors"),
    Phrase("typecheck|tsc error|errors|failed"),
    Phrase("lint|eslint error|errors|failed"),
    Phrase("merge conflict|conflicts"),
];

const TRANSIENT: &[Pattern] = &[
    Phrase("rate limit|limits|limited|limiting"),
    Phrase("rate_limit|rate_limited|rate_limit_error|ratelimit"),
    Phrase("too many requests"),
    Status("429"),
    Status("502"),
    Status("503"),
    Status("504"),
    Status("529"),
    Phrase("overloaded|overloaded_error"),
    Phrase("temporarily unavailable"),
    Phrase("try again"),
    Phrase("econnreset|econnrefused|etimedout"),
    Phrase("connection reset|refused|timeout"),
    Phrase("network error|errors"),
    Phrase("dns failure|error|lookup"),
    Phrase("getaddrinfo"),
];

const RESOURCE: &[Pattern] = &[
    Phrase("enoent|eacces|enospc|emfile"),
    Phrase("no such file"),
    Phrase("file not found"),
    Phrase("does not exist"),
    Phrase("permission denied"),
    Phrase("out of memory"),
    Phrase("disk full"),
    Phrase("no space left"),
    Phrase("too many open files"),
];
