//! Decisions about trackers as entries of an issue's log.

use symphony_core::log::TrackerEntry;
use symphony_tracker::linked::{Conflict, Field, Note, Side};

/// Most characters of a lost text that the log keeps: the whole of every title, and the beginning of a description.
const LOST_CHARS_MAX: usize = 20_000;

/// Returns the entries for edits that lost and for what a person should be able to read.
pub(super) fn entries(tracker: &str, conflicts: &[Conflict], notes: &[Note]) -> Vec<TrackerEntry> {
    let overruled = conflicts
        .iter()
        .map(|conflict| overruled(tracker, conflict));
    let noted = notes.iter().map(|note| noted(tracker, &sentence(note)));
    overruled.chain(noted).collect()
}

/// Returns an entry with a sentence.
pub(super) fn noted(tracker: &str, text: &str) -> TrackerEntry {
    TrackerEntry::Noted {
        tracker: tracker.to_owned(),
        text: text.to_owned(),
    }
}

fn overruled(tracker: &str, conflict: &Conflict) -> TrackerEntry {
    let whose = match conflict.loser {
        Side::Ours => "Symphony's",
        Side::Theirs => "the tracker's",
    };
    TrackerEntry::Overruled {
        tracker: tracker.to_owned(),
        field: field(&conflict.field),
        lost: format!(
            "{whose} {}",
            conflict
                .lost
                .chars()
                .take(LOST_CHARS_MAX)
                .collect::<String>()
        ),
    }
}

fn field(field: &Field) -> String {
    match field {
        Field::Title => "title".to_owned(),
        Field::Description => "description".to_owned(),
        Field::Label(label) => format!("label `{label}`"),
        Field::Priority => "priority".to_owned(),
        Field::State => "status".to_owned(),
    }
}

fn sentence(note: &Note) -> String {
    match note {
        Note::ShelvedByFilter { reason } => {
            format!("it no longer matches the filter and went to the backlog: {reason}")
        }
        Note::LeftFilter { reason } => {
            format!("it no longer matches the filter, and stays since work has begun: {reason}")
        }
        Note::MatchesAgain => "it matches the filter again".to_owned(),
        Note::NotSent { field: of, reason } => {
            format!("the {} stays here only: {reason}", field(of))
        }
        Note::NotTaken { field: of, reason } => {
            format!("the {} stays there only: {reason}", field(of))
        }
    }
}
