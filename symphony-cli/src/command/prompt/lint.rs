//! `symphony prompt lint`.

use clap::Args;
use symphony_prompt::lint::Finding;
use symphony_runner::prompts::lint::lint_project;
use symphony_view::text::List;
use symphony_view::{FindingView, counted, errors};

use crate::app::App;
use crate::failure::{Context as _, Exit, Stop};

/// What `prompt lint` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "It checks the files in `prompts_dir`, WORKFLOW.md and CLAUDE.md, and the instructions from `profile \
                  set`. It reports tools, profiles and phases that do not exist, tools that the reader of a text does \
                  not have, texts that reach no agent, leftover placeholders, texts that do not fit the budget, and statements \
                  that contradict how agents work. The exit code is 1 if there are errors, and 0 for warnings \
                  alone.\n\nWith --json: `file`, `line`, `severity`, `rule`, `found` and `advice` of each problem.\n\nExample:\n  symphony prompt lint"
)]
pub(crate) struct LintArgs {}

impl LintArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let Self {} = self;
        let findings = lint_here(app).context("check the prompts")?;
        let view: List<FindingView> = findings.iter().cloned().map(FindingView::from).collect();
        app.out.answer_long(&view)?;
        if errors(&findings).next().is_none() {
            return Ok(());
        }
        let message = format!("the prompts have {}", counted(&findings));
        let hint =
            "no agent starts while a file is wrong; fix it, or remove it to use the shipped one";
        Err(Stop::new(Exit::Failed, message).hint(hint).into())
    }
}

/// Checks the prompts of this repository, whether it is set up or not.
///
/// # Errors
/// When its configuration is wrong, or a file cannot be read.
pub(crate) fn lint_here(app: &App) -> anyhow::Result<Vec<Finding>> {
    let installation = app.surroundings.installation()?;
    let root = &installation.root;
    let store = installation.existing_store()?;
    let project = match &store {
        Some(store) => store.project_at(root)?,
        None => None,
    };
    let recorded = project.as_ref();
    let id = recorded.map(|project| &project.id);
    let settings = recorded.map(|project| &project.settings);
    let config = installation.loaded().project(id, root, settings)?.config;
    Ok(lint_project(
        &installation,
        &config,
        root,
        store.as_ref().zip(recorded),
    )?)
}
