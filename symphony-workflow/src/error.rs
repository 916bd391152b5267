//! What keeps a `WORKFLOW.md` from being used, in the classes of section 5.5 of openai/symphony's specification.

use std::path::PathBuf;

use symphony_core::front_matter::{Problem, ProblemKind};

/// A fault of a `WORKFLOW.md`. [`class`](Self::class) is the specification's name of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WorkflowError {
    /// The file is not there, or cannot be read. New work waits until it can.
    #[error("cannot read {}: {reason}", path.display())]
    MissingFile {
        /// Where it was looked for.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// The settings are no YAML, or are beyond a limit. New work waits until they are corrected.
    #[error("{0}")]
    Parse(Box<Problem>),
    /// The settings are YAML, but no mapping of names to values. New work waits until they are.
    #[error("{0}")]
    NotAMap(Box<Problem>),
    /// The template cannot be parsed. The run fails that needed it.
    #[error("{0}")]
    TemplateParse(TemplateFault),
    /// The template cannot be rendered for this ticket. The run fails that needed it.
    #[error("{0}")]
    TemplateRender(TemplateFault),
}

/// What is wrong with a template, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("WORKFLOW.md:{line}: {message}")]
pub struct TemplateFault {
    /// Line of the file, counted from 1.
    pub line: usize,
    /// What was found, and what to do. It never repeats the text of a ticket.
    pub message: String,
}

impl WorkflowError {
    /// Returns the specification's name of the fault.
    pub const fn class(&self) -> &'static str {
        match self {
            Self::MissingFile { .. } => "missing_workflow_file",
            Self::Parse(_) => "workflow_parse_error",
            Self::NotAMap(_) => "workflow_front_matter_not_a_map",
            Self::TemplateParse(_) => "template_parse_error",
            Self::TemplateRender(_) => "template_render_error",
        }
    }

    /// Says whether new work has to wait until the file is corrected; otherwise only the run fails that met the fault.
    pub const fn blocks_dispatch(&self) -> bool {
        matches!(
            self,
            Self::MissingFile { .. } | Self::Parse(_) | Self::NotAMap(_)
        )
    }
}

impl From<Box<Problem>> for WorkflowError {
    fn from(problem: Box<Problem>) -> Self {
        match problem.kind {
            // what is blank has no fields, so this is an explicit `null`
            ProblemKind::NotAMapping { .. } | ProblemKind::Empty => Self::NotAMap(problem),
            _ => Self::Parse(problem),
        }
    }
}
