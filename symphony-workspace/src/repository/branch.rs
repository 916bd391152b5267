//! Names of branches.

use std::fmt;

use serde::{Deserialize, Serialize};
use symphony_core::id::{IssueId, PlanId, PlanPhaseId};

use crate::error::WorkspaceError;

/// The longest branch name, in bytes. A ref is a file name, which `.lock` is appended to.
const BRANCH_BYTES_MAX: usize = 240;

/// The short name of a branch (`main`, `symphony/SYM-1`), valid by git's own rules.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BranchName(String);

impl BranchName {
    /// Parses a short name.
    ///
    /// # Errors
    /// [`WorkspaceError::BranchName`] with the rule that is broken (`git check-ref-format`; also, no name starts with
    /// `-`).
    pub fn parse(name: &str) -> Result<Self, WorkspaceError> {
        match broken_rule(name) {
            None => Ok(Self(name.to_owned())),
            Some(reason) => Err(WorkspaceError::BranchName {
                name: name.chars().take(80).collect(),
                reason,
            }),
        }
    }

    /// Returns the branch of an issue: `symphony/<identifier>`.
    pub fn of_issue(issue: &IssueId) -> Self {
        Self(format!("symphony/{issue}"))
    }

    /// Returns the branch that the phases of a plan start from and are merged into: `symphony/plan-<plan>/base`.
    pub fn of_plan_base(plan: &PlanId) -> Self {
        Self(format!("symphony/plan-{plan}/base"))
    }

    /// Returns the branch of a plan's phase: `symphony/plan-<plan>/<phase>`. A phase with the name `base` gets a branch
    /// that no other phase can have.
    pub fn of_plan_phase(plan: &PlanId, phase: &PlanPhaseId) -> Self {
        match phase.as_str() {
            "base" => Self(format!("symphony/plan-{plan}/base.phase")),
            name => Self(format!("symphony/plan-{plan}/{name}")),
        }
    }

    /// Returns the short name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the full name of the branch's ref.
    pub fn reference(&self) -> String {
        format!("refs/heads/{}", self.0)
    }
}

fn broken_rule(name: &str) -> Option<&'static str> {
    let forbidden = |c: char| c.is_control() || " ~^:?*[\\".contains(c);
    let part_is_bad = |part: &str| {
        part.is_empty()
            || part.starts_with('.')
            || part.ends_with('.')
            || part.strip_suffix(".lock").is_some()
    };
    if name.is_empty() {
        Some("it is empty")
    } else if name.len() > BRANCH_BYTES_MAX {
        Some("it is longer than 240 bytes")
    } else if name.starts_with('-') {
        Some("it begins with `-`")
    } else if name == "@" || name == "HEAD" || name.contains("@{") || name.contains("..") {
        Some("git gives `@`, `HEAD`, `@{` and `..` a meaning of their own")
    } else if name.contains(forbidden) {
        Some("it contains a space, a control character or one of `~^:?*[\\`")
    } else if name.split('/').any(part_is_bad) {
        Some("a part between `/` is empty, begins or ends with `.`, or ends with `.lock`")
    } else {
        None
    }
}

impl fmt::Display for BranchName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl TryFrom<String> for BranchName {
    type Error = WorkspaceError;
    fn try_from(text: String) -> Result<Self, WorkspaceError> {
        Self::parse(&text)
    }
}

impl From<BranchName> for String {
    fn from(name: BranchName) -> Self {
        name.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_of_plans_have_branches_of_their_own() {
        let plan = PlanId::parse("ship").unwrap();
        let phase = |id: &str| BranchName::of_plan_phase(&plan, &PlanPhaseId::parse(id).unwrap());
        assert_eq!(phase("set-up").as_str(), "symphony/plan-ship/set-up");
        assert_ne!(phase("base"), BranchName::of_plan_base(&plan));
        assert_ne!(phase("base"), phase("base-phase"));
        for id in ["base", "set-up", "lock"] {
            assert!(BranchName::parse(phase(id).as_str()).is_ok(), "{id}");
        }
    }

    #[test]
    fn names_follow_gits_rules() {
        for good in [
            "main",
            "symphony/SYM-1",
            "feature/ümlaut",
            "a.b",
            "v1-x",
            "symphony/plan-a/base",
        ] {
            assert!(BranchName::parse(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "-x",
            "--upload-pack=x",
            "a b",
            "a..b",
            "a~1",
            "a^",
            "a:b",
            "a?",
            "a*",
            "a[",
            "a\\b",
            "/a",
            "a/",
            "a//b",
            ".a",
            "a/.b",
            "a.",
            "a.lock",
            "a.lock/b",
            "@",
            "HEAD",
            "a@{1}",
            "a\nb",
            &"a".repeat(241),
        ] {
            assert!(BranchName::parse(bad).is_err(), "{bad}");
        }
    }
}
