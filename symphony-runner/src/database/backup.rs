//! Backups of the database, outside of every work tree: `$XDG_STATE_HOME/symphony/<project>-<installation>`.
//!
//! The tick makes one an hour if something was recorded (of a large database, a process of its own does), an update of Symphony makes one before it changes the schema,
//! and a restore makes one of what it replaces. A backup is written under another name, checked, and then renamed:
//! every file with the name of a backup can be restored.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use symphony_core::Timestamp;
use symphony_core::backup::{BackupCause, BackupName, is_backup_due, superfluous_backups};
use symphony_core::id::InstallationId;
use symphony_store::{BackupFile, Migrating, Store, StoreError};
use symphony_workspace::config_file::CONFIG_FILE_NAME;
use symphony_workspace::read_marker;

use super::refusal::DatabaseRefusal;
use crate::error::RunnerError;
use crate::installation::{Installation, project_id_for};
use crate::outreach::helper::Helper;
use crate::process::DetachedSupervisor;

/// Size of a database that is copied and checked within a tick: a few tens of milliseconds.
const AT_ONCE_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Digits of the installation id in the name of a folder: enough to tell a person's installations apart.
const ID_DIGITS: usize = 12;
/// Suffix of a backup's name while it is written.
const PARTIAL: &str = ".partial-";
/// Age from which the writer of an unfinished backup must have died: far more than a copy takes.
const PARTIAL_AGE_MAX: Duration = Duration::from_hours(1);
/// Most folders of other installations that are searched when a repository has lost its marker.
const FOLDERS_MAX: usize = 1_000;

/// A backup that can be restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backup {
    /// Its file.
    pub path: PathBuf,
    /// When and why it was made.
    pub name: BackupName,
    /// Its size.
    pub bytes: u64,
}

/// Makes a backup if one is due: at once where that takes a moment, and otherwise in a process of its own, which is returned.
///
/// # Errors
/// When it is due and cannot be made, or the last process could not make it: the tick reports it and goes on.
pub(crate) fn back_up_if_due(
    installation: &Installation,
    store: &Store,
    now: Timestamp,
) -> Result<Option<DetachedSupervisor>, RunnerError> {
    let Some(due) = due_backup(installation, store, now)? else {
        return Ok(None);
    };
    let file = installation.config.database.file();
    let bytes = file.and_then(|file| installation.root.join(file).metadata().ok());
    if bytes.is_none_or(|file| file.len() <= AT_ONCE_BYTES_MAX) {
        due.make(store)?;
        return Ok(None);
    }
    let started = Helper::Backup.start(installation)?;
    // Read while the new process may replace it: either text is about the same backup.
    match fs::read_to_string(problem_file(installation)) {
        Ok(problem) => Err(RunnerError::refused(problem)),
        Err(_) => Ok(started),
    }
}

/// Makes a backup that is due, in a process that a tick started. What prevents it is kept for the next tick, which reports it.
///
/// # Errors
/// When the lock was not handed over, or the backup cannot be made.
pub fn back_up_in_helper(installation: &Installation) -> Result<(), RunnerError> {
    let _lock = Helper::Backup.begin(installation)?;
    let store = installation.require_store()?;
    let made = due_backup(installation, &store, Timestamp::now())
        .and_then(|due| due.map_or(Ok(()), |due| due.make(&store)));
    let file = problem_file(installation);
    match &made {
        Ok(()) => match fs::remove_file(&file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(RunnerError::io("remove", &file, error))
            }
            _ => Ok(()),
        },
        Err(error) => {
            crate::paths::write_private(&file, &error.with_causes())?;
            made
        }
    }
}

fn problem_file(installation: &Installation) -> PathBuf {
    installation.state_dir().join("backup.problem")
}

/// A backup that is due.
struct DueBackup {
    folder: PathBuf,
    name: BackupName,
}

impl DueBackup {
    fn make(&self, store: &Store) -> Result<(), RunnerError> {
        write(&self.folder, &self.name, |path| store.backup_to(path))?;
        for project in store.projects()? {
            keep_config(&self.folder, project.id.as_str(), &project.root)?;
        }
        Ok(())
    }
}

