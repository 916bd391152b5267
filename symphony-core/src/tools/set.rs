//! A set of tools, ordered as the registry is.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::tool::Tool;

/// A set of tools; small, ordered as [`Tool::ALL`]. In JSON a list of names.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "Vec<Tool>", into = "Vec<Tool>")]
pub struct ToolSet(u32);

impl ToolSet {
    /// No tool.
    pub const EMPTY: Self = Self(0);
    /// Every tool of the registry.
    pub const ALL: Self = Self::of(Tool::ALL);

    /// Creates a set of the given tools.
    pub const fn of(tools: &[Tool]) -> Self {
        let mut bits = 0;
        let mut rest = tools;
        while let Some((tool, tail)) = rest.split_first() {
            bits |= 1 << (*tool as u32);
            rest = tail;
        }
        Self(bits)
    }

    /// Returns whether the tool is in the set.
    pub const fn contains(self, tool: Tool) -> bool {
        self.0 & (1 << (tool as u32)) != 0
    }

    /// Returns whether the set has no tool.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns how many tools there are.
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Returns the tools of either set.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the tools of both sets.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns the tools of this set that are not in the other.
    #[must_use]
    pub const fn difference(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Iterates over the tools in the registry's order.
    pub fn iter(self) -> impl Iterator<Item = Tool> {
        Tool::ALL
            .iter()
            .copied()
            .filter(move |tool| self.contains(*tool))
    }

    /// Returns the names of the tools, in the registry's order.
    pub fn names(self) -> Vec<&'static str> {
        self.iter().map(Tool::name).collect()
    }
}

impl FromIterator<Tool> for ToolSet {
    fn from_iter<I: IntoIterator<Item = Tool>>(tools: I) -> Self {
        tools
            .into_iter()
            .fold(Self::EMPTY, |set, tool| set.union(Self::of(&[tool])))
    }
}

impl From<Vec<Tool>> for ToolSet {
    fn from(tools: Vec<Tool>) -> Self {
        Self::of(&tools)
    }
}

impl From<ToolSet> for Vec<Tool> {
    fn from(set: ToolSet) -> Self {
        set.iter().collect()
    }
}

impl fmt::Debug for ToolSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

impl fmt::Display for ToolSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.names().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_algebra() {
        let a = ToolSet::of(&[Tool::CreatePr, Tool::GetIssue]);
        let b: ToolSet = [Tool::GetIssue, Tool::AddComment].into_iter().collect();
        assert_eq!(a.intersection(b), ToolSet::of(&[Tool::GetIssue]));
        assert_eq!(a.union(b).len(), 3);
        assert_eq!(a.difference(b), ToolSet::of(&[Tool::CreatePr]));
        assert!(ToolSet::EMPTY.is_empty());
        assert_eq!(a.to_string(), "get_issue, create_pr");
        assert_eq!(
            serde_json::to_string(&a).unwrap(),
            r#"["get_issue","create_pr"]"#
        );
        assert_eq!(
            serde_json::from_str::<ToolSet>(r#"["create_pr","get_issue"]"#).unwrap(),
            a
        );
    }
}
