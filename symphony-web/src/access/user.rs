//! The configured users, and who signed in as one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use symphony_core::config;
use symphony_core::user::{UserName, UserRole};

use super::secret::{Secret, SecretHash};

/// A configured user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// The name that events and comments show.
    pub name: UserName,
    /// What the user may do.
    pub role: UserRole,
    /// The hash of the user's token.
    pub token: SecretHash,
}

impl User {
    /// Returns the users of a configuration.
    pub fn all(configured: &BTreeMap<UserName, config::User>) -> Vec<Self> {
        let users = configured.iter().filter_map(|(name, user)| {
            let token = SecretHash::parse(user.token.digits())?;
            Some(Self {
                name: name.clone(),
                role: user.role,
                token,
            })
        });
        users.collect()
    }
}

/// Finds the user of a token.
pub fn user_of<'a>(users: &'a [User], token: &Secret) -> Option<&'a User> {
    let hash = token.hash();
    users.iter().find(|user| user.token == hash)
}

/// The user that a session was begun for. It ends with the token: who gets a new one, because the old one is known to somebody else,
/// must not share the page with them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedIn {
    name: UserName,
    token: SecretHash,
}

impl SignedIn {
    /// Finds the configured user; none where the user was removed or has another token.
    pub fn find<'a>(&self, users: &'a [User]) -> Option<&'a User> {
        let mut users = users.iter();
        users.find(|user| user.name == self.name && user.token == self.token)
    }
}

impl From<&User> for SignedIn {
    fn from(user: &User) -> Self {
        Self {
            name: user.name.clone(),
            token: user.token.clone(),
        }
    }
}
