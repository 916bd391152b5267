//! Path D: the setup wizard, once per project.

use serde::{Deserialize, Serialize};
use symphony_core::agent::AgentType;

use crate::boundary::boundary;
use crate::budget::Budgets;
use crate::dispatch::layers;
use crate::error::PromptError;
use crate::hidden::one_line;
use crate::input::{GateCommand, ProjectContext, Workspace};
use crate::layer::{Layer, LayerName};
use crate::omission::OmissionList;
use crate::report::{BuiltPrompt, DispatchPath};
use crate::section::{Piece, SectionDraft, SectionName, assemble, bullet, name_line, title_line};
use crate::system::build_system_prompt;
use crate::tokens::{HeuristicCounter, TokenCounter};

/// Entries of the project's root that are listed.
const ENTRIES_MAX: usize = 100;

/// Everything the setup wizard's dispatch is built from (spec: prompts, path D).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WizardDispatch {
    /// The temporary worktree.
    pub workspace: Workspace,
    /// The wizard's own prompt.
    #[serde(default)]
    pub prompt: String,
    /// What was detected.
    #[serde(default)]
    pub project: ProjectContext,
    /// Commands that were detected and could be gates.
    #[serde(default)]
    pub gates: Vec<GateCommand>,
    /// The command that makes a fresh checkout ready for them, as it was detected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup: Option<String>,
    /// Files and folders in the project's root.
    #[serde(default)]
    pub entries: Vec<String>,
    /// The project's CLAUDE.md.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claude_md: Option<String>,
    /// Whether the agent's CLI reads CLAUDE.md by itself.
    #[serde(default)]
    pub provider_reads_claude_md: bool,
    /// The budgets.
    #[serde(default)]
    pub budgets: Budgets,
}

impl WizardDispatch {
    /// Makes a dispatch with nothing but what every one has.
    pub fn new(workspace: Workspace, prompt: impl Into<String>, project: ProjectContext) -> Self {
        Self {
            workspace,
            prompt: prompt.into(),
            project,
            gates: Vec::new(),
            setup: None,
            entries: Vec::new(),
            claude_md: None,
            provider_reads_claude_md: false,
            budgets: Budgets::default(),
        }
    }

    /// Builds both prompts with the heuristic counter.
    ///
    /// # Errors
    /// None yet; the signature is that of the other paths.
    pub fn build(&self) -> Result<BuiltPrompt, PromptError> {
        self.build_with(&HeuristicCounter::default())
    }

    /// Builds both prompts with a counter of the caller's choice.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_with(&self, counter: &dyn TokenCounter) -> Result<BuiltPrompt, PromptError> {
        let agent = AgentType::Wizard;
        let list = vec![
            Layer::new(LayerName::Boundary, boundary(&self.workspace, &agent)),
            Layer::new(LayerName::Profile, self.prompt.as_str()),
            layers::claude_md(
                self.claude_md.as_deref(),
                &agent,
                self.provider_reads_claude_md,
            ),
        ];
        let omissions = OmissionList::of(&agent);
        let system = build_system_prompt(list, &omissions, self.budgets.system_tokens, counter);
        let section = SectionDraft::new(
            SectionName::ProjectSummary,
            vec![Piece::text(self.summary())],
        );
        let user = assemble(&[section], None, None, counter)?;
        let budgets = &self.budgets;
        let path = DispatchPath::SetupWizard;
        Ok(layers::built(path, &agent, system, user, budgets, counter))
    }

    /// What was detected: a start for the wizard, who reads the project itself.
    fn summary(&self) -> String {
        let mut text = format!("# Set Up: {}", name_line(&self.project.name));
        let description = title_line(&self.project.description);
        if !description.is_empty() {
            text += &format!("\n\n{description}");
        }
        text += "\n\nSymphony detected what follows. It is a start, not the result: check it against the project.";
        let stack = self
            .project
            .tech_stack
            .iter()
            .map(|(label, value)| format!("{}: {}", one_line(label), one_line(value)));
        push_list(&mut text, "Tech Stack", stack.collect());
        let patterns = self
            .project
            .patterns
            .iter()
            .map(|pattern| pattern.trim().to_owned());
        push_list(&mut text, "Patterns", patterns.collect());
        let gates = self
            .gates
            .iter()
            .map(|gate| format!("{}: `{}`", one_line(&gate.name), gate.command));
        push_list(&mut text, "Possible Gates", gates.collect());
        let setup = self
            .setup
            .iter()
            .map(|setup| format!("`{}`", one_line(setup)));
        push_list(&mut text, "Possible Setup", setup.collect());
        let entries = self
            .entries
            .iter()
            .take(ENTRIES_MAX)
            .map(|entry| name_line(entry));
        push_list(&mut text, "Root Folder", entries.collect());
        text
    }
}

fn push_list(text: &mut String, heading: &str, items: Vec<String>) {
    if items.is_empty() {
        return;
    }
    *text += &format!("\n\n## {heading}\n");
    for item in items {
        *text += &format!("\n{}", bullet(&item));
    }
}
