//! `symphony db copy`.

use std::ffi::OsString;

use clap::Args;
use serde::Serialize;
use symphony_core::command_line::shell_quoted;
use symphony_core::config::{Database, ServerAddress};
use symphony_runner::database::copy_database;
use symphony_runner::installation::Installation;
use symphony_view::text::{Page, View, plural};

use crate::app::App;
use crate::failure::{Context as _, Exit, Stop};

/// What `db copy` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "The target must be empty. Either everything is copied or nothing: Symphony counts and compares the rows before \
                  the copy is complete. The old database stays as it is, and so does the configuration: name the new database in \
                  it afterwards, on each host. On a server, copy as the owner of the tables, and name the everyday user in the \
                  configuration.\n\nExamples:\n  symphony db copy --to postgres://symphony_admin@db.example/symphony\n  \
                  symphony db copy --to .symphony/symphony.db"
)]
pub(crate) struct CopyArgs {
    /// The target: the address of a database on a server, or a new file
    #[arg(long, value_name = "URL|FILE")]
    to: OsString,
}

/// What was copied.
#[derive(Debug, Serialize)]
struct CopyView {
    from: Database,
    to: Database,
    rows: u64,
    tables: Vec<TableView>,
}

/// A table that was copied.
#[derive(Debug, Serialize)]
struct TableView {
    name: String,
    rows: u64,
    checksum: String,
}

impl View for CopyView {
    fn write(&self, page: &mut Page) {
        let rows = usize::try_from(self.rows).unwrap_or(usize::MAX);
        page.line(&format!(
            "Copied {} in {} to {}, and compared them.",
            plural(rows, "row"),
            plural(self.tables.len(), "table"),
            self.to
        ));
        page.line(&format!("{} stays as it is.", self.from));
        page.gap();
        page.line("Next:");
        let to = shell_quoted(&self.to.to_string());
        let user = match self.to.server() {
            Some(_) => "; put the everyday user in it, not the owner of the tables",
            None => "",
        };
        page.line(&format!(
            "  symphony config set database {to}    uses the copy from now on{user}"
        ));
        page.line("  symphony doctor --audit    checks it");
    }
}

impl CopyArgs {
    pub(super) fn run(&self, app: &App, installation: &Installation) -> anyhow::Result<()> {
        let to = self.target(app)?;
        let what = || format!("copy the database to {to}");
        let tables = copy_database(installation, &to).with_context(what)?;
        let view = CopyView {
            from: installation.config.database.clone(),
            rows: tables.iter().map(|table| table.rows).sum(),
            tables: tables
                .into_iter()
                .map(|table| TableView {
                    name: table.name,
                    rows: table.rows,
                    checksum: format!("{:032x}", table.checksum),
                })
                .collect(),
            to: to.clone(),
        };
        app.out.answer(&view)
    }

    fn target(&self, app: &App) -> anyhow::Result<Database> {
        let address = self
            .to
            .to_str()
            .filter(|text| ServerAddress::is_meant(text));
        let Some(address) = address else {
            return Ok(app.surroundings.current.join(&self.to).into());
        };
        let address = ServerAddress::parse(address)
            .map_err(|error| Stop::new(Exit::Usage, format!("the address after `--to` {error}")))?;
        Ok(address.into())
    }
}
