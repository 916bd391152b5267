//! What a token is and what it may do.

use std::collections::BTreeSet;

use symphony_tracker::remote::RemoteUser;

/// What a check of a tracker found. An empty list of problems means that everything Symphony does there should work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// The user that the token acts as; missing for tokens of an installed app on GitHub, which act as no user.
    pub user: Option<RemoteUser>,
    /// The repository or team as the tracker names it now, such as `acme/web` or `Engineering (ENG)`.
    pub place: String,
    /// Whether issues can be changed; missing where only a change would show it.
    pub can_write: Option<bool>,
    /// The scopes of the token, for the kinds of tokens that have them (classic ones of GitHub).
    pub scopes: Option<BTreeSet<String>>,
    /// What is missing or wrong.
    pub problems: Vec<AccessProblem>,
}

impl Access {
    /// Returns the problems as people read them.
    pub fn problem_texts(&self) -> Vec<String> {
        self.problems.iter().map(ToString::to_string).collect()
    }
}

/// Something that keeps Symphony from working with a tracker or a forge, by what has to be changed. Each text is a sentence fragment
/// that says what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AccessProblem {
    /// The token, or the rights of its user.
    #[error("{0}")]
    Token(String),
    /// The repository or team there, or the settings here that are about it.
    #[error("{0}")]
    Place(String),
    /// Git's own way to the remote.
    #[error("{0}")]
    Git(String),
}
