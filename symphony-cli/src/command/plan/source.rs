//! The plan file that a command is about.

use std::path::{Path, PathBuf};

use symphony_core::command_line::shell_quoted;
use symphony_core::plan::{Dag, Plan, PlanError, PlanWarning, parse_plan};
use symphony_workspace::plan_file::{find_plan_file, read_plan_file};

use crate::app::App;
use crate::failure::{Context as _, Exit, Stop};

/// A plan file that is right.
#[derive(Debug)]
pub(super) struct PlanSource {
    /// Its path, as it was named or found.
    pub(super) path: PathBuf,
    /// What it says.
    pub(super) plan: Plan,
    /// What is odd about it.
    pub(super) warnings: Vec<PlanWarning>,
    /// Who waits for whom.
    pub(super) dag: Dag,
}

/// Finds the plan file that is meant when none is named.
///
/// # Errors
/// When there is none.
pub(super) fn find_plan(app: &App) -> anyhow::Result<PathBuf> {
    let home = app.surroundings.variable("HOME").map(Path::new);
    find_plan_file(home, &app.surroundings.current).ok_or_else(|| {
        Stop::new(
            Exit::NotFound,
            "no plan was found: neither plan.md here nor a file in ~/.claude/plans has a ```symphony-phases block",
        )
        .hint("name the file, or write one as docs/plans.md describes")
        .into()
    })
}

/// Returns the plan file that is named, or the one that is meant when none is.
///
/// # Errors
/// When none is named and there is none.
pub(super) fn named_or_found(app: &App, file: Option<&Path>) -> anyhow::Result<PathBuf> {
    file.map_or_else(|| find_plan(app), |file| Ok(file.to_owned()))
}

/// Reads the text of a plan file.
///
/// # Errors
/// When it cannot be read.
pub(super) fn read_plan(app: &App, file: &Path) -> anyhow::Result<String> {
    Ok(read_plan_file(&app.surroundings.current.join(file))?)
}

/// Names the command that shows where a plan file is wrong.
fn with_command(error: PlanError, path: &Path) -> anyhow::Error {
    match error {
        PlanError::Invalid { .. } => {
            let path = shell_quoted(&path.display().to_string());
            Stop::new(Exit::Failed, error.to_string())
                .hint(format!("`symphony plan check {path}` names the lines"))
                .into()
        }
        other => other.into(),
    }
}

/// Loads a plan file, the one that is named or the one that is found; its warnings go to standard error.
///
/// # Errors
/// When there is none, or it is not valid.
pub(super) fn load_plan(app: &App, file: Option<&Path>) -> anyhow::Result<PlanSource> {
    let path = named_or_found(app, file)?;
    let text = read_plan(app, &path)?;
    let what = || format!("use the plan {}", path.display());
    let (plan, warnings) = parse_plan(&text)
        .map_err(|error| with_command(error, &path))
        .with_context(what)?;
    let dag = Dag::new(&plan.phases).with_context(what)?;
    for warning in &warnings {
        app.out.warn(&located(&path, warning));
    }
    Ok(PlanSource {
        path,
        plan,
        warnings,
        dag,
    })
}

/// A warning with its place.
pub(super) fn located(path: &Path, warning: &PlanWarning) -> String {
    format!("{}:{}: {warning}", path.display(), warning.line())
}
