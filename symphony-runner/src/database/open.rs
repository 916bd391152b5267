//! Opens the database of an installation, for the repository that it belongs to.

use std::path::Path;

use symphony_core::config::Database;
use symphony_store::{Store, StoreError};
use symphony_workspace::file_system::network_file_system_of;

use super::backup::back_up_before;
use super::identity::{Opened, identified};
use super::refusal::DatabaseRefusal;
use crate::error::RunnerError;
use crate::installation::Installation;

impl Installation {
    /// Opens the existing database; `None` if there is none and nothing was ever done here.
    ///
    /// # Errors
    /// When it cannot be opened, or is not the database that the repository was worked on with.
    pub fn existing_store(&self) -> Result<Option<Store>, RunnerError> {
        // A worker has no repository that could belong to another database.
        if self.worker_data().is_some() {
            return self.worker_store().map(Some);
        }
        identified(self, open_any(self)?)
    }

    /// Opens the database, which must exist.
    ///
    /// # Errors
    /// As [`Installation::existing_store`], when there is none, or it is on a network file system.
    pub fn require_store(&self) -> Result<Store, RunnerError> {
        self.refuse_network()?;
        self.existing_store()?.ok_or_else(|| {
            DatabaseRefusal::Missing {
                database: self.config.database.clone(),
                root: self.root.clone(),
            }
            .into()
        })
    }

    /// Opens the database, or creates it, readable for this user only.
    ///
    /// # Errors
    /// As [`Installation::existing_store`], and when it is on a network file system.
    pub fn create_store(&self) -> Result<Store, RunnerError> {
        make_folder(&self.config.state_dir)?;
        self.refuse_network()?;
        match (self.existing_store()?, &self.config.database) {
            (Some(store), _) => Ok(store),
            (None, Database::File(path)) => new_store(path),
            (None, Database::Server(address)) => Ok(Store::create_on(address)?),
        }
    }

    /// Refuses a database on a network file system: locks are unreliable there.
    ///
    /// # Errors
    /// When it is on one, or the system does not tell.
    pub(crate) fn refuse_network(&self) -> Result<(), RunnerError> {
        let folder = &self.config.state_dir;
        if self.config.database.server().is_some() {
            make_folder(folder)?;
        }
        refuse_network(&self.config.state_name(), network_file_system_of(folder)?)
    }
}

/// Makes the folder of the installation's own state, for this user only.
fn make_folder(folder: &Path) -> Result<(), RunnerError> {
    use std::os::unix::fs::DirBuilderExt as _;
    if folder.as_os_str().is_empty() {
        return Ok(());
    }
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(|error| RunnerError::io("make the folder", folder, error))
}

/// Creates a new database, readable for this user only.
pub(super) fn new_store(database: &Path) -> Result<Store, RunnerError> {
    create_private(database)?;
    Ok(Store::open(database)?)
}

/// Opens whatever is there, whoever it belongs to.
pub(super) fn open_any(installation: &Installation) -> Result<Opened, RunnerError> {
    let database = match &installation.config.database {
        Database::File(path) => path,
        Database::Server(address) => {
            make_folder(&installation.config.state_dir)?;
            return match Store::open_on(address) {
                Ok(store) => Ok(Opened::Whole(Box::new(store))),
                Err(StoreError::Empty { .. }) => Ok(Opened::Missing),
                Err(error) => Err(error.into()),
            };
        }
    };
    // SQLite would treat an empty file as a new database, and remove the write-ahead log beside it.
    match database.metadata() {
        Ok(file) if file.len() == 0 => return Ok(Opened::Empty),
        Ok(_) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Opened::Missing),
        Err(error) => return Err(RunnerError::io("check the database", database, error)),
    }
    let opened = Store::open_existing_with(database, |migrating| {
        back_up_before(installation, migrating);
    });
    match opened {
        Ok(store) => Ok(Opened::Whole(Box::new(store))),
        Err(StoreError::Empty { .. }) => Ok(Opened::Empty),
        Err(error) => Err(error.into()),
    }
}

/// Refuses a database on a network file system: SQLite's locks, and those of runs, work on one machine only.
fn refuse_network(database: &Path, file_system: Option<&str>) -> Result<(), RunnerError> {
    match file_system {
        None => Ok(()),
        Some(name) => Err(DatabaseRefusal::OnNetwork {
            database: database.to_owned(),
            file_system: name.to_owned(),
        }
        .into()),
    }
}

/// Creates an empty file that only this user may read, unless there is one. SQLite treats it as a new database and
/// gives its other files the same mode.
fn create_private(path: &Path) -> Result<(), RunnerError> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let made = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path);
    match made {
        Ok(_file) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(RunnerError::io("make the database", path, error)),
    }
}

#[cfg(test)]
mod tests {
    use symphony_workspace::file_system::network_file_system;

    use super::*;

    #[test]
    fn a_database_lies_on_a_local_disk() {
        let path = Path::new("/home/me/p/.symphony/symphony.db");
        for (magic, refused) in [
            (0x6969, Some("nfs")),
            (0xff53_4d42, Some("cifs")),
            (0x0102_1997, Some("9p")),
            (0xef53, None),
            (0x0102_1994, None),
        ] {
            let said = refuse_network(path, network_file_system(magic));
            let expected = refused.map(|name| {
                format!(
                    "the database /home/me/p/.symphony/symphony.db is on a network file system ({name}), where file locks are unreliable"
                )
            });
            assert_eq!(
                said.err().map(|error| error.to_string()),
                expected,
                "{magic:#x}"
            );
        }
    }

    #[test]
    fn a_new_database_is_private_and_an_old_one_is_left_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.db");
        create_private(&path).unwrap();
        drop(Store::open(&path).unwrap());
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let size = path.metadata().unwrap().len();
        create_private(&path).unwrap();
        assert_eq!(path.metadata().unwrap().len(), size);
    }
}
