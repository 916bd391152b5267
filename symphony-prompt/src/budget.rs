//! Budgets: how many tokens the prompts may have, and how the user prompt's are shared out.

use serde::{Deserialize, Serialize};
use symphony_core::unit::Tokens;

use crate::error::PromptError;

/// The user prompt's budget (spec: prompts).
pub const USER_TOKENS: Tokens = Tokens::new(8_000);
/// The system prompt's budget.
pub const SYSTEM_TOKENS: Tokens = Tokens::new(12_000);
/// What the artifacts of previous phases share.
pub const ARTIFACT_TOKENS: Tokens = Tokens::new(4_000);
/// Longest part without a bound of its own before the report warns.
pub const UNBOUNDED_WARNING_TOKENS: Tokens = Tokens::new(4_000);

/// Hard limit of what a judge's prompt shows of a pull request's diff, in characters.
pub const DIFF_CHARS_MAX: u64 = 50_000;
/// Hard limit of a phase's artifact for a judge, in characters; the beginning is kept.
pub const ARTIFACT_CHARS_MAX: u64 = 30_000;
/// Hard limit of an agent's captured output, in bytes; the end is kept.
pub const OUTPUT_BYTES_MAX: usize = 50 * 1024;
/// Runs shown; the last ones.
pub const ATTEMPTS_MAX: usize = 3;
/// Findings shown; the last ones.
pub const FINDINGS_MAX: usize = 5;
/// Tactical learnings shown; the first ones, which are the best.
pub const LEARNINGS_MAX: usize = 25;
/// Comments shown to a phase agent; the last ones.
pub const PHASE_COMMENTS_MAX: usize = 5;

/// Dependencies shown; more than an issue that one session can finish has.
pub const DEPENDENCIES_MAX: usize = 20;

/// Sub-tasks of a parent that a prompt shows with their details; a planner makes at most as many in a run.
pub const CHILDREN_MAX: usize = 20;
/// Sub-tasks that are named at all; the rest is counted.
pub const CHILDREN_NAMED_MAX: usize = 500;
/// The part of the user budget that the details of sub-tasks share, outside of the other shares: one of this many.
pub(crate) const INTEGRATION_PART: u64 = 4;

/// Rejected claims shown to a phase agent; the last ones.
pub const REJECTED_DELIVERIES_MAX: usize = 3;

/// How the user budget is shared out, in percent. The shares add up to 100.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "SharesRow", into = "SharesRow")]
#[cfg_attr(feature = "schema", schemars(with = "SharesRow"))]
pub struct Shares(SharesRow);

/// The percentages of [`Shares`], not yet checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SharesRow {
    /// The description.
    pub description: u8,
    /// The diff under review.
    #[serde(default)]
    pub diff: u8,
    /// Findings, the worker's approach among them.
    pub findings: u8,
    /// Tactical learnings.
    pub learnings: u8,
    /// Comments.
    pub comments: u8,
    /// The output tails of previous attempts, together.
    pub previous_output: u8,
}

impl Shares {
    /// The shares of a prompt without a diff.
    pub const WITHOUT_DIFF: Self = Self(SharesRow {
        description: 25,
        diff: 0,
        findings: 20,
        learnings: 15,
        comments: 15,
        previous_output: 25,
    });

    /// The shares of a judge's prompt with a diff.
    pub const WITH_DIFF: Self = Self(SharesRow {
        description: 15,
        diff: 25,
        findings: 15,
        learnings: 10,
        comments: 10,
        previous_output: 25,
    });

    /// Checks shares.
    ///
    /// # Errors
    /// When they do not add up to 100.
    pub fn new(row: SharesRow) -> Result<Self, PromptError> {
        let parts = [
            ("description", row.description),
            ("diff", row.diff),
            ("findings", row.findings),
            ("learnings", row.learnings),
            ("comments", row.comments),
            ("previous_output", row.previous_output),
        ];
        let found: u32 = parts.iter().map(|(_, percent)| u32::from(*percent)).sum();
        if found == 100 {
            return Ok(Self(row));
        }
        let named: Vec<String> = parts
            .iter()
            .map(|(name, percent)| format!("{name} {percent}"))
            .collect();
        Err(PromptError::SharesSum {
            found,
            shares: named.join(", "),
        })
    }

