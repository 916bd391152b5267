//! The way back after a lost database: a backup replaces it, or deliberately an empty one.
//!
//! The new database is prepared under another name. Every number that was seen in refs, worktrees and run folders is
//! marked as used in it before it gets the database's name. Branches, worktrees and rescue refs stay as they are.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use symphony_core::Timestamp;
use symphony_core::config::{IssuePrefix, ServerAddress};
use symphony_core::id::ProjectId;
use symphony_core::identity::Seen;
use symphony_store::{BackupFile, NewProject, RestoreRecord, Store, new_installation_id};
use symphony_workspace::read_marker;

use super::backup::{back_up_replaced, list_backups, restore_config};
use super::current::{Consent, Current, current};
use super::go_on::{count_marks_in, go_on};
use super::identity::{Opened, current_traces, places_of};
use super::in_use::{refuse_held, refuse_sessions, refuse_users};
use super::marker::adopt;
use super::open::{new_store, open_any};
use super::refusal::DatabaseRefusal;
use crate::error::RunnerError;
use crate::installation::{Installation, project_id_for};
use crate::person::as_person;
use crate::tick::{Taken, Turn, TurnWish};

/// What is restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RestoreSource {
    /// The newest backup.
    Newest,
    /// The database that is in place, although it is an older copy: new numbers start above all that were given out.
    InPlace,
    /// A backup, by its path, or by its name in the list.
    Named(PathBuf),
    /// None: the repository starts over with an empty database, and this prefix, or else that of its branches.
    Empty(Option<IssuePrefix>),
}

/// What a restore did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// The backup; `None` if the repository started over.
    pub backup: Option<PathBuf>,
    /// The database.
    pub database: PathBuf,
    /// Where the file that was replaced is now.
    pub replaced: Option<PathBuf>,
    /// Whether that file can be restored in its turn: it was intact, and belongs to this repository.
    pub can_be_undone: bool,
    /// The project of the repository.
    pub project: ProjectId,
    /// Whether the repository's configuration file was restored, too.
    pub config_restored: bool,
    /// What was changed in it.
    pub record: RestoreRecord,
}

/// Replaces the database with a backup, or with an empty one.
///
/// # Errors
/// While a run or a tick is active or another process has the database open, or when the backup is damaged, of another
/// program or of another repository. Without consent also when the current database can be used: the error says what
/// would be lost. The database is unchanged then.
pub fn restore(
    installation: &Installation,
    source: &RestoreSource,
    consent: Consent,
) -> Result<Restored, RunnerError> {
    if let (RestoreSource::InPlace, Some(address)) = (source, installation.config.database.server())
    {
        let Taken::Turn(_turn) = Turn::take(installation, TurnWish::Now)? else {
            return Err(DatabaseRefusal::TickAtWork.into());
        };
        return keep_on_server(installation, address);
    }
    let database = file_of(installation)?;
    if let Some(folder) = database.parent() {
        fs::create_dir_all(folder)
            .map_err(|error| RunnerError::io("make the folder", folder, error))?;
    }
    installation.refuse_network()?;
    // Held to the end: a tick that started meanwhile would write to the database that is set aside.
    let Taken::Turn(_turn) = Turn::take(installation, TurnWish::Now)? else {
        return Err(DatabaseRefusal::TickAtWork.into());
    };
    refuse_users(database)?;
    refuse_held(&installation.root)?;
    let current = current(installation);
    match source {
        RestoreSource::Empty(prefix) => {
            begin_again(installation, current, prefix.as_ref(), consent)
        }
        RestoreSource::InPlace => {
            if current.store.is_none() {
                let database = database.to_owned();
                return Err(DatabaseRefusal::NothingToKeep(database).into());
            }
            put_back(installation, current, database, Consent::Given)
        }
        RestoreSource::Newest | RestoreSource::Named(_) => {
            let backup = chosen(installation, source)?;
            put_back(installation, current, &backup, consent)
        }
    }
}

