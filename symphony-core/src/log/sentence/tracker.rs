//! Entries about an issue and a tracker as sentences.

use super::quote::quoted;
use crate::log::TrackerEntry;

/// Describes what happened between an issue and a tracker.
pub(super) fn happened(issue: &str, entry: &TrackerEntry) -> String {
    match entry {
        TrackerEntry::Linked { tracker, key, .. } => {
            format!("{issue} is mirrored with {} of {tracker}", quoted(key))
        }
        TrackerEntry::Overruled {
            tracker,
            field,
            lost,
        } => format!(
            "The {field} of {issue} changed here and on {tracker}; this was replaced: {}",
            quoted(lost)
        ),
        TrackerEntry::Noted { tracker, text } => {
            format!("{issue} on {tracker}: {}", quoted(text))
        }
        TrackerEntry::Refused { tracker, text } => {
            format!("{tracker} refused a change of {issue}: {}", quoted(text))
        }
    }
}
