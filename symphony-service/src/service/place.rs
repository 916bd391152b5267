//! Where the service works: the file, what surrounds it, and the folder of its own files beside it.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use symphony_core::id::RunId;
use symphony_workflow::Place;

use super::error::{ServiceError, io_error};

/// The folder of the service's files, beside the `WORKFLOW.md`.
const FOLDER: &str = ".symphony/service";

/// Returns how long ago a mark was made; `None` where the file or the clock does not say.
pub(super) fn age(mark: &Path) -> Option<Duration> {
    let made = fs::metadata(mark).and_then(|meta| meta.modified());
    made.ok()?.elapsed().ok()
}

/// Where the service works.
#[derive(Debug, Clone)]
pub struct ServicePlace {
    /// Symphony's own executable.
    pub executable: PathBuf,
    /// The file, by an absolute path.
    pub workflow: PathBuf,
    /// The environment of whoever started the service: settings refer to it, and hooks and agents get it.
    pub environment: BTreeMap<OsString, OsString>,
}

impl ServicePlace {
    /// Takes the path of a file as it was typed in a folder.
    ///
    /// # Errors
    /// When its folder does not exist.
    pub fn new(
        executable: PathBuf,
        current: &Path,
        workflow: &Path,
        environment: BTreeMap<OsString, OsString>,
    ) -> Result<Self, ServiceError> {
        let typed = current.join(workflow);
        let name = typed.file_name().unwrap_or(OsStr::new("WORKFLOW.md"));
        let parent = typed.parent().unwrap_or(current);
        let folder = parent.canonicalize().map_err(io_error("open", parent))?;
        Ok(Self {
            executable,
            workflow: folder.join(name),
            environment,
        })
    }

    /// Returns the folder of the file: relative paths of its settings begin there, whoever starts the service from where.
    pub fn directory(&self) -> &Path {
        self.workflow.parent().unwrap_or(Path::new("/"))
    }

    /// Returns the folder of the service's own files: one for each `WORKFLOW.md`.
    pub fn home(&self) -> PathBuf {
        let name = self.workflow.file_name().unwrap_or_default();
        self.directory().join(FOLDER).join(name)
    }

    /// Returns the database.
    pub fn database(&self) -> PathBuf {
        self.home().join("state.db")
    }

    /// Returns the lock that one loop or tick holds.
    pub fn lock(&self) -> PathBuf {
        self.home().join("loop.lock")
    }

    /// Returns the log.
    pub fn log(&self) -> PathBuf {
        self.home().join("service.log")
    }

    /// Returns the mark of when workspaces of ended tickets were last looked for.
    pub(crate) fn cleaned(&self) -> PathBuf {
        self.home().join("cleaned")
    }

    /// Returns the copy of the settings that are in force.
    pub(crate) fn in_force(&self) -> PathBuf {
        self.home().join("in-force.md")
    }

    /// Returns the folder of the workers' files.
    pub(crate) fn workers(&self) -> PathBuf {
        self.home().join("workers")
    }

    /// Returns the files of a worker.
    pub fn worker(&self, id: &RunId) -> WorkerFiles {
        WorkerFiles {
            folder: self.workers().join(id.as_str()),
        }
    }

    /// Makes the folders. They are the user's alone, and git does not see them.
    ///
    /// # Errors
    /// When they cannot be made.
    pub(crate) fn create(&self) -> Result<(), ServiceError> {
        create_private(&self.workers())?;
        let ignore = self.directory().join(FOLDER).join(".gitignore");
        if !ignore.exists() {
            fs::write(&ignore, "*\n").map_err(io_error("write", &ignore))?;
        }
        Ok(())
    }

    /// Calls back with what settings refer to.
    pub(crate) fn with_settings_place<T>(&self, read: impl FnOnce(&Place<'_>) -> T) -> T {
        let variable = |name: &str| self.environment.get(OsStr::new(name)).cloned();
        let home = variable("HOME").map(PathBuf::from);
        let temporary = variable("TMPDIR").filter(|folder| !folder.is_empty());
        let temporary = temporary.map_or_else(|| PathBuf::from("/tmp"), PathBuf::from);
        read(&Place {
            variable: &variable,
            home: home.as_deref(),
            temporary: &temporary,
            current: self.directory(),
        })
    }
}

/// The files of a worker.
#[derive(Debug, Clone)]
pub struct WorkerFiles {
    folder: PathBuf,
}

impl WorkerFiles {
    /// Takes the folder of a worker.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the lock that is held while the worker lives.
    pub fn lock(&self) -> PathBuf {
        self.folder.join("lock")
    }

    /// Returns what the worker has to do.
    pub(crate) fn order(&self) -> PathBuf {
        self.folder.join("order.json")
    }

    /// Returns the identity of its process.
    pub(crate) fn identity(&self) -> PathBuf {
        self.folder.join("identity.json")
    }

    /// Returns what it reports, one object of JSON a line.
    pub fn events(&self) -> PathBuf {
        self.folder.join("events.jsonl")
    }

    /// Returns how it ended.
    pub(crate) fn end(&self) -> PathBuf {
        self.folder.join("end.json")
    }

    /// Returns the mark of when it was first asked to end.
    pub(crate) fn asked(&self) -> PathBuf {
        self.folder.join("asked")
    }

    /// Returns what it and its hooks print.
    pub fn log(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.log"))
    }
}

/// Makes a folder, and those above it, that no other user can open.
///
/// # Errors
/// When the system refuses.
pub(crate) fn create_private(folder: &Path) -> Result<(), ServiceError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true).mode(0o700);
    builder.create(folder).map_err(io_error("create", folder))
}

/// Writes a file of which a reader sees either nothing or all, also after a loss of power.
///
/// # Errors
/// When the system refuses.
pub(crate) fn write_whole(path: &Path, text: &str) -> Result<(), ServiceError> {
    let temporary = path.with_extension("new");
    let write = || {
        let mut options = fs::OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        let mut file = options.open(&temporary)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    };
    write().map_err(io_error("write", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_a_folder_of_its_own_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir(root.join("a")).unwrap();
        let place = |typed: &str| {
            ServicePlace::new("/bin/x".into(), &root, Path::new(typed), BTreeMap::new())
        };
        let found = place("a/../a/FLOW.md").unwrap();
        assert_eq!(found.workflow, root.join("a/FLOW.md"));
        assert_eq!(found.home(), root.join("a/.symphony/service/FLOW.md"));
        found.create().unwrap();
        found.create().unwrap();
        let ignored = fs::read_to_string(root.join("a/.symphony/service/.gitignore")).unwrap();
        assert_eq!(ignored, "*\n");
        assert!(place("missing/FLOW.md").is_err());
    }

    #[test]
    fn a_file_is_written_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("end.json");
        write_whole(&path, "{}").unwrap();
        write_whole(&path, "{\"a\":1}").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "{\"a\":1}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