/// Goes on with what is on a server, such as a dump that its administrator restored.
///
/// # Errors
/// When it has no tables or does not know the repository, and while runs are active or other commands use it.
fn keep_on_server(
    installation: &Installation,
    address: &ServerAddress,
) -> Result<Restored, RunnerError> {
    let shown = PathBuf::from(address.to_string());
    let Opened::Whole(mut store) = open_any(installation)? else {
        return Err(DatabaseRefusal::NothingToKeep(shown).into());
    };
    refuse_sessions(&store)?;
    let root = &installation.root;
    let marker = read_marker(root);
    let projects = store.projects()?;
    let is_named = |id: &ProjectId| marker.as_ref().is_some_and(|marker| marker.project == *id);
    let here = projects
        .iter()
        .find(|project| project.root == *root)
        .or_else(|| projects.iter().find(|project| is_named(&project.id)))
        .ok_or_else(|| DatabaseRefusal::OfOthers {
            backup: shown.clone(),
            root: root.clone(),
        })?;
    for project in &projects {
        refuse_held(&project.root)?;
    }
    let known = marker.as_ref().map(|marker| &marker.installation);
    let record = go_on(installation, &mut store, (&here.id, &here.root), known)?;
    Ok(Restored {
        backup: Some(shown.clone()),
        database: shown,
        replaced: None,
        can_be_undone: false,
        project: here.id.clone(),
        config_restored: false,
        record,
    })
}

fn chosen(installation: &Installation, source: &RestoreSource) -> Result<PathBuf, RunnerError> {
    let listed = list_backups(installation)?;
    match source {
        RestoreSource::Named(path) if path.is_file() => Ok(path.clone()),
        RestoreSource::Named(path) => listed
            .into_iter()
            .map(|backup| backup.path)
            .find(|known| known.file_name() == path.file_name())
            .ok_or_else(|| DatabaseRefusal::NoSuchBackup(path.clone()).into()),
        _ => listed
            .into_iter()
            .map(|backup| backup.path)
            .next()
            .ok_or_else(|| DatabaseRefusal::NoBackup.into()),
    }
}

fn put_back(
    installation: &Installation,
    current: Current,
    backup: &Path,
    consent: Consent,
) -> Result<Restored, RunnerError> {
    let file = BackupFile::open(backup)?;
    let contents = file.contents()?;
    file.check()?;
    let marker = read_marker(&installation.root);
    let here = contents
        .projects
        .iter()
        .find(|project| project.root == installation.root)
        .or_else(|| {
            let named = &marker.as_ref()?.project;
            contents
                .projects
                .iter()
                .find(|project| project.id == *named)
        })
        .ok_or_else(|| {
            let (backup, root) = (backup.to_owned(), installation.root.clone());
            DatabaseRefusal::OfOthers { backup, root }
        })?;
    for project in &contents.projects {
        refuse_held(&project.root)?;
    }
    current.require_consent(installation, Some((backup, &file)), consent)?;
    let new = prepared(file_of(installation)?)?;
    file.copy_to(&new)?;
    drop(file);
    let mut store = Store::open_existing(&new)?;
    // The configuration comes first: it says where worktrees are, and whether pull requests are published.
    let config_restored = restore_config(backup, here.id.as_str(), &installation.root);
    let installation = installation.reloaded()?;
    let known = marker.map(|marker| marker.installation);
    let record = go_on(
        &installation,
        &mut store,
        (&here.id, &here.root),
        known.as_ref(),
    )?;
    let project = here.id.clone();
    let replaced = swap(&installation, current.store, store, &new)?;
    Ok(Restored {
        backup: Some(backup.to_owned()),
        database: file_of(&installation)?.to_owned(),
        can_be_undone: current.is_healthy && replaced.is_some(),
        replaced,
        project,
        config_restored,
        record,
    })
}

/// Returns the database file, which is what is replaced.
fn file_of(installation: &Installation) -> Result<&Path, RunnerError> {
    let database = &installation.config.database;
    database
        .file()
        .ok_or_else(|| DatabaseRefusal::OnServer(database.clone()).into())
}

