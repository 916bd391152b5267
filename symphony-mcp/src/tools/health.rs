//! Keeping count: health of the tests, coverage of research.

use serde_json::{Value, json};
use symphony_core::test_health::TestReport;
use symphony_store::{NewCoverage, NewTestHealth, Store};
use symphony_workspace::{Repository, WorkspaceError};

use crate::answer::{Answer, ToolError};
use crate::identity::{Identity, IssueWorkspace};
use crate::params::{RecordCoverage, RecordTestHealth};

/// `record_test_health`
pub(super) fn record_test_health(
    store: &mut Store,
    identity: &Identity,
    params: RecordTestHealth,
) -> Result<Answer, ToolError> {
    let record = store.record_test_health(
        &identity.context(),
        &NewTestHealth {
            project: identity.project.clone(),
            issue: identity.issue.clone(),
            report: TestReport {
                test_count: params.test_count,
                duration_ms: params.duration_ms,
                names: params.names,
            },
            changed_lines: identity.workspace.as_ref().and_then(changed_lines),
        },
    )?;
    let found: Vec<String> = record.flags.iter().map(ToString::to_string).collect();
    let head = format!(
        "recorded {} tests in {} ms",
        record.test_count, record.duration_ms
    );
    let message = if found.is_empty() {
        format!("{head}; no sign of bloat")
    } else {
        format!(
            "{head}. Look into this before you go on: {}",
            found.join(". ")
        )
    };
    let flags: Vec<Value> = record.flags.iter().map(|flag| json!(flag)).collect();
    Ok(Answer::new(message).with("bloat", Value::Array(flags)))
}

/// Returns how many lines the issue's branch adds and removes. None where that cannot be told, uncommitted changes
/// included: the tests are counted all the same, and compared with the suite instead.
fn changed_lines(workspace: &IssueWorkspace) -> Option<u64> {
    committed_lines(workspace).ok().flatten()
}

fn committed_lines(workspace: &IssueWorkspace) -> Result<Option<u64>, WorkspaceError> {
    let repository = Repository::open(&workspace.project_root, workspace.options.clone())?;
    let worktree = repository.worktree(&workspace.key, Some(&workspace.branch))?;
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

/// `record_coverage`
pub(super) fn record_coverage(
    store: &mut Store,
    identity: &Identity,
    params: RecordCoverage,
) -> Result<Answer, ToolError> {
    let record = store.record_coverage(
        &identity.context(),
        &NewCoverage {
            project: identity.project.clone(),
            file: params.file,
            concept: params.concept,
            notes: params.notes,
        },
    )?;
    Ok(Answer::new(format!(
        "noted that you read {} for `{}`",
        record.file, record.concept
    )))
}
