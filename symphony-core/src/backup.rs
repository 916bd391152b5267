//! Backups of the database: when one is due, and which are kept.

use std::collections::BTreeSet;
use std::fmt;

use crate::Timestamp;
use crate::retry::after;
use crate::spending::day_number;

/// Least time between two backups that the tick makes: an hour of work is the most that a lost database costs.
pub const BACKUP_INTERVAL_MS: u64 = 60 * 60 * 1000;
/// How many of the newest backups are kept whatever their age: a night of work, so that damage that is seen in the
/// morning can be undone to any hour of that night.
const NEWEST_KEPT: usize = 12;
/// For how many days the last backup of the day is kept: damage is often noticed only after a weekend or a week's
/// leave.
const DAYS_KEPT: usize = 7;
/// How many backups from before a migration are kept: the way back from each of the last updates of Symphony.
const MIGRATIONS_KEPT: usize = 3;

/// Ending of the name of a backup.
const ENDING: &str = ".db";

/// The name of a backup's file: its time, the position of the log, and why it was made.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct BackupName {
    /// When it was made, to the second.
    pub at: Timestamp,
    /// The number of the log's last entry.
    pub position: i64,
    /// Why it was made.
    pub cause: BackupCause,
}

/// Why a backup was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BackupCause {
    /// An hour has passed.
    Hourly,
    /// A migration from this version of the schema was about to begin.
    Migration(i64),
    /// A restore was about to replace the database.
    Restore,
}

impl BackupName {
    /// Parses the name of a file; `None` if it is not the name of a backup.
    pub fn parse(name: &str) -> Option<Self> {
        let mut parts = name.strip_suffix(ENDING)?.split('-');
        let at = parse_time(parts.next()?)?;
        let position = parts.next()?.strip_prefix('e')?.parse().ok()?;
        let cause = match parts.next() {
            None => BackupCause::Hourly,
            Some("restore") => BackupCause::Restore,
            Some(text) => BackupCause::Migration(text.strip_prefix("schema")?.parse().ok()?),
        };
        parts.next().is_none().then_some(Self {
            at,
            position,
            cause,
        })
    }
}

/// Reads `20261122T130500Z`.
fn parse_time(text: &str) -> Option<Timestamp> {
    let part = |from: usize, to: usize| text.get(from..to);
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    if date.len() != 8 || time.len() != 6 {
        return None;
    }
    let spelt = format!(
        "{}-{}-{}T{}:{}:{}Z",
        part(0, 4)?,
        part(4, 6)?,
        part(6, 8)?,
        part(9, 11)?,
        part(11, 13)?,
        part(13, 15)?
    );
    spelt.parse().ok()
}

impl fmt::Display for BackupName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = self.at.strftime("%Y%m%dT%H%M%SZ");
        write!(f, "{time}-e{}", self.position)?;
        match self.cause {
            BackupCause::Hourly => {}
            BackupCause::Migration(from) => write!(f, "-schema{from}")?,
            BackupCause::Restore => f.write_str("-restore")?,
        }
        f.write_str(ENDING)
    }
}

/// Returns whether a backup is due: something was recorded since the newest one, which is an hour old or, after the
/// clock was set back, in the future.
pub fn is_backup_due(existing: &[BackupName], position: i64, now: Timestamp) -> bool {
    let Some(newest) = existing.iter().max() else {
        return position > 0;
    };
    newest.position != position && (newest.at > now || after(newest.at, BACKUP_INTERVAL_MS) <= now)
}

/// Returns the backups that are no longer kept.
pub fn superfluous_backups(existing: &[BackupName]) -> Vec<BackupName> {
    let mut newest_first: Vec<&BackupName> = existing.iter().collect();
    newest_first.sort_by(|a, b| b.cmp(a));
    let (mut others, mut migrations) = (0, 0);
    let mut days = BTreeSet::new();
    newest_first
        .into_iter()
        .filter(|name| {
            let is_kept = match name.cause {
                BackupCause::Migration(_) => {
                    migrations += 1;
                    migrations <= MIGRATIONS_KEPT
                }
                BackupCause::Hourly | BackupCause::Restore => {
                    others += 1;
                    let is_last_of_day = days.insert(day_number(name.at));
                    others <= NEWEST_KEPT || is_last_of_day && days.len() <= DAYS_KEPT
                }
            };
            !is_kept
        })
        .cloned()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn hourly(at: Timestamp, position: i64) -> BackupName {
        BackupName {
            at,
            position,
            cause: BackupCause::Hourly,
        }
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        for (cause, text) in [
            (BackupCause::Hourly, "20261122T130500Z-e12.db"),
            (
                BackupCause::Migration(10),
                "20261122T130500Z-e12-schema10.db",
            ),
            (BackupCause::Restore, "20261122T130500Z-e12-restore.db"),
        ] {
            let name = BackupName {
                at: at("2026-11-22T13:05:00Z"),
                position: 12,
                cause,
            };
            assert_eq!(name.to_string(), text);
            assert_eq!(BackupName::parse(text), Some(name));
        }
        for other in [
            "",
            "symphony.db",
            "20261122T130500Z.db",
            "20261322T130500Z-e1.db",
            "20261122T130500Z-e12.db.partial-1",
            "20261122T130500Z-e12-restore-x.db",
            "2026112ZT130500Z-e1.db",
            "ä0261122T13050Z-e1.db",
        ] {
            assert_eq!(BackupName::parse(other), None, "{other}");
        }
    }

    #[test]
    fn a_backup_is_due_once_an_hour_and_only_after_a_change() {
        let now = at("2026-11-22T13:00:00Z");
        let old = at("2026-11-22T12:00:00Z");
        let young = at("2026-11-22T12:00:01Z");
        let future = at("2026-11-23T12:00:00Z");
        for (newest, position, expected) in [
            (None, 0, false),
            (None, 1, true),
            (Some(hourly(old, 5)), 5, false),
            (Some(hourly(old, 5)), 6, true),
            (Some(hourly(young, 5)), 6, false),
            // a restored database knows less
            (Some(hourly(old, 5)), 3, true),
            (Some(hourly(future, 5)), 6, true),
        ] {
            let existing: Vec<_> = newest.into_iter().collect();
            assert_eq!(
                is_backup_due(&existing, position, now),
                expected,
                "{existing:?}"
            );
        }
    }

    #[test]
    fn the_newest_and_the_last_of_each_day_are_kept() {
        let begin = at("2026-11-01T00:30:00Z");
        let hour = |n: u64| begin.saturating_add_ms(n * BACKUP_INTERVAL_MS);
        // ten days, an hour each
        let mut all: Vec<_> = (0..240).map(|n| hourly(hour(n), 1)).collect();
        let gone = superfluous_backups(&all);
        all.retain(|name| !gone.contains(name));
        let kept: Vec<String> = all.iter().map(ToString::to_string).collect();
        assert_eq!(kept.len(), NEWEST_KEPT + DAYS_KEPT - 1, "{kept:#?}");
        assert_eq!(kept[0], "20261104T233000Z-e1.db");
        assert_eq!(kept.last().unwrap(), "20261110T233000Z-e1.db");
        // what is kept stays kept
        assert_eq!(superfluous_backups(&all), []);
        let migration = |n| BackupName {
            cause: BackupCause::Migration(n),
            ..hourly(begin, 0)
        };
        let migrations: Vec<_> = (1..=5).map(migration).collect();
        assert_eq!(
            superfluous_backups(&migrations),
            [migration(2), migration(1)]
        );
    }
}
