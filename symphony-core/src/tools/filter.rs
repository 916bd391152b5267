//! A profile's own tool lists: they narrow a role's row.

use serde::{Deserialize, Serialize};

use super::set::ToolSet;
use super::tool::Tool;

/// The name that means every tool.
const EVERY: &str = "*";

/// A list of tools as in a profile's front matter; an unknown name means nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ToolList(Vec<String>);

impl ToolList {
    /// The list `['*']`.
    pub fn every() -> Self {
        Self(vec![EVERY.to_owned()])
    }

    /// Creates a list of names as they were written.
    pub fn new(names: Vec<String>) -> Self {
        Self(names)
    }

    /// Returns the names as they were written.
    pub fn names(&self) -> &[String] {
        &self.0
    }

    /// Returns the tools of the list.
    pub fn tools(&self) -> ToolSet {
        if self.0.iter().any(|name| name == EVERY) {
            return ToolSet::ALL;
        }
        self.named()
    }

    /// Returns the tools that the list names one by one.
    pub fn named(&self) -> ToolSet {
        let names = self.0.iter();
        names.filter_map(|name| Tool::parse(name).ok()).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::Role;

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
}
