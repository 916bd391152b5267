//! Which commands of a checkout are running, in a file beside their logs: when their supervisor dies, as it does when the machine runs
//! out of memory, whoever does its exit handling can name them. Until then it is what `status` shows.

use std::path::{Path, PathBuf};

use symphony_core::Timestamp;
use symphony_core::id::RunId;
use symphony_core::listing::list_few;
use symphony_workspace::{read_own_text, write_private};

use crate::paths::RunPaths;

/// The file's name.
const FILE: &str = "running";
/// Commands that are named; the rest is counted.
const NAMED_MAX: usize = 5;

/// The commands that run now, until it is dropped.
#[derive(Debug)]
pub(super) struct Running {
    path: PathBuf,
}

impl Running {
    /// Notes them by their names. It is only told by it: that it cannot be written keeps nothing from running.
    pub(super) fn note<'n>(logs: &Path, names: impl Iterator<Item = &'n str>) -> Self {
        let path = logs.join(FILE);
        let names: Vec<&str> = names.collect();
        if let Err(error) = write_private(&path, names.join("\n")) {
            tracing::warn!(%error, "which gates are running was not noted");
        }
        Self { path }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_file(&self.path) {
            tracing::debug!(%error, "the note of the running gates stays");
        }
    }
}

/// Returns what runs now in the checkout of a run of gates, in words, and since when: the set-up command, or gates; none between
/// two commands.
pub fn running_now(root: &Path, run: &RunId) -> Option<(String, Timestamp)> {
    let logs = RunPaths::new(root, run).dir;
    let names = ran_at_its_end(&logs);
    let modified = std::fs::symlink_metadata(logs.join(FILE))
        .ok()?
        .modified()
        .ok()?;
    let since = modified.duration_since(std::time::UNIX_EPOCH).ok()?;
    let since = Timestamp::from_millisecond(i64::try_from(since.as_millis()).ok()?).ok()?;
    let text = list_few(names.iter().map(String::as_str), NAMED_MAX);
    (!text.is_empty()).then(|| (format!("running {text}"), since))
}

/// Returns the names of what ran in a run's checkout when its supervisor died; none where nothing did.
pub(super) fn ran_at_its_end(logs: &Path) -> Vec<String> {
    let text = read_own_text(&logs.join(FILE)).unwrap_or_default();
    let names = text.lines().filter(|name| !name.is_empty());
    names.map(str::to_owned).collect()
}
