//! Sections about what is known: learnings, gates, project instructions.

use symphony_core::unit::Tokens;

use crate::budget::LEARNINGS_MAX;
use crate::fence::Fenced;
use crate::hidden::{escape_hidden, one_line, strip_hidden};
use crate::input::{GateCommand, GateResult};
use crate::report::ItemsKept;
use crate::section::fit::Fitter;
use crate::section::{Fit, Piece, SectionDraft, SectionName};
use crate::truncate::{limit_tail, truncate_tail};

/// Longest output of a failed gate, in characters: the end is kept, where a test runner sums up.
const GATE_OUTPUT_CHARS_MAX: u64 = 2_000;

/// Makes a list item; continuation lines are indented, so that none can pass for a heading.
pub(crate) fn bullet(text: &str) -> String {
    indented("- ", text)
}

/// Makes a list item behind a mark of any width.
pub(crate) fn indented(mark: &str, text: &str) -> String {
    let mut out = String::with_capacity(mark.len() + text.len());
    out.push_str(mark);
    for (index, line) in text.lines().enumerate() {
        if index > 0 {
            out.push('\n');
            if !line.is_empty() {
                out.extend(std::iter::repeat_n(' ', mark.chars().count()));
            }
        }
        out.push_str(line);
    }
    out
}

/// Tactical learnings, best first: the best are kept.
pub(crate) fn learnings<'a>(
    learnings: &[String],
    cap: Tokens,
    fitter: Fitter<'_>,
) -> SectionDraft<'a> {
    let counter = fitter.counter;
    let mut lines = Vec::new();
    let (mut used, mut from) = (Tokens::ZERO, Tokens::ZERO);
    let mut full = false;
    for learning in learnings.iter().take(LEARNINGS_MAX) {
        if full {
            from = from + counter.count(learning);
            continue;
        }
        let item = bullet(strip_hidden(learning).trim()) + "\n";
        let cost = counter.count(&item);
        from = from + cost;
        if used + cost > cap {
            if lines.is_empty() {
                let frame = counter.count("- \n").get();
                let room = Tokens::new(cap.get().saturating_sub(frame));
                let cut = truncate_tail(&one_line(learning), room, counter).into_owned();
                if !cut.is_empty() {
                    let item = bullet(&cut) + "\n";
                    used = counter.count(&item);
                    lines.push(item);
                }
            }
            full = true;
            continue;
        }
        used = used + cost;
        lines.push(item);
    }
    let fit = Fit {
        cap: Some(cap),
        cut: (full || learnings.len() > LEARNINGS_MAX).then_some((from, used)),
        items: (!learnings.is_empty()).then_some(ItemsKept {
            given: learnings.len(),
            kept: lines.len(),
        }),
    };
    let pieces = if lines.is_empty() {
        Vec::new()
    } else {
        let list = lines.concat();
        vec![Piece::text(format!(
            "## Related Learnings\n\n{}",
            list.trim_end()
        ))]
    };
    SectionDraft::fitted(SectionName::RelatedLearnings, pieces, fit)
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
        "## Quality Gates\n\nThese commands are run on your commit; every one that is not optional must pass:\n\n{}",
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
            let verdict = if result.passed { "passed" } else { "FAILED" };
            let optional = if result.required { "" } else { " (optional)" };
            let commit = result
                .commit
                .as_deref()
                .map_or_else(String::new, |commit| format!(" on `{}`", one_line(commit)));
            format!("- {}{optional}: {verdict}{commit}", one_line(&result.name))
        })
        .collect();
    let mut pieces = vec![Piece::text(format!(
        "## Quality Gates\n\nSymphony itself ran these on the commit under review:\n\n{}\n",
        lines.join("\n")
    ))];
    for result in results {
        if result.passed || result.output.trim().is_empty() {
            continue;
        }
        let escaped = escape_hidden(&result.output);
        pieces.push(Piece::Fenced(Fenced {
            origin: format!("output of the gate {}", one_line(&result.name)),
            author: "the command".to_owned(),
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
