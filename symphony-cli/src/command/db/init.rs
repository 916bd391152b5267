//! `symphony db init`.

use clap::Args;
use serde::Serialize;
use symphony_core::config::Database;
use symphony_runner::installation::Installation;
use symphony_store::{SCHEMA_VERSION, SchemaChange, Store};

use crate::app::App;
use crate::failure::{Context as _, Exit, Stop};

/// What `db init` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Run it as the owner of the tables, once before the first repository is set up, and again after each update of \
                  Symphony that needs it. If the roles `symphony_control` and `symphony_worker` exist, it also grants them what \
                  they need. A database file needs no such step.\n\nExample:\n  symphony db init"
)]
pub(crate) struct InitArgs {}

/// What it did.
#[derive(Debug, Serialize)]
struct InitView {
    database: Database,
    schema_version: i64,
    /// The version before; none where there were no tables.
    from: Option<i64>,
}

impl InitArgs {
    pub(super) fn run(&self, app: &App, installation: &Installation) -> anyhow::Result<()> {
        let Self {} = self;
        let database = &installation.config.database;
        let Some(address) = database.server() else {
            let message =
                format!("the database {database} is a file, which `symphony init` creates");
            return Err(Stop::new(Exit::Refused, message)
                .hint("name a server with `symphony config set database postgres://USER@HOST/DATABASE`")
                .into());
        };
        let change = Store::prepare_on(address).context("create the tables")?;
        let (from, sentence) = match change {
            SchemaChange::Created => (
                None,
                format!("Created the tables in {database} (schema version {SCHEMA_VERSION})."),
            ),
            SchemaChange::Migrated { from } => (
                Some(from),
                format!(
                    "Updated the tables in {database} from schema version {from} to {SCHEMA_VERSION}."
                ),
            ),
            SchemaChange::Unchanged => (
                Some(SCHEMA_VERSION),
                format!(
                    "The tables in {database} are up to date (schema version {SCHEMA_VERSION})."
                ),
            ),
        };
        let view = InitView {
            database: database.clone(),
            schema_version: SCHEMA_VERSION,
            from,
        };
        app.out.done(&view, &sentence)
    }
}
