//! Why a question has no answer, in the classes of section 11.4.

/// Why a question to Linear has no answer. No text has the token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PollError {
    /// No answer came.
    #[error("Linear was not reached: {detail}")]
    Request {
        /// What went wrong.
        detail: String,
    },
    /// The answer has a status that is none of success.
    #[error("Linear answered with status {status}: {detail}")]
    Status {
        /// The status.
        status: u16,
        /// The beginning of the answer.
        detail: String,
    },
    /// Linear refused the question.
    #[error("Linear refused the query: {detail}")]
    GraphqlErrors {
        /// Its messages.
        detail: String,
    },
    /// The answer is not what the API promises.
    #[error("Linear's answer does not match its API: {detail}")]
    UnknownPayload {
        /// What was found.
        detail: String,
    },
    /// A page says that there is another one, and not where.
    #[error("Linear reports more issues, but not where they begin")]
    MissingEndCursor,
}

impl PollError {
    /// Returns the specification's name.
    pub const fn class(&self) -> &'static str {
        match self {
            Self::Request { .. } => "linear_api_request",
            Self::Status { .. } => "linear_api_status",
            Self::GraphqlErrors { .. } => "linear_graphql_errors",
            Self::UnknownPayload { .. } => "linear_unknown_payload",
            Self::MissingEndCursor => "linear_missing_end_cursor",
        }
    }
}
