//! `symphony plan check`.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use symphony_core::plan::{Dag, Plan, PlanError, PlanProblem, PlanWarning, parse_plan};
use symphony_view::text::{Page, View, plural};

use super::source::{located, named_or_found, read_plan};
use crate::app::App;
use crate::failure::{Exit, Stop, plan_hint};

/// What `plan check` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "The exit code is 1 if the plan has problems.\n\nExample:\n  symphony plan check plan.md"
)]
pub(crate) struct CheckArgs {
    /// The plan file; by default the one that `plan find` prints
    file: Option<PathBuf>,
}

/// In JSON `{"version", "path", "valid", "phases", "levels", "widest_level", "problems", "warnings"}`.
#[derive(Debug, Serialize)]
struct Checked {
    path: String,
    valid: bool,
    /// How many there are; 0 when they could not be counted.
    phases: usize,
    levels: usize,
    widest_level: usize,
    problems: Vec<Problem>,
    warnings: Vec<PlanWarning>,
    #[serde(skip)]
    hint: Option<&'static str>,
}

/// What keeps a text from being a plan: a broken rule of a phase, or one thing about the whole text.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Problem {
    /// In JSON `{"index", "phase_id", "field", "message", "line", "kind"}`.
    Phase(PlanProblem),
    /// The same fields, as far as there are any; `column` for broken JSON.
    Text {
        index: Option<usize>,
        phase_id: Option<String>,
        field: &'static str,
        message: String,
        line: Option<usize>,
        column: Option<usize>,
        kind: &'static str,
    },
}

impl Problem {
    fn of_text(error: &PlanError) -> Self {
        let (line, column) = match error {
            PlanError::BrokenJson { line, column, .. } => (Some(*line), Some(*column)),
            PlanError::UnclosedBlock { line, .. }
            | PlanError::NotAPlan { line, .. }
            | PlanError::NoPhases { line } => (Some(*line), None),
            _ => (None, None),
        };
        Self::Text {
            index: None,
            phase_id: None,
            field: "",
            message: error.to_string(),
            line,
            column,
            kind: "text",
        }
    }
}

impl Checked {
    fn new(path: &Path, text: &str) -> Self {
        let mut checked = Self {
            path: path.display().to_string(),
            valid: false,
            phases: 0,
            levels: 0,
            widest_level: 0,
            problems: Vec::new(),
            warnings: Vec::new(),
            hint: None,
        };
        match parse_plan(text) {
            Ok((plan, warnings)) => {
                checked.measure(&plan);
                checked.warnings = warnings;
            }
            Err(PlanError::Invalid { problems, warnings }) => {
                checked.problems = problems.into_iter().map(Problem::Phase).collect();
                checked.warnings = warnings;
            }
            Err(error) => {
                checked.problems = vec![Problem::of_text(&error)];
                checked.hint = plan_hint(&error);
            }
        }
        checked.valid = checked.problems.is_empty();
        checked
    }

    fn measure(&mut self, plan: &Plan) {
        // a plan that parsed has a graph
        if let Ok(dag) = Dag::new(&plan.phases) {
            let sizes: Vec<usize> = dag.levels().iter().map(Vec::len).collect();
            self.phases = dag.len();
            self.levels = sizes.len();
            self.widest_level = sizes.into_iter().max().unwrap_or(0);
        }
    }
}

impl View for Checked {
    fn write(&self, page: &mut Page) {
        if self.valid {
            page.line(&format!(
                "The plan is valid: {} in {}, up to {} in parallel.",
                plural(self.phases, "phase"),
                plural(self.levels, "level"),
                self.widest_level
            ));
            return;
        }
        page.line("Validation errors:");
        for problem in &self.problems {
            match problem {
                Problem::Phase(problem) => {
                    page.line(&format!("  - {problem}"));
                    page.line(&format!("    --> {}:{}", self.path, problem.line));
                }
                Problem::Text { message, .. } => page.line(&format!("  - {message}")),
            }
        }
    }
}

impl CheckArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let path = named_or_found(app, self.file.as_deref())?;
        let checked = Checked::new(&path, &read_plan(app, &path)?);
        if !app.out.is_json() {
            for warning in &checked.warnings {
                app.out.warn(&located(&path, warning));
            }
        }
        app.out.answer(&checked)?;
        if checked.valid {
            return Ok(());
        }
        let message = format!(
            "the plan {} has {}",
            path.display(),
            plural(checked.problems.len(), "problem")
        );
        let stop = Stop::new(Exit::Failed, message);
        Err(match checked.hint {
            Some(hint) => stop.hint(hint),
            None => stop,
        }
        .into())
    }
}
