//! What an error means for a command.

use super::Exit;

/// Exit code and hint of an error.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) exit: Exit,
    pub(super) hint: Option<String>,
}

impl Verdict {
    pub(super) fn new(exit: Exit, hint: impl Into<String>) -> Self {
        Self {
            exit,
            hint: Some(hint.into()),
        }
    }

    /// Makes the verdict on what a rule forbids.
    pub(super) const fn refused(hint: Option<String>) -> Self {
        Self {
            exit: Exit::Refused,
            hint,
        }
    }

    pub(super) const fn plain(exit: Exit) -> Self {
        Self { exit, hint: None }
    }
}
