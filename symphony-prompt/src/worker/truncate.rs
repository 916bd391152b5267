//! Cutting a worker prompt to a maximum: file contents first, evenly, and only then the end of the whole.

use symphony_core::unit::Tokens;

use crate::share::even_shares;
use crate::tokens::{
    CHARS_PER_TOKEN, HeuristicCounter, TokenCounter, count_chars, estimate_tokens,
};
use crate::truncate::{grapheme_floor, truncate_head_with};

/// The longest worker prompt that is sent, in tokens.
pub const PROMPT_TOKENS_MAX: u64 = 50_000;

/// Stands where something was cut out of a worker prompt.
pub const CONTENT_TRUNCATED: &str = "[Content truncated to fit the token limit]";

/// Estimates the tokens of a prompt: `ceil(characters / 4)`.
pub fn estimate_token_count(prompt: &str) -> u64 {
    estimate_tokens(prompt).get()
}

/// Cuts a worker prompt to at most `max_tokens` (usually [`PROMPT_TOKENS_MAX`]) and says whether it had to.
///
/// The contents of the files under `## Relevant Files` are cut evenly, each keeping its beginning, and their
/// fences stay closed. When that is not enough, or there is no such section, the end of the whole is cut.
pub fn truncate_prompt_if_needed(prompt: &str, max_tokens: u64) -> (String, bool) {
    let max_chars = max_tokens.saturating_mul(CHARS_PER_TOKEN);
    let chars = count_chars(prompt.as_bytes());
    if chars <= max_chars {
        return (prompt.to_owned(), false);
    }
    let cut = cut_files(prompt, chars, max_chars).unwrap_or_else(|| cut_end(prompt, max_chars));
    (cut, true)
}

/// Cuts the contents of files; nothing when that is not enough.
fn cut_files(prompt: &str, chars: u64, max_chars: u64) -> Option<String> {
    let contents = file_contents(prompt);
    let sizes: Vec<u64> = contents
        .iter()
        .map(|range| {
            prompt
                .get(range.clone())
                .map_or(0, |content| count_chars(content.as_bytes()))
        })
        .collect();
    let fixed = chars - sizes.iter().sum::<u64>();
    let room = max_chars.checked_sub(fixed)?;
    let shares = even_shares(&sizes, room);
    let marker = count_chars(CONTENT_TRUNCATED.as_bytes()) + 1;
    let mut out = String::with_capacity(prompt.len());
    let mut done = 0;
    for ((range, size), share) in contents.into_iter().zip(sizes).zip(shares) {
        if share == size {
            continue;
        }
        let content = prompt.get(range.clone())?;
        let kept = keep_lines(content, share.checked_sub(marker)?);
        out.push_str(prompt.get(done..range.start)?);
        out.push_str(kept);
        if !kept.is_empty() && !kept.ends_with('\n') {
            out.push('\n');
        }
        out.push_str(CONTENT_TRUNCATED);
        out.push('\n');
        done = range.end;
    }
    out.push_str(prompt.get(done..)?);
    (count_chars(out.as_bytes()) <= max_chars).then_some(out)
}

/// Keeps whole lines of at most this many characters, or a part of the first line when that alone is longer.
fn keep_lines(content: &str, max_chars: u64) -> &str {
    let at = HeuristicCounter::CHARS.prefix_len(content, Tokens::new(max_chars), "");
    let kept = content.get(..at).unwrap_or_default();
    if let Some(line_end) = kept.rfind('\n') {
        return kept.get(..=line_end).unwrap_or_default();
    }
    // One character less leaves room for the line end in front of the marker.
    let at =
        HeuristicCounter::CHARS.prefix_len(content, Tokens::new(max_chars.saturating_sub(1)), "");
    content
        .get(..grapheme_floor(content, at))
        .unwrap_or_default()
}

fn cut_end(prompt: &str, max_chars: u64) -> String {
    let marker = format!("\n\n{CONTENT_TRUNCATED}\n");
    truncate_head_with(
        prompt,
        Tokens::new(max_chars),
        &HeuristicCounter::CHARS,
        &marker,
    )
    .into_owned()
}

/// Finds the byte ranges of the fenced file contents below `## Relevant Files`.
fn file_contents(prompt: &str) -> Vec<std::ops::Range<usize>> {
    let mut contents = Vec::new();
    let mut in_section = false;
    let mut open: Option<(usize, usize)> = None;
    let mut offset = 0;
    for line in prompt.split_inclusive('\n') {
        let start = offset;
        offset += line.len();
        let text = line.trim_end();
        let run = text.len() - text.trim_start_matches('`').len();
        match open {
            Some((fence, content_start)) if run >= fence && run == text.len() => {
                if in_section {
                    contents.push(content_start..start);
                }
                open = None;
            }
            None if run >= 3 => open = Some((run, offset)),
            None if text == "## Relevant Files" => in_section = true,
            None if text.starts_with("## ") => in_section = false,
            Some(_) | None => {}
        }
    }
    contents
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt(files: &[(&str, usize)]) -> String {
        let mut text =
            "# Phase: x\n\n## Objective\n\n```\n## Relevant Files\n```\n\n## Relevant Files\n\n"
                .to_owned();
        for (name, lines) in files {
            text += &format!(
                "### {name}\n```text\n{}```\n\n",
                "a line of 20 letters\n".repeat(*lines)
            );
        }
        text + "## Completion\n\nDone.\n"
    }

    #[test]
    fn what_fits_is_left_alone() {
        let text = prompt(&[("a", 3)]);
        assert_eq!(
            truncate_prompt_if_needed(&text, PROMPT_TOKENS_MAX),
            (text, false)
        );
    }

    #[test]
    fn contents_are_cut_evenly_and_fences_closed() {
        let text = prompt(&[("a", 100), ("b", 2), ("c", 100)]);
        let (cut, truncated) = truncate_prompt_if_needed(&text, 300);
        assert!(truncated && estimate_token_count(&cut) <= 300);
        assert!(cut.ends_with("## Completion\n\nDone.\n"));
        assert_eq!(cut.matches("```").count(), 2 + 3 * 2);
        assert_eq!(
            cut.matches(&format!("\n{CONTENT_TRUNCATED}\n```\n"))
                .count(),
            2
        );
        let lines = |name: &str| {
            let rest = cut.split_once(&format!("### {name}\n")).unwrap().1;
            rest.lines()
                .skip(1)
                .take_while(|line| line.starts_with("a line"))
                .count()
        };
        assert_eq!((lines("a"), lines("b"), lines("c")), (21, 2, 21));
    }

    #[test]
    fn when_files_are_not_enough_the_end_goes() {
        let text = prompt(&[("a", 2)]) + &"more words ".repeat(500);
        let (cut, truncated) = truncate_prompt_if_needed(&text, 100);
        assert!(truncated && estimate_token_count(&cut) <= 100);
        assert!(cut.ends_with(&format!("\n\n{CONTENT_TRUNCATED}\n")));
        assert_eq!(truncate_prompt_if_needed(&text, 5), (String::new(), true));
    }
}
