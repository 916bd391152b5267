//! Path E: a phase of a plan file.

use serde::{Deserialize, Serialize};
use symphony_core::agent::AgentType;
use symphony_core::unit::Tokens;

use crate::boundary::plan_boundary;
use crate::budget::{Budgets, SYSTEM_TOKENS};
use crate::dispatch::layers;
use crate::error::PromptError;
use crate::fence::FenceMarker;
use crate::input::{PointInput, ResumedInput, Workspace};
use crate::layer::{Layer, LayerName};
use crate::omission::OmissionList;
use crate::report::{BuiltPrompt, DispatchPath};
use crate::section::{
    Fit, Piece, PointsReader, SectionDraft, SectionName, add_resumed, assemble, review_points,
};
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
    /// The longest worker prompt, in tokens. The review points come on top of it.
    #[serde(default = "prompt_tokens_max")]
    pub prompt_tokens_max: u64,
    /// Open points of reviews of the plan's work, in the order of their numbers; all of them are in the prompt, whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub review_points: Vec<PointInput>,
    /// The marker of fences; needed where there are review points.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub fence_marker: String,
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
            review_points: Vec::new(),
            fence_marker: String::new(),
        }
    }

    /// Builds both prompts; the user prompt is the worker template, cut when it is over its maximum, and the review points, which
    /// are never cut.
    ///
    /// # Errors
    /// When review points come without a marker for their fences.
    pub fn build(&self) -> Result<BuiltPrompt, PromptError> {
        self.build_for(None)
    }

    pub(super) fn build_for(
        &self,
        resumed: Option<&ResumedInput>,
    ) -> Result<BuiltPrompt, PromptError> {
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
        let whole = match resumed {
            None => build_worker_prompt(&self.worker).prompt,
            Some(_) => self.instructions_again(),
        };
        let (text, truncated) = truncate_prompt_if_needed(&whole, self.prompt_tokens_max);
        let max = Tokens::new(self.prompt_tokens_max);
        let fit = Fit {
            used: Tokens::ZERO,
            cap: Some(max),
            cut: truncated.then(|| (counter.count(&whole), counter.count(&text))),
            items: None,
        };
        let has_points = !self.review_points.is_empty();
        let marker = has_points
            .then(|| FenceMarker::parse(&self.fence_marker))
            .transpose()?;
        let text = if has_points {
            text.trim_end().to_owned()
        } else {
            text
        };
        let pieces = vec![Piece::text(text)];
        let mut sections = vec![
            SectionDraft::fitted(SectionName::PlanPhase, pieces, fit),
            review_points(&self.review_points, PointsReader::PlanPhase),
        ];
        if let Some(resumed) = resumed {
            add_resumed(&mut sections, resumed);
        }
        let user = assemble(&sections, marker.as_ref(), resumed, &counter)?;
        let budgets = &Budgets {
            user_tokens: max,
            ..Budgets::default()
        };
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

    /// The part of the template that a new attempt changes. The session was sent the rest.
    fn instructions_again(&self) -> String {
        let phase = &self.worker.phase;
        let instructions = self.worker.custom_instructions.as_deref();
        let heading = format!("# Phase `{}` again", phase.id);
        match instructions.map(str::trim).filter(|text| !text.is_empty()) {
            Some(text) => format!("{heading}\n\n{text}"),
            None => heading,
        }
    }
}
