//! Path B: a phase agent, whose contract is its whole identity.

use serde::{Deserialize, Serialize};
use symphony_core::agent::AgentType;
use symphony_core::id::PhaseName;
use symphony_core::unit::Tokens;

use crate::boundary::boundary;
use crate::budget::{Budgets, PHASE_COMMENTS_MAX};
use crate::dispatch::layers;
use crate::error::PromptError;
use crate::fence::FenceMarker;
use crate::hidden::one_line;
use crate::input::{
    CommentInput, ExternalResearch, IssueInput, PhaseArtifact, PointInput, ProjectLearning,
    ResumedInput, VaultNote, Workspace,
};
use crate::layer::{Layer, LayerName};
use crate::omission::OmissionList;
use crate::report::{BuiltPrompt, DispatchPath};
use crate::rule::external_research;
use crate::section::fit::Fitter;
use crate::section::{
    self, DocumentsOf, Piece, PointsReader, SectionDraft, SectionName, Shared, Total, assemble,
    bullet, draft_shared, need_of_list,
};
use crate::summary::Preference;
use crate::system::build_system_prompt;
use crate::tokens::{HeuristicCounter, TokenCounter};

/// What a phase must deliver, from its contract's front matter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PhaseAssignment {
    /// The phase.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub phase: PhaseName,
    /// Where the artifact goes; `{id}` stands for the issue's identifier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_path: Option<String>,
    /// Headings it must have.
    #[serde(default)]
    pub required_sections: Vec<String>,
    /// When the phase is done.
    #[serde(default)]
    pub done_when: Vec<String>,
    /// When to ask for a human.
    #[serde(default)]
    pub escalate_if: Vec<String>,
}

/// Everything a dispatch of a phase agent is built from (spec: prompts, path B).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PhaseDispatch {
    /// The contract's dispatch profile: it decides what is omitted, not what is said.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub agent: AgentType,
    /// Where the agent works.
    pub workspace: Workspace,
    /// The issue.
    pub issue: IssueInput,
    /// What the phase must deliver.
    pub assignment: PhaseAssignment,
    /// The fence marker: 16 to 64 random letters, digits, `-` or `_`, made again for each prompt.
    pub fence_marker: String,
    /// The contract's body, which is the agent's whole identity.
    #[serde(default)]
    pub contract: String,
    /// The project's addition for this profile in this phase (`overrides/<profile>-<phase>.md`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub override_text: Option<String>,
    /// The project's own instructions for this profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom_instructions: Option<String>,
    /// Leave to look things up outside; for the phases research and architecture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_research: Option<ExternalResearch>,
    /// Convention learnings, best first.
    #[serde(default)]
    pub convention_learnings: Vec<String>,
    /// Whether phase agents get convention learnings (config `phase_conventions`).
    #[serde(default = "on")]
    pub phase_conventions: bool,
    /// Learnings of other projects, best first.
    #[serde(default)]
    pub cross_project_learnings: Vec<ProjectLearning>,
    /// Notes of the vault; those that match the issue are chosen here.
    #[serde(default)]
    pub vault: Vec<VaultNote>,
    /// The project's CLAUDE.md.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claude_md: Option<String>,
    /// Whether the agent's CLI reads CLAUDE.md by itself.
    #[serde(default)]
    pub provider_reads_claude_md: bool,
    /// Remarks of the dispatcher for the agent, such as a merge conflict with the base.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Why deliveries of this phase were rejected, oldest first; the author is who rejected them.
    #[serde(default, rename = "rejected_claims")]
    pub rejected_deliveries: Vec<CommentInput>,
    /// Open points of earlier reviews, in the order of their numbers; all of them are in the prompt, whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub review_points: Vec<PointInput>,
    /// Documents of the parent, and artifacts of the phases before, in their order.
    #[serde(default)]
    pub artifacts: Vec<PhaseArtifact>,
    /// Whether artifacts are shown whole where they fit; otherwise their summaries.
    #[serde(default = "on")]
    pub prefer_full_text: bool,
    /// Messages of a person that no agent has got yet, oldest first; all of them are in the prompt, whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<CommentInput>,
    /// Comments, oldest first.
    #[serde(default)]
    pub comments: Vec<CommentInput>,
    /// The budgets.
    #[serde(default)]
    pub budgets: Budgets,
}

