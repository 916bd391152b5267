//! Layers of the system prompt: their names, and what the budget may do to each.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

/// What is between two layers.
pub const LAYER_SEPARATOR: &str = "\n\n---\n\n";

/// The layers of a system prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LayerName {
    /// Where the agent may work.
    Boundary,
    /// Who the agent is; a standalone prompt (setup wizard, plan worker) is here, too.
    Profile,
    /// What the phase must deliver.
    Contract,
    /// A project's own addition for a profile in a phase.
    Override,
    /// Instructions from the profile's configuration.
    CustomInstructions,
    /// No web tools.
    WebRestriction,
    /// What may be looked up outside, and how often.
    ExternalResearch,
    /// How things are done in this project.
    ConventionLearnings,
    /// What other projects of the installation learned.
    CrossProjectLearnings,
    /// Notes of a folder of markdown files.
    Vault,
    /// The project's CLAUDE.md.
    ClaudeMd,
}

/// What the system budget may do to a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protection {
    /// Always included in full, even over budget; never omitted.
    Protected,
    /// May be omitted by profile, but is neither dropped nor cut by budget.
    Unbudgeted,
    /// Included in full, or dropped when it does not fit.
    Standard,
    /// Truncated to the room that the other layers leave.
    Flexible,
}

impl LayerName {
    /// All layers.
    pub const ALL: [Self; 11] = [
        Self::Boundary,
        Self::Profile,
        Self::Contract,
        Self::Override,
        Self::CustomInstructions,
        Self::WebRestriction,
        Self::ExternalResearch,
        Self::ConventionLearnings,
        Self::CrossProjectLearnings,
        Self::Vault,
        Self::ClaudeMd,
    ];

    /// The standard layers, in the order in which they are fitted.
    pub const STANDARD_ORDER: [Self; 3] = [
        Self::Override,
        Self::ExternalResearch,
        Self::ConventionLearnings,
    ];

    /// The flexible layers, in the order in which they are filled.
    pub const FLEXIBLE_ORDER: [Self; 2] = [Self::CrossProjectLearnings, Self::Vault];

    /// Returns the layer's name in reports and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Boundary => "boundary",
            Self::Profile => "profile",
            Self::Contract => "contract",
            Self::Override => "override",
            Self::CustomInstructions => "custom_instructions",
            Self::WebRestriction => "web_restriction",
            Self::ExternalResearch => "external_research",
            Self::ConventionLearnings => "convention_learnings",
            Self::CrossProjectLearnings => "cross_project_learnings",
            Self::Vault => "vault",
            Self::ClaudeMd => "claude_md",
        }
    }

    /// Returns what the system budget may do to the layer.
    pub const fn protection(self) -> Protection {
        match self {
            Self::Boundary
            | Self::Contract
            | Self::Profile
            | Self::WebRestriction
            | Self::ClaudeMd => Protection::Protected,
            Self::CustomInstructions => Protection::Unbudgeted,
            Self::Override | Self::ExternalResearch | Self::ConventionLearnings => {
                Protection::Standard
            }
            Self::CrossProjectLearnings | Self::Vault => Protection::Flexible,
        }
    }

    /// Returns whether the layer has no limit, so that the report warns when it is long.
    pub const fn is_unbounded(self) -> bool {
        matches!(
            self,
            Self::CustomInstructions | Self::Contract | Self::Boundary
        )
    }
}

impl fmt::Display for LayerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One layer with its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer<'a> {
    /// Which layer.
    pub name: LayerName,
    /// Its text, without separators.
    pub text: Cow<'a, str>,
    /// A remark for the report, such as `replaced by WORKFLOW.md`.
    pub note: Option<String>,
}

impl<'a> Layer<'a> {
    /// Makes a layer without remark.
    pub fn new(name: LayerName, text: impl Into<Cow<'a, str>>) -> Self {
        Self {
            name,
            text: text.into(),
            note: None,
        }
    }

    /// Adds a remark for the report.
    #[must_use]
    pub fn with_note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }
}
