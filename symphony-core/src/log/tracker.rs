//! Entries about an issue and a tracker that it is mirrored with.

use serde::{Deserialize, Serialize};

/// What happened between an issue and a tracker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum TrackerEntry {
    /// The two became one piece of work.
    Linked {
        /// The tracker's name in the configuration.
        tracker: String,
        /// What people call the issue there.
        key: String,
        /// Its page there.
        url: String,
    },
    /// Both sides changed the same field, and one of the two lost.
    Overruled {
        /// The tracker's name in the configuration.
        tracker: String,
        /// The field, in words.
        field: String,
        /// The value that lost.
        lost: String,
    },
    /// Something that was not done, and why: a command that is not allowed, an edit that does not fit.
    Noted {
        /// The tracker's name in the configuration.
        tracker: String,
        /// A sentence.
        text: String,
    },
    /// The tracker refused a change for good.
    Refused {
        /// The tracker's name in the configuration.
        tracker: String,
        /// What was to be changed, and the tracker's words.
        text: String,
    },
}
