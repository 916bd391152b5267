//! What a judge is shown of a pull request.

use std::path::Path;

use symphony_core::config::RiskThresholds;
use symphony_core::pull_request::PullRequest;
use symphony_core::risk::assess;
use symphony_prompt::{FileChange, GateResult, PullRequestReview, Review, Risk, RiskLevel};

/// Turns the record into the judge's input; `diff_path` is the file that holds the whole diff.
pub(crate) fn review_input(
    pr: &PullRequest,
    diff_path: &Path,
    sensitive: &[String],
    thresholds: &RiskThresholds,
) -> Review {
    let risk = assess(&pr.files, sensitive, thresholds);
    let gates = pr.gates_of_head();
    Review::PullRequest(Box::new(PullRequestReview {
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
        gate_results: gates
            .map(|gates| {
                gates
                    .results
                    .iter()
                    .map(|gate| GateResult {
                        name: gate.name.clone(),
                        passed: gate.passed,
                        required: gate.required,
                        commit: Some(gates.merged_with.as_ref().map_or_else(
                            || gates.commit.clone(),
                            |base| format!("{} merged with {base}", gates.commit),
                        )),
                        output: gate.output.clone(),
                    })
                    .collect()
            })
            .unwrap_or_default(),
        diff: Some(pr.diff.clone()),
        diff_path: Some(diff_path.display().to_string()),
    }))
}
