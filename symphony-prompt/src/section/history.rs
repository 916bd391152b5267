//! Sections about what happened before: attempts, findings, comments.

use std::borrow::Cow;

use symphony_core::Timestamp;
use symphony_core::agent::AgentType;
use symphony_core::unit::Tokens;

use crate::budget::{ATTEMPTS_MAX, FINDINGS_MAX, OUTPUT_BYTES_MAX, REJECTED_DELIVERIES_MAX};
use crate::fence::Fenced;
use crate::hidden::{escape_hidden, one_line, strip_hidden};
use crate::input::{AttemptInput, CommentInput, FindingInput};
use crate::report::ItemsKept;
use crate::section::fit::{Fitter, escaped_end};
use crate::section::{Fit, Piece, SectionDraft, SectionName};
use crate::truncate::{grapheme_ceil, limit_tail, truncate_tail};

/// Longest error text of an attempt, in characters: the end is kept. An error's class and last lines fit well below it.
const ERROR_CHARS_MAX: u64 = 1_000;

/// Keeps the last items of a list.
pub(crate) fn last<T>(items: &[T], max: usize) -> &[T] {
    items
        .get(items.len().saturating_sub(max)..)
        .unwrap_or_default()
}

/// The last runs, with the ends of their output, which share one cap: the newest get theirs first.
pub(crate) fn attempts<'a>(
    attempts: &'a [AttemptInput],
    cap: Tokens,
    fitter: Fitter<'_>,
) -> SectionDraft<'a> {
    let shown = last(attempts, ATTEMPTS_MAX);
    let (tails, used, cut) = output_tails(shown, cap, fitter);
    let mut pieces = Vec::new();
    for (attempt, tail) in shown.iter().zip(tails) {
        let heading = if pieces.is_empty() {
            "## Previous Attempts\n\n"
        } else {
            "\n"
        };
        pieces.push(Piece::text(summary(heading, attempt)));
        let author = attempt.agent.as_ref().map_or("agent", AgentType::name);
        if let Some(error) = attempt
            .error
            .as_deref()
            .filter(|error| !error.trim().is_empty())
        {
            let escaped = escape_hidden(error);
            pieces.push(Piece::Fenced(Fenced {
                origin: format!("error of attempt {}", attempt.attempt).into(),
                author: author.into(),
                text: Cow::Owned(limit_tail(&escaped, ERROR_CHARS_MAX).into_owned()),
            }));
        }
        if !tail.is_empty() {
            pieces.push(Piece::Fenced(Fenced {
                origin: format!("end of the output of attempt {}", attempt.attempt).into(),
                author: author.into(),
                text: tail,
            }));
        }
    }
    let fit = Fit {
        cap: Some(cap),
        used,
        cut,
        items: (!attempts.is_empty()).then_some(ItemsKept::counted(attempts.len(), shown.len())),
    };
    SectionDraft::fitted(SectionName::PreviousAttempts, pieces, fit)
}

fn summary(heading: &str, attempt: &AttemptInput) -> String {
    let mut text = format!("{heading}- Attempt {}: {}", attempt.attempt, attempt.status);
    if let Some(ms) = attempt.duration_ms {
        text.push_str(", ");
        text.push_str(&duration(ms));
    }
    text
}

fn duration(ms: u64) -> String {
    let seconds = ms / 1000;
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, s) => format!("{s}s"),
        (0, m, s) => format!("{m}m {s}s"),
        (h, m, _) => format!("{h}h {m}m"),
    }
}

/// The text rule over all tails together: what is kept is the end, so the newest attempt is served first.
fn output_tails<'a>(
    attempts: &'a [AttemptInput],
    cap: Tokens,
    fitter: Fitter<'_>,
) -> (Vec<Cow<'a, str>>, Tokens, Option<(Tokens, Tokens)>) {
    let mut left = cap;
    let mut from = Tokens::ZERO;
    let mut cut = false;
    let mut tails = Vec::new();
    for attempt in attempts.iter().rev() {
        let whole = &attempt.output_tail;
        let start = grapheme_ceil(whole, whole.len().saturating_sub(OUTPUT_BYTES_MAX));
        let limited = whole.get(start..).unwrap_or_default();
        let text = if limited.trim().is_empty() {
            Cow::Borrowed("")
        } else {
            escaped_end(limited, left, fitter.counter)
        };
        from = from + fitter.counter.count(limited);
        cut |= start > 0;
        let tail = if fitter.counter.fits(&text, left) {
            text
        } else {
            cut = true;
            match text {
                Cow::Borrowed(text) => truncate_tail(text, left, fitter.counter),
                Cow::Owned(text) => truncate_tail(&text, left, fitter.counter)
                    .into_owned()
                    .into(),
            }
        };
        let used = fitter.counter.count(&tail);
        left = Tokens::new(left.get().saturating_sub(used.get()));
        tails.push(tail);
    }
    tails.reverse();
    let used = Tokens::new(cap.get() - left.get());
    (tails, used, cut.then_some((from, used)))
}

