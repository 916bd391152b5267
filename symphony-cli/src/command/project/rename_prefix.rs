//! `symphony project rename-prefix`.

use clap::Args;
use symphony_core::config::{FileRole, IssuePrefix};
use symphony_core::id::ProjectId;
use symphony_workspace::config_file::{CONFIG_FILE_NAME, set};

use super::list::summary;
use crate::app::App;
use crate::failure::Context as _;

/// What `project rename-prefix` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "New issues get the prefix. Existing issues keep their identifiers, branches and worktrees. Numbering \
                  continues: after SYM-11 comes API-12.\n\nExample:\n  symphony project rename-prefix api API"
)]
pub(crate) struct RenamePrefixArgs {
    /// The project
    project: ProjectId,
    /// The prefix of its new issues: capital letters and digits
    #[arg(value_parser = |text: &str| IssuePrefix::parse(text))]
    prefix: IssuePrefix,
}

impl RenamePrefixArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let mut session = app.session()?;
        let what = || format!("rename the prefix of project {}", self.project);
        let renamed = session
            .store
            .rename_prefix(&App::as_human(), &self.project, self.prefix.as_str())
            .with_context(what)?;
        // the configuration names the prefix, too, and `doctor` compares them
        let file = renamed.root.join(CONFIG_FILE_NAME);
        if file.is_file() {
            set(&file, FileRole::Project, "prefix", self.prefix.as_str()).with_context(what)?;
        }
        let sentence = format!(
            "New issues of {} begin with {}-; those that exist keep their identifiers.",
            renamed.id, renamed.prefix
        );
        app.out.done(&summary(&session, renamed)?, &sentence)
    }
}
