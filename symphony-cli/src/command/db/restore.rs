//! `symphony db restore`.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use symphony_core::Timestamp;
use symphony_core::backup::BackupCause;
use symphony_core::command_line::shell_quoted;
use symphony_core::config::IssuePrefix;
use symphony_core::id::ProjectId;
use symphony_runner::RunnerError;
use symphony_runner::database::{
    Backup, Consent, DatabaseRefusal, RestoreSource, Restored, list_backups, restore,
};
use symphony_runner::installation::Installation;
use symphony_view::text::{Clock, List, Listed, Page, View, ago, plural};
use symphony_workspace::config_file::CONFIG_FILE_NAME;

use crate::app::App;
use crate::failure::Context as _;
use crate::failure::{Exit, Stop};

/// What the command was doing when an error stopped it.
const RESTORE: &str = "restore the database";

/// What `db restore` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Ticks make a backup in every hour in which something happened, and an update makes one before it changes the \
                  schema. Backups are in $XDG_STATE_HOME/symphony (~/.local/state/symphony). A restore does not touch branches \
                  or worktrees, and keeps the replaced file. New issues get higher numbers than any that the repository shows. \
                  An intact database is replaced only with --yes; without it, the command shows what would be lost.\n\n\
                  Examples:\n  symphony db restore --list\n  symphony db restore"
)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
pub(crate) struct RestoreArgs {
    /// The backup: a file, or the name of one that --list shows; by default the newest
    #[arg(value_name = "BACKUP")]
    backup: Option<PathBuf>,
    /// Keep the current database although the repository shows newer work, for example because you put an older copy back; new issues get numbers that were never used
    #[arg(long, conflicts_with_all = ["backup", "empty", "list"])]
    keep: bool,
    /// List the backups of this repository's database, newest first
    #[arg(long, conflicts_with_all = ["backup", "empty"])]
    list: bool,
    /// Start with an empty database; branches and worktrees stay as they are
    #[arg(long, conflicts_with = "backup")]
    empty: bool,
    /// With --empty: the prefix of the issues' identifiers; by default the one in the names of the branches
    #[arg(long, value_name = "PREFIX", requires = "empty", value_parser = |text: &str| IssuePrefix::parse(text))]
    prefix: Option<IssuePrefix>,
    /// Replace the current database even if it is intact
    #[arg(long, conflicts_with_all = ["keep", "list"])]
    yes: bool,
}

/// A backup.
#[derive(Debug, Serialize)]
struct BackupView {
    path: PathBuf,
    made_at: Timestamp,
    cause: &'static str,
    bytes: u64,
}

impl From<Backup> for BackupView {
    fn from(backup: Backup) -> Self {
        Self {
            path: backup.path,
            made_at: backup.name.at,
            cause: match backup.name.cause {
                BackupCause::Hourly => "hourly",
                BackupCause::Migration(_) => "before an update",
                BackupCause::Restore => "before a restore",
            },
            bytes: backup.bytes,
        }
    }
}

impl Listed for BackupView {
    fn write_all(items: &[Self], page: &mut Page) {
        if items.is_empty() {
            page.line("Found no backup of this repository's database.");
        }
        let now = Timestamp::now();
        for backup in items {
            page.line(&format!(
                "{}  {}, {}, {} KiB",
                backup.path.display(),
                ago(backup.made_at, now),
                backup.cause,
                backup.bytes.div_ceil(1024)
            ));
        }
    }
}

/// What was restored.
#[derive(Debug, Serialize)]
struct RestoredView {
    project: ProjectId,
    database: PathBuf,
    /// The backup; none when the repository began again.
    backup: Option<PathBuf>,
    /// Where the replaced file is now.
    replaced: Option<PathBuf>,
    /// The command that brings it back, where it was intact.
    undo: Option<String>,
    config_restored: bool,
    /// Whether the repository has no configuration file now.
    config_missing: bool,
    next_numbers: Vec<NextNumber>,
    unknown_publications: usize,
}

/// Where the numbers of a project's issues go on.
#[derive(Debug, Serialize)]
struct NextNumber {
    project: ProjectId,
    number: u64,
}

