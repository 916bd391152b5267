//! `symphony plan parse`.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use symphony_core::id::PlanPhaseId;
use symphony_core::plan::{Plan, PlanWarning};

use super::source::{PlanSource, load_plan};
use crate::app::App;

/// What `plan parse` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony plan parse plan.md | jq '.phases[].id'")]
pub(crate) struct ParseArgs {
    /// The plan file; by default the one that `plan find` prints
    file: Option<PathBuf>,
}

/// In JSON `{"version", "path", "phases", "parallel_groups"?, "metadata"?, "levels", "warnings"}`: the plan with its
/// defaults filled in; a level holds the ids of phases that can run together.
#[derive(Debug, Serialize)]
struct Parsed<'a> {
    path: String,
    #[serde(flatten)]
    plan: &'a Plan,
    levels: Vec<Vec<&'a PlanPhaseId>>,
    warnings: &'a [PlanWarning],
}

impl ParseArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let source = load_plan(app, self.file.as_deref())?;
        let PlanSource {
            path,
            plan,
            warnings,
            dag,
        } = &source;
        app.out.json(&Parsed {
            path: path.display().to_string(),
            plan,
            levels: dag.levels(),
            warnings,
        })
    }
}
