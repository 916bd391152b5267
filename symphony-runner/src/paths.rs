//! The files of a run (spec: lifecycle, "Files of a run").

use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use symphony_core::id::RunId;
use symphony_core::tick::LeftoverOwner;
use symphony_workspace::Failpoint;

use crate::error::RunnerError;

/// The folder of Symphony's own files in a project.
pub const STATE_DIR: &str = ".symphony";

/// Where the files of one run are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunPaths {
    /// The run's folder, mode 0700.
    pub dir: PathBuf,
    /// An empty file that stands from before the folder is made until the run's files are in order.
    unfinished: PathBuf,
}

impl RunPaths {
    /// Returns the places for a run of a project.
    pub fn new(project_root: &Path, run: &RunId) -> Self {
        Self {
            dir: runs_folder(project_root).join(run.as_str()),
            unfinished: unfinished_folder(project_root).join(run.as_str()),
        }
    }

    /// Makes the folder, and notes before that the run's files are to be put in order one day.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn create(&self) -> Result<(), RunnerError> {
        let make = |folder: &Path| {
            std::fs::DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(folder)
                .map_err(|error| RunnerError::io("make the run's folder", folder, error))
        };
        if let Some(folder) = self.unfinished.parent() {
            make(folder)?;
        }
        // first: whoever dies from here on leaves a note of it
        write_private(&self.unfinished, "")?;
        make(&self.dir)
    }

    /// The lock that says that the run is alive.
    pub fn lock(&self) -> PathBuf {
        self.dir.join("lock")
    }

    /// The run's fencing number, for a database that was lost and restored.
    pub fn fence(&self) -> PathBuf {
        self.dir.join("fence")
    }

    /// What a look at its supervisor found suspicious.
    pub fn suspicion(&self) -> PathBuf {
        self.dir.join("suspicion.json")
    }

    /// The MCP socket.
    pub fn socket(&self) -> PathBuf {
        self.dir.join("mcp.sock")
    }

    /// The system prompt.
    pub fn system_prompt(&self) -> PathBuf {
        self.dir.join("system-prompt.md")
    }

    /// The user prompt.
    pub fn user_prompt(&self) -> PathBuf {
        self.dir.join("user-prompt.md")
    }

    /// The agent CLI's MCP configuration.
    pub fn mcp_config(&self) -> PathBuf {
        self.dir.join("mcp.json")
    }

    /// The whole diff, for a judge to read.
    pub fn diff(&self) -> PathBuf {
        self.dir.join("review.diff")
    }

    /// The raw output.
    pub fn stream(&self) -> PathBuf {
        self.dir.join("stream.ndjson")
    }

    /// The formatted log.
    pub fn log(&self) -> PathBuf {
        self.dir.join("log.txt")
    }

    /// What the agent wrote to standard error.
    pub fn stderr(&self) -> PathBuf {
        self.dir.join("stderr.txt")
    }

    /// What the supervisor itself had to say.
    pub fn supervisor_log(&self) -> PathBuf {
        self.dir.join("supervisor.log")
    }

    /// The log of the worktree's set-up command.
    pub fn setup_log(&self) -> PathBuf {
        self.dir.join("setup.log")
    }

    /// The folder with the logs of the set-up command on the base, where it failed in the worktree.
    pub fn set_up_on_base(&self) -> PathBuf {
        self.dir.join("set-up-on-base")
    }

    /// What the run shares with the person as it was at dispatch; exit handling compares with it.
    pub(crate) fn shared_state(&self) -> PathBuf {
        self.dir.join("shared-state.json")
    }

    /// The files that must not outlive the run: prompts, MCP configuration, the diff.
    pub(crate) fn prompts(&self) -> [PathBuf; 4] {
        [
            self.system_prompt(),
            self.user_prompt(),
            self.mcp_config(),
            self.diff(),
        ]
    }

    /// Puts the files of a run in order that is over. Doing it again does no harm.
    ///
    /// # Errors
    /// When something cannot be removed: it stays noted that it is to go.
    pub(crate) fn tidy(&self, owner: LeftoverOwner) -> Result<(), RunnerError> {
        // half a prompt is one, too
        symphony_workspace::remove_unwritten(&self.dir);
        match owner {
            LeftoverOwner::Ended => {
                self.prompts().iter().try_for_each(|path| remove(path))?;
                // a line for each branch: with thousands of them the records of all runs would fill a disk
                remove(&self.shared_state())?;
            }
            LeftoverOwner::Kept => {}
            LeftoverOwner::Unclaimed => {
                // without a lock the next tick would wait for its maker: a note from long ago says that there is none
                self.age_note()?;
                remove(&self.lock())?;
                remove_if_empty(&self.dir)?;
            }
        }
        Failpoint::RunTidied.reach();
        remove(&self.unfinished)
    }

    fn age_note(&self) -> Result<(), RunnerError> {
        match symphony_workspace::open_own_file(&self.unfinished)
            .and_then(|note| note.set_modified(UNIX_EPOCH))
        {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(RunnerError::io("note the age of", &self.unfinished, error))
            }
            _ => Ok(()),
        }
    }
}

/// The folder with a folder for each run of a project.
pub(crate) fn runs_folder(project_root: &Path) -> PathBuf {
    project_root.join(STATE_DIR).join("runs")
}

/// The folder with an empty file for each run of a project whose files are not in order yet.
pub(crate) fn unfinished_folder(project_root: &Path) -> PathBuf {
    project_root.join(STATE_DIR).join("unfinished")
}

/// Removes a file that may be gone already.
pub(crate) fn remove(path: &Path) -> Result<(), RunnerError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(RunnerError::io("remove", path, error))
        }
        _ => Ok(()),
    }
}

/// Removes a folder; one that holds something stays.
fn remove_if_empty(folder: &Path) -> Result<(), RunnerError> {
    use std::io::ErrorKind::{DirectoryNotEmpty, NotFound};
    match std::fs::remove_dir(folder) {
        Err(error) if !matches!(error.kind(), NotFound | DirectoryNotEmpty) => {
            Err(RunnerError::io("remove", folder, error))
        }
        _ => Ok(()),
    }
}

/// Writes a file that only the user may read, whole or not at all.
pub(crate) fn write_private(path: &Path, text: &str) -> Result<(), RunnerError> {
    symphony_workspace::write_private(path, text)
        .map_err(|error| RunnerError::io("write", path, error))
}

/// Most of a file of a run that is looked through: logs are kept to this size.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Reads a regular file, up to the size that files of runs are kept to; none when it is gone or something else.
pub(crate) fn read_capped(path: &Path) -> Result<Option<Vec<u8>>, RunnerError> {
    use std::io::Read as _;
    let is_file = path.symlink_metadata().is_ok_and(|meta| meta.is_file());
    if !is_file {
        return Ok(None);
    }
    let mut contents = Vec::new();
    symphony_workspace::open_own_file(path)
        .and_then(|file| file.take(FILE_BYTES_MAX).read_to_end(&mut contents))
        .map_err(|error| RunnerError::io("read", path, error))?;
    Ok(Some(contents))
}
