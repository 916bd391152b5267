//! The diff under review: what matters most to a reviewer first, in whole hunks.

mod file;
mod pack;
mod rank;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;

use symphony_core::unit::Tokens;

use self::file::{FileDiff, FileRank, split};
use self::pack::pack;
use self::rank::{rank_of, unquoted};
use crate::budget::DIFF_CHARS_MAX;
use crate::fence::Fenced;
use crate::hidden::{escape_hidden, one_line};
use crate::input::PullRequestReview;
use crate::section::fit::Fitter;
use crate::section::{Fit, Piece, SectionDraft, SectionName, title_line};
use crate::tokens::CHARS_PER_TOKEN;

/// Files named in the list of what is not shown whole; the whole diff is in a file.
const NAMED_MAX: usize = 100;
/// Files that the report names.
const REPORTED_MAX: usize = 20;

/// The diff, fitted to its share.
pub(crate) fn diff<'a>(
    review: &PullRequestReview,
    cap: Tokens,
    fitter: Fitter<'_>,
) -> SectionDraft<'a> {
    let diff = review.diff.as_deref().unwrap_or_default();
    if diff.trim().is_empty() {
        return SectionDraft::new(SectionName::Diff, Vec::new());
    }
    let diff = escape_hidden(diff);
    let mut files = ranked(&diff, review);
    let cap = cap.min(Tokens::new(DIFF_CHARS_MAX / CHARS_PER_TOKEN));
    let text = pack(&mut files, cap, fitter.counter);
    let missing = if review.diff_is_cut {
        missing(&files, review)
    } else {
        Vec::new()
    };
    files.retain(|file| file.lines_shown() < file.lines());
    let is_whole = files.is_empty() && missing.is_empty();
    let fit = Fit {
        cap: Some(cap),
        used: fitter.counter.count(&text),
        cut: (!is_whole).then(|| (fitter.counter.count(&diff), fitter.counter.count(&text))),
        items: None,
    };
    let mut pieces = vec![Piece::text("## Diff\n")];
    if !text.is_empty() {
        pieces.push(Piece::Fenced(Fenced {
            origin: "diff of the branch (hidden characters and HTML comments are shown escaped)"
                .into(),
            author: "the branch's author".into(),
            text: text.into(),
        }));
    }
    if !is_whole {
        pieces.push(Piece::Fenced(Fenced {
            origin: "files of the diff that are not shown whole".into(),
            author: "Symphony".into(),
            text: [missing.as_slice(), &[list(&files)]]
                .concat()
                .join("\n")
                .trim_end()
                .to_owned()
                .into(),
        }));
    }
    let path = review.diff_path.as_deref();
    if !is_whole || path.is_some() {
        pieces.push(Piece::text(advice(path, is_whole)));
    }
    SectionDraft {
        note: (!is_whole).then(|| note(&files, missing.len())),
        ..SectionDraft::fitted(SectionName::Diff, pieces, fit)
    }
}

fn advice(path: Option<&str>, complete: bool) -> String {
    match (path, complete) {
        (Some(path), true) => format!("The same diff is in `{}`.", one_line(path)),
        (Some(path), false) => format!(
            "The whole diff is in `{}`. Before you decide, read there what is left out above.",
            one_line(path)
        ),
        (None, _) => {
            "Before you decide, read what is left out above in the files themselves.".to_owned()
        }
    }
}

fn ranked<'a>(diff: &'a str, review: &PullRequestReview) -> Vec<FileDiff<'a>> {
    let mut files = split(diff);
    for file in &mut files {
        file.rank = rank_of(file, review);
    }
    files
}

