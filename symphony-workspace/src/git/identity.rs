//! Who a commit is by.

use serde::{Deserialize, Serialize};

/// Name and address of an author.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The name.
    pub name: String,
    /// The e-mail address.
    pub email: String,
}

impl Identity {
    /// Returns the identity of Symphony's own commits.
    pub fn symphony() -> Self {
        Self {
            name: "Symphony".to_owned(),
            email: "symphony@localhost".to_owned(),
        }
    }
}
