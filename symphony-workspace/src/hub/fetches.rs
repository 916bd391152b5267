//! One fetch for all runs that wait for it.
//!
//! Runs that start at the same moment wait for each other at the lock of their clone. Whoever has it next needs no fetch where one has
//! begun since it came: fetches have numbers, a fetch notes its own before it begins, and the last one that brought everything is noted
//! when it has. So a run that read the number of the last fetch before it waited is served by any later one. No clock is asked.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::error::WorkspaceError;
use crate::own_file::read_own_text;
use crate::remote::NoAnswer;
use crate::whole_file::write_note;

/// The file with the numbers, in the clone's git folder.
const FILE: &str = "symphony-hub-fetches.json";

/// What the file has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Numbers {
    /// The last fetch that began.
    begun: u64,
    /// The last one that brought everything. While it is not the last one that began, that one may have left things half done.
    brought: u64,
    /// The last one that did not get through.
    #[serde(default)]
    lost: u64,
}

/// After how long a call that fails was lost, and not refused. An earlier failure costs those who waited little, and they try for themselves.
pub(super) const LOST_AFTER: Duration = Duration::from_secs(15);

/// What a run found when it came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Arrival {
    /// The last fetch that had begun; `None` where there was no such note, so that nothing can be said.
    begun: Option<u64>,
    /// The last one that had not got through.
    lost: u64,
}

impl Numbers {
    /// Whether what was brought is at least as new as a request that found this fetch to be the last one.
    const fn serve(self, found: u64) -> bool {
        self.brought == self.begun && self.brought > found
    }

    /// Whether the last fetch did not get through, and no one who came so early knew.
    const fn is_lost(self, known: u64) -> bool {
        self.lost == self.begun && self.lost > known
    }
}

/// The fetches of a clone. All but [`Fetches::arrive`] need the clone's lock.
#[derive(Debug)]
pub(super) struct Fetches(PathBuf);

impl Fetches {
    pub(super) fn of(common_dir: &Path) -> Self {
        Self(common_dir.join(FILE))
    }

    fn read(&self) -> Option<Numbers> {
        serde_json::from_str(&read_own_text(&self.0).ok()?).ok()
    }

    fn write(&self, numbers: Numbers) -> Result<(), WorkspaceError> {
        let text = serde_json::to_string(&numbers).expect("numbers");
        write_note(&self.0, text)
            .map_err(|source| WorkspaceError::io("write", self.0.clone(), source))
    }

    /// Returns what there is before a run waits for the lock.
    pub(super) fn arrive(&self) -> Arrival {
        let numbers = self.read();
        Arrival {
            begun: numbers.map(|numbers| numbers.begun),
            lost: numbers.map_or(0, |numbers| numbers.lost),
        }
    }

    /// Returns whether everything was brought by a fetch that began after a run came.
    pub(super) fn serve(&self, arrival: Arrival) -> bool {
        let found = arrival.begun.zip(self.read());
        found.is_some_and(|(begun, numbers)| numbers.serve(begun))
    }

    /// Returns whether the fetch that a run waited for did not get through. If each of many runs tried again, the last one of them would know
    /// after hours that its hub does not answer.
    pub(super) fn is_lost(&self, arrival: Arrival) -> bool {
        self.read()
            .is_some_and(|numbers| numbers.is_lost(arrival.lost))
    }

    /// Notes that a fetch begins, has it done and then what follows from it, and notes that it brought everything.
    ///
    /// # Errors
    /// When the file cannot be written, and those of the fetch. Then it serves no one.
    pub(super) fn make(
        &self,
        fetch: impl FnOnce() -> Result<(), WorkspaceError>,
        follow: impl FnOnce() -> Result<(), WorkspaceError>,
    ) -> Result<(), WorkspaceError> {
        let before = self.read().unwrap_or_default();
        let begun = before.begun + 1;
        self.write(Numbers { begun, ..before })?;
        let since = Instant::now();
        let fetched = fetch();
        if let Err(error) = &fetched
            && is_lost(error, since.elapsed())
        {
            self.write(Numbers {
                begun,
                lost: begun,
                ..before
            })?;
        }
        fetched?;
        follow()?;
        self.write(Numbers {
            begun,
            brought: begun,
            ..before
        })
    }
}

