//! `record_test_health`: how many tests there are, and how long they take.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use symphony_core::test_health::TestReport;
use symphony_core::wording::counted;
use symphony_store::{NewTestHealth, Store};

use crate::answer::{Answer, ToolError};
use crate::identity::{Identity, IssueWorkspace};
use crate::tool_call::ToolCall;
use crate::work::committable::open;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordTestHealth {
    /// How many tests the full run had.
    test_count: u64,
    /// How long it took, in milliseconds.
    duration_ms: u64,
    /// The names of the tests, with their paths. At most 10,000.
    #[serde(default)]
    names: Vec<String>,
}

impl ToolCall for RecordTestHealth {
    const DESCRIPTION: &str = "Records the number of tests and their duration, as the full run reported them. The answer says whether \
        more tests were added than the change explains, or two share a name. Commit first: only what is committed counts as the change.";

    fn carry_out(self, store: &mut Store, identity: &Identity) -> Result<Answer, ToolError> {
        let record = store.record_test_health(
            &identity.context(),
            &NewTestHealth {
                project: identity.project.clone(),
                issue: identity.issue.clone(),
                report: TestReport {
                    test_count: self.test_count,
                    duration_ms: self.duration_ms,
                    names: self.names,
                },
                changed_lines: identity.workspace.as_ref().and_then(changed_lines),
            },
        )?;
        let found: Vec<String> = record.flags.iter().map(ToString::to_string).collect();
        let head = format!(
            "recorded {} in {} ms",
            counted(record.test_count, "test"),
            record.duration_ms
        );
        let message = if found.is_empty() {
            format!("{head}; no sign of bloat")
        } else {
            format!(
                "{head}. Look into this before you continue: {}",
                found.join(". ")
            )
        };
        let flags: Vec<Value> = record.flags.iter().map(|flag| json!(flag)).collect();
        Ok(Answer::new(message).with("bloat", Value::Array(flags)))
    }
}

/// Returns how many lines the issue's branch adds and removes. `None` if that cannot be determined, for example because
/// of uncommitted changes: the test count is still recorded, and compared with the suite instead.
fn changed_lines(workspace: &IssueWorkspace) -> Option<u64> {
    committed_lines(workspace).ok().flatten()
}

fn committed_lines(workspace: &IssueWorkspace) -> Result<Option<u64>, ToolError> {
    let (repository, worktree) = open(workspace)?;
    if !repository.status(&worktree)?.is_clean() {
        return Ok(None);
    }
    let Some(base) = repository.branch_head(&workspace.base)? else {
        return Ok(None);
    };
    let head = repository.head(&worktree)?;
    let lines = repository
        .diff(&base, &head, 0)?
        .files
        .iter()
        .fold(0_u64, |sum, file| {
            sum.saturating_add(file.insertions)
                .saturating_add(file.deletions)
        });
    Ok(Some(lines))
}
