//! What a tracker's place is called in the database and in texts.

use symphony_core::config::{TrackerPlace, TrackerSettings};

/// Returns a place as one word: the links of a tracker are to this place, whatever the tracker is called.
pub fn place_of(settings: &TrackerSettings) -> String {
    match &settings.place {
        TrackerPlace::Github { owner, name } => format!("github:{owner}/{name}").to_lowercase(),
        TrackerPlace::Linear {
            team,
            project: None,
        } => format!("linear:{team}"),
        TrackerPlace::Linear {
            team,
            project: Some(project),
        } => format!("linear:{team}/{project}"),
    }
}
