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

/// The paths of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunPaths {
    /// The run's folder, mode 0700.
    pub dir: PathBuf,
    /// An empty file that exists from before the folder is created until the run's files are tidied.
    unfinished: PathBuf,
}

impl RunPaths {
    /// Returns the paths for a run of a project.
    pub fn new(project_root: &Path, run: &RunId) -> Self {
        Self {
            dir: runs_folder(project_root).join(run.as_str()),
            unfinished: unfinished_folder(project_root).join(run.as_str()),
        }
    }

    /// Creates the folder; before that, notes that the run's files must be tidied.
    ///
    /// # Errors
    /// When it cannot be created.
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
        // The note comes first: without it, a process that dies here would leave a folder with prompts that nothing
        // tidies.
        write_private(&self.unfinished, "")?;
        make(&self.dir)
    }

    /// The lock that is held while the run is alive.
    pub fn lock(&self) -> PathBuf {
        self.dir.join("lock")
    }

    /// The run's fencing number, for a database that was lost and restored.
    pub fn fence(&self) -> PathBuf {
        self.dir.join("fence")
    }

    /// What looked suspicious about its supervisor.
    pub fn suspicion(&self) -> PathBuf {
        self.dir.join("suspicion.json")
    }

    /// Where the worker of this host says that someone asked for the end of the run. The supervisor asks the database then, which alone
    /// decides.
    pub(crate) fn asked_to_end(&self) -> PathBuf {
        self.dir.join("asked-to-end")
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

    /// The system prompt as it was sent, without secret values. Kept as long as the log.
    pub fn sent_system_prompt(&self) -> PathBuf {
        self.dir.join("sent-system-prompt.md")
    }

    /// The user prompt as it was sent, without secret values. Kept as long as the log.
    pub fn sent_user_prompt(&self) -> PathBuf {
        self.dir.join("sent-user-prompt.md")
    }

    /// The agent CLI's MCP configuration.
    pub fn mcp_config(&self) -> PathBuf {
        self.dir.join("mcp.json")
    }

    /// Settings that Symphony writes for the agent's CLI.
    pub fn agent_settings(&self) -> PathBuf {
        self.dir.join("agent-settings.json")
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

    /// The supervisor's own log.
    pub fn supervisor_log(&self) -> PathBuf {
        self.dir.join("supervisor.log")
    }

    /// The log of the worktree's set-up command.
    pub fn setup_log(&self) -> PathBuf {
        self.dir.join("setup.log")
    }

    /// The folder with the logs of the set-up command on the base, which is run there when it failed in the worktree.
    pub fn set_up_on_base(&self) -> PathBuf {
        self.dir.join("set-up-on-base")
    }

    /// The state that the run shares with the person, as it was at dispatch; exit handling compares with it.
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

    /// Tidies the files of a run that is over. Idempotent.
    ///
    /// # Errors
    /// When something cannot be removed: the note stays.
    pub(crate) fn tidy(&self, owner: LeftoverOwner) -> Result<(), RunnerError> {
        // A half-written prompt is a prompt, too.
        symphony_workspace::remove_unwritten(&self.dir);
        crate::sandbox::remove_starts(&self.dir).map_err(|error| {
            RunnerError::io("remove the sandbox's folders in", &self.dir, error)
        })?;
        match owner {
            LeftoverOwner::Ended => {
                self.prompts().iter().try_for_each(|path| remove(path))?;
                // It has a line for each branch: with thousands of branches, the records of all runs would fill a disk.
                remove(&self.shared_state())?;
                remove(&self.asked_to_end())?;
            }
            LeftoverOwner::Kept => {}
            LeftoverOwner::Unclaimed => {
                // Without a lock, the next tick would assume that its maker is still at it and wait: the age of the
                // note says otherwise.
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
            // The note goes last: after a death before this line, the next tick tidies again.
            .and_then(|note| note.set_modified(UNIX_EPOCH))
        {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(RunnerError::io("note the age of", &self.unfinished, error))
            }
            _ => Ok(()),
        }
    }
}

/// The folder that holds a folder for each run of a project.
pub(crate) fn runs_folder(project_root: &Path) -> PathBuf {
    project_root.join(STATE_DIR).join("runs")
}

/// The folder that holds an empty file for each run of a project whose files are not tidied yet.
pub(crate) fn unfinished_folder(project_root: &Path) -> PathBuf {
    project_root.join(STATE_DIR).join("unfinished")
}

/// Removes a file that may already be gone.
pub(crate) fn remove(path: &Path) -> Result<(), RunnerError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(RunnerError::io("remove", path, error))
        }
        _ => Ok(()),
    }
}

/// Removes a folder unless it holds something.
fn remove_if_empty(folder: &Path) -> Result<(), RunnerError> {
    use std::io::ErrorKind::{DirectoryNotEmpty, NotFound};
    match std::fs::remove_dir(folder) {
        Err(error) if !matches!(error.kind(), NotFound | DirectoryNotEmpty) => {
            Err(RunnerError::io("remove", folder, error))
        }
        _ => Ok(()),
    }
}

/// Writes a file that only the user may read, atomically.
pub(crate) fn write_private(path: &Path, text: &str) -> Result<(), RunnerError> {
    symphony_workspace::write_private(path, text)
        .map_err(|error| RunnerError::io("write", path, error))
}

/// Most bytes of a run's file that are searched: logs are kept to this size.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Reads a regular file up to the maximum size of a run's files; `None` if it is gone or something else.
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