/// Turns a finding into a fenced text.
pub(crate) fn finding(finding: &FindingInput) -> Fenced<'_> {
    let stripped = strip_hidden(&finding.text);
    let text = if finding.files.is_empty() {
        stripped
    } else {
        let files: Vec<Cow<'_, str>> = finding.files.iter().map(|file| one_line(file)).collect();
        Cow::Owned(format!("Files: {}\n{stripped}", files.join(", ")))
    };
    Fenced {
        origin: format!("finding ({})", finding.kind).into(),
        author: finding.author.name().into(),
        text,
    }
}

/// The last findings, by the list rule.
pub(crate) fn findings<'a>(
    findings: &'a [&'a FindingInput],
    cap: Tokens,
    fitter: Fitter<'_>,
) -> SectionDraft<'a> {
    let shown = last(findings, FINDINGS_MAX);
    let (kept, fit) = fitter.fit_newest(
        shown,
        findings.len(),
        cap,
        |item| &item.text,
        |item| finding(item),
    );
    list_section(
        SectionName::PreviousFindings,
        "## Previous Findings\n",
        kept,
        fit,
    )
}

/// Why deliveries of the phase were rejected, by the list rule.
pub(crate) fn rejected_deliveries<'a>(
    deliveries: &'a [CommentInput],
    cap: Tokens,
    fitter: Fitter<'_>,
) -> SectionDraft<'a> {
    let shown = last(deliveries, REJECTED_DELIVERIES_MAX);
    let make = |delivery| comment("rejected delivery", delivery);
    let (kept, fit) = fitter.fit_newest(
        shown,
        deliveries.len(),
        cap,
        |delivery| &delivery.content,
        make,
    );
    list_section(
        SectionName::RejectedDeliveries,
        "## Rejected Deliveries of This Phase\n\nEarlier deliveries were refused for these reasons. Fix all of them before you call complete_phase again.\n",
        kept,
        fit,
    )
}

/// Messages that wait for the agent, oldest first, whole.
pub(crate) fn messages(messages: &[CommentInput]) -> SectionDraft<'_> {
    if messages.is_empty() {
        return SectionDraft::new(SectionName::Messages, Vec::new());
    }
    let heading = Piece::text(
        "## Messages for You\n\nThe person you work for wrote this to you after your task was written. It counts as a part of your task, and \
         where the two differ, the newest word counts.\n",
    );
    let texts = messages.iter().map(|said| comment("message", said));
    let kept = messages.len();
    let fit = Fit {
        items: Some(ItemsKept::counted(kept, kept)),
        ..Fit::default()
    };
    let pieces = std::iter::once(heading).chain(texts.map(Piece::Fenced));
    SectionDraft {
        note: Some("protected: never cut".to_owned()),
        ..SectionDraft::fitted(SectionName::Messages, pieces.collect(), fit)
    }
}

/// Comments, by the list rule; `max` of them at most.
pub(crate) fn conversation<'a>(
    comments: &'a [CommentInput],
    max: usize,
    cap: Tokens,
    fitter: Fitter<'_>,
) -> SectionDraft<'a> {
    let shown = last(comments, max);
    let make = |said| comment("comment", said);
    let (kept, fit) = fitter.fit_newest(shown, comments.len(), cap, |said| &said.content, make);
    list_section(SectionName::Conversation, "## Conversation\n", kept, fit)
}

/// Turns a comment into a fenced text; `what` names it in its origin.
fn comment<'a>(what: &'static str, comment: &'a CommentInput) -> Fenced<'a> {
    Fenced {
        origin: comment.created_at.map_or_else(
            || what.into(),
            |at| format!("{what} of {}", to_the_minute(at)).into(),
        ),
        author: comment.author.name().into(),
        text: strip_hidden(&comment.content),
    }
}

/// Writes a time as an agent needs it: `2026-11-20 09:00 UTC`.
fn to_the_minute(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M UTC").to_string()
}

fn list_section<'a>(
    name: SectionName,
    heading: &'static str,
    kept: Vec<Fenced<'a>>,
    fit: Fit,
) -> SectionDraft<'a> {
    if kept.is_empty() {
        return SectionDraft::fitted(name, Vec::new(), fit);
    }
    let pieces = std::iter::once(Piece::text(heading))
        .chain(kept.into_iter().map(Piece::Fenced))
        .collect();
    SectionDraft::fitted(name, pieces, fit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_short() {
        for (ms, text) in [
            (900, "0s"),
            (59_999, "59s"),
            (192_000, "3m 12s"),
            (7_500_000, "2h 5m"),
        ] {
            assert_eq!(duration(ms), text);
        }
    }
}