fn begin_again(
    installation: &Installation,
    current: Current,
    prefix: Option<&IssuePrefix>,
    consent: Consent,
) -> Result<Restored, RunnerError> {
    let database = file_of(installation)?;
    let mut seen = Seen::default();
    current_traces(installation)?.count_in(&mut seen);
    let marker = read_marker(&installation.root);
    let known = marker.as_ref().map(|marker| &marker.installation);
    count_marks_in(&places_of(installation), known, &mut seen);
    let id = marker.map_or_else(
        || project_id_for(&installation.root),
        |marker| marker.project,
    );
    let prefix = prefix_for(installation, prefix, &seen)?;
    // A database that is shared with other repositories must not be lost for them.
    let is_shared = current.store.is_some() && !database.starts_with(&installation.root);
    if !is_shared {
        current.require_consent(installation, None, consent)?;
    }
    let is_healthy = current.is_healthy;
    let shared = current.store.filter(|_| is_shared);
    let new = prepared(database)?;
    let mut store = match shared {
        Some(store) => store,
        None => new_store(&new)?,
    };
    let context = as_person(Timestamp::now());
    let known = store.project_at(&installation.root)?;
    let project = match known {
        Some(project) => project,
        None => store.add_project(
            &context,
            &NewProject {
                id,
                name: name_of(&installation.root),
                root: installation.root.clone(),
                prefix,
            },
        )?,
    };
    let record = store.record_restore(&context, &seen, &BTreeSet::new())?;
    let new_id = new_installation_id();
    adopt(
        installation,
        &mut store,
        Some(&new_id),
        &project.id,
        &installation.root,
    )?;
    let replaced = if is_shared {
        None
    } else {
        let current = match open_any(installation) {
            Ok(Opened::Whole(current)) => Some(*current),
            _ => None,
        };
        swap(installation, current, store, &new)?
    };
    Ok(Restored {
        backup: None,
        database: database.to_owned(),
        can_be_undone: is_healthy && replaced.is_some(),
        replaced,
        project: project.id,
        config_restored: false,
        record,
    })
}

fn name_of(root: &Path) -> String {
    root.file_name().map_or_else(
        || "project".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}

/// The prefix that was typed, or else the most frequent one of the seen identifiers, or else the configured one.
fn prefix_for(
    installation: &Installation,
    typed: Option<&IssuePrefix>,
    seen: &Seen,
) -> Result<String, RunnerError> {
    if let Some(prefix) = typed {
        return Ok(prefix.as_str().to_owned());
    }
    if let Some((prefix, _)) = seen.issues.iter().max_by_key(|(_, highest)| **highest) {
        return Ok(prefix.clone());
    }
    let settings = installation
        .loaded()
        .project(None, &installation.root, None)?;
    Ok(settings.config.prefix.as_str().to_owned())
}

/// The path at which the new database is prepared; the rest of an interrupted restore is removed.
fn prepared(database: &Path) -> Result<PathBuf, RunnerError> {
    let new = database.with_extension("restoring.db");
    for path in with_companions(&new) {
        match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(RunnerError::io("remove", path, error));
            }
            _ => {}
        }
    }
    Ok(new)
}

/// A database's file, its write-ahead log and its shared memory.
fn with_companions(database: &Path) -> [PathBuf; 3] {
    ["", "-wal", "-shm"].map(|ending| {
        let mut name = database.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    })
}

/// Sets the old database aside and gives the new one its name. After a death in between there is no database, which the
/// next command reports: the restore is then repeated.
fn swap(
    installation: &Installation,
    current: Option<Store>,
    new_store: Store,
    new: &Path,
) -> Result<Option<PathBuf>, RunnerError> {
    let database = file_of(installation)?;
    // It is set aside in any case: a damaged database, which is the reason for a restore, cannot be copied.
    if let Some(store) = &current
        && let Err(error) = back_up_replaced(installation, store)
    {
        tracing::warn!(%error, "the database that is replaced was not added to the backups");
    }
    // The last connection that closes copies the write-ahead log into the database file: then it is one file.
    drop(current);
    drop(new_store);
    let time = Timestamp::now().strftime("%Y%m%dT%H%M%SZ");
    let aside = free_name(database, &time.to_string());
    let mut replaced = None;
    for (from, to) in with_companions(database)
        .into_iter()
        .zip(with_companions(&aside))
    {
        match fs::rename(&from, &to) {
            Ok(()) => replaced = replaced.or(Some(to)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(RunnerError::io("set aside", from, error)),
        }
    }
    fs::rename(new, database).map_err(|error| RunnerError::io("write", database, error))?;
    // Without this, a power cut could undo the rename after the restore was reported as done.
    if let Some(folder) = database.parent() {
        fs::File::open(folder)
            .and_then(|folder| folder.sync_all())
            .map_err(|error| RunnerError::io("write", folder, error))?;
    }
    Ok(replaced)
}

/// Returns the name under which a database is set aside. A rename would overwrite what an earlier restore of the same
/// second set aside, which may be the very file that is restored.
fn free_name(database: &Path, time: &str) -> PathBuf {
    let first = database.with_extension(format!("replaced-{time}.db"));
    let numbered = (2..).map(|n: u64| database.with_extension(format!("replaced-{time}-{n}.db")));
    let mut names = std::iter::once(first.clone()).chain(numbered);
    let is_free = |path: &PathBuf| with_companions(path).iter().all(|path| !path.exists());
    names.find(is_free).unwrap_or(first)
}
