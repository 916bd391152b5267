//! The high-water mark: a database's progress, recorded outside of it.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::traces::Seen;
use crate::id::{InstallationId, ProjectId};

/// The progress of a database. A restore starts a new count, so that a restored database is ahead of every state of the
/// one that it replaced, and a copy from before the restore is behind it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Reach {
    /// How often the database was restored.
    pub restores: u64,
    /// The number of its log's last entry.
    pub position: i64,
}

impl fmt::Display for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { restores, position } = self;
        match restores {
            0 => write!(f, "entry {position}"),
            1 => write!(f, "entry {position}, after 1 restore"),
            _ => write!(f, "entry {position}, after {restores} restores"),
        }
    }
}

/// The record of a database's progress outside of it. It may lag behind the database; it is never ahead of a database
/// whose commits reached the disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// The database's installation: the mark says nothing about another one.
    pub installation: InstallationId,
    /// How far it had come.
    #[serde(flatten)]
    pub reach: Reach,
    /// The highest fencing number that it had given out.
    pub fence: u64,
    /// The number of the next issue of each project, removed ones included.
    pub next_numbers: BTreeMap<ProjectId, u64>,
}

impl Mark {
    /// Parses the text of a mark. Invalid text, such as a file that a power cut left empty, counts as none.
    pub fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// Returns the text of the mark, one line of JSON.
    pub fn to_text(&self) -> String {
        let mut text = serde_json::to_string(self).expect("a mark has string keys only");
        text.push('\n');
        text
    }

    /// Adds the numbers that the database had given out.
    pub fn count_in(&self, seen: &mut Seen) {
        seen.restores = seen.restores.max(self.reach.restores);
        seen.fence = seen.fence.max(self.fence);
        for (project, next) in &self.next_numbers {
            let known = seen.next_numbers.entry(project.clone()).or_default();
            *known = (*known).max(*next);
        }
    }
}

/// Restores that a mark may be ahead of a database. Whoever writes a file that only counts up could otherwise have
/// every database refused for good.
pub const RESTORES_AHEAD_MAX: u64 = 1000;

/// How far a mark may be ahead of everything else that was seen: a larger number is not the database's.
pub const NUMBERS_AHEAD_MAX: u64 = 1_000_000;

impl Mark {
    /// Returns whether a database with this progress can have left this mark, or one of its next thousand restores.
    pub fn is_plausible(&self, installation: &InstallationId, found: Reach) -> bool {
        self.installation == *installation
            && self.reach.restores <= found.restores.saturating_add(RESTORES_AHEAD_MAX)
    }
}

/// Returns the highest plausible mark of this installation for a database with this progress.
pub fn highest_mark(marks: &[Mark], installation: &InstallationId, found: Reach) -> Option<Reach> {
    let own = marks
        .iter()
        .filter(|mark| mark.is_plausible(installation, found));
    own.map(|mark| mark.reach).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(digit: char, restores: u64, position: i64) -> Mark {
        Mark {
            installation: InstallationId::parse(digit.to_string().repeat(32)).unwrap(),
            reach: Reach { restores, position },
            fence: 3,
            next_numbers: BTreeMap::from([(ProjectId::parse("api").unwrap(), 5)]),
        }
    }

    #[test]
    fn a_mark_is_read_as_it_was_written_and_anything_else_is_none() {
        let written = mark('a', 1, 61);
        assert_eq!(
            written.to_text(),
            "{\"installation\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\",\"restores\":1,\"position\":61,\"fence\":3,\"next_numbers\":{\"api\":5}}\n"
        );
        assert_eq!(Mark::parse(&written.to_text()), Some(written));
        for text in ["", "{", "{}", "\u{0}\u{0}", "[1]"] {
            assert_eq!(Mark::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn only_marks_of_the_installation_count_and_a_restore_is_above_every_entry() {
        let marks = [mark('a', 0, 61), mark('b', 9, 99), mark('a', 1, 12)];
        let found = Reach::default();
        let reach = highest_mark(&marks, &marks[0].installation, found);
        assert_eq!(reach, Some(marks[2].reach));
        assert_eq!(
            highest_mark(&marks[..1], &marks[1].installation, found),
            None
        );
        // what no one can have counted is not believed
        let forged = [mark('a', u64::MAX, i64::MAX)];
        assert_eq!(highest_mark(&forged, &forged[0].installation, found), None);
    }

    #[test]
    fn the_highest_number_of_each_project_is_kept() {
        let mut seen = Seen::default();
        let mut lower = mark('a', 2, 0);
        lower.fence = 1;
        lower.next_numbers = BTreeMap::from([
            (ProjectId::parse("api").unwrap(), 4),
            (ProjectId::parse("web").unwrap(), 7),
        ]);
        mark('a', 0, 0).count_in(&mut seen);
        lower.count_in(&mut seen);
        let numbers: Vec<_> = seen.next_numbers.values().copied().collect();
        assert_eq!((seen.restores, seen.fence), (2, 3));
        assert_eq!(numbers, [5, 7]);
    }
}
