//! What a pull request finishes: an issue, or a plan.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::id::{IdError, IssueId, PlanId, PrId};
use crate::wording::capitalised;

/// What a pull request finishes. Gates, judge and merge treat an issue and a plan alike.
///
/// As text it is the issue's identifier, or `plan ID` for a plan. No identifier contains a blank, so the two cannot be
/// confused.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum PullRequestOf {
    /// An issue.
    Issue(IssueId),
    /// A plan whose phases are all complete.
    Plan(PlanId),
}

/// What the text of a plan begins with.
const PLAN_PREFIX: &str = "plan ";

impl PullRequestOf {
    /// Returns the issue, if it is one.
    pub const fn issue(&self) -> Option<&IssueId> {
        match self {
            Self::Issue(issue) => Some(issue),
            Self::Plan(_) => None,
        }
    }

    /// Returns the plan, if it is one.
    pub const fn plan(&self) -> Option<&PlanId> {
        match self {
            Self::Issue(_) => None,
            Self::Plan(plan) => Some(plan),
        }
    }

    /// Returns what a person types in a command to name its pull request: the issue, or for a plan the number.
    pub fn reference(&self, pr: PrId) -> String {
        match self {
            Self::Issue(issue) => issue.to_string(),
            Self::Plan(_) => pr.to_string(),
        }
    }

    /// Names it in the subject of a commit: the word is not repeated for a plan with the name `plan`.
    pub fn in_subject(&self) -> String {
        match self {
            Self::Plan(plan) if plan.as_str() == PLAN_PREFIX.trim() => plan.to_string(),
            of => of.to_string(),
        }
    }

    /// The same for a squash, whose subject begins with it.
    pub fn in_squash(&self) -> String {
        capitalised(&self.in_subject())
    }

    /// Returns the name of its folders: the issue's identifier, or `plan-` and the plan's id.
    pub fn folder_name(&self) -> String {
        match self {
            Self::Issue(issue) => issue.to_string(),
            Self::Plan(plan) => format!("plan-{plan}"),
        }
    }
}

impl From<IssueId> for PullRequestOf {
    fn from(issue: IssueId) -> Self {
        Self::Issue(issue)
    }
}

impl From<PlanId> for PullRequestOf {
    fn from(plan: PlanId) -> Self {
        Self::Plan(plan)
    }
}

impl fmt::Display for PullRequestOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Issue(issue) => issue.fmt(f),
            Self::Plan(plan) => write!(f, "{PLAN_PREFIX}{plan}"),
        }
    }
}

impl From<PullRequestOf> for String {
    fn from(of: PullRequestOf) -> Self {
        of.to_string()
    }
}

impl TryFrom<String> for PullRequestOf {
    type Error = IdError;

    fn try_from(text: String) -> Result<Self, IdError> {
        match text.strip_prefix(PLAN_PREFIX) {
            Some(plan) => PlanId::parse(plan).map(Self::Plan),
            None => IssueId::parse(&text).map(Self::Issue),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issues_and_plans_keep_their_form_as_text() {
        let issue = PullRequestOf::Issue(IssueId::parse("SYM-7").unwrap());
        let plan = PullRequestOf::Plan(PlanId::parse("ship-it").unwrap());
        for (of, text, folder) in [
            (&issue, "SYM-7", "SYM-7"),
            (&plan, "plan ship-it", "plan-ship-it"),
        ] {
            assert_eq!(of.to_string(), text);
            assert_eq!(of.folder_name(), folder);
            let json = serde_json::to_string(of).unwrap();
            assert_eq!(json, format!("{text:?}"));
            assert_eq!(serde_json::from_str::<PullRequestOf>(&json).unwrap(), *of);
        }
        for wrong in ["plan ", "plan", "sym-7", "plan a b", ""] {
            assert!(
                PullRequestOf::try_from(wrong.to_owned()).is_err(),
                "{wrong}"
            );
        }
    }
}
