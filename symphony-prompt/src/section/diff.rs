//! The diff under review: cut per file, evenly, each file keeping its beginning.

use std::borrow::Cow;
use std::fmt::Write as _;

use memchr::memmem;
use symphony_core::unit::Tokens;

use crate::budget::DIFF_CHARS_MAX;
use crate::fence::Fenced;
use crate::hidden::{escape_hidden, one_line};
use crate::section::fit::Fitter;
use crate::section::{Fit, Piece, SectionDraft, SectionName};
use crate::share::even_shares;
use crate::tokens::{CHARS_PER_TOKEN, HeuristicCounter, TokenCounter, count_lines};
use crate::truncate::{TRUNCATION_MARKER, grapheme_floor, truncate_head_lines};

/// Files named in the list of what was cut; the whole diff lies in a file.
const CUT_FILES_MAX: usize = 100;
/// What a line of a diff begins with where a file starts. Content lines begin with a space, `+`, `-` or `\`.
const FILE_START: &str = "diff --git ";

/// One file's part of a diff.
struct FileDiff<'a> {
    /// The whole part.
    whole: &'a str,
    /// What the hard limit leaves of it, escaped.
    shown: Cow<'a, str>,
    /// Tokens of what is shown.
    tokens: Tokens,
    /// Whether the hard limit cut it.
    limited: bool,
}

/// A file that is not shown whole.
struct CutFile<'a> {
    path: Cow<'a, str>,
    lines: u64,
    shown: u64,
}

/// The diff, fitted to its share. `path` names the file that holds the whole.
pub(crate) fn diff<'a>(
    diff: &'a str,
    path: Option<&str>,
    cap: Tokens,
    fitter: Fitter<'_>,
) -> SectionDraft<'a> {
    if diff.trim().is_empty() {
        return SectionDraft::new(SectionName::Diff, Vec::new());
    }
    let counter = fitter.counter;
    let end = HeuristicCounter::CHARS.prefix_len(diff, Tokens::new(DIFF_CHARS_MAX), "");
    let limit = grapheme_floor(diff, end);
    let files = split(diff, limit, counter);
    let from: Tokens = files.iter().map(|file| file.tokens).sum();
    let limited = limit < diff.len();
    let (text, cut_files) = if from <= cap && !limited {
        let text = match files.as_slice() {
            [file] => file.shown.clone(),
            _ => Cow::Owned(files.iter().map(|file| file.shown.as_ref()).collect()),
        };
        (text, Vec::new())
    } else {
        let (text, cut_files) = cut(&files, cap, counter);
        (Cow::Owned(text), cut_files)
    };
    let fit = Fit {
        cap: Some(cap),
        cut: (!cut_files.is_empty()).then(|| (from, counter.count(&text))),
        items: None,
    };
    let mut pieces = vec![Piece::text("## Diff\n")];
    if !text.is_empty() {
        pieces.push(Piece::Fenced(Fenced {
            origin: "diff of the branch (hidden characters and HTML comments are shown escaped)"
                .into(),
            author: "the branch's author".into(),
            text,
        }));
    }
    if !cut_files.is_empty() {
        pieces.push(Piece::Fenced(Fenced {
            origin: "files of the diff that are not shown whole".into(),
            author: "Symphony".into(),
            text: Cow::Owned(list(&cut_files)),
        }));
    }
    if !cut_files.is_empty() || path.is_some() {
        pieces.push(Piece::text(advice(path, cut_files.is_empty())));
    }
    SectionDraft::fitted(SectionName::Diff, pieces, fit)
}

fn advice(path: Option<&str>, complete: bool) -> String {
    match (path, complete) {
        (Some(path), true) => format!("The same diff lies in `{}`.", one_line(path)),
        (Some(path), false) => format!(
            "The whole diff lies in `{}`: read there what is cut above before you decide.",
            one_line(path)
        ),
        (None, _) => {
            "Read the files themselves for what is cut above before you decide.".to_owned()
        }
    }
}

/// Splits a diff where files start. Text before the first start, or a diff of another form, is one file.
fn split<'a>(diff: &'a str, limit: usize, counter: &dyn TokenCounter) -> Vec<FileDiff<'a>> {
    let mut starts: Vec<usize> = memmem::find_iter(diff.as_bytes(), FILE_START)
        .filter(|at| *at == 0 || diff.as_bytes().get(at - 1) == Some(&b'\n'))
        .collect();
    if starts.first() != Some(&0) {
        starts.insert(0, 0);
    }
    let ends = starts.iter().skip(1).copied().chain([diff.len()]);
    starts
        .iter()
        .zip(ends)
        .map(|(start, end)| {
            let whole = diff.get(*start..end).unwrap_or_default();
            let shown_end = limit.clamp(*start, end);
            let shown = escape_hidden(diff.get(*start..shown_end).unwrap_or_default());
            FileDiff {
                whole,
                tokens: counter.count(&shown),
                shown,
                limited: shown_end < end,
            }
        })
        .collect()
}

