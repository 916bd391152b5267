//! One process a replay: two at once would run the same cases, each in the other's folder.

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use symphony_core::prompt_trial::TrialName;
use symphony_runner::process::{ProcessError, RunLock};

use crate::failure::{Context as _, Exit, Stop};

/// The lock's file in the folder of a trial.
const LOCK: &str = "trial.lock";

/// The held lock of a trial: it is given up when the value is dropped, at the latest with the process. Agents do not inherit it.
#[derive(Debug)]
pub(super) struct TrialLock {
    _lock: RunLock,
}

impl TrialLock {
    /// Takes the lock of a trial, whose folder is made, and notes which process has it.
    ///
    /// # Errors
    /// When another process has it: its number is named.
    pub(super) fn take(folder: &Path, name: &TrialName) -> anyhow::Result<Self> {
        fs::create_dir_all(folder).with_context(|| format!("make {}", folder.display()))?;
        let path = folder.join(LOCK);
        let lock = match RunLock::acquire(&path) {
            Ok(lock) => lock,
            Err(ProcessError::LockHeld { .. }) => return Err(held(&path, name).into()),
            Err(error) => return Err(error.into()),
        };
        note_holder(&lock.open_file()?).with_context(|| format!("write {}", path.display()))?;
        Ok(Self { _lock: lock })
    }
}

fn note_holder(file: &File) -> std::io::Result<()> {
    file.set_len(0)?;
    file.write_all_at(format!("{}\n", std::process::id()).as_bytes(), 0)
}

fn held(path: &Path, name: &TrialName) -> Stop {
    let text = fs::read_to_string(path).unwrap_or_default();
    let message = |who: &str| format!("{who} is running the trial {name}");
    // the instant between its lock and its note
    match text.trim().parse::<u32>() {
        Ok(process) => Stop::new(Exit::Busy, message(&format!("process {process}"))).hint(format!(
            "wait for it, or stop it with `kill -INT {process}`; `symphony prompt trial --name {name} --report` shows how far it is"
        )),
        Err(_) => Stop::new(Exit::Busy, message("another process"))
            .hint("wait for it to end, then run the command again"),
    }
}