fn on() -> bool {
    true
}

impl PhaseDispatch {
    /// Makes a dispatch with nothing but what every one has.
    pub fn new(
        agent: AgentType,
        workspace: Workspace,
        issue: IssueInput,
        assignment: PhaseAssignment,
        fence_marker: impl Into<String>,
    ) -> Self {
        Self {
            agent,
            workspace,
            issue,
            assignment,
            fence_marker: fence_marker.into(),
            contract: String::new(),
            override_text: None,
            custom_instructions: None,
            external_research: None,
            convention_learnings: Vec::new(),
            phase_conventions: true,
            cross_project_learnings: Vec::new(),
            vault: Vec::new(),
            claude_md: None,
            provider_reads_claude_md: false,
            notes: Vec::new(),
            rejected_deliveries: Vec::new(),
            review_points: Vec::new(),
            artifacts: Vec::new(),
            prefer_full_text: true,
            messages: Vec::new(),
            comments: Vec::new(),
            budgets: Budgets::default(),
        }
    }

    /// Builds both prompts with the heuristic counter.
    ///
    /// # Errors
    /// When the phase is `ready` (a worker's, path A), the agent is the wizard, or the fence marker is not usable.
    pub fn build(&self) -> Result<BuiltPrompt, PromptError> {
        self.build_with(&HeuristicCounter::default())
    }

