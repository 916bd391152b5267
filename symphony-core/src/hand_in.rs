//! Runs that hand nothing in: why the tool that a run is for was refused to it, and how often runs may end so before a
//! person looks (`docs/design/0023`).

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::closed_set::closed_set;
use crate::criteria::CHECKLIST_ADVICE;
use crate::id::RunId;
use crate::review_point::ANSWER_ADVICE;
use crate::tools::Tool;

/// After how many runs in a row without a result, including the last one, the end counts as a failure: one may have run
/// out of time, or have been refused its tool before it had fixed the reason.
pub const NOTHING_FAILS: u32 = 2;
/// After how many of them the issue waits for a person: three agents read what to do, and none of them did it.
pub const NOTHING_STOPS: u32 = 3;
/// Characters of a refusal that are kept.
const MESSAGE_CHARS_MAX: usize = 2_000;

closed_set!(
    /// Why a call was refused.
    RefusalKind, "kind of refusal", {
        /// There are uncommitted changes.
        Uncommitted = "uncommitted",
        /// Something else than the issue's branch is checked out.
        OtherBranch = "other_branch",
        /// The branch has no commits of its own.
        NothingCommitted = "nothing_committed",
        /// The commits change nothing.
        NothingChanged = "nothing_changed",
        /// A git repository inside the worktree holds work that no commit has.
        NestedRepository = "nested_repository",
        /// A file goes through a git filter that Symphony may not run.
        Filter = "filter",
        /// A commit holds secrets.
        Secrets = "secrets",
        /// The branch has commits that are not merged.
        UnmergedCommits = "unmerged_commits",
        /// The evidence is not what the worker says.
        Evidence = "evidence",
        /// Review points have no answer.
        UnansweredPoints = "unanswered_points",
        /// Acceptance criteria have no answer.
        UnansweredCriteria = "unanswered_criteria",
        /// Anything else.
        Other = "other",
    }
);

/// A call of the tool that a run is for, and that Symphony refused: a pull request that was not opened, a verdict that
/// was not recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedCall {
    /// The tool; older records lack it, and are of `create_pr`.
    #[serde(default = "create_pr")]
    pub tool: Tool,
    /// The kind of refusal.
    pub kind: RefusalKind,
    /// The text that the agent got.
    pub message: String,
}

impl RefusedCall {
    /// Creates it from the text that the agent got.
    pub fn new(tool: Tool, kind: RefusalKind, message: &str) -> Self {
        Self {
            tool,
            kind,
            message: message.chars().take(MESSAGE_CHARS_MAX).collect(),
        }
    }

    /// Returns why it was refused, without the advice to the agent: for people.
    pub fn fact(&self) -> &str {
        let advice = match self.kind {
            RefusalKind::UnansweredPoints => ANSWER_ADVICE,
            RefusalKind::UnansweredCriteria => CHECKLIST_ADVICE,
            _ => return &self.message,
        };
        let fact = self.message.split_once(advice);
        fact.map_or(&self.message, |(fact, _)| fact)
    }

    /// Returns whether another one has the same reason, even if it names other files.
    pub fn is_like(&self, other: &Self) -> bool {
        self.tool == other.tool
            && self.kind == other.kind
            && (self.kind != RefusalKind::Other || self.message == other.message)
    }

    /// Returns why a run ended without its outcome, and where to find more.
    pub fn why_nothing_came(&self, run: &RunId) -> String {
        let Self { tool, message, .. } = self;
        format!(
            "its last call of `{tool}` was refused: {message} (`symphony runs logs {run}` shows the run)"
        )
    }
}

/// What was refused and why, as a sentence without its full stop.
impl fmt::Display for RefusedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let purpose = match self.tool {
            Tool::CreatePr => "which opens the pull request",
            Tool::ProposeDone => "which says that nothing is left to do",
            Tool::CompletePhase => "which reports how the phase ended",
            Tool::ConfigureProject => "which configures the project",
            Tool::CreateSubtask => "which files a sub-task",
            Tool::UpdateIssueStatus => "which sorts the issue",
            _ => "which records the verdict",
        };
        let Self { tool, message, .. } = self;
        write!(f, "`{tool}`, {purpose}, was refused: {message}")
    }
}

const fn create_pr() -> Tool {
    Tool::CreatePr
}

/// What a run without a result does to its issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NothingEffect {
    /// The work continues at once.
    Continues,
    /// The run has failed: the next one waits, longer each time.
    Fails,
    /// Another run would end the same way: the circuit breaker opens.
    Stops,
}

