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

    pub(super) const fn plain(exit: Exit) -> Self {
        Self { exit, hint: None }
    }
}
