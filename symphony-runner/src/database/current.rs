//! The database that a restore replaces: one that can be used is only replaced with consent.

use std::path::Path;

use symphony_core::restore::loss_of;
use symphony_store::{BackupFile, Store};

use super::identity::{Opened, is_usable};
use super::open::open_any;
use super::refusal::DatabaseRefusal;
use crate::error::RunnerError;
use crate::installation::Installation;

/// Whether a person has confirmed that a database which can be used is to be replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consent {
    /// Only one that is missing, damaged or not usable here is replaced.
    Unasked,
    /// Any is replaced.
    Given,
}

/// The database that is in place.
pub(super) struct Current {
    /// It, if it can be opened; a damaged one is only set aside.
    pub(super) store: Option<Store>,
    /// Whether it is whole, and can be used for the repository.
    pub(super) is_healthy: bool,
}

impl Current {
    /// Refuses to replace a healthy database without consent; `backup` would take its place, or else an empty one.
    pub(super) fn require_consent(
        &self,
        installation: &Installation,
        backup: Option<(&Path, &BackupFile)>,
        consent: Consent,
    ) -> Result<(), RunnerError> {
        let store = self.store.as_ref().filter(|_| self.is_healthy);
        let Some(store) = store.filter(|_| consent == Consent::Unasked) else {
            return Ok(());
        };
        let replacement = backup.map(|(_, file)| file.holdings()).transpose()?;
        let refusal = DatabaseRefusal::Healthy {
            database: installation.config.database.clone(),
            backup: backup.map(|(path, _)| path.to_owned()),
            loss: Box::new(loss_of(&store.holdings()?, replacement.as_ref())),
        };
        Err(refusal.into())
    }
}

/// Opens the database that is in place, if it can be opened, and judges it.
pub(super) fn current(installation: &Installation) -> Current {
    let opened = open_any(installation).unwrap_or(Opened::Missing);
    let is_usable = is_usable(installation, &opened);
    let mut store = match opened {
        Opened::Whole(store) => Some(*store),
        Opened::Missing | Opened::Empty => None,
    };
    let is_whole = |store: &mut Store| store.check_file().is_ok_and(|found| found.is_empty());
    Current {
        is_healthy: is_usable && store.as_mut().is_some_and(is_whole),
        store,
    }
}