    /// Returns the percentages.
    pub const fn row(&self) -> SharesRow {
        self.0
    }

    /// Turns the percentages into caps; fractions of a token are not given out.
    pub fn caps(&self, budget: Tokens) -> Caps {
        let cap = |percent: u8| {
            let tokens = u128::from(budget.get()) * u128::from(percent) / 100;
            Tokens::new(u64::try_from(tokens).unwrap_or(u64::MAX))
        };
        Caps {
            description: cap(self.0.description),
            diff: cap(self.0.diff),
            findings: cap(self.0.findings),
            learnings: cap(self.0.learnings),
            comments: cap(self.0.comments),
            previous_output: cap(self.0.previous_output),
        }
    }
}

impl TryFrom<SharesRow> for Shares {
    type Error = PromptError;
    fn try_from(row: SharesRow) -> Result<Self, PromptError> {
        Self::new(row)
    }
}

impl From<Shares> for SharesRow {
    fn from(shares: Shares) -> Self {
        shares.0
    }
}

/// What each budgeted part of a user prompt may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caps {
    /// The description.
    pub description: Tokens,
    /// The diff under review.
    pub diff: Tokens,
    /// Findings.
    pub findings: Tokens,
    /// Tactical learnings.
    pub learnings: Tokens,
    /// Comments.
    pub comments: Tokens,
    /// The output tails of previous attempts, together.
    pub previous_output: Tokens,
}

/// The budgets of one dispatch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Budgets {
    /// The user prompt's budget, in tokens.
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub user_tokens: Tokens,
    /// The system prompt's budget, in tokens.
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub system_tokens: Tokens,
    /// What the artifacts of previous phases share, in tokens.
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub artifact_tokens: Tokens,
    /// The most that notes of the vault may have, beside what the system budget leaves.
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vault_tokens: Option<Tokens>,
    /// Whether what some sections and documents leave of their shares goes to those that were cut; otherwise shares are caps.
    pub pass_on: bool,
    /// Shares of the user budget without a diff.
    pub shares: Shares,
    /// Shares of the user budget with a diff.
    pub shares_with_diff: Shares,
}

impl Default for Budgets {
    fn default() -> Self {
        Self {
            user_tokens: USER_TOKENS,
            system_tokens: SYSTEM_TOKENS,
            artifact_tokens: ARTIFACT_TOKENS,
            vault_tokens: None,
            pass_on: true,
            shares: Shares::WITHOUT_DIFF,
            shares_with_diff: Shares::WITH_DIFF,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caps(shares: Shares) -> [u64; 6] {
        let caps = shares.caps(USER_TOKENS);
        [
            caps.description,
            caps.diff,
            caps.findings,
            caps.learnings,
            caps.comments,
            caps.previous_output,
        ]
        .map(Tokens::get)
    }

    #[test]
    fn default_shares_give_the_caps_of_the_table() {
        assert_eq!(
            caps(Shares::WITHOUT_DIFF),
            [2000, 0, 1600, 1200, 1200, 2000]
        );
        assert_eq!(caps(Shares::WITH_DIFF), [1200, 2000, 1200, 800, 800, 2000]);
    }

    #[test]
    fn the_default_shares_are_checked_like_any_others() {
        for shares in [Shares::WITHOUT_DIFF, Shares::WITH_DIFF] {
            assert_eq!(Shares::new(shares.row()), Ok(shares));
        }
    }

    #[test]
    fn shares_that_are_not_a_whole_are_refused() {
        let row = SharesRow {
            description: 30,
            ..Shares::WITHOUT_DIFF.row()
        };
        assert_eq!(
            Shares::new(row).unwrap_err().to_string(),
            "budget shares add up to 105, expected 100 (description 30, diff 0, findings 20, \
             learnings 15, comments 15, previous_output 25)"
        );
        let json = serde_json::json!({"description": 25, "findings": 25, "learnings": 25, "comments": 25, "previous_output": 25});
        assert!(serde_json::from_value::<Shares>(json).is_err());
    }
}
