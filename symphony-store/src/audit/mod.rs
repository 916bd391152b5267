//! The audit: every invariant of [`Invariant`](symphony_core::invariant::Invariant) that can be stated on the database.
//!
//! It only reads, on one state of the database. Each finding names the row and what is wrong with it. `rows` has the
//! checks that are one query each, `phases` those of them about phases of issues and plans, `log` those that replay the
//! log, `limits` those that depend on the configuration, and `file` and `server` those on what holds the rows. `step` is
//! what a caller hears meanwhile. [`Store::for_each_text`] shows every text to a search for secrets.

mod file;
mod limits;
mod log;
mod phases;
mod rows;
mod server;
mod step;
mod text;

use std::collections::BTreeMap;

use symphony_core::id::ProjectId;
use symphony_core::invariant::Violation;
use symphony_core::tick::{ProjectView, SlotLimits};

pub(crate) use file::check as check_file;
pub use step::{AuditStep, AuditWatch};
pub use text::TextPlace;

use crate::database::open::Store;
use crate::db::Connection;
use crate::error::StoreError;

/// The configuration that the audit compares the rows with.
#[derive(Debug, Clone, Default)]
pub struct AuditRequest {
    /// The configured projects. Limits of a project that is missing here are not checked.
    pub projects: BTreeMap<ProjectId, ProjectView>,
    /// The installation's limits.
    pub slots: SlotLimits,
}

impl Store {
    /// Checks everything. Without a finding, all invariants that can be stated on the database hold.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn audit(&mut self, request: &AuditRequest) -> Result<Vec<Violation>, StoreError> {
        self.audit_watched(request, &mut |_| {})
    }

    /// Checks everything, as [`Store::audit`], and reports each step before it is taken.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn audit_watched(
        &mut self,
        request: &AuditRequest,
        watch: AuditWatch<'_>,
    ) -> Result<Vec<Violation>, StoreError> {
        self.read(|tx| {
            let mut found = Vec::new();
            watch(AuditStep::File);
            file::check(tx, &mut found)?;
            rows::check(tx, rows::Extent::All, &mut *watch, &mut found)?;
            limits::check(tx, request, &mut found)?;
            log::check_all(tx, &mut *watch, &mut found)?;
            Ok(found)
        })
    }

    /// Checks the file itself: integrity, references, schema version.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn audit_file(&mut self) -> Result<Vec<Violation>, StoreError> {
        self.read(|tx| {
            let mut found = Vec::new();
            file::check(tx, &mut found)?;
            Ok(found)
        })
    }

    /// Checks what is cheap: the live runs, and the issues of entries after a given one of the log. Returns the
    /// findings, and the last entry, to continue from.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn audit_since(
        &mut self,
        request: &AuditRequest,
        event: i64,
    ) -> Result<(Vec<Violation>, i64), StoreError> {
        self.read(|tx| {
            let mut found = Vec::new();
            rows::check(tx, rows::Extent::LiveOnly, &mut |_| {}, &mut found)?;
            limits::check(tx, request, &mut found)?;
            log::check_since(tx, event, &mut found)?;
            Ok((found, last_event(tx)?))
        })
    }
}

fn last_event(conn: &Connection) -> Result<i64, StoreError> {
    Ok(
        conn.query_row("SELECT coalesce(max(id), 0) FROM event", [], |row| {
            row.get(0)
        })?,
    )
}