fn cut<'a>(
    files: &[FileDiff<'a>],
    cap: Tokens,
    counter: &dyn TokenCounter,
) -> (String, Vec<CutFile<'a>>) {
    let sizes: Vec<u64> = files.iter().map(|file| file.tokens.get()).collect();
    let shares = even_shares(&sizes, cap.get());
    // A character has mostly one byte; where it has more, the text grows.
    let bytes = cap
        .get()
        .saturating_mul(CHARS_PER_TOKEN)
        .min(DIFF_CHARS_MAX);
    let mut text = String::with_capacity(usize::try_from(bytes).unwrap_or(0));
    let mut cut_files = Vec::with_capacity(files.len());
    for ((file, size), share) in files.iter().zip(&sizes).zip(&shares) {
        if share == size && !file.limited {
            text.push_str(&file.shown);
            continue;
        }
        // A token less than its share leaves room for the line end behind the marker.
        let room = Tokens::new(share.saturating_sub(1));
        let kept = cut_file(file, room, counter);
        cut_files.push(CutFile {
            path: path_of(file.whole),
            lines: count_lines(file.whole),
            shown: count_lines(&kept).saturating_sub(1),
        });
        if !kept.is_empty() {
            text.push_str(&kept);
            text.push('\n');
        }
    }
    (text, cut_files)
}

/// Keeps the beginning of a file's part with the marker behind it, also when only the hard limit cut it.
fn cut_file<'a>(file: &'a FileDiff<'_>, room: Tokens, counter: &dyn TokenCounter) -> Cow<'a, str> {
    if !file.limited {
        return truncate_head_lines(&file.shown, room, counter);
    }
    if file.shown.is_empty() {
        return Cow::Borrowed("");
    }
    let shown = file.shown.trim_end_matches('\n');
    if !counter.fits(shown, room) {
        return truncate_head_lines(shown, room, counter);
    }
    let marked = [shown, "\n", TRUNCATION_MARKER].concat();
    truncate_head_lines(&marked, room, counter)
        .into_owned()
        .into()
}

/// Reads the path behind ` b/` of a file's first line.
fn path_of(whole: &str) -> Cow<'_, str> {
    let first = whole.lines().next().unwrap_or_default();
    let path = first
        .strip_prefix(FILE_START)
        .and_then(|names| names.rsplit_once(" b/").map(|(_, path)| path))
        .unwrap_or(first);
    super::issue::title_line(path.trim_end_matches('"'))
}

fn list(cut_files: &[CutFile<'_>]) -> String {
    let mut text = String::with_capacity(cut_files.len().min(CUT_FILES_MAX) * 64);
    for file in cut_files.iter().take(CUT_FILES_MAX) {
        let CutFile { path, lines, shown } = file;
        let line = writeln!(text, "- {path}: {shown} of {lines} lines shown");
        line.expect("writing to a String cannot fail");
    }
    let more = cut_files.len().saturating_sub(CUT_FILES_MAX);
    if more > 0 {
        writeln!(text, "- and {more} more files").expect("writing to a String cannot fail");
    }
    text.pop();
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, lines: usize) -> String {
        let body = (0..lines).fold(String::new(), |body, n| {
            body + &format!("+line {n} of {name}\n")
        });
        format!("diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n@@ -0,0 +1 @@\n{body}")
    }

    fn fitted(text: &str, cap: u64) -> (String, Vec<CutFile<'_>>) {
        let limit = text.len().min(50_000);
        let counter = HeuristicCounter::default();
        cut(&split(text, limit, &counter), Tokens::new(cap), &counter)
    }

    #[test]
    fn large_files_are_cut_evenly_and_small_ones_stay_whole() {
        let small = file("small.rs", 2);
        let text = [file("a.rs", 200), small.clone(), file("b.rs", 300)].concat();
        let (shown, cut_files) = fitted(&text, 300);
        assert!(shown.contains(&small));
        assert!(crate::estimate_tokens(&shown) <= Tokens::new(300));
        let named: Vec<&str> = cut_files.iter().map(|file| file.path.as_ref()).collect();
        assert_eq!(named, ["a.rs", "b.rs"]);
        assert!(
            cut_files.iter().all(|file| file.shown > 15),
            "both keep their beginning"
        );
        assert!(shown.contains("+line 9 of a.rs\n") && shown.contains("+line 9 of b.rs\n"));
    }

    #[test]
    fn files_behind_the_hard_limit_are_listed() {
        let text = [file("a.rs", 3000), file("b.rs", 2000)].concat();
        let (_, cut_files) = fitted(&text, 100_000);
        let list = list(&cut_files);
        assert!(list.contains("- b.rs: 0 of 2004 lines shown"), "{list}");
    }

    #[test]
    fn a_diff_of_another_form_is_one_file() {
        let text = "some text\n".repeat(100);
        let (shown, cut_files) = fitted(&text, 50);
        assert!(shown.starts_with("some text\nsome text\n"));
        assert_eq!(cut_files.len(), 1);
    }
}
