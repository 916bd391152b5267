//! Sections about what is known: learnings, gates, project instructions.

use symphony_core::room::Room;
use symphony_core::unit::Tokens;

use crate::budget::LEARNINGS_MAX;
use crate::fence::Fenced;
use crate::hidden::{escape_hidden, one_line, strip_hidden};
use crate::input::{GateCommand, GateResult};
use crate::report::{ItemsKept, LeftOutItem};
use crate::section::fit::Fitter;
use crate::section::{Fit, Piece, SectionDraft, SectionName};
use crate::tokens::{CHARS_PER_TOKEN, TokenCounter};
use crate::truncate::limit_tail;

/// Longest output of a failed gate, in characters: the end is kept, where a test runner sums up.
const GATE_OUTPUT_CHARS_MAX: u64 = 2_000;

/// Characters by which the report names an item that had no room: enough to recognise a sentence.
const BEGINNING_CHARS_MAX: usize = 60;

/// Makes a list item; continuation lines are indented, so that none can pass for a heading.
pub(crate) fn bullet(text: &str) -> String {
    indented("- ", text)
}

/// Makes a list item behind a mark of any width.
pub(crate) fn indented(mark: &str, text: &str) -> String {
    let mut out = String::with_capacity(mark.len() + text.len());
    push_indented(mark, text, &mut out);
    out
}

fn push_indented(mark: &str, text: &str, out: &mut String) {
    out.push_str(mark);
    if memchr::memchr(b'\n', text.as_bytes()).is_none() {
        out.push_str(text);
        return;
    }
    for (index, line) in text.lines().enumerate() {
        if index > 0 {
            out.push('\n');
            if !line.is_empty() {
                out.extend(std::iter::repeat_n(' ', mark.chars().count()));
            }
        }
        out.push_str(line);
    }
}

/// Lists tactical learnings, best first, each in full; a learning that does not fit is skipped.
pub(crate) fn learnings<'a>(
    learnings: &[String],
    cap: Tokens,
    fitter: Fitter<'_>,
) -> SectionDraft<'a> {
    let counter = fitter.counter;
    let tried = || learnings.iter().take(LEARNINGS_MAX);
    // Room for each item's mark and line end too, as far as the cap reaches.
    let bytes = tried()
        .map(|learning| learning.len() + 3)
        .sum::<usize>()
        .min(usize::try_from(cap.get().saturating_mul(CHARS_PER_TOKEN)).unwrap_or(0));
    let mut list = String::with_capacity(bytes);
    let mut room = Room::new(cap.get());
    let mut kept = 0;
    let mut left_out = Vec::new();
    for (index, learning) in tried().enumerate() {
        let text = strip_hidden(learning);
        let end = list.len();
        let tokens = push_item(text.trim(), &mut list, counter);
        if room.take(tokens.get()) {
            kept += 1;
            continue;
        }
        list.truncate(end);
        left_out.push(LeftOutItem {
            index,
            tokens,
            beginning: beginning(&text),
        });
    }
    let used = Tokens::new(cap.get() - room.left());
    let beyond: Tokens = learnings
        .iter()
        .skip(LEARNINGS_MAX)
        .map(|learning| counter.count(learning))
        .sum();
    let from = used + beyond + left_out.iter().map(|item| item.tokens).sum();
    let fit = Fit {
        cap: Some(cap),
        used,
        cut: (kept < learnings.len()).then_some((from, used)),
        items: (!learnings.is_empty()).then_some(ItemsKept {
            given: learnings.len(),
            kept,
            left_out,
        }),
    };
    let pieces = if kept == 0 {
        Vec::new()
    } else {
        list.truncate(list.trim_end().len());
        vec![Piece::text("## Related Learnings\n"), Piece::text(list)]
    };
    SectionDraft::fitted(SectionName::RelatedLearnings, pieces, fit)
}

/// The first words of an item, for the report.
fn beginning(text: &str) -> String {
    let line = one_line(text);
    match line.char_indices().nth(BEGINNING_CHARS_MAX) {
        Some((end, _)) => [line.get(..end).unwrap_or_default().trim_end(), "…"].concat(),
        None => line.into_owned(),
    }
}

/// Appends a list item with its line end; returns its tokens.
fn push_item(text: &str, list: &mut String, counter: &dyn TokenCounter) -> Tokens {
    let start = list.len();
    push_indented("- ", text, list);
    list.push('\n');
    counter.count(list.get(start..).unwrap_or_default())
}

/// The commands that must pass.
pub(crate) fn gate_commands<'a>(gates: &[GateCommand]) -> SectionDraft<'a> {
    if gates.is_empty() {
        return SectionDraft::new(SectionName::GateCommands, Vec::new());
    }
    let lines: Vec<String> = gates
        .iter()
        .map(|gate| {
            let optional = if gate.required { "" } else { " (optional)" };
            indented(
                "- ",
                &format!("{}{optional}: `{}`", one_line(&gate.name), gate.command),
            )
        })
        .collect();
    let text = format!(
        "## Quality Gates\n\nSymphony runs these commands on every commit that is handed in. All but the optional ones must pass:\n\n{}",
        lines.join("\n")
    );
    SectionDraft::new(SectionName::GateCommands, vec![Piece::text(text)])
}

/// What the gates said, with the output of those that failed.
pub(crate) fn gate_results(results: &[GateResult]) -> SectionDraft<'_> {
    if results.is_empty() {
        return SectionDraft::new(SectionName::GateResults, Vec::new());
    }
    let lines: Vec<String> = results
        .iter()
        .map(|result| {
            let verdict = match (result.passed, result.failed_tries) {
                (true, 0) => "passed".to_owned(),
                (true, tries) => format!(
                    "passed at try {}, after failing on the same commit",
                    tries + 1
                ),
                (false, 0) => "FAILED".to_owned(),
                (false, tries) => format!("FAILED {} times", tries + 1),
            };
            let optional = if result.required { "" } else { " (optional)" };
            let commit = result
                .commit
                .as_deref()
                .map_or_else(String::new, |commit| format!(" on `{}`", one_line(commit)));
            format!("- {}{optional}: {verdict}{commit}", one_line(&result.name))
        })
        .collect();
    let mut pieces = vec![Piece::text(format!(
        "## Quality Gates\n\nSymphony ran these gates on the commit under review:\n\n{}\n",
        lines.join("\n")
    ))];
    for result in results {
        if result.passed || result.output.trim().is_empty() {
            continue;
        }
        let escaped = escape_hidden(&result.output);
        pieces.push(Piece::Fenced(Fenced {
            origin: format!("output of the gate {}", one_line(&result.name)).into(),
            author: "the command".into(),
            text: limit_tail(&escaped, GATE_OUTPUT_CHARS_MAX)
                .into_owned()
                .into(),
        }));
    }
    if let [Piece::Text(text)] = pieces.as_mut_slice() {
        text.to_mut().pop();
    }
    SectionDraft::new(SectionName::GateResults, pieces)
}

/// The project's own instructions, whole.
pub(crate) fn instructions(text: Option<&str>) -> SectionDraft<'_> {
    let pieces = text
        .map(str::trim)
        .filter(|text| !text.is_empty())
        .map_or_else(Vec::new, |text| {
            vec![Piece::text("### Project Instructions\n"), Piece::text(text)]
        });
    SectionDraft::new(SectionName::ProjectInstructions, pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn continuation_lines_belong_to_their_item() {
        assert_eq!(bullet("one\n## two\n\nthree"), "- one\n  ## two\n\n  three");
        assert_eq!(indented("10. ", "a\nb"), "10. a\n    b");
    }
}