/// Returns the backup that is due.
fn due_backup(
    installation: &Installation,
    store: &Store,
    now: Timestamp,
) -> Result<Option<DueBackup>, RunnerError> {
    // whoever runs a server backs it up
    if installation.config.database.server().is_some() {
        return Ok(None);
    }
    let position = store.log_position()?;
    if position == 0 {
        return Ok(None);
    }
    let Some(id) = store.installation()? else {
        return Ok(None);
    };
    let folder = folder_of(installation, &id)?;
    if !is_backup_due(&names_in(&folder)?, position, now) {
        return Ok(None);
    }
    let name = BackupName {
        at: now,
        position,
        cause: BackupCause::Hourly,
    };
    Ok(Some(DueBackup { folder, name }))
}

/// Makes a backup of a database that is about to be replaced.
pub(super) fn back_up_replaced(
    installation: &Installation,
    store: &Store,
) -> Result<(), RunnerError> {
    let Some(id) = store.installation()? else {
        return Ok(());
    };
    let name = BackupName {
        at: Timestamp::now(),
        position: store.log_position()?,
        cause: BackupCause::Restore,
    };
    write(&folder_of(installation, &id)?, &name, |path| {
        store.backup_to(path)
    })?;
    Ok(())
}

/// Makes a backup before a migration. If it fails, that is reported and does not stop the update.
pub(super) fn back_up_before(installation: &Installation, migrating: &Migrating<'_>) {
    let made = migrating
        .installation()
        .map_err(RunnerError::from)
        .and_then(|id| {
            let id = id.or_else(|| Some(read_marker(&installation.root)?.installation));
            let name = BackupName {
                at: Timestamp::now(),
                position: 0,
                cause: BackupCause::Migration(migrating.from),
            };
            let folder = match id {
                Some(id) => folder_of(installation, &id)?,
                None => state_folder(installation)?
                    .join(format!("{}-unnamed", project_id_for(&installation.root))),
            };
            write(&folder, &name, |path| migrating.backup_to(path))
        });
    if let Err(error) = made {
        tracing::warn!(%error, "no backup was made before the schema of the database was changed");
    }
}

/// Lists the backups of the repository's database, newest first.
///
/// # Errors
/// When the folder of backups cannot be read.
pub fn list_backups(installation: &Installation) -> Result<Vec<Backup>, RunnerError> {
    let mut found = Vec::new();
    for folder in folders_for(installation)? {
        for name in names_in(&folder)? {
            let path = folder.join(name.to_string());
            let bytes = path.metadata().map_or(0, |file| file.len());
            found.push(Backup { path, name, bytes });
        }
    }
    found.sort_by(|a, b| b.name.cmp(&a.name));
    Ok(found)
}

/// Restores the configuration file of a project if it is missing; returns whether it did.
pub(super) fn restore_config(backup: &Path, project: &str, root: &Path) -> bool {
    let (Some(folder), to) = (backup.parent(), root.join(CONFIG_FILE_NAME)) else {
        return false;
    };
    let kept = folder.join(config_name(project));
    !to.exists() && kept.is_file() && fs::copy(kept, to).is_ok()
}

fn config_name(project: &str) -> String {
    format!("{project}.{CONFIG_FILE_NAME}")
}

/// Keeps the newest configuration file of a project beside the backups: `git clean -fdx` removes it together with the
/// database, and without it there would be no gates.
fn keep_config(folder: &Path, project: &str, root: &Path) -> Result<(), RunnerError> {
    let from = root.join(CONFIG_FILE_NAME);
    if !from.is_file() {
        return Ok(());
    }
    let to = folder.join(config_name(project));
    let text = fs::read_to_string(&from).map_err(|error| RunnerError::io("read", &from, error))?;
    crate::paths::write_private(&to, &text)
}

/// Writes a backup under another name, checks it, renames it, and removes the backups that are no longer kept.
fn write(
    folder: &Path,
    name: &BackupName,
    copy: impl FnOnce(&Path) -> Result<(), StoreError>,
) -> Result<PathBuf, RunnerError> {
    make_private(folder)?;
    remove_partial(folder);
    let path = folder.join(name.to_string());
    let part = folder.join(format!("{name}{PARTIAL}{}", std::process::id()));
    let written = copy(&part)
        // A copy of a damaged database would in time push out every good one.
        .and_then(|()| BackupFile::open(&part)?.check())
        .map_err(RunnerError::from)
        .and_then(|()| {
            fs::rename(&part, &path).map_err(|error| RunnerError::io("write", &path, error))
        });
    if let Err(error) = written {
        let _left = fs::remove_file(&part);
        return Err(error);
    }
    for old in superfluous_backups(&names_in(folder)?) {
        let old = folder.join(old.to_string());
        fs::remove_file(&old).map_err(|error| RunnerError::io("remove", old, error))?;
    }
    Ok(path)
}

