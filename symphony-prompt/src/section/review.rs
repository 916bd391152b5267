//! Sections for a judge: the pull request, or the phase's delivery and artifact, and how a verdict is given.

use std::borrow::Cow;

use symphony_core::pull_request::PullRequestOf;
use symphony_core::unit::Tokens;
use symphony_core::wording::counted;

use crate::budget::ARTIFACT_CHARS_MAX;
use crate::fence::Fenced;
use crate::hidden::{escape_hidden, one_line, strip_hidden};
use crate::input::{DoneReview, FindingInput, GateResult, PhaseReview, PullRequestReview, Risk};
use crate::section::fit::{Fitter, fit_text};
use crate::section::{Fit, Piece, SectionDraft, SectionName, finding, name_line, title_line};
use crate::tokens::{HeuristicCounter, TokenCounter};
use crate::truncate::limit_head;

/// Longest body of a pull request and summary of a delivery, in characters: the beginning is kept, where it says what it is.
const BODY_CHARS_MAX: u64 = 4_000;
/// Files listed in the change summary.
const CHANGED_FILES_MAX: usize = 100;
/// Sensitive paths and required headings listed.
const LISTED_MAX: usize = 50;

/// The pull request, its approach (cut to `approach_cap` by the text rule), and how a verdict is given.
///
/// Also returns the tokens of the approach, which it takes from the findings' share.
pub(crate) fn pull_request<'a>(
    review: &'a PullRequestReview,
    approach: Option<&'a FindingInput>,
    approach_cap: Tokens,
    fitter: Fitter<'_>,
) -> (SectionDraft<'a>, Tokens) {
    let mut pieces = vec![Piece::text("## Pull Request\n")];
    if !review.title.trim().is_empty() || !review.body.trim().is_empty() {
        let body = strip_hidden(&review.body);
        let text = format!(
            "{}\n\n{}",
            title_line(&review.title),
            limit_head(&body, BODY_CHARS_MAX)
        );
        pieces.push(Piece::Fenced(Fenced {
            origin: "title and body of the pull request".into(),
            author: "the branch's author".into(),
            text: Cow::Owned(text.trim().to_owned()),
        }));
    }
    if !review.files.is_empty() {
        pieces.push(Piece::text("\n### Change Summary\n"));
        pieces.push(change_summary(review));
    }
    if let Some(risk) = &review.risk {
        pieces.push(Piece::text("\n### Risk\n"));
        push_risk(risk, &mut pieces);
    }
    if !review.submodules.is_empty() {
        pieces.push(Piece::text("\n### Submodules\n"));
        pieces.push(submodules(&review.submodules));
    }
    if let Some(text) = branches(review) {
        pieces.push(Piece::text(format!("\n### Branches\n\n{text}")));
    }
    let mut fit = Fit::default();
    let mut approach_tokens = Tokens::ZERO;
    if let Some(approach) = approach {
        let fenced = finding(approach);
        let (text, approach_fit) = fit_text(fenced.text, approach_cap, fitter.counter);
        fit = approach_fit;
        approach_tokens = fitter.counter.count(&text);
        if !text.is_empty() {
            pieces.push(Piece::text("\n### Approach\n"));
            pieces.push(Piece::Fenced(Fenced { text, ..fenced }));
        }
    }
    if let Some(text) = verified_gates(&review.gate_results, review.unverified) {
        pieces.push(Piece::text(format!("\n### Verified Gates\n\n{text}")));
    }
    pieces.push(Piece::text(PULL_REQUEST_VERDICT));
    let draft = SectionDraft::fitted(SectionName::PullRequest, pieces, fit);
    (draft, approach_tokens)
}

const UNVERIFIED: &str = "This change is unverified: no gate is required, so your review is the only check before it \
    reaches the base branch.";

const PULL_REQUEST_VERDICT: &str = "\n### Verdict\n\n\
    End your review with one call: `approve_pr`, `reject_pr` with `points`, or, if only a person can decide, \
    `update_issue_status` with `blocked` and the reason. Text alone decides nothing.";

const PHASE_VERDICT: &str = "\n### Verdict\n\n\
    End your review with one call: `approve_phase`, `reject_phase` with `points`, or, if only a person can decide, \
    `update_issue_status` with `blocked` and the reason. Text alone decides nothing.";

