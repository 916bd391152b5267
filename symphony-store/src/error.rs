//! Errors of the database, by what the caller can do next.

use std::path::PathBuf;

use symphony_core::id::{PlanId, PrId, RunId};
use symphony_core::issue::{FieldError, TransitionError};
use symphony_core::plan::state::PlanTransitionError;
use symphony_core::review_point::PointError;

use crate::db::{DbError, Fault};
use crate::issue::refusal::IssueRefusal;
use crate::plan::refusal::PlanRefusal;
use crate::project::refusal::ProjectRefusal;
use crate::review::refusal::ReviewRefusal;

/// An error of the store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The thing does not exist.
    #[error("there is no {what} `{id}`")]
    NotFound {
        /// What kind of thing it is.
        what: &'static str,
        /// Its id.
        id: String,
    },
    /// The transition is not in the table.
    #[error("{id}: {source}")]
    Transition {
        /// The issue.
        id: String,
        /// What is allowed instead.
        #[source]
        source: TransitionError,
    },
    /// An event does not fit the state of a plan or one of its phases.
    #[error("plan {plan}: {source}")]
    PlanTransition {
        /// The plan.
        plan: PlanId,
        /// What is allowed instead.
        #[source]
        source: PlanTransitionError,
    },
    /// A field is over a limit or malformed.
    #[error(transparent)]
    Field(#[from] FieldError),
    /// A rule about review points forbids it.
    #[error(transparent)]
    Point(#[from] PointError),
    /// A review, a proposal or a delivery is not where it can be.
    #[error(transparent)]
    Review(#[from] ReviewRefusal),
    /// A plan is not where it can be.
    #[error(transparent)]
    Plan(#[from] PlanRefusal),
    /// An issue is not added, changed or deleted.
    #[error(transparent)]
    Issue(#[from] IssueRefusal),
    /// A project is not added, changed or removed.
    #[error(transparent)]
    Project(#[from] ProjectRefusal),
    /// A run has added as many as it may of something.
    #[error("this run has added {written} entries of kind `{kind}`; the limit is {limit} a run")]
    RunLimit {
        /// What it added.
        kind: &'static str,
        /// How many.
        written: i64,
        /// The limit.
        limit: i64,
    },
    /// An agent asks for what people do.
    #[error("only people can {0}")]
    OnlyPeople(&'static str),
    /// A rule forbids it.
    #[error("{reason}")]
    Refused {
        /// Which rule, and what to do instead.
        reason: String,
    },
    /// A merge of the pull request has started: until it is recorded or taken back, nothing else may be done to it.
    #[error(
        "pull request {pr} is being merged right now: try again when that has ended (`symphony pr show {pr}`). If the \
         merge was interrupted, the next command on it, or `symphony tick`, settles it; the merge of another host is \
         settled there, or by an order here after ten minutes"
    )]
    MergeBegun {
        /// The pull request.
        pr: PrId,
    },
    /// The run that writes has ended.
    #[error("run {run} has ended: nothing more can be recorded for it")]
    Superseded {
        /// The run.
        run: RunId,
    },
    /// Another process kept the database locked for longer than the wait.
    #[error("the database is busy: another process held its lock for more than 10 s")]
    Busy(#[source] DbError),
    /// The server of the database could not carry out a statement, for want of time, memory or a disk that answers. Nothing was stored. The
    /// same may succeed later, unless the statement itself asks for too much.
    #[error("the database's server could not carry out a statement: {0}")]
    Overtaxed(#[source] DbError),
    /// The server of the database cannot be reached, or the connection to it broke before anything was stored. It can be repeated.
    #[error("the database cannot be reached: {0}")]
    Unreachable(#[source] DbError),
    /// The connection to the server broke while it stored something. To repeat it could do it twice: look first.
    #[error("it is not known whether this was stored: {0}")]
    Unknown(#[source] DbError),
    /// The database was written by a newer Symphony.
    #[error("the database {} cannot be opened: its schema has version {found}, but this Symphony supports up to {known}: a newer version wrote it", path.display())]
    NewerSchema {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The newest version known here.
        known: i64,
    },
    /// The tables on the server are those of an older Symphony.
    #[error(
        "the database {address} cannot be opened: its schema has version {found}, and this Symphony needs {needed}"
    )]
    OlderSchema {
        /// The server.
        address: String,
        /// Its version.
        found: i64,
        /// The version of this Symphony.
        needed: i64,
    },
    /// The server does not answer, or takes no connection at the moment. It can be tried again.
    #[error("the database {address} cannot be opened: {reason}")]
    NoAnswer {
        /// The server.
        address: String,
        /// In its words, or in those of the system.
        reason: String,
    },
    /// The server cannot be used as it is.
    #[error("the database {address} cannot be opened: {reason}")]
    Server {
        /// The server.
        address: String,
        /// Why, and what to do.
        reason: String,
    },
    /// This program was built without PostgreSQL.
    #[error("the database {address} cannot be opened: this Symphony was built without PostgreSQL")]
    NoPostgres {
        /// The server.
        address: String,
    },
    /// The file cannot be opened.
    #[error("the database {} cannot be opened: {reason}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Why, and what to do.
        reason: String,
    },
    /// A column of a row has an invalid value.
    #[error(
        "the database contains an invalid {what} (`{found}`): restore a backup, or ask for help"
    )]
    InvalidRow {
        /// The column.
        what: &'static str,
        /// Its value.
        found: String,
    },
    /// The file has no schema: it was cut off, or has not been filled yet.
    #[error("the database {} is empty", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The file is damaged or not a database. Restore a backup.
    #[error("the database {} cannot be opened: {reason}", path.display())]
    NotADatabase {
        /// The file.
        path: PathBuf,
        /// What it is instead.
        reason: &'static str,
    },
    /// A part of the file is damaged. Restore a backup.
    #[error("the database is damaged")]
    Damaged(#[source] DbError),
    /// The disk is full.
    #[error("the database cannot be written: the disk is full")]
    DiskFull(#[source] DbError),
    /// Any other error of the database.
    #[error("the database reports an error: {0}")]
    Database(#[source] DbError),
}

impl From<DbError> for StoreError {
    fn from(error: DbError) -> Self {
        match error.fault() {
            Fault::DiskFull => Self::DiskFull(error),
            Fault::Busy => Self::Busy(error),
            Fault::Damaged | Fault::NotADatabase => Self::Damaged(error),
            #[cfg(feature = "postgres")]
            Fault::Lost | Fault::Unreachable => Self::Unreachable(error),
            #[cfg(feature = "postgres")]
            Fault::Overtaxed => Self::Overtaxed(error),
            #[cfg(feature = "postgres")]
            Fault::Unknown => Self::Unknown(error),
            Fault::NoAccess | Fault::NoRows | Fault::Other => Self::Database(error),
        }
    }
}

/// For what only SQLite has: copies of its file, its own settings.
impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        DbError::from(error).into()
    }
}

impl StoreError {
    /// Returns the error for something that does not exist.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "callers pass ids and references to ids alike"
    )]
    pub(crate) fn not_found(what: &'static str, id: impl ToString) -> Self {
        Self::NotFound {
            what,
            id: id.to_string(),
        }
    }

    /// Says whether what it is about is not in the state for it, or may not have more.
    pub const fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::Review(_)
                | Self::Plan(_)
                | Self::Issue(_)
                | Self::Project(_)
                | Self::RunLimit { .. }
                | Self::OnlyPeople(_)
                | Self::Refused { .. }
        )
    }

    /// Says whether the server of the database did not answer: the same may succeed later.
    pub const fn is_unanswered(&self) -> bool {
        matches!(
            self,
            Self::Unreachable(_) | Self::Unknown(_) | Self::NoAnswer { .. }
        )
    }

    /// Returns the error for a rule that forbids something.
    pub(crate) fn refused(reason: impl Into<String>) -> Self {
        Self::Refused {
            reason: reason.into(),
        }
    }
}
