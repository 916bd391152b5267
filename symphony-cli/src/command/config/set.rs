//! `symphony config set`.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use serde::Serialize;
use serde_json::Value;
use symphony_workspace::config_file::{CONFIG_FILE_NAME, ConfigFileError, set};

use super::check::problems;
use super::show::role;
use crate::app::App;
use crate::failure::{Exit, Stop};

/// What `config set` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  symphony config set max_concurrency 2\n  symphony config set gates '[{\"name\": \"test\", \"command\": \"make test\"}]'"
)]
pub(crate) struct SetArgs {
    /// The key: a dotted path such as `worktree.setup` or `gates[0].command`
    key: String,
    /// The value: JSON, or a text
    #[arg(allow_hyphen_values = true)]
    value: String,
    /// Write the file of all projects, `~/.config/symphony/config.json`
    #[arg(long)]
    global: bool,
}

/// What was set.
#[derive(Debug, Serialize)]
struct ChangeView {
    key: String,
    value: Value,
    file: PathBuf,
}

impl SetArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let paths = app.surroundings.config_paths();
        let file = if self.global {
            paths.global.ok_or_else(|| {
                Stop::new(Exit::Failed, "find the global file: HOME is not set")
                    .hint("set HOME, or leave out --global")
            })?
        } else {
            match paths.explicit {
                Some(file) => file,
                None => app.surroundings.root()?.join(CONFIG_FILE_NAME),
            }
        };
        let change = set(&file, role(self.global), &self.key, &self.value)
            .map_err(refusal)
            .with_context(|| format!("set `{}`", self.key))?;
        let view = ChangeView {
            key: change.path.to_string(),
            value: change.value,
            file,
        };
        let sentence = format!("{} is {} in {}.", view.key, view.value, view.file.display());
        app.out.done(&view, &sentence)?;
        // a value that is right by itself can be at odds with others, until those are set too
        for problem in problems(app).unwrap_or_default() {
            app.out.warn(&problem.to_string());
        }
        Ok(())
    }
}

/// Names what is wrong with a value: the file has it not yet, so that checking the file would find nothing.
fn refusal(error: ConfigFileError) -> anyhow::Error {
    let problems: Vec<String> = error.problems().iter().map(ToString::to_string).collect();
    if problems.is_empty() {
        return error.into();
    }
    Stop::new(Exit::Failed, problems.join("; "))
        .hint("`symphony config schema` says what is allowed")
        .into()
}
