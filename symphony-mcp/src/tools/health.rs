//! Keeping count: health of the tests, coverage of research.

use serde_json::{Value, json};
use symphony_core::test_health::TestReport;
use symphony_core::tools::Tool;
use symphony_store::{CoverageRecord, NewCoverage, NewTestHealth, Store};
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

/// Entries of the coverage that are looked through, and of those that match, how many are returned.
const COVERAGE_LOOKED_MAX: u32 = 10_000;
const COVERAGE_SHOWN_MAX: usize = 20;
/// Characters of a word that counts: shorter ones are everywhere.
const WORD_CHARS_MIN: usize = 3;

/// Returns what research has read for what a query asks about, newest first; nothing for roles that record no coverage.
pub(super) fn read_before(
    store: &Store,
    identity: &Identity,
    query: &str,
) -> Result<Vec<Value>, ToolError> {
    if !identity.callable().contains(Tool::RecordCoverage) {
        return Ok(Vec::new());
    }
    let words: Vec<String> = query
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().count() >= WORD_CHARS_MIN)
        .map(str::to_lowercase)
        .collect();
    let mut found = store.coverage(&identity.project, COVERAGE_LOOKED_MAX)?;
    found.retain(|record| {
        let text = format!("{}\n{}\n{}", record.file, record.concept, record.notes).to_lowercase();
        words.iter().any(|word| text.contains(word))
    });
    found.sort_by_key(|record| std::cmp::Reverse(record.created_at));
    let shown = found.into_iter().take(COVERAGE_SHOWN_MAX);
    let row = |record: CoverageRecord| {
        json!({
            "file": record.file, "concept": record.concept, "notes": record.notes, "created_at": record.created_at,
        })
    };
    Ok(shown.map(row).collect())
}
