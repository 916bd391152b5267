//! What the database adds to a profile, as it is shown.

use serde::Serialize;
use symphony_core::agent::AgentType;
use symphony_core::id::ProjectId;
use symphony_core::profile::ProfileOverride;
use symphony_store::OverrideLayers;

use crate::text::{Page, View};

/// What the database adds to a profile, in one layer.
#[derive(Debug, Clone, Serialize)]
pub struct OverrideView {
    #[serde(rename = "type")]
    agent: AgentType,
    /// The project; null for all.
    project: Option<ProjectId>,
    /// Instructions that are added to those of the profile, if there are any.
    pub custom_instructions: Option<String>,
    /// The model; none if the provider chooses it.
    pub model: Option<String>,
}

impl OverrideView {
    /// Views one layer; no project: the layer for all of them.
    pub fn of(agent: &AgentType, project: Option<&ProjectId>, layer: &ProfileOverride) -> Self {
        Self {
            agent: agent.clone(),
            project: project.cloned(),
            custom_instructions: layer.custom_instructions.clone(),
            model: layer.model.named().map(|model| model.as_str().to_owned()),
        }
    }

    /// Returns the layers that say something, the project's first.
    pub fn layers(agent: &AgentType, project: &ProjectId, layers: &OverrideLayers) -> Vec<Self> {
        let of_project = layers.project.iter().map(|layer| (Some(project), layer));
        let of_all = layers.global.iter().map(|layer| (None, layer));
        of_project
            .chain(of_all)
            .map(|(scope, layer)| Self::of(agent, scope, layer))
            .collect()
    }

    /// Says which projects it is for.
    pub fn scope(&self) -> String {
        self.project
            .as_ref()
            .map_or_else(|| "all projects".to_owned(), |id| format!("project {id}"))
    }
}

impl View for OverrideView {
    fn write(&self, page: &mut Page) {
        page.heading(&format!("{} in {}", self.agent, self.scope()));
        page.field("model", self.model.as_deref().unwrap_or("-"));
        match &self.custom_instructions {
            Some(text) => page.block(text),
            None => page.field("instructions", "-"),
        }
    }
}
