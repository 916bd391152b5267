//! A profile's own tool lists: they narrow a role's row, and are checked against the registry.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::role::Role;
use super::set::ToolSet;
use super::table::Tool;
use crate::nearest::nearest;

/// The name that stands for every tool.
const EVERY: &str = "*";

/// A list of tools as a profile's front matter writes it. Names the registry does not know are kept, so that
/// they can be reported; they stand for nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ToolList(Vec<String>);

/// What a profile's tool list says that the registry does not bear out: a warning, never an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolListProblem {
    /// The field: `tools` or `disallowedTools`.
    pub field: &'static str,
    /// The name as it was written.
    pub name: String,
    /// What is wrong with it.
    pub reason: ToolListReason,
}

/// Why a name in a tool list has no effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolListReason {
    /// No tool has that name; the nearest one that exists.
    Unknown {
        /// The nearest known name.
        nearest: Option<&'static str>,
    },
    /// The tool exists, but no role of this profile has it.
    NotGranted,
}

impl ToolList {
    /// The list `['*']`.
    pub fn every() -> Self {
        Self(vec![EVERY.to_owned()])
    }

    /// Makes a list of names as they were written.
    pub fn new(names: Vec<String>) -> Self {
        Self(names)
    }

    /// Returns the names as they were written.
    pub fn names(&self) -> &[String] {
        &self.0
    }

    /// Returns the tools that the list stands for.
    pub fn tools(&self) -> ToolSet {
        if self.0.iter().any(|name| name == EVERY) {
            return ToolSet::ALL;
        }
        self.0
            .iter()
            .filter_map(|name| Tool::parse(name).ok())
            .collect()
    }

    /// Reports the names that have no effect for any of `roles`, in the order of the list.
    ///
    /// With `field` `disallowedTools` a tool that no role has anyway is no problem: saying so twice is harmless.
    pub fn problems(&self, field: &'static str, roles: &[Role]) -> Vec<ToolListProblem> {
        let granted = roles
            .iter()
            .fold(ToolSet::EMPTY, |set, role| set.union(role.allowed()));
        let reason = |name: &str| match Tool::parse(name) {
            Err(_) if name != EVERY => Some(ToolListReason::Unknown {
                nearest: nearest(name, Tool::NAMES.iter().copied()),
            }),
            Ok(tool) if field == "tools" && !granted.contains(tool) => {
                Some(ToolListReason::NotGranted)
            }
            _ => None,
        };
        self.0
            .iter()
            .filter_map(|name| {
                reason(name).map(|reason| ToolListProblem {
                    field,
                    name: name.clone(),
                    reason,
                })
            })
            .collect()
    }
}

impl ToolSet {
    /// Narrows the set to a profile's `tools` less its `disallowedTools`. Never widens it.
    #[must_use]
    pub fn narrowed(self, tools: &ToolList, disallowed: &ToolList) -> Self {
        self.intersection(tools.tools())
            .difference(disallowed.tools())
    }
}

impl fmt::Display for ToolListProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { field, name, .. } = self;
        match &self.reason {
            ToolListReason::Unknown { nearest: None } => {
                write!(f, "{field}: no tool is called `{name}`")
            }
            ToolListReason::Unknown {
                nearest: Some(nearest),
            } => write!(
                f,
                "{field}: no tool is called `{name}`; did you mean `{nearest}`?"
            ),
            ToolListReason::NotGranted => write!(
                f,
                "{field}: `{name}` is not granted to this type of agent; listing it has no effect"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(names: &[&str]) -> ToolList {
        ToolList::new(names.iter().map(|name| (*name).to_owned()).collect())
    }

    #[test]
    fn lists_narrow_and_never_widen() {
        let row = Role::Intake.allowed();
        let none = ToolList::default();
        assert_eq!(row.narrowed(&ToolList::every(), &none), row);
        assert_eq!(
            row.narrowed(&list(&["get_issue", "approve_pr", "nonsense"]), &none),
            ToolSet::of(&[Tool::GetIssue])
        );
        assert_eq!(
            row.narrowed(&ToolList::every(), &list(&["get_issue"])),
            row.difference(ToolSet::of(&[Tool::GetIssue]))
        );
        assert_eq!(
            row.narrowed(&list(&["get_issue"]), &list(&["*"])),
            ToolSet::EMPTY
        );
    }

    #[test]
    fn a_mismatch_with_the_registry_is_named() {
        let problems: Vec<String> = list(&["*", "get_isue", "Bash", "create_pr", "get_issue"])
            .problems("tools", &[Role::Intake])
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(
            problems,
            [
                "tools: no tool is called `get_isue`; did you mean `get_issue`?",
                "tools: no tool is called `Bash`",
                "tools: `create_pr` is not granted to this type of agent; listing it has no effect",
            ]
        );
        assert_eq!(
            list(&["approve_pr"]).problems("disallowedTools", &[Role::Worker]),
            []
        );
    }
}
