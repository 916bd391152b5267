//! Trackers that need a person: one that cannot be used, and what one refused.

use super::InboxKind;
use super::item::InboxItem;
use crate::Timestamp;
use crate::id::ProjectId;
use crate::wording::counted;

/// What a tracker needs a person for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrackerTrouble {
    /// It cannot be asked.
    Held {
        /// What it answered.
        reason: String,
    },
    /// It refused changes for good.
    Refused {
        /// How many.
        count: u64,
        /// Its words about the last one.
        last: String,
    },
}

/// Returns the item of a tracker that needs a person.
pub fn tracker_item(
    project: &ProjectId,
    tracker: &str,
    trouble: &TrackerTrouble,
    since: Timestamp,
) -> InboxItem {
    let (text, answers, what) = match trouble {
        TrackerTrouble::Held { reason } => (
            format!("{tracker} is on hold, and its issues are not mirrored: {reason}"),
            vec![
                format!("symphony tracker check {tracker}"),
                format!("symphony tracker sync {tracker}"),
            ],
            "held",
        ),
        TrackerTrouble::Refused { count, last } => (
            format!(
                "{tracker} refused {}; the last time: {last}",
                counted(*count, "change")
            ),
            vec![
                "symphony tracker status".to_owned(),
                format!("symphony tracker sync {tracker} --retry"),
                format!("symphony tracker sync {tracker} --forget"),
            ],
            "refused",
        ),
    };
    InboxItem {
        project: Some(project.clone()),
        text,
        answers,
        ..InboxItem::new(
            InboxKind::Tracker,
            since,
            format!(
                "tracker:{project}:{tracker}:{what}:{}",
                since.as_millisecond()
            ),
        )
    }
}
