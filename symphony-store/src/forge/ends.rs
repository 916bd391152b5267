//! What is known of how a pull request ends at its forge.

use serde::{Deserialize, Serialize};
use symphony_core::Timestamp;

use crate::database::context::{Actor, Context, Person};
use crate::merge::intent::WrittenPerson;

/// What is known of how a pull request ends at the forge.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PullEnds {
    /// The branch that it was for there when it was last read.
    pub base: Option<String>,
    /// A merge that the forge made at a person's order here, until it is recorded.
    pub ordered: Option<OrderedMerge>,
    /// At how many looks the forge had its commits in the base, and it was open there all the same.
    pub unmarked_looks: u32,
    /// When it was closed on both sides, in milliseconds since 1970: someone may open it again there.
    pub closed_at: Option<i64>,
}

impl PullEnds {
    /// Remembers that it is closed on both sides.
    pub fn close(&mut self, now: Timestamp) {
        self.closed_at = Some(now.as_millisecond());
    }
}

/// A merge that the forge made at a person's order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderedMerge {
    /// The commit of the base.
    pub commit: String,
    by: WrittenPerson,
}

impl OrderedMerge {
    /// Names whose order it was; `None` if it was not a person's.
    pub fn of(commit: &str, context: &Context) -> Option<Self> {
        let by = WrittenPerson::of(&context.actor)?;
        Some(Self {
            commit: commit.to_owned(),
            by,
        })
    }

    /// Returns the person, who acts now.
    pub fn context(&self, now: Timestamp) -> Context {
        let by: Person = self.by.clone().person();
        Context {
            actor: Actor::Human(by),
            now,
        }
    }
}
