//! One fetch for all runs that wait for it.
//!
//! Runs that start at the same moment wait for each other at the lock of their clone. Whoever has it next needs no fetch where one has
//! begun since it came: fetches have numbers, a fetch notes its own before it begins, and the last one that brought everything is noted
//! when it has. So a run that read the number of the last fetch before it waited is served by any later one. No clock is asked.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::WorkspaceError;
use crate::own_file::read_own_text;
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
}

impl Numbers {
    /// Whether what was brought is at least as new as a request that found this fetch to be the last one.
    const fn serve(self, found: u64) -> bool {
        self.brought == self.begun && self.brought > found
    }
}

/// The fetches of a clone. All but [`Fetches::last`] need the clone's lock.
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
        let text = serde_json::to_string(&numbers).expect("two numbers");
        write_note(&self.0, text)
            .map_err(|source| WorkspaceError::io("write", self.0.clone(), source))
    }

    /// Returns the number of the last fetch that began; `None` where there is no such note, so that nothing can be said.
    pub(super) fn last(&self) -> Option<u64> {
        self.read().map(|numbers| numbers.begun)
    }

    /// Returns whether everything was brought by a fetch that began after one that was the last.
    pub(super) fn serve(&self, last: Option<u64>) -> bool {
        last.zip(self.read())
            .is_some_and(|(last, numbers)| numbers.serve(last))
    }

    /// Notes that a fetch begins, has it done, and notes that it brought everything.
    ///
    /// # Errors
    /// When the file cannot be written, and those of the fetch. Then it serves no one.
    pub(super) fn make(
        &self,
        fetch: impl FnOnce() -> Result<(), WorkspaceError>,
    ) -> Result<(), WorkspaceError> {
        let before = self.read().unwrap_or_default();
        let begun = before.begun + 1;
        self.write(Numbers { begun, ..before })?;
        fetch()?;
        self.write(Numbers {
            begun,
            brought: begun,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed() -> Result<(), WorkspaceError> {
        Err(WorkspaceError::OtherObjectFormat("hub".to_owned()))
    }

    #[test]
    fn a_fetch_serves_who_came_before_it_began() {
        let folder = tempfile::tempdir().unwrap();
        let fetches = Fetches::of(folder.path());
        let first = fetches.last();
        assert_eq!(first, None);
        fetches.make(|| Ok(())).unwrap();
        assert!(!fetches.serve(first), "no one knows");
        let second = fetches.last();
        assert!(!fetches.serve(second), "it was over");
        fetches
            .make(|| {
                let third = fetches.last();
                assert!(!fetches.serve(second) && !fetches.serve(third));
                Ok(())
            })
            .unwrap();
        assert!(fetches.serve(second));
    }

    #[test]
    fn one_that_failed_or_was_under_way_serves_no_one() {
        let folder = tempfile::tempdir().unwrap();
        let fetches = Fetches::of(folder.path());
        fetches.make(|| Ok(())).unwrap();
        let waits = fetches.last();
        fetches.make(failed).unwrap_err();
        assert!(!fetches.serve(waits));
        let came_meanwhile = fetches.last();
        fetches.make(failed).unwrap_err();
        fetches.make(|| Ok(())).unwrap();
        assert!(fetches.serve(waits) && fetches.serve(came_meanwhile));
        // what it left half done is not what they waited for
        fetches.make(failed).unwrap_err();
        assert!(!fetches.serve(waits) && !fetches.serve(came_meanwhile));
    }

    #[test]
    fn a_damaged_note_serves_no_one_and_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let fetches = Fetches::of(folder.path());
        for text in ["", "{}", "{\"begun\":-1,\"brought\":0}", "no JSON"] {
            std::fs::write(folder.path().join(FILE), text).unwrap();
            assert_eq!(fetches.last(), None, "{text}");
            assert!(!fetches.serve(Some(0)), "{text}");
            fetches.make(|| Ok(())).unwrap();
            assert!(!fetches.serve(None), "{text}");
            assert_eq!(fetches.last(), Some(1), "{text}");
        }
    }
}
