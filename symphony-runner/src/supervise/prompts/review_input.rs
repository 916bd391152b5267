//! What a judge is shown of a pull request.

use std::path::Path;

use symphony_core::config::ProjectConfig;
use symphony_core::pull_request::{FileStat, PullRequest, VerifiedGate, VerifiedGates};
use symphony_core::review_point::ReviewPoint;
use symphony_core::risk::assess;
use symphony_prompt::{FileChange, GateResult, PullRequestReview, Review, Risk, RiskLevel};
use symphony_workspace::{CommitId, Repository, WorkspaceError};

use super::points::answer_patches;

/// The file that declares submodules.
const SUBMODULES_FILE: &str = ".gitmodules";

/// Whether a diff may have been cut before it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// It is complete.
    No,
    /// Files may be missing.
    Possible,
}

/// The diff that a judge is shown.
#[derive(Debug)]
pub(crate) struct ShownDiff<'a> {
    /// The diff.
    pub(crate) text: String,
    /// Whether it may have been cut.
    pub(crate) cut: Cut,
    /// The file that holds the whole diff.
    pub(crate) path: &'a Path,
}

/// Turns the record into the judge's input, with the commits that answer these points. The repository says which files the base calls
/// generated.
pub(crate) fn review_input(
    pr: &PullRequest,
    points: &[ReviewPoint],
    diff: ShownDiff<'_>,
    config: &ProjectConfig,
    repository: &Repository,
) -> Result<Review, WorkspaceError> {
    // A change of what controls Symphony itself is a high risk in every project.
    let mut sensitive = config.sensitive_paths.clone();
    sensitive.extend(config.decisive_paths(repository.root()));
    // Git fetches whatever it names, by any means that the address names.
    sensitive.push(SUBMODULES_FILE.to_owned());
    let risk = assess(&pr.files, &sensitive, &config.risk);
    let paths: Vec<&str> = pr.files.iter().map(|file| file.path.as_str()).collect();
    let generated_paths = match CommitId::parse(&pr.base_commit) {
        Ok(base) => repository.generated_at(&base, &paths)?,
        Err(_) => Vec::new(),
    };
    let gates = pr.gates_of_head();
    Ok(Review::PullRequest(Box::new(PullRequestReview {
        title: pr.title.clone(),
        body: pr.body.clone(),
        branch: Some(pr.branch.clone()),
        base: Some(pr.base.clone()),
        head_commit: Some(pr.head_commit.clone()),
        files: pr
            .files
            .iter()
            .map(|file| FileChange {
                path: file.path.clone(),
                insertions: file.insertions,
                deletions: file.deletions,
            })
            .collect(),
        risk: Some(Risk {
            level: match risk.level {
                symphony_core::risk::RiskLevel::Low => RiskLevel::Low,
                symphony_core::risk::RiskLevel::Medium => RiskLevel::Medium,
                symphony_core::risk::RiskLevel::High => RiskLevel::High,
            },
            files: risk.files,
            lines: risk.lines,
            sensitive_paths: risk.sensitive_paths,
        }),
        unverified: gates.is_some_and(|gates| !gates.verify_something()),
        gate_results: gate_results(gates),
        submodules: submodule_changes(repository, pr)?,
        generated_paths,
        answer_patches: answer_patches(points, pr, repository)?,
        diff_is_cut: diff.cut == Cut::Possible,
        diff_path: Some(diff.path.display().to_string()),
        diff: Some(diff.text),
    })))
}

/// Describes what a pull request does to the submodules that the repository declares; empty when it leaves
/// `.gitmodules` unchanged, and when its commits no longer exist.
///
/// # Errors
/// When git fails.
pub fn submodule_changes(
    repository: &Repository,
    pr: &PullRequest,
) -> Result<Vec<String>, WorkspaceError> {
    let is_file = |file: &FileStat| {
        file.path == SUBMODULES_FILE || file.old_path.as_deref() == Some(SUBMODULES_FILE)
    };
    let commits = CommitId::parse(&pr.base_commit).and_then(|base| {
        let head = CommitId::parse(&pr.head_commit)?;
        Ok((base, head))
    });
    match commits {
        Ok((base, head)) if pr.files.iter().any(is_file) => {
            repository.submodule_changes(&base, &head)
        }
        _ => Ok(Vec::new()),
    }
}

/// Returns the results of gates for a judge.
pub(super) fn gate_results(gates: Option<&VerifiedGates>) -> Vec<GateResult> {
    let Some(gates) = gates else {
        return Vec::new();
    };
    let commit = gates.merged_with.as_ref().map_or_else(
        || gates.commit.clone(),
        |base| format!("{} merged with {base}", gates.commit),
    );
    let result = |gate: &VerifiedGate| GateResult {
        name: gate.name.clone(),
        passed: gate.passed,
        failed_tries: gate.failed_tries.len(),
        required: gate.required,
        commit: Some(commit.clone()),
        output: gate.output.clone(),
    };
    gates.results.iter().map(result).collect()
}