/// Decides the effect of a run without a result after `before` such runs in a row: their call was refused for the same
/// reason, or they ended without a commit and without a call of the tool that they are for.
pub const fn nothing_effect(before: u32) -> NothingEffect {
    let count = before.saturating_add(1);
    if count >= NOTHING_STOPS {
        NothingEffect::Stops
    } else if count >= NOTHING_FAILS {
        NothingEffect::Fails
    } else {
        NothingEffect::Continues
    }
}

/// The key in a run's metadata with the commit of its worktree when its agent started.
pub const HEAD_AT_START: &str = "head_at_start";
/// The key with the commit of the worktree after the agent's work was committed.
pub const HEAD_AT_END: &str = "head_at_end";

/// Returns whether the worktree of a run ended at another commit than it began at. A run for which that is not known
/// (an older one, one without a worktree of its issue) has no commits of its own to show.
pub fn has_new_commits(metadata: &Value) -> bool {
    let head = |name| metadata.get(name).and_then(Value::as_str);
    match (head(HEAD_AT_START), head(HEAD_AT_END)) {
        (Some(start), Some(end)) => start != end,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_read_why_a_call_was_refused_and_not_what_the_agent_has_to_do() {
        let unanswered = crate::review_point::PointError::Unanswered {
            points: "review point 1 is".to_owned(),
        };
        let text = "# Acceptance criteria\n- It greets.";
        let criteria = crate::criteria::collect_criteria(text, &[]).items;
        let missing = crate::criteria::answer_criteria(&criteria, &[]).unwrap_err();
        for (kind, message, expected) in [
            (
                RefusalKind::UnansweredPoints,
                unanswered.to_string(),
                "review point 1 is not answered yet",
            ),
            (
                RefusalKind::UnansweredCriteria,
                missing.to_string(),
                "checklist: no answer to 1 (“It greets.”)",
            ),
            (
                RefusalKind::Other,
                "no title: add one".to_owned(),
                "no title: add one",
            ),
        ] {
            assert_eq!(
                RefusedCall::new(Tool::CreatePr, kind, &message).fact(),
                expected
            );
        }
    }

    #[test]
    fn a_refusal_is_like_another_whatever_files_it_names() {
        use RefusalKind::{Other, Secrets, Uncommitted};
        let refused = |kind, message: &str| RefusedCall::new(Tool::CreatePr, kind, message);
        let first = refused(Uncommitted, "uncommitted changes (a.rs)");
        assert!(first.is_like(&refused(Uncommitted, "uncommitted changes (b.rs)")));
        assert!(!first.is_like(&refused(Secrets, "uncommitted changes (a.rs)")));
        // of these nothing is known but their words
        assert!(refused(Other, "no title").is_like(&refused(Other, "no title")));
        assert!(!refused(Other, "no title").is_like(&refused(Other, "no body")));
        let verdict = RefusedCall::new(Tool::RejectPr, Other, "no title");
        assert!(!refused(Other, "no title").is_like(&verdict));
        assert_eq!(
            refused(Other, &"ä".repeat(9_999)).message.chars().count(),
            2_000
        );
    }

    #[test]
    fn a_refusal_that_an_older_version_kept_is_of_create_pr() {
        let old = r#"{"kind":"uncommitted","message":"commit first"}"#;
        let refused: RefusedCall = serde_json::from_str(old).unwrap();
        assert_eq!(
            refused.to_string(),
            "`create_pr`, which opens the pull request, was refused: commit first"
        );
    }

    #[test]
    fn the_second_in_a_row_fails_and_the_third_stops() {
        use NothingEffect::{Continues, Fails, Stops};
        let effects: Vec<NothingEffect> = (0..5).map(nothing_effect).collect();
        assert_eq!(effects, [Continues, Fails, Stops, Stops, Stops]);
        assert_eq!(nothing_effect(u32::MAX), Stops);
    }

    #[test]
    fn commits_are_seen_by_the_two_ends_of_a_run() {
        let metadata =
            |start, end| serde_json::json!({ "head_at_start": start, "head_at_end": end });
        assert!(has_new_commits(&metadata("a", "b")));
        assert!(!has_new_commits(&metadata("a", "a")));
        assert!(!has_new_commits(&serde_json::json!({ "head_at_end": "a" })));
        assert!(!has_new_commits(&Value::Null));
    }
}