fn make_private(folder: &Path) -> Result<(), RunnerError> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(|error| RunnerError::io("make the folder", folder, error))
}

/// Removes what dead writers left.
fn remove_partial(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_partial = entry.file_name().to_string_lossy().contains(PARTIAL);
        let age = entry
            .metadata()
            .and_then(|file| file.modified())
            .ok()
            .and_then(|at| SystemTime::now().duration_since(at).ok());
        if is_partial && age.is_some_and(|age| age > PARTIAL_AGE_MAX) {
            let _left = fs::remove_file(entry.path());
        }
    }
}

fn names_in(folder: &Path) -> Result<Vec<BackupName>, RunnerError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(RunnerError::io("read", folder, error)),
    };
    Ok(entries
        .flatten()
        .filter_map(|entry| BackupName::parse(entry.file_name().to_str()?))
        .collect())
}

/// Removes the backups of an installation that is deleted with its repository.
///
/// # Errors
/// When they cannot be removed.
pub fn discard_backups(installation: &Installation, store: &Store) -> Result<(), RunnerError> {
    let Some(id) = store.installation()? else {
        return Ok(());
    };
    let folder = folder_of(installation, &id)?;
    match fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(RunnerError::io("remove the folder", &folder, error))
        }
        _ => Ok(()),
    }
}

/// Returns the folder of the state that Symphony keeps outside of repositories.
///
/// # Errors
/// When the environment names no home.
pub fn state_folder(installation: &Installation) -> Result<PathBuf, RunnerError> {
    let variable = |name: &str| {
        let path = installation.variable(name).map(Path::new);
        path.filter(|path| path.is_absolute())
    };
    let state = match variable("XDG_STATE_HOME") {
        Some(folder) => folder.to_owned(),
        None => variable("HOME")
            .ok_or(DatabaseRefusal::NoStateFolder)?
            .join(".local/state"),
    };
    Ok(state.join("symphony"))
}

/// The folder of an installation's backups: the one that ends with its id, whatever the project was called then.
fn folder_of(installation: &Installation, id: &InstallationId) -> Result<PathBuf, RunnerError> {
    let state = state_folder(installation)?;
    let digits: String = id.as_str().chars().take(ID_DIGITS).collect();
    let ending = format!("-{digits}");
    let existing = fs::read_dir(&state).into_iter().flatten().flatten();
    let named = existing
        .map(|entry| entry.path())
        .find(|path| path.to_string_lossy().ends_with(&ending));
    Ok(named
        .unwrap_or_else(|| state.join(format!("{}{ending}", project_id_for(&installation.root)))))
}

/// The folders that may hold backups of the repository's database: the one of its marker, or else those whose newest
/// backup knows the repository.
fn folders_for(installation: &Installation) -> Result<Vec<PathBuf>, RunnerError> {
    if let Some(marker) = read_marker(&installation.root) {
        return Ok(vec![folder_of(installation, &marker.installation)?]);
    }
    let state = state_folder(installation)?;
    let mut folders: Vec<PathBuf> = fs::read_dir(&state)
        .into_iter()
        .flatten()
        .flatten()
        .take(FOLDERS_MAX)
        .map(|entry| entry.path())
        .collect();
    folders.sort();
    Ok(folders
        .into_iter()
        .filter(|folder| knows(folder, &installation.root))
        .collect())
}

fn knows(folder: &Path, root: &Path) -> bool {
    let newest = names_in(folder)
        .ok()
        .and_then(|names| names.into_iter().max());
    let contents = newest
        .and_then(|name| BackupFile::open(&folder.join(name.to_string())).ok())
        .and_then(|backup| backup.contents().ok());
    contents.is_some_and(|contents| contents.projects.iter().any(|project| project.root == root))
}