const DONE_VERDICT: &str = "\n### Verdict\n\n\
    There is no change to review: check against the issue whether every requirement is met by the files as they are. Symphony has \
    looked up that each item of evidence exists, not that it shows what the worker says. Call `approve_done`, or `reject_done` with \
    `points`: one for each requirement that is not met. No other verdict tool applies here. Text alone decides nothing: without \
    one of these calls the review does not count.";
/// Evidence listed; no proposal has more.
const EVIDENCE_MAX: usize = 50;
/// Longest note on an item of evidence, in characters.
const NOTE_CHARS_MAX: u64 = 500;

/// The proposal that nothing is left to do, and how a verdict is given.
pub(crate) fn done_review(review: &DoneReview) -> SectionDraft<'_> {
    let mut pieces = vec![Piece::text("## Nothing Left To Do\n")];
    if let Some(commit) = &review.base_commit {
        let base = review
            .base
            .as_deref()
            .map_or_else(String::new, |base| format!(" of `{}`", name_line(base)));
        let commit = name_line(commit);
        pieces.push(Piece::text(format!(
            "The worker of this issue says that commit `{commit}`{base} meets every requirement already.\n"
        )));
    }
    let author = "the issue's worker";
    pieces.push(Piece::Fenced(Fenced {
        origin: "reason of the proposal".into(),
        author: author.into(),
        text: Cow::Owned(limit_head(&strip_hidden(&review.reason), BODY_CHARS_MAX).into_owned()),
    }));
    if !review.evidence.is_empty() {
        pieces.push(Piece::text("\n### Evidence\n"));
        let lines = review.evidence.iter().take(EVIDENCE_MAX).map(|item| {
            let note = one_line(&item.note);
            match limit_head(&note, NOTE_CHARS_MAX).trim() {
                "" => format!("- {}", title_line(&item.what)),
                note => format!("- {}: {note}", title_line(&item.what)),
            }
        });
        pieces.push(Piece::Fenced(Fenced {
            origin: "evidence of the proposal".into(),
            author: author.into(),
            text: Cow::Owned(lines.collect::<Vec<_>>().join("\n")),
        }));
    }
    if let Some(text) = verified_gates(&review.gate_results, review.unverified) {
        pieces.push(Piece::text(format!("\n### Verified Gates\n\n{text}")));
    }
    pieces.push(Piece::text(DONE_VERDICT));
    SectionDraft::new(SectionName::DoneReview, pieces)
}

fn change_summary<'a>(review: &PullRequestReview) -> Piece<'a> {
    let insertions = review
        .files
        .iter()
        .fold(0u64, |sum, file| sum.saturating_add(file.insertions));
    let deletions = review
        .files
        .iter()
        .fold(0u64, |sum, file| sum.saturating_add(file.deletions));
    let count = review.files.len();
    let noun = if count == 1 { "file" } else { "files" };
    let mut lines = vec![format!(
        "{count} {noun} changed, +{insertions} -{deletions}"
    )];
    lines.extend(review.files.iter().take(CHANGED_FILES_MAX).map(|file| {
        format!(
            "- {}: +{} -{}",
            title_line(&file.path),
            file.insertions,
            file.deletions
        )
    }));
    push_more(&mut lines, count, CHANGED_FILES_MAX);
    Piece::Fenced(Fenced {
        origin: "changed files".into(),
        author: "the branch's author".into(),
        text: Cow::Owned(lines.join("\n")),
    })
}

fn push_more(lines: &mut Vec<String>, count: usize, max: usize) {
    if count > max {
        lines.push(format!("- and {} more", count - max));
    }
}

fn push_risk(risk: &Risk, pieces: &mut Vec<Piece<'_>>) {
    pieces.push(Piece::text(format!(
        "{}: {}, {}",
        risk.level.name(),
        counted(risk.files, "file"),
        counted(risk.lines, "line")
    )));
    if risk.sensitive_paths.is_empty() {
        return;
    }
    let mut lines: Vec<String> = risk
        .sensitive_paths
        .iter()
        .take(LISTED_MAX)
        .map(|path| format!("- {}", title_line(path)))
        .collect();
    push_more(&mut lines, risk.sensitive_paths.len(), LISTED_MAX);
    pieces.push(Piece::Fenced(Fenced {
        origin: "sensitive paths touched".into(),
        author: "the branch's author".into(),
        text: Cow::Owned(lines.join("\n")),
    }));
}