/// Whether a fetch that failed after a time did not get through: ssh gives up after 20 s without a connection, or a minute without an answer, and git is ended after two.
fn is_lost(error: &WorkspaceError, took: Duration) -> bool {
    match error {
        WorkspaceError::GitTimedOut { .. } => true,
        WorkspaceError::RemoteSilent { why, .. } => {
            *why == NoAnswer::Unreachable && took >= LOST_AFTER
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed() -> Result<(), WorkspaceError> {
        Err(WorkspaceError::OtherObjectFormat("hub".to_owned()))
    }

    fn lost() -> Result<(), WorkspaceError> {
        Err(WorkspaceError::GitTimedOut {
            command: "git fetch".to_owned(),
            place: PathBuf::new(),
            seconds: 600,
        })
    }

    #[test]
    fn a_fetch_serves_who_came_before_it_began() {
        let folder = tempfile::tempdir().unwrap();
        let fetches = Fetches::of(folder.path());
        let first = fetches.arrive();
        fetches.make(|| Ok(()), || Ok(())).unwrap();
        assert!(!fetches.serve(first), "no one knows");
        let second = fetches.arrive();
        assert!(!fetches.serve(second), "it was over");
        let during = || {
            let third = fetches.arrive();
            assert!(!fetches.serve(second) && !fetches.serve(third));
            Ok(())
        };
        fetches.make(during, during).unwrap();
        assert!(fetches.serve(second));
    }

    #[test]
    fn one_that_did_not_get_through_is_lost_for_all_who_waited_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let fetches = Fetches::of(folder.path());
        let first = fetches.arrive();
        let mut meanwhile = None;
        let lost_later = || {
            meanwhile = Some(fetches.arrive());
            lost()
        };
        fetches.make(lost_later, || Ok(())).unwrap_err();
        let (during, later) = (meanwhile.unwrap(), fetches.arrive());
        assert!(fetches.is_lost(first) && fetches.is_lost(during));
        assert!(!fetches.is_lost(later), "it was over");
        // the next one of them tries, and fails at once: everyone tries again
        fetches.make(failed, || Ok(())).unwrap_err();
        assert!(!fetches.is_lost(first) && !fetches.is_lost(later));
        // what follows from a fetch is no matter of the hub
        fetches.make(|| Ok(()), lost).unwrap_err();
        assert!(!fetches.is_lost(later) && !fetches.serve(later));
        fetches.make(|| Ok(()), || Ok(())).unwrap();
        assert!(!fetches.is_lost(later) && fetches.serve(later));
    }

    #[test]
    fn what_is_refused_at_once_is_not_lost() {
        let silent = |why| WorkspaceError::RemoteSilent {
            name: "hub".to_owned(),
            call: "git fetch".to_owned(),
            why,
            detail: String::new(),
        };
        let minute = Duration::from_mins(1);
        for (error, took, expected) in [
            (silent(NoAnswer::Unreachable), minute, true),
            (silent(NoAnswer::Unreachable), Duration::from_secs(3), false),
            (silent(NoAnswer::Credentials), minute, false),
            (lost().unwrap_err(), minute, true),
            (failed().unwrap_err(), minute, false),
        ] {
            assert_eq!(is_lost(&error, took), expected, "{error}");
        }
    }

    #[test]
    fn one_that_failed_or_was_under_way_serves_no_one() {
        let folder = tempfile::tempdir().unwrap();
        let fetches = Fetches::of(folder.path());
        fetches.make(|| Ok(()), || Ok(())).unwrap();
        let waits = fetches.arrive();
        fetches.make(failed, || Ok(())).unwrap_err();
        assert!(!fetches.serve(waits));
        let came_meanwhile = fetches.arrive();
        fetches.make(failed, || Ok(())).unwrap_err();
        fetches.make(|| Ok(()), || Ok(())).unwrap();
        assert!(fetches.serve(waits) && fetches.serve(came_meanwhile));
        // what it left half done is not what they waited for
        fetches.make(failed, || Ok(())).unwrap_err();
        assert!(!fetches.serve(waits) && !fetches.serve(came_meanwhile));
    }

    #[test]
    fn a_damaged_note_serves_no_one_and_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let fetches = Fetches::of(folder.path());
        for text in ["", "{}", "{\"begun\":-1,\"brought\":0}", "no JSON"] {
            std::fs::write(folder.path().join(FILE), text).unwrap();
            assert_eq!(fetches.arrive().begun, None, "{text}");
            let arrival = |begun| Arrival { begun, lost: 0 };
            assert!(!fetches.serve(arrival(Some(0))), "{text}");
            assert!(!fetches.is_lost(arrival(None)), "{text}");
            fetches.make(|| Ok(()), || Ok(())).unwrap();
            assert!(!fetches.serve(arrival(None)), "{text}");
            assert_eq!(fetches.arrive(), arrival(Some(1)), "{text}");
        }
    }
}