impl RestoredView {
    fn new(restored: Restored, installation: &Installation) -> Self {
        let numbers = restored.record.next_numbers.into_iter();
        Self {
            project: restored.project,
            database: restored.database,
            backup: restored.backup,
            undo: restored
                .replaced
                .as_ref()
                .filter(|_| restored.can_be_undone)
                .map(|replaced| {
                    let file = shell_quoted(&replaced.display().to_string());
                    format!("symphony db restore {file} --yes")
                }),
            replaced: restored.replaced,
            config_restored: restored.config_restored,
            config_missing: !installation.root.join(CONFIG_FILE_NAME).exists()
                && installation.config_paths.explicit.is_none(),
            next_numbers: numbers
                .map(|(project, number)| NextNumber { project, number })
                .collect(),
            unknown_publications: restored.record.unknown_publications,
        }
    }
}

impl View for RestoredView {
    fn write(&self, page: &mut Page) {
        let database = self.database.display();
        match &self.backup {
            Some(backup) if *backup == self.database => page.line(&format!("Kept {database}.")),
            Some(backup) => page.line(&format!("Restored {database} from {}.", backup.display())),
            None => page.line(&format!("{database} now has no issues and no runs.")),
        }
        if let Some(replaced) = &self.replaced {
            page.line(&format!("The replaced file is now {}.", replaced.display()));
        }
        if let Some(undo) = &self.undo {
            page.line(&format!("`{undo}` undoes this restore."));
        }
        for NextNumber { project, number } in &self.next_numbers {
            page.line(&format!(
                "Numbers below {number} are taken: new issues of {project} continue from {number}."
            ));
        }
        if self.unknown_publications > 0 {
            page.line(&format!(
                "Symphony cannot tell whether {} published: `symphony inbox` lists them.",
                match self.unknown_publications {
                    1 => "1 pull request was".to_owned(),
                    count => format!("{} were", plural(count, "pull request")),
                }
            ));
        }
        if self.config_restored {
            page.line(&format!(
                "Also restored {CONFIG_FILE_NAME}, which was missing."
            ));
        }
        if self.config_missing {
            page.line(&format!(
                "{CONFIG_FILE_NAME} is missing, so no gates are configured. Restore it, or write a new one with \
                 `symphony init`."
            ));
        }
        page.gap();
        page.line("Next:");
        page.line("  symphony doctor --audit    compares the database with the repository");
        page.line("  symphony inbox             lists what needs your attention");
    }
}

impl RestoreArgs {
    pub(super) fn run(&self, app: &App, installation: &Installation) -> anyhow::Result<()> {
        if self.list {
            let backups = list_backups(installation).context("list the backups")?;
            let views: List<BackupView> = backups.into_iter().map(BackupView::from).collect();
            return app.out.answer(&views);
        }
        let source = match &self.backup {
            _ if self.empty => RestoreSource::Empty(self.prefix.clone()),
            _ if self.keep => RestoreSource::InPlace,
            // a name without a folder is one of those that are listed, unless there is such a file here
            Some(name) => {
                let file = app.surroundings.current.join(name);
                RestoreSource::Named(if file.is_file() { file } else { name.clone() })
            }
            None => RestoreSource::Newest,
        };
        let consent = if self.yes {
            Consent::Given
        } else {
            Consent::Unasked
        };
        let restored = match restore(installation, &source, consent) {
            Err(RunnerError::Database(refusal)) if let Some(stop) = self.unasked(&refusal) => {
                Err(stop).context(RESTORE)?
            }
            restored => restored.context(RESTORE)?,
        };
        app.out.answer(&RestoredView::new(restored, installation))
    }

    /// Says what a restore would lose that no one has confirmed; none for other refusals.
    fn unasked(&self, refusal: &DatabaseRefusal) -> Option<Stop> {
        let DatabaseRefusal::Healthy { loss, .. } = refusal else {
            return None;
        };
        let clock = Clock::system();
        let mut message = refusal.to_string();
        if let Some(newest) = loss.newest {
            message.push_str(&format!(
                "; its newest entry is from {}",
                clock.since(newest)
            ));
        }
        if let Some(newest) = loss.replacement_newest {
            message.push_str(&format!(
                ", that of the backup from {}",
                clock.since(newest)
            ));
        }
        let mut command = "symphony db restore".to_owned();
        if let Some(backup) = &self.backup {
            command.push_str(&format!(" {}", shell_quoted(&backup.display().to_string())));
        }
        if self.empty {
            command.push_str(" --empty");
        }
        if let Some(prefix) = &self.prefix {
            command.push_str(&format!(" --prefix {}", prefix.as_str()));
        }
        let hint = format!(
            "`{command} --yes` replaces it, and keeps the current file next to the new one"
        );
        Some(Stop::new(Exit::Refused, message).hint(hint))
    }
}
