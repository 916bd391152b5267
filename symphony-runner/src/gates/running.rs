//! A file beside the logs with the commands that are running in a checkout. When their supervisor dies, for instance
//! because the machine runs out of memory, exit handling can name them. Until then `status` shows it.

use std::path::{Path, PathBuf};

use symphony_core::Timestamp;
use symphony_core::id::RunId;
use symphony_core::listing::list_few;
use symphony_workspace::{read_own_text, write_private};

use crate::paths::RunPaths;

/// The name of the file.
const FILE: &str = "running";
/// How many commands are named; the others are counted.
const NAMED_MAX: usize = 5;

/// The commands that are running, until it is dropped.
#[derive(Debug)]
pub(super) struct Running {
    path: PathBuf,
}

impl Running {
    /// Records their names. The file is only for display, so they run even if it cannot be written.
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

/// Returns what is running in the checkout of a run of gates, as text, and since when: the set-up command, or gates.
/// `None` between two commands.
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

/// Returns the names of the commands that were running in a checkout when its supervisor died; empty if none were.
pub(super) fn ran_at_its_end(logs: &Path) -> Vec<String> {
    let text = read_own_text(&logs.join(FILE)).unwrap_or_default();
    let names = text.lines().filter(|name| !name.is_empty());
    names.map(str::to_owned).collect()
}
