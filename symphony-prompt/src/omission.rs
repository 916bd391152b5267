//! What a profile leaves out before the budget is applied: a static block list, which no protected layer can be on.

use std::collections::BTreeMap;

use symphony_core::agent::AgentType;

use crate::error::PromptError;
use crate::layer::{LayerName, Protection};
use crate::section::SectionName;

/// The layers and sections that an agent's prompts leave out, each with the reason that the report gives.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OmissionList {
    layers: BTreeMap<LayerName, &'static str>,
    sections: BTreeMap<SectionName, &'static str>,
}

impl OmissionList {
    /// Makes a block list.
    ///
    /// # Errors
    /// When a protected layer is on it.
    pub fn new(
        layers: impl IntoIterator<Item = LayerName>,
        sections: impl IntoIterator<Item = SectionName>,
    ) -> Result<Self, PromptError> {
        let mut list = Self::default();
        for layer in layers {
            if layer.protection() == Protection::Protected {
                return Err(PromptError::ProtectedOmission { layer });
            }
            list.layers.insert(layer, layer_reason(layer));
        }
        list.sections = sections
            .into_iter()
            .map(|section| (section, section_reason(section)))
            .collect();
        Ok(list)
    }

    /// Returns the block list of an agent (spec: prompts, "Omissions"). Intake and custom types have the planner's.
    pub fn of(agent: &AgentType) -> Self {
        use {LayerName as L, SectionName as S};
        let (layers, sections): (&[L], &[S]) = match agent {
            AgentType::Worker => (
                &[L::CrossProjectLearnings, L::ExternalResearch],
                &[S::WorkspaceProjects],
            ),
            AgentType::Judge => (
                &[L::CrossProjectLearnings, L::ExternalResearch, L::Override],
                &[S::GateCommands, S::WorkspaceProjects],
            ),
            AgentType::Planner | AgentType::Intake | AgentType::Custom(_) => {
                (&[L::ExternalResearch], &[S::WorkspaceProjects])
            }
            AgentType::Researcher => (&[], &[S::GateCommands, S::PreviousAttempts]),
            AgentType::Architect => (
                &[],
                &[S::GateCommands, S::PreviousAttempts, S::WorkspaceProjects],
            ),
            AgentType::Scanner => (
                &[L::ConventionLearnings, L::ExternalResearch, L::Override],
                &[S::GateCommands, S::PreviousAttempts],
            ),
            AgentType::Wizard | AgentType::Gates => (&[], &[]),
        };
        Self::new(layers.iter().copied(), sections.iter().copied())
            .expect("no shipped list names a protected layer")
    }

    /// Adds a layer that configuration switches off.
    pub(crate) fn switch_off(&mut self, layer: LayerName, why: &'static str) {
        self.layers.insert(layer, why);
    }

    /// Returns why a layer is left out, when it is.
    pub fn layer(&self, layer: LayerName) -> Option<&'static str> {
        self.layers.get(&layer).copied()
    }

    /// Returns why a section is left out, when it is.
    pub fn section(&self, section: SectionName) -> Option<&'static str> {
        self.sections.get(&section).copied()
    }
}

const fn layer_reason(layer: LayerName) -> &'static str {
    match layer {
        LayerName::ConventionLearnings => "this profile changes no code",
        LayerName::CrossProjectLearnings => "this profile works on one project only",
        LayerName::ExternalResearch => "this profile looks nothing up outside",
        LayerName::Override => "this profile's rules are the same in every project",
        _ => "not for this profile",
    }
}

const fn section_reason(section: SectionName) -> &'static str {
    match section {
        SectionName::GateCommands => "this profile runs no gates",
        SectionName::PreviousAttempts => "this profile starts afresh each time",
        SectionName::WorkspaceProjects => "this profile works on one project only",
        _ => "not for this profile",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of the specification, row by row: `i` is in, `o` is out.
    #[test]
    fn block_lists_are_those_of_the_table() {
        let agents = [
            AgentType::Worker,
            AgentType::Judge,
            AgentType::Planner,
            AgentType::Researcher,
            AgentType::Architect,
            AgentType::Scanner,
        ];
        let layers = [
            (LayerName::ConventionLearnings, "iiiiio"),
            (LayerName::CrossProjectLearnings, "ooiiii"),
            (LayerName::CustomInstructions, "iiiiii"),
            (LayerName::ExternalResearch, "oooiio"),
            (LayerName::Override, "ioiiio"),
        ];
        for (layer, row) in layers {
            for (agent, cell) in agents.iter().zip(row.chars()) {
                let out = OmissionList::of(agent).layer(layer).is_some();
                assert_eq!(out, cell == 'o', "{layer} for {agent}");
            }
        }
        let sections = [
            (SectionName::GateCommands, "ioiooo"),
            (SectionName::PreviousAttempts, "iiiooo"),
            (SectionName::WorkspaceProjects, "oooioi"),
        ];
        for (section, row) in sections {
            for (agent, cell) in agents.iter().zip(row.chars()) {
                let out = OmissionList::of(agent).section(section).is_some();
                assert_eq!(out, cell == 'o', "{section} for {agent}");
            }
        }
    }

    #[test]
    fn intake_and_custom_types_have_the_planners_list_and_the_wizard_none() {
        let planner = OmissionList::of(&AgentType::Planner);
        let custom = AgentType::parse("doc-writer").expect("a custom type");
        for agent in [AgentType::Intake, custom] {
            assert_eq!(OmissionList::of(&agent), planner, "{agent}");
        }
        assert_eq!(
            OmissionList::of(&AgentType::Wizard),
            OmissionList::default()
        );
    }

    #[test]
    fn protected_layers_are_on_no_list() {
        for layer in LayerName::ALL {
            let list = OmissionList::new([layer], []);
            if layer.protection() == Protection::Protected {
                assert_eq!(list, Err(PromptError::ProtectedOmission { layer }));
            } else {
                assert!(list.is_ok(), "{layer}");
            }
        }
        for agent in AgentType::SHIPPED {
            let list = OmissionList::of(&agent);
            let protected = list
                .layers
                .keys()
                .any(|layer| layer.protection() == Protection::Protected);
            assert!(!protected, "{agent}");
        }
    }
}
