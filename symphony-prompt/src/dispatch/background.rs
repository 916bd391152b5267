//! Path C: a scanner, or a researcher without an issue.

use serde::{Deserialize, Serialize};
use symphony_core::agent::AgentType;

use crate::boundary::boundary;
use crate::budget::Budgets;
use crate::dispatch::layers;
use crate::error::PromptError;
use crate::fence::FenceMarker;
use crate::hidden::one_line;
use crate::input::{ExternalResearch, FindingInput, VaultNote, Workspace};
use crate::layer::{Layer, LayerName};
use crate::omission::OmissionList;
use crate::report::{BuiltPrompt, DispatchPath};
use crate::rule::external_research;
use crate::section::fit::Fitter;
use crate::section::{self, Piece, SectionDraft, SectionName, assemble, bullet};
use crate::system::build_system_prompt;
use crate::tokens::{HeuristicCounter, TokenCounter};

/// A project of the installation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WorkspaceProject {
    /// Its name.
    pub name: String,
    /// What it is.
    #[serde(default)]
    pub description: String,
}

/// Everything a background dispatch is built from (spec: prompts, path C).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BackgroundDispatch {
    /// For whom: scanner or researcher.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub agent: AgentType,
    /// The temporary worktree.
    pub workspace: Workspace,
    /// What it is asked to do: there is no issue that says it.
    pub instruction: String,
    /// The profile's text.
    #[serde(default)]
    pub profile: String,
    /// WORKFLOW.md of the project's root: not used here, but the report says that it is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow_md: Option<String>,
    /// Leave to look things up outside; for researchers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_research: Option<ExternalResearch>,
    /// Convention learnings, best first.
    #[serde(default)]
    pub convention_learnings: Vec<String>,
    /// Notes of the vault; without an issue to match they are taken by path.
    #[serde(default)]
    pub vault: Vec<VaultNote>,
    /// The project's CLAUDE.md.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claude_md: Option<String>,
    /// Whether the agent's CLI reads CLAUDE.md by itself.
    #[serde(default)]
    pub provider_reads_claude_md: bool,
    /// Tactical learnings, best first.
    #[serde(default)]
    pub learnings: Vec<String>,
    /// Findings about the project, oldest first; the newest are shown.
    #[serde(default)]
    pub findings: Vec<FindingInput>,
    /// The marker of fences; needed where there are findings.
    #[serde(default)]
    pub fence_marker: String,
    /// The project's own instructions for this profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom_instructions: Option<String>,
    /// The projects of the installation; shown when there are several.
    #[serde(default)]
    pub projects: Vec<WorkspaceProject>,
    /// The budgets.
    #[serde(default)]
    pub budgets: Budgets,
}

impl BackgroundDispatch {
    /// Makes a dispatch with nothing but what every one has.
    pub fn new(agent: AgentType, workspace: Workspace, instruction: impl Into<String>) -> Self {
        Self {
            agent,
            workspace,
            instruction: instruction.into(),
            profile: String::new(),
            workflow_md: None,
            external_research: None,
            convention_learnings: Vec::new(),
            vault: Vec::new(),
            claude_md: None,
            provider_reads_claude_md: false,
            learnings: Vec::new(),
            findings: Vec::new(),
            fence_marker: String::new(),
            custom_instructions: None,
            projects: Vec::new(),
            budgets: Budgets::default(),
        }
    }

    /// Builds both prompts with the heuristic counter.
    ///
    /// # Errors
    /// When the agent is neither a scanner nor a researcher, or findings come without a marker for their fences.
    pub fn build(&self) -> Result<BuiltPrompt, PromptError> {
        self.build_with(&HeuristicCounter::default())
    }

    /// Builds both prompts with a counter of the caller's choice.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_with(&self, counter: &dyn TokenCounter) -> Result<BuiltPrompt, PromptError> {
        if !matches!(self.agent, AgentType::Scanner | AgentType::Researcher) {
            return Err(PromptError::WrongAgent {
                agent: self.agent.name().to_owned(),
                path: "of a run in the background, without an issue",
                expected: "scanner or researcher",
            });
        }
        let system = build_system_prompt(
            self.layers(counter),
            &OmissionList::of(&self.agent),
            self.budgets.system_tokens,
            counter,
        );
        let caps = self.budgets.shares.caps(self.budgets.user_tokens);
        let marker = if self.findings.is_empty() {
            None
        } else {
            Some(FenceMarker::parse(&self.fence_marker)?)
        };
        let fitter = Fitter {
            counter,
            marker_chars: marker.as_ref().map_or(0, |marker| marker.as_str().len()),
        };
        let findings: Vec<&FindingInput> = self.findings.iter().collect();
        let sections = [
            SectionDraft::new(
                SectionName::Instruction,
                vec![Piece::text(self.instruction.trim())],
            ),
            section::findings(&findings, caps.findings, fitter),
            section::learnings(&self.learnings, caps.learnings, fitter),
            section::instructions(self.custom_instructions.as_deref()),
            self.projects_section(),
        ];
        let user = assemble(&sections, marker.as_ref(), None, counter)?;
        let budgets = &self.budgets;
        let path = DispatchPath::BackgroundDispatch;
        Ok(layers::built(
            path,
            &self.agent,
            system,
            user,
            budgets,
            counter,
        ))
    }

    fn layers(&self, counter: &dyn TokenCounter) -> Vec<Layer<'_>> {
        let cap = self
            .budgets
            .vault_tokens
            .unwrap_or(self.budgets.system_tokens);
        vec![
            Layer::new(LayerName::Boundary, boundary(&self.workspace, &self.agent)),
            layers::profile(&self.agent, &self.profile, self.workflow_md.as_deref()),
            Layer::new(
                LayerName::ExternalResearch,
                self.external_research
                    .map_or_else(String::new, external_research),
            ),
            layers::conventions(&self.convention_learnings),
            layers::vault(&self.vault, None, cap, counter),
            layers::claude_md(
                self.claude_md.as_deref(),
                &self.agent,
                self.provider_reads_claude_md,
            ),
        ]
    }

    fn projects_section<'a>(&self) -> SectionDraft<'a> {
        if self.projects.len() < 2 {
            return SectionDraft::new(SectionName::WorkspaceProjects, Vec::new());
        }
        let lines: Vec<String> = self
            .projects
            .iter()
            .map(|project| {
                let name = section::name_line(&project.name);
                match one_line(&project.description) {
                    text if text.is_empty() => bullet(&name),
                    text => bullet(&format!("{name}: {text}")),
                }
            })
            .collect();
        let text = format!("## Projects of This Installation\n\n{}", lines.join("\n"));
        SectionDraft::new(SectionName::WorkspaceProjects, vec![Piece::text(text)])
    }
}
