//! The id of a commit, a tree or a blob.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The full hexadecimal id of a git object: 40 digits, or 64 in a SHA-256 repository.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CommitId(String);

/// A text that is not a full object id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{found}` is not a full commit id (40 or 64 lower-case hexadecimal digits)")]
pub struct CommitIdError {
    /// What was given, cut to 80 characters.
    pub found: String,
}

impl CommitId {
    /// Parses a full id.
    ///
    /// # Errors
    /// When the text is not 40 or 64 lower-case hexadecimal digits.
    pub fn parse(text: &str) -> Result<Self, CommitIdError> {
        let hex = text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
        if hex && matches!(text.len(), 40 | 64) {
            Ok(Self(text.to_owned()))
        } else {
            Err(CommitIdError {
                found: text.chars().take(80).collect(),
            })
        }
    }

    /// Returns the digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether the id is from a SHA-256 repository.
    pub(crate) fn is_sha256(&self) -> bool {
        self.0.len() == 64
    }

    /// Returns the id that means "no such ref" in git's compare-and-swap.
    pub(crate) fn zero_like(&self) -> String {
        "0".repeat(self.0.len())
    }
}

impl fmt::Display for CommitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl TryFrom<String> for CommitId {
    type Error = CommitIdError;
    fn try_from(text: String) -> Result<Self, CommitIdError> {
        Self::parse(&text)
    }
}

impl std::str::FromStr for CommitId {
    type Err = CommitIdError;
    fn from_str(text: &str) -> Result<Self, CommitIdError> {
        Self::parse(text)
    }
}

impl From<CommitId> for String {
    fn from(id: CommitId) -> Self {
        id.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_full_lower_case_names_are_ids() {
        assert!(CommitId::parse(&"a1".repeat(20)).is_ok());
        assert!(CommitId::parse(&"0f".repeat(32)).is_ok());
        for bad in [
            "",
            "HEAD",
            "--upload-pack=x",
            &"A1".repeat(20),
            &"a".repeat(39),
        ] {
            assert!(CommitId::parse(bad).is_err(), "{bad}");
        }
    }
}