    /// Builds both prompts with a counter of the caller's choice.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_with(&self, counter: &dyn TokenCounter) -> Result<BuiltPrompt, PromptError> {
        self.build_for(None, counter)
    }

    pub(super) fn build_for(
        &self,
        resumed: Option<&ResumedInput>,
        counter: &dyn TokenCounter,
    ) -> Result<BuiltPrompt, PromptError> {
        if self.agent == AgentType::Wizard || self.assignment.phase.as_str() == "ready" {
            return Err(PromptError::WrongAgent {
                agent: self.agent.name().to_owned(),
                path: "of a phase before `ready`",
                expected: "an agent in a phase other than `ready`, whose path is A",
            });
        }
        let marker = FenceMarker::parse(&self.fence_marker)?;
        let mut omissions = OmissionList::of(&self.agent);
        if !self.phase_conventions {
            omissions.switch_off(LayerName::ConventionLearnings, "`phase_conventions` is off");
        }
        let system = build_system_prompt(
            self.layers(counter),
            &omissions,
            self.budgets.system_tokens,
            counter,
        );
        let fitter = Fitter {
            counter,
            marker_chars: marker.as_str().len(),
        };
        let (mut sections, left) = self.sections(fitter);
        if let Some(resumed) = resumed {
            section::add_resumed(&mut sections, resumed);
        }
        let mut user = assemble(&sections, Some(&marker), resumed, counter)?;
        user.left = Some(left);
        let budgets = &self.budgets;
        let path = DispatchPath::PhaseDispatch;
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
        let researches = matches!(self.assignment.phase.as_str(), "research" | "architecture");
        let research = self.external_research.filter(|_| researches);
        let instructions = self.custom_instructions.as_deref().map(str::trim);
        let cap = self
            .budgets
            .vault_tokens
            .unwrap_or(self.budgets.system_tokens);
        vec![
            Layer::new(LayerName::Boundary, boundary(&self.workspace, &self.agent)),
            Layer::new(LayerName::Contract, self.contract.as_str()),
            Layer::new(
                LayerName::Override,
                self.override_text.as_deref().unwrap_or_default(),
            ),
            Layer::new(
                LayerName::CustomInstructions,
                instructions
                    .filter(|text| !text.is_empty())
                    .map_or_else(String::new, |text| {
                        format!("### Project Instructions\n\n{text}")
                    }),
            ),
            Layer::new(
                LayerName::ExternalResearch,
                research.map_or_else(String::new, external_research),
            ),
            layers::conventions(&self.convention_learnings),
            layers::cross_project(&self.cross_project_learnings),
            layers::vault(&self.vault, Some(&self.issue), cap, counter),
            layers::claude_md(
                self.claude_md.as_deref(),
                &self.agent,
                self.provider_reads_claude_md,
            ),
        ]
    }

    fn sections<'a>(&'a self, fitter: Fitter<'_>) -> (Vec<SectionDraft<'a>>, Tokens) {
        let caps = self.budgets.shares.caps(self.budgets.user_tokens);
        let counter = fitter.counter;
        let artifacts = if self.artifacts.is_empty() {
            Tokens::ZERO
        } else {
            self.budgets.artifact_tokens
        };
        let deliveries = self
            .rejected_deliveries
            .iter()
            .map(|delivery| delivery.content.as_str());
        let comments = self.comments.iter().map(|comment| comment.content.as_str());
        let parts = [
            Shared {
                cap: caps.description,
                need: counter.count(&self.issue.description),
                draft: Box::new(move |cap| section::description(&self.issue, cap, fitter)),
            },
            Shared {
                cap: artifacts,
                need: section::documents_need(&self.artifacts, counter),
                draft: Box::new(move |cap| {
                    let (of, preference) = (DocumentsOf::Phase, self.preference());
                    section::documents(&self.artifacts, of, cap, preference, fitter)
                }),
            },
            Shared {
                cap: caps.findings,
                need: need_of_list(deliveries, counter),
                draft: Box::new(move |cap| {
                    section::rejected_deliveries(&self.rejected_deliveries, cap, fitter)
                }),
            },
            Shared {
                cap: caps.comments,
                need: need_of_list(comments, counter),
                draft: Box::new(move |cap| {
                    section::conversation(&self.comments, PHASE_COMMENTS_MAX, cap, fitter)
                }),
            },
        ];
        let total = Total {
            tokens: self.budgets.user_tokens + artifacts,
            pass_on: self.budgets.pass_on,
        };
        let (shared, left) = draft_shared(&parts, total);
        let mut shared = shared.into_iter();
        let mut next = || shared.next().into_iter();
        let (description, documents, deliveries, comments) = (next(), next(), next(), next());
        let mut list = vec![
            self.assignment_section(),
            section::header(&self.issue, None, &self.notes),
            section::messages(&self.messages),
        ];
        list.extend(description);
        list.push(section::review_points(
            &self.review_points,
            PointsReader::PhaseAgent,
        ));
        list.extend(deliveries);
        list.extend(documents);
        list.extend(comments);
        (list, left)
    }

    const fn preference(&self) -> Preference {
        if self.prefer_full_text {
            Preference::FullText
        } else {
            Preference::Summary
        }
    }

    fn assignment_section<'a>(&self) -> SectionDraft<'a> {
        let assignment = &self.assignment;
        let mut text = format!("# Phase Assignment: {}", assignment.phase);
        if let Some(path) = &assignment.artifact_path {
            let path = path.replace("{id}", &self.issue.identifier.to_string());
            text += &format!("\n\n**Artifact**: `{}`", one_line(&path));
        }
        for (label, items) in [
            ("Required sections", &assignment.required_sections),
            ("Done when", &assignment.done_when),
            ("Escalate if", &assignment.escalate_if),
        ] {
            if !items.is_empty() {
                let lines: Vec<String> = items.iter().map(|item| bullet(item.trim())).collect();
                text += &format!("\n\n**{label}**:\n{}", lines.join("\n"));
            }
        }
        SectionDraft::new(SectionName::PhaseAssignment, vec![Piece::text(text)])
    }
}
