//! What a merge did, in words.

use symphony_core::pull_request::{PullRequest, PullRequestOf};
use symphony_runner::merge::Merged;

/// Digits of a commit that are shown.
const COMMIT_DIGITS: usize = 10;

/// Says what a merge did: to which commit it led, whether gates ran for it, and what was cleaned up.
#[must_use]
pub fn merged_sentence(merged: &Merged) -> String {
    let pr = &merged.pr;
    let gated = pr.verified_gates.as_ref().map(|gates| &gates.commit);
    let gates = match &merged.gates {
        None => "",
        Some(gates) if gated.is_some_and(|commit| *commit != gates.commit) => {
            " The gates ran again on the result."
        }
        Some(_) => " The gates ran on the result.",
    };
    let commit = &merged.commit;
    let commit = commit.get(..COMMIT_DIGITS).unwrap_or(commit);
    format!(
        "Merged pull request {} into {} as {commit}.{gates} {}",
        pr.id,
        pr.base,
        ended(pr, &merged.clean_up)
    )
}

/// Says that the issue or the plan has ended, and what was cleaned up; both texts name it, this one once.
fn ended(pr: &PullRequest, clean_up: &str) -> String {
    let (subject, ends) = match &pr.of {
        PullRequestOf::Issue(issue) => (issue.to_string(), "is done"),
        PullRequestOf::Plan(plan) => (format!("plan {plan}"), "is completed"),
    };
    let rest = clean_up.strip_prefix(&format!("{subject}: "));
    rest.map_or_else(
        || format!("{subject} {ends}. {clean_up}."),
        |rest| format!("{subject} {ends}: {rest}."),
    )
}