/// Their names and addresses are the author's words.
fn submodules<'a>(changes: &[String]) -> Piece<'a> {
    let mut lines: Vec<String> = changes
        .iter()
        .take(LISTED_MAX)
        .map(|change| format!("- {}", limit_head(&one_line(change), NOTE_CHARS_MAX)))
        .collect();
    push_more(&mut lines, changes.len(), LISTED_MAX);
    Piece::Fenced(Fenced {
        origin: "what the change does to the submodules that git fetches".into(),
        author: "the branch's author".into(),
        text: Cow::Owned(lines.join("\n")),
    })
}

fn branches(review: &PullRequestReview) -> Option<String> {
    let named = |label: &str, name: &Option<String>| {
        name.as_deref()
            .map(|name| format!("{label} `{}`", name_line(name)))
    };
    let parts: Vec<String> = [
        named("branch", &review.branch),
        named("into", &review.base),
        named("at commit", &review.head_commit),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn verified_gates(results: &[GateResult], unverified: bool) -> Option<String> {
    if results.is_empty() {
        return unverified.then(|| UNVERIFIED.to_owned());
    }
    let passed = results.iter().filter(|result| result.passed).count();
    let red = results
        .iter()
        .filter(|result| !result.passed && result.required)
        .count();
    let verdict = if red == 0 {
        ", including every required one"
    } else {
        ". A required gate failed: do not approve"
    };
    let count = results.len();
    let verdict = if unverified {
        format!("{passed} of {count} passed. {UNVERIFIED}")
    } else {
        format!("{passed} of {count} passed{verdict}.")
    };
    Some(format!("{verdict} See Quality Gates below for details."))
}

/// The claim, its conditions, and how a verdict is given.
pub(crate) fn phase_review<'a>(review: &'a PhaseReview, issue: &PullRequestOf) -> SectionDraft<'a> {
    let path = review.artifact_path.replace("{id}", &issue.to_string());
    let mut text = format!("## Phase Review\n\n- Phase: {}", review.phase);
    if !path.trim().is_empty() {
        text += &format!("\n- Artifact: `{}`", one_line(&path));
    }
    if let Some(skip_to) = &review.skip_to {
        text += &format!(
            "\n- Asks to skip to: {skip_to}. Judge whether the issue is simple enough for that."
        );
    }
    push_list(&mut text, "Required sections", &review.required_sections);
    push_list(&mut text, "Done when", &review.done_when);
    text.push('\n');
    let mut pieces = vec![Piece::text(text)];
    if !review.summary.trim().is_empty() {
        let summary = strip_hidden(&review.summary);
        pieces.push(Piece::Fenced(Fenced {
            origin: "summary of the delivery".into(),
            author: "the phase's agent".into(),
            text: Cow::Owned(limit_head(&summary, BODY_CHARS_MAX).into_owned()),
        }));
    }
    pieces.push(Piece::text(PHASE_VERDICT));
    SectionDraft::new(SectionName::PhaseReview, pieces)
}

fn push_list(text: &mut String, label: &str, items: &[String]) {
    if items.is_empty() {
        return;
    }
    *text += &format!("\n- {label}:");
    for item in items.iter().take(LISTED_MAX) {
        text.push_str("\n  - ");
        text.push_str(&title_line(item));
    }
}

/// The artifact under its own cap of characters, outside the shares.
pub(crate) fn artifact<'a>(review: &'a PhaseReview, fitter: Fitter<'_>) -> SectionDraft<'a> {
    let Some(whole) = review
        .artifact
        .as_deref()
        .filter(|text| !text.trim().is_empty())
    else {
        return SectionDraft::new(SectionName::Artifact, Vec::new());
    };
    // Cut before escaping, so that what is cut is not read, and after it, because escapes are longer.
    let limited = limit_head(whole, ARTIFACT_CHARS_MAX);
    let escaped = escape_hidden(&limited);
    let text = limit_head(&escaped, ARTIFACT_CHARS_MAX).into_owned();
    let cut = !HeuristicCounter::CHARS.fits(whole, Tokens::new(ARTIFACT_CHARS_MAX));
    let fit = Fit {
        cap: None,
        used: Tokens::ZERO,
        cut: cut.then(|| (fitter.counter.count(whole), fitter.counter.count(&text))),
        items: None,
    };
    let pieces = vec![
        Piece::text("## Artifact\n"),
        Piece::Fenced(Fenced {
            origin: format!(
                "artifact of the phase {} (hidden characters and HTML comments are shown escaped)",
                review.phase
            )
            .into(),
            author: "the phase's agent".into(),
            text: Cow::Owned(text),
        }),
    ];
    SectionDraft::fitted(SectionName::Artifact, pieces, fit)
}
