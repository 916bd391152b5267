//! What a review or a comment at a forge does here, and whose it is.

use symphony_core::review_point::PointNumber;
use symphony_core::user::UserName;

use crate::asked::Asked;

/// Who wrote something at the forge, as far as that counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Who {
    /// One of the configured reviewers.
    Reviewer(UserName),
    /// A member of the repository, by login.
    Member(String),
}

impl Who {
    /// Returns the name.
    pub fn name(&self) -> &str {
        match self {
            Self::Reviewer(name) => name.as_str(),
            Self::Member(login) => login,
        }
    }
}

/// What a review or a comment does here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// It asks for something, and sends the work back if changes were requested.
    Ask {
        /// Who asks.
        by: Who,
        /// What for.
        points: Vec<Asked>,
        /// Whether the pull request is rejected.
        rejects: bool,
    },
    /// It approves the commit that is here.
    Approve {
        /// Who approves.
        by: UserName,
        /// What is said with it.
        text: String,
        /// Remarks that keep nothing back.
        points: Vec<Asked>,
    },
    /// It says something about a point.
    Remark {
        /// Who says it.
        by: Who,
        /// The point.
        point: PointNumber,
        /// What is said.
        text: String,
    },
    /// It was taken back: its points need nothing more.
    TakeBack {
        /// The points that came of it.
        points: Vec<PointNumber>,
        /// Whether it was the last approval of the commit that is here.
        approval: bool,
    },
    /// It would send the work back, and cannot be taken in yet: it is not to be forgotten, and nothing is merged meanwhile.
    Keep {
        /// Why, as a sentence fragment.
        why: String,
    },
    /// It does nothing, and the log says why.
    Ignore {
        /// Why, as a sentence fragment.
        why: String,
    },
    /// It does nothing.
    Nothing,
}
