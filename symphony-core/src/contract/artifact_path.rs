//! The template of an artifact's path.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::id::IssueId;

/// Where a phase's artifact is expected: relative, `/` between the parts, inside the worktree, with `{id}` for the
/// issue's identifier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ArtifactPath(String);

/// Why a text is not an artifact path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArtifactPathError {
    /// It begins with `/`, `~` or a drive.
    #[error("a path relative to the worktree")]
    Absolute,
    /// It has `..`, `.`, an empty part, a `\` or a control character.
    #[error(
        "a plain path: `/` between the parts, no `.`, `..`, empty part, `\\` or control character"
    )]
    NotPlain,
    /// It is in git's or Symphony's own folder.
    #[error("a path outside `.git` and `.symphony`")]
    Reserved,
    /// It has braces round something else than `id`.
    #[error("no placeholder but `{{id}}`")]
    Placeholder,
    /// It is longer than a path can be.
    #[error("at most {PATH_BYTES_MAX} bytes")]
    TooLong,
}

/// Longest template, in bytes: git and Linux both handle paths of this length once `{id}` is filled in.
const PATH_BYTES_MAX: usize = 1024;

const PLACEHOLDER: &str = "{id}";

impl ArtifactPath {
    /// Parses a template.
    ///
    /// # Errors
    /// When it is not a plain relative path; the error says what is expected.
    pub fn parse(text: &str) -> Result<Self, ArtifactPathError> {
        if text.len() > PATH_BYTES_MAX {
            return Err(ArtifactPathError::TooLong);
        }
        if text.starts_with(['/', '~']) || text.get(1..2) == Some(":") {
            return Err(ArtifactPathError::Absolute);
        }
        let plain =
            |part: &str| !part.is_empty() && part != "." && part != ".." && part == part.trim();
        if text.contains('\\') || text.chars().any(char::is_control) || !text.split('/').all(plain)
        {
            return Err(ArtifactPathError::NotPlain);
        }
        let reserved = |part: &str| {
            part.eq_ignore_ascii_case(".git") || part.eq_ignore_ascii_case(".symphony")
        };
        if text.split('/').any(reserved) {
            return Err(ArtifactPathError::Reserved);
        }
        if text.replace(PLACEHOLDER, "").contains(['{', '}']) {
            return Err(ArtifactPathError::Placeholder);
        }
        Ok(Self(text.to_owned()))
    }

    /// Returns the template as it was written.
    pub fn template(&self) -> &str {
        &self.0
    }

    /// Returns the path for an issue.
    pub fn for_issue(&self, issue: &IssueId) -> String {
        self.0.replace(PLACEHOLDER, issue.as_str())
    }

    /// Returns the folder of the path for an issue: the phase may write only there. Empty for a file at the root.
    pub fn folder_for_issue(&self, issue: &IssueId) -> String {
        let path = self.for_issue(issue);
        path.rsplit_once('/')
            .map_or_else(String::new, |(folder, _)| folder.to_owned())
    }

    /// Returns whether the artifact is in a folder, so that its write scope is smaller than the whole worktree.
    pub fn has_folder(&self) -> bool {
        self.0.contains('/')
    }
}

impl fmt::Display for ArtifactPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl TryFrom<String> for ArtifactPath {
    type Error = ArtifactPathError;
    fn try_from(text: String) -> Result<Self, ArtifactPathError> {
        Self::parse(&text)
    }
}

impl From<ArtifactPath> for String {
    fn from(path: ArtifactPath) -> Self {
        path.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_relative_paths() {
        let issue = IssueId::parse("SYM-12").unwrap();
        let path = ArtifactPath::parse("docs/tickets/{id}/design-{id}.md").unwrap();
        assert_eq!(
            path.for_issue(&issue),
            "docs/tickets/SYM-12/design-SYM-12.md"
        );
        assert_eq!(path.folder_for_issue(&issue), "docs/tickets/SYM-12");
        let path = ArtifactPath::parse("DESIGN.md").unwrap();
        assert_eq!(path.folder_for_issue(&issue), "");
        assert!(!path.has_folder());
        for (text, error) in [
            ("", ArtifactPathError::NotPlain),
            ("/etc/passwd", ArtifactPathError::Absolute),
            ("~/x.md", ArtifactPathError::Absolute),
            ("C:/x.md", ArtifactPathError::Absolute),
            ("../x.md", ArtifactPathError::NotPlain),
            ("docs/../../x.md", ArtifactPathError::NotPlain),
            ("docs//x.md", ArtifactPathError::NotPlain),
            ("docs/./x.md", ArtifactPathError::NotPlain),
            ("docs/", ArtifactPathError::NotPlain),
            ("docs\\x.md", ArtifactPathError::NotPlain),
            ("docs/a\nb.md", ArtifactPathError::NotPlain),
            (".git/config", ArtifactPathError::Reserved),
            ("a/.GIT/b.md", ArtifactPathError::Reserved),
            (".symphony/x.md", ArtifactPathError::Reserved),
            ("docs/{issue}/x.md", ArtifactPathError::Placeholder),
            ("docs/{id/x.md", ArtifactPathError::Placeholder),
        ] {
            assert_eq!(ArtifactPath::parse(text), Err(error), "{text:?}");
        }
        assert!(ArtifactPath::parse("é:x.md").is_ok());
        let long = "x".repeat(PATH_BYTES_MAX + 1);
        assert_eq!(ArtifactPath::parse(&long), Err(ArtifactPathError::TooLong));
    }
}
