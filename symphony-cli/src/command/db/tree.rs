//! The commands on the database file.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde::Serialize;
use symphony_core::Timestamp;
use symphony_core::config::Database;
use symphony_core::invariant::Violation;
use symphony_runner::installation::Installation;
use symphony_store::{SCHEMA_VERSION, Store};
use symphony_view::text::{Page, View, plural};

use crate::app::App;
use crate::failure::{Context as _, Exit};

/// A command on the database.
#[derive(Debug, Subcommand)]
pub(crate) enum DbCommand {
    /// Check the database, its references and its schema; the exit code is 1 if anything is wrong
    Check(CheckArgs),
    /// Write a consistent copy of the database while agents keep running
    Backup(BackupArgs),
    /// Shrink the file to the size of its content
    Vacuum(VacuumArgs),
    /// Copy everything to a PostgreSQL server, or back to a file
    Copy(super::copy::CopyArgs),
    /// Create the tables on a PostgreSQL server, or bring them up to date
    Init(super::init::InitArgs),
    /// Replace a lost or damaged database with a backup or an empty one
    Restore(super::restore::RestoreArgs),
}

/// What `db check` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony db check")]
pub(crate) struct CheckArgs {}

/// What `db backup` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Without FILE the backup is written next to the database, with the time in its name. Never copy the \
                  database's file by other means while Symphony runs.\n\n\
                  Example:\n  symphony db backup /backups/symphony.db"
)]
pub(crate) struct BackupArgs {
    /// The file to write; it must not exist yet
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
}

/// What `db vacuum` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Other commands wait until it has finished.\n\nExample:\n  symphony db vacuum"
)]
pub(crate) struct VacuumArgs {}

/// What a check found.
#[derive(Debug, Serialize)]
struct CheckView {
    path: Database,
    schema_version: i64,
    ok: bool,
    problems: Vec<Violation>,
}

impl View for CheckView {
    fn write(&self, page: &mut Page) {
        let path = &self.path;
        if self.ok {
            let version = self.schema_version;
            page.line(&format!("{path} is intact (schema version {version})."));
            return;
        }
        page.line(&format!(
            "{path} has {}:",
            plural(self.problems.len(), "problem")
        ));
        for problem in &self.problems {
            page.line(&format!("- {}: {}", problem.subject, problem.detail));
        }
        page.line(if path.server().is_some() {
            "Run `symphony pause`, then restore a dump without these problems (docs/scale-out.md, Backups)."
        } else {
            "Run `symphony pause`, then restore a backup with `symphony db restore`."
        });
    }
}

/// What a backup wrote.
#[derive(Debug, Serialize)]
struct BackupView {
    path: PathBuf,
    bytes: u64,
}

/// How small the file became.
#[derive(Debug, Serialize)]
struct VacuumView {
    path: Database,
    bytes_before: u64,
    bytes_after: u64,
}

impl DbCommand {
    /// Runs it.
    ///
    /// # Errors
    /// As the command says.
    pub(crate) fn run(&self, app: &App) -> anyhow::Result<Exit> {
        if let Self::Restore(args) = self {
            args.run(app, &app.surroundings.installation()?)?;
            return Ok(Exit::Done);
        }
        if let Self::Init(args) = self {
            args.run(app, &app.surroundings.installation_anywhere()?)?;
            return Ok(Exit::Done);
        }
        if let Self::Copy(args) = self {
            args.run(app, &app.surroundings.installation()?)?;
            return Ok(Exit::Done);
        }
        let (installation, mut store) = app.surroundings.existing()?;
        let path = installation.config.database.clone();
        match self {
            Self::Check(CheckArgs {}) => {
                let problems = store.check_file().context("check the database")?;
                let view = CheckView {
                    path,
                    schema_version: SCHEMA_VERSION,
                    ok: problems.is_empty(),
                    problems,
                };
                app.out.answer(&view)?;
                return Ok(if view.ok { Exit::Done } else { Exit::Failed });
            }
            Self::Backup(args) => args.run(app, &store, &installation)?,
            Self::Vacuum(VacuumArgs {}) => {
                let sizes = store.vacuum().context("shrink the database")?;
                let (bytes_before, bytes_after) = (sizes.bytes_before, sizes.bytes_after);
                let sentence =
                    format!("The database had {bytes_before} bytes and now has {bytes_after}.");
                let view = VacuumView {
                    path,
                    bytes_before,
                    bytes_after,
                };
                app.out.done(&view, &sentence)?;
            }
            Self::Copy(_) | Self::Init(_) | Self::Restore(_) => {}
        }
        Ok(Exit::Done)
    }
}

impl BackupArgs {
    fn run(&self, app: &App, store: &Store, installation: &Installation) -> anyhow::Result<()> {
        let path = if let Some(file) = &self.file {
            app.surroundings.current.join(file)
        } else {
            let time = Timestamp::now().strftime("%Y%m%dT%H%M%SZ");
            installation.config.state_file(&format!("{time}.backup.db"))
        };
        let what = || format!("back the database up to {}", path.display());
        store.backup_to(&path).with_context(what)?;
        // a copy that cannot be read is worse than none: it is trusted
        let mut copy = Store::open_existing(&path).with_context(what)?;
        let problems = copy.check_file().with_context(what)?;
        if let Some(problem) = problems.first() {
            anyhow::bail!("the copy {} is damaged: {}", path.display(), problem.detail);
        }
        drop(copy);
        let bytes = std::fs::metadata(&path).with_context(what)?.len();
        let sentence = format!("Wrote {} ({bytes} bytes).", path.display());
        app.out.done(&BackupView { path, bytes }, &sentence)
    }
}
