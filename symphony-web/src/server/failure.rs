//! Why a request has no page.

use axum::http::StatusCode;
use symphony_runner::RunnerError;
use symphony_store::StoreError;

use crate::access::Refusal;

/// Why a request has no page.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The visitor is not let in, or not this far.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// There is no such thing.
    #[error("{0}")]
    NotFound(String),
    /// There is no such issue.
    #[error("{0}")]
    UnknownIssue(String),
    /// The address is not text.
    #[error("the address is not valid: it has bytes that are not UTF-8")]
    Malformed,
    /// The form or the body has too many bytes.
    #[error("the request is larger than {bytes_max} bytes")]
    TooLarge {
        /// How many it may have.
        bytes_max: usize,
    },
    /// The form or the body did not arrive in time.
    #[error("the request took too long to arrive")]
    TooSlow,
    /// Wrong tokens are answered only now and then.
    #[error("too many wrong tokens were sent to this server: try again in a moment")]
    TooManyAttempts,
    /// What was sent cannot be used.
    #[error("{0}")]
    Wrong(String),
    /// A rule forbids it now.
    #[error("{0}")]
    Conflict(String),
    /// The installation cannot be opened.
    #[error("{0}")]
    Unusable(String),
    /// The server could not finish it.
    #[error("the server could not answer: {0}")]
    Internal(String),
}

impl Failure {
    pub(crate) const fn status(&self) -> StatusCode {
        match self {
            Self::Refused(Refusal::OtherHost) => StatusCode::MISDIRECTED_REQUEST,
            Self::Refused(Refusal::NotSignedIn | Refusal::OtherName | Refusal::UnknownSecret) => {
                StatusCode::UNAUTHORIZED
            }
            Self::Refused(_) => StatusCode::FORBIDDEN,
            Self::NotFound(_) | Self::UnknownIssue(_) => StatusCode::NOT_FOUND,
            Self::Malformed => StatusCode::BAD_REQUEST,
            Self::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::TooManyAttempts => StatusCode::TOO_MANY_REQUESTS,
            Self::Wrong(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Conflict(_) => StatusCode::CONFLICT,
            Self::Unusable(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let text = error.to_string();
        match error {
            StoreError::NotFound { .. } => Self::NotFound(text),
            StoreError::Field(_) => Self::Wrong(text),
            StoreError::InvalidRow { .. }
            | StoreError::Damaged(_)
            | StoreError::DiskFull(_)
            | StoreError::Unknown(_)
            | StoreError::Database(_) => Self::Internal(text),
            StoreError::Overtaxed(_) | StoreError::Unreachable(_) | StoreError::NoAnswer { .. } => {
                Self::Unusable(text)
            }
            _ => Self::Conflict(text),
        }
    }
}

impl From<RunnerError> for Failure {
    fn from(error: RunnerError) -> Self {
        match error {
            RunnerError::Store(error) => error.into(),
            other => Self::Conflict(other.to_string()),
        }
    }
}
