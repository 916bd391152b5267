//! The files of a run (spec: lifecycle, "Files of a run").

use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use symphony_core::id::RunId;

use crate::error::RunnerError;

/// The folder of Symphony's own files in a project.
pub const STATE_DIR: &str = ".symphony";

/// Where the files of one run are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunPaths {
    /// The run's folder, mode 0700.
    pub dir: PathBuf,
}

impl RunPaths {
    /// Returns the places for a run of a project.
    pub fn new(project_root: &Path, run: &RunId) -> Self {
        Self {
            dir: project_root.join(STATE_DIR).join("runs").join(run.as_str()),
        }
    }

    /// Makes the folder.
    ///
    /// # Errors
    /// When it can not be made.
    pub fn create(&self) -> Result<(), RunnerError> {
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.dir)
            .map_err(|error| RunnerError::io("make the run's folder", &self.dir, error))
    }

    /// The lock that says that the run is alive.
    pub fn lock(&self) -> PathBuf {
        self.dir.join("lock")
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

    /// Removes what must not outlive the run: prompts, MCP configuration, the diff.
    pub(crate) fn remove_prompts(&self) {
        for path in [
            self.system_prompt(),
            self.user_prompt(),
            self.mcp_config(),
            self.diff(),
        ] {
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    tracing::warn!(path = %path.display(), %error, "can not remove a file of the run");
                }
                _ => {}
            }
        }
    }
}

/// Writes a file that only the user may read, whole or not at all for a reader that comes later.
pub(crate) fn write_private(path: &Path, text: &str) -> Result<(), RunnerError> {
    use std::io::Write as _;
    let write = || -> std::io::Result<()> {
        let mut file = std::fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(path)?;
        file.write_all(text.as_bytes())
    };
    write().map_err(|error| RunnerError::io("write", path, error))
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
    std::fs::File::open(path)
        .and_then(|file| file.take(FILE_BYTES_MAX).read_to_end(&mut contents))
        .map_err(|error| RunnerError::io("read", path, error))?;
    Ok(Some(contents))
}
