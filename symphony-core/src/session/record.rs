//! What a run's metadata says about its session.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::plan::WhyNew;
use crate::id::RunId;
use crate::log::short_run;

/// The key in a run's metadata.
pub const RESUMED: &str = "resumed";

/// Whether a run resumed a session, or why not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum SessionRecord {
    /// It resumed the session of an earlier run.
    Resumed {
        /// That run.
        run: RunId,
    },
    /// It started a new session.
    #[serde(alias = "anew")]
    New {
        /// Why.
        why: WhyNew,
    },
    /// It tried to resume a session, and started a new one with the full prompt.
    Refused {
        /// The run whose session it was.
        run: RunId,
        /// What the CLI reported.
        message: String,
    },
}

impl SessionRecord {
    /// Reads it from a run's metadata; `None` for runs of older versions, and of a kind that this version does not know.
    pub fn of(metadata: &Value) -> Option<Self> {
        serde_json::from_value(metadata.get(RESUMED)?.clone()).ok()
    }
}

impl fmt::Display for SessionRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Resumed { run } => write!(f, "resumed from run {}", short_run(run)),
            Self::New { why } => write!(f, "new: {}", why.words()),
            Self::Refused { run, message } => write!(
                f,
                "new: the session of run {} could not be resumed ({message}); the full prompt was used",
                short_run(run)
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_record_survives_the_metadata_and_is_shown() {
        let run = RunId::parse("run-1").unwrap();
        for (record, shown) in [
            (
                SessionRecord::Resumed { run: run.clone() },
                "resumed from run run-1",
            ),
            (
                SessionRecord::New {
                    why: WhyNew::Looping,
                },
                "new: the earlier run repeated itself",
            ),
            (
                SessionRecord::Refused {
                    run,
                    message: "no such session".to_owned(),
                },
                "new: the session of run run-1 could not be resumed (no such session); the full prompt was used",
            ),
        ] {
            let metadata = json!({ RESUMED: record });
            assert_eq!(SessionRecord::of(&metadata).as_ref(), Some(&record));
            assert_eq!(record.to_string(), shown);
        }
        // as earlier versions called it
        let earlier = json!({ RESUMED: { "outcome": "anew", "why": "first" } });
        let new = SessionRecord::New { why: WhyNew::First };
        assert_eq!(SessionRecord::of(&earlier), Some(new));
        for metadata in [json!({}), json!({ RESUMED: { "outcome": "of tomorrow" } })] {
            assert_eq!(SessionRecord::of(&metadata), None);
        }
    }
}
