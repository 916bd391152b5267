//! What the database adds to a profile.

use serde::{Deserialize, Serialize};

use super::model::ModelChoice;

/// A profile's override in the database, for one project or for all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProfileOverride {
    /// Instructions for the prompt.
    pub custom_instructions: Option<String>,
    /// The model.
    pub model: ModelChoice,
}

impl ProfileOverride {
    /// Merges the project's override with the global one: each value from the project if it has one.
    ///
    /// Blank instructions count as none.
    #[must_use]
    pub fn layered(project: Option<&Self>, global: Option<&Self>) -> Self {
        let layers = [project, global];
        let layers = || layers.iter().flatten();
        Self {
            custom_instructions: layers()
                .filter_map(|layer| layer.custom_instructions.clone())
                .find(|text| !text.trim().is_empty()),
            model: layers()
                .map(|layer| layer.model.clone())
                .find(|model| model.named().is_some())
                .unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_project_goes_first_value_by_value() {
        let of = |text: Option<&str>, model: &str| ProfileOverride {
            custom_instructions: text.map(str::to_owned),
            model: ModelChoice::parse(model).unwrap(),
        };
        for (project, global, expected) in [
            (None, None, of(None, "inherit")),
            (None, Some(of(Some("g"), "g")), of(Some("g"), "g")),
            (
                Some(of(Some("p"), "inherit")),
                Some(of(Some("g"), "g")),
                of(Some("p"), "g"),
            ),
            (
                Some(of(Some(" "), "p")),
                Some(of(Some("g"), "g")),
                of(Some("g"), "p"),
            ),
        ] {
            assert_eq!(
                ProfileOverride::layered(project.as_ref(), global.as_ref()),
                expected
            );
        }
    }
}
