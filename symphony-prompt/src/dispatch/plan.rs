//! Path E: a phase of a plan file.

use serde::{Deserialize, Serialize};
use symphony_core::agent::AgentType;
use symphony_core::unit::Tokens;

use crate::boundary::plan_boundary;
use crate::budget::SYSTEM_TOKENS;
use crate::dispatch::layers;
use crate::error::PromptError;
use crate::input::Workspace;
use crate::layer::{Layer, LayerName};
use crate::omission::OmissionList;
use crate::report::{BuiltPrompt, DispatchPath};
use crate::section::{Fit, Piece, SectionDraft, SectionName, assemble};
use crate::system::build_system_prompt;
use crate::tokens::{HeuristicCounter, TokenCounter};
use crate::worker::{
    PROMPT_TOKENS_MAX, WorkerInput, build_worker_prompt, truncate_prompt_if_needed,
};

/// Everything a plan phase's dispatch is built from (spec: prompts, path E).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PlanPhaseDispatch {
    /// The worktree that the agent works in; none when it works in the project's own folder, without a boundary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<Workspace>,
    /// The shipped `plan-worker.md`.
    #[serde(default)]
    pub plan_worker: String,
    /// What the worker template is filled from.
    pub worker: WorkerInput,
    /// The longest user prompt, in tokens.
    #[serde(default = "prompt_tokens_max")]
    pub prompt_tokens_max: u64,
}

fn prompt_tokens_max() -> u64 {
    PROMPT_TOKENS_MAX
}

impl PlanPhaseDispatch {
    /// Makes a dispatch with the usual maximum.
    pub fn new(
        workspace: impl Into<Option<Workspace>>,
        plan_worker: impl Into<String>,
        worker: WorkerInput,
    ) -> Self {
        Self {
            workspace: workspace.into(),
            plan_worker: plan_worker.into(),
            worker,
            prompt_tokens_max: PROMPT_TOKENS_MAX,
        }
    }

    /// Builds both prompts; the user prompt is the worker template, cut when it is over its maximum.
    ///
    /// # Errors
    /// None yet; the signature is that of the other paths.
    pub fn build(&self) -> Result<BuiltPrompt, PromptError> {
        // The template's maximum is defined by the heuristic, so that no other counter is asked for.
        let counter = HeuristicCounter::default();
        let boundary = self
            .workspace
            .as_ref()
            .map(|workspace| Layer::new(LayerName::Boundary, plan_boundary(workspace)));
        let profile = Layer::new(LayerName::Profile, self.plan_worker.as_str());
        let system = build_system_prompt(
            boundary.into_iter().chain([profile]).collect(),
            &OmissionList::default(),
            SYSTEM_TOKENS,
            &counter,
        );
        let whole = build_worker_prompt(&self.worker).prompt;
        let (text, truncated) = truncate_prompt_if_needed(&whole, self.prompt_tokens_max);
        let max = Tokens::new(self.prompt_tokens_max);
        let fit = Fit {
            used: Tokens::ZERO,
            cap: Some(max),
            cut: truncated.then(|| (counter.count(&whole), counter.count(&text))),
            items: None,
        };
        let pieces = vec![Piece::text(text)];
        let section = SectionDraft::fitted(SectionName::PlanPhase, pieces, fit);
        let user = assemble(&[section], None, &counter)?;
        let budgets = (SYSTEM_TOKENS, max);
        let path = DispatchPath::PlanPhase;
        Ok(layers::built(
            path,
            &AgentType::Worker,
            system,
            user,
            budgets,
            &counter,
        ))
    }
}