/// Names changed files that the diff does not have at all: it was longer than what is read of one. Those that matter most come first.
fn missing(files: &[FileDiff<'_>], review: &PullRequestReview) -> Vec<String> {
    let names: BTreeSet<Cow<'_, str>> = files
        .iter()
        .map(|file| {
            let name = file.names().0;
            unquoted(name).map_or(Cow::Borrowed(name), Cow::Owned)
        })
        .collect();
    let changed = review.files.iter();
    let mut missing: Vec<&str> = changed
        .map(|file| file.path.as_str())
        .filter(|path| !names.contains(*path))
        .collect();
    let is_sensitive = |path: &str| {
        let risk = review.risk.as_ref();
        risk.is_some_and(|risk| risk.sensitive_paths.iter().any(|known| known == path))
    };
    missing.sort_by_key(|path| !is_sensitive(path));
    let more = missing.len().saturating_sub(NAMED_MAX);
    let mut lines: Vec<String> = missing
        .into_iter()
        .take(NAMED_MAX)
        .map(|path| format!("- {}: the diff is too long to hold it", title_line(path)))
        .collect();
    if more > 0 {
        lines.push(format!("- and {more} more files that it does not hold"));
    }
    lines
}

/// Names what is not shown whole, for the judge.
fn list(left_out: &[FileDiff<'_>]) -> String {
    let mut text = String::with_capacity(left_out.len().min(NAMED_MAX) * 80);
    for file in left_out.iter().take(NAMED_MAX) {
        let (path, shown, lines) = (file.title(), file.lines_shown(), file.lines());
        let line = if file.rank == FileRank::Generated {
            let (added, removed) = file.changes();
            writeln!(
                text,
                "- {path}: lock file, generated or vendored, +{added} -{removed}; {shown} of {lines} lines shown"
            )
        } else {
            writeln!(text, "- {path}: {shown} of {lines} lines shown")
        };
        line.expect("writing to a String cannot fail");
    }
    let more = left_out.len().saturating_sub(NAMED_MAX);
    if more > 0 {
        writeln!(text, "- and {more} more files").expect("writing to a String cannot fail");
    }
    text.pop();
    text
}

/// Names what is not shown whole, for the report: what the diff does not hold counts as well.
fn note(left_out: &[FileDiff<'_>], missing: usize) -> String {
    let mut text = String::with_capacity(32 + left_out.len().min(REPORTED_MAX) * 40);
    text.push_str("not shown whole: ");
    for (at, file) in left_out.iter().take(REPORTED_MAX).enumerate() {
        text.push_str(if at == 0 { "" } else { ", " });
        text.push_str(&file.title());
    }
    let more = left_out.len().saturating_sub(REPORTED_MAX) + missing;
    if more > 0 {
        let and = if left_out.is_empty() { "" } else { " and " };
        write!(text, "{and}{more} more files").expect("writing to a String cannot fail");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::{FileChange, Risk, RiskLevel};
    use crate::tokens::{HeuristicCounter, estimate_tokens};

    /// A file with hunks of this many lines.
    fn file(name: &str, hunks: &[usize]) -> String {
        let head = format!("diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n");
        hunks.iter().enumerate().fold(head, |text, (at, lines)| {
            let body = (0..*lines).fold(String::new(), |body, n| {
                body + &format!("+line {n} of hunk {at}\n")
            });
            text + &format!("@@ -{at}00,0 +{at}00,{lines} @@ fn part_{at}\n{body}")
        })
    }

    fn packed(review: &PullRequestReview, cap: u64) -> (String, String) {
        let counter = HeuristicCounter::default();
        let mut files = ranked(review.diff.as_deref().unwrap(), review);
        let text = pack(&mut files, Tokens::new(cap), &counter);
        let tokens = estimate_tokens(&text);
        assert!(tokens <= Tokens::new(cap), "{tokens} of {cap}:\n{text}");
        files.retain(|file| file.lines_shown() < file.lines());
        (text, list(&files))
    }

    fn review(files: &[String]) -> PullRequestReview {
        PullRequestReview {
            diff: Some(files.concat()),
            ..PullRequestReview::default()
        }
    }

    #[test]
    fn large_files_share_evenly_and_small_ones_stay_whole() {
        let small = file("small.rs", &[2]);
        let (text, list) = packed(
            &review(&[file("a.rs", &[200]), small.clone(), file("b.rs", &[300])]),
            400,
        );
        assert!(text.contains(&small), "{text}");
        assert!(
            list.starts_with("- a.rs: 36 of") && list.contains("\n- b.rs: 36 of"),
            "{list}"
        );
        assert_eq!(text.matches("+line 9 of hunk 0\n").count(), 2, "{text}");
    }

    #[test]
    fn hunks_are_whole_and_those_left_out_keep_their_header() {
        let (text, list) = packed(&review(&[file("a.rs", &[5, 60, 6, 50, 4])]), 230);
        for (at, lines) in [(0, 5), (2, 6), (4, 4)] {
            let last = format!("+line {} of hunk {at}\n", lines - 1);
            assert!(text.contains(&last), "{at}: {text}");
        }
        assert!(
            text.contains("@@ fn part_1\n[60 lines left out]\n@@"),
            "{text}"
        );
        assert!(
            text.contains("@@ fn part_3\n[50 lines left out]\n@@"),
            "{text}"
        );
        assert_eq!(list, "- a.rs: 23 of 133 lines shown");
    }

    #[test]
    fn sensitive_files_come_before_a_large_lock_file_and_everything_else() {
        let mut review = review(&[
            file("Cargo.lock", &[4000]),
            file("README.md", &[400]),
            file("src/a.rs", &[400]),
            file("src/auth/key.rs", &[20]),
            file("tests/it/a.rs", &[400]),
        ]);
        review.risk = Some(Risk {
            level: RiskLevel::High,
            files: 5,
            lines: 5000,
            sensitive_paths: vec!["src/auth/key.rs".to_owned()],
        });
        let (text, list) = packed(&review, 1000);
        assert!(text.starts_with(&file("src/auth/key.rs", &[20])), "{text}");
        assert!(!text.contains("Cargo.lock"), "{text}");
        let named: Vec<&str> = list
            .lines()
            .map(|line| line.split(':').next().unwrap())
            .collect();
        assert_eq!(
            named,
            [
                "- src/a.rs",
                "- tests/it/a.rs",
                "- README.md",
                "- Cargo.lock"
            ]
        );
        assert!(
            list.ends_with(
                "- Cargo.lock: lock file, generated or vendored, +4000 -0; 0 of 4004 lines shown"
            ),
            "{list}"
        );
    }

    #[test]
    fn files_that_a_diff_was_too_long_to_hold_are_named_the_sensitive_ones_first() {
        let mut review = review(&[file("vendor/a.rs", &[3])]);
        let change = |path: &str| FileChange {
            path: path.to_owned(),
            insertions: 1,
            deletions: 0,
        };
        review.files = ["vendor/a.rs", "src/b.rs", "src/auth/key.rs"]
            .map(change)
            .to_vec();
        review.risk = Some(Risk {
            level: RiskLevel::High,
            files: 3,
            lines: 3,
            sensitive_paths: vec!["src/auth/key.rs".to_owned()],
        });
        let diff = review.diff.clone().unwrap();
        let lines = missing(&ranked(&diff, &review), &review);
        assert_eq!(
            lines,
            [
                "- src/auth/key.rs: the diff is too long to hold it",
                "- src/b.rs: the diff is too long to hold it",
            ]
        );
    }

    #[test]
    fn lock_files_are_shown_where_there_is_nothing_else() {
        let whole = file("Cargo.lock", &[3]);
        assert_eq!(
            packed(&review(std::slice::from_ref(&whole)), 1000),
            (whole, String::new())
        );
    }

    #[test]
    fn where_not_even_the_headers_fit_files_are_named() {
        let files: Vec<String> = (0..300)
            .map(|n| file(&format!("src/{n:03}.rs"), &[9, 9]))
            .collect();
        let (text, list) = packed(&review(&files), 500);
        let headers = text.matches("diff --git").count();
        assert!((4..10).contains(&headers), "{headers}: {text}");
        assert!(
            text.contains("+line 8 of hunk 0\n"),
            "half of the room is for hunks: {text}"
        );
        assert!(
            list.contains("- src/050.rs: 0 of 23 lines shown\n"),
            "{list}"
        );
        assert!(list.ends_with(" more files"), "{list}");
    }

    #[test]
    fn a_text_of_another_form_is_cut_at_a_line() {
        let text = "some text\n".repeat(100);
        let (shown, list) = packed(&review(&[text]), 60);
        assert!(shown.starts_with("some text\nsome text\n"), "{shown}");
        assert!(list.starts_with("- some text: "), "{list}");
    }
}
