//! What a command was doing when an error stopped it.

use std::error::Error;
use std::fmt;

/// What was not finished, because of the error that is its source.
#[derive(Debug)]
pub(crate) struct Unfinished {
    /// A verb phrase, such as "add the issue".
    pub(super) action: String,
    source: anyhow::Error,
}

impl fmt::Display for Unfinished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot {}", self.action)
    }
}

impl Error for Unfinished {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.source)
    }
}

/// Adds to an error what was being done: a verb phrase that "failed to" can precede.
///
/// It has the names of [`anyhow::Context`], which would show the phrase as if it were a fact.
pub(crate) trait Context<T> {
    /// Adds what was being done.
    ///
    /// # Errors
    /// The error, with the phrase in front.
    fn context(self, action: impl Into<String>) -> anyhow::Result<T>;

    /// Adds what was being done, in words that are only made when they are needed.
    ///
    /// # Errors
    /// The error, with the phrase in front.
    fn with_context<S: Into<String>>(self, action: impl FnOnce() -> S) -> anyhow::Result<T>;
}

impl<T, E: Into<anyhow::Error>> Context<T> for Result<T, E> {
    fn context(self, action: impl Into<String>) -> anyhow::Result<T> {
        self.with_context(|| action)
    }

    fn with_context<S: Into<String>>(self, action: impl FnOnce() -> S) -> anyhow::Result<T> {
        self.map_err(|error| {
            let unfinished = Unfinished {
                action: action().into(),
                source: error.into(),
            };
            unfinished.into()
        })
    }
}
