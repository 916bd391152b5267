//! Finding the fenced block that holds the plan in a markdown text.

use super::error::PlanError;

/// The info string of the block.
pub const PLAN_BLOCK: &str = "symphony-phases";

/// The block of a plan file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanBlock<'a> {
    /// What stands between the fences.
    pub text: &'a str,
    /// Line of the opening fence in the markdown file, from 1; the text begins on the next one.
    pub fence_line: usize,
    /// Lines of the opening fences of further blocks; they do not count.
    pub ignored: Vec<usize>,
}

/// A fence that opens a block: its character and how many of them.
#[derive(Clone, Copy)]
struct Fence {
    mark: char,
    length: usize,
}

struct Open {
    fence: Fence,
    line: usize,
    /// Offset of the first byte after the fence's line.
    begin: usize,
    is_plan: bool,
}

/// Finds the first ` ```symphony-phases ` block of a markdown text, by `CommonMark`'s rules for fences; linear.
///
/// # Errors
/// [`PlanError::NoBlock`] and [`PlanError::UnclosedBlock`].
pub fn find_block(markdown: &str) -> Result<PlanBlock<'_>, PlanError> {
    let mut open: Option<Open> = None;
    let mut found: Option<PlanBlock<'_>> = None;
    let mut nested = None;
    let mut offset = 0;
    for (index, raw) in markdown.split_inclusive('\n').enumerate() {
        let line = index + 1;
        let start = offset;
        offset += raw.len();
        let content = raw.trim_end_matches(['\n', '\r']);
        let content = content.strip_prefix('\u{feff}').unwrap_or(content);
        match &open {
            None => {
                let Some((fence, info)) = opening(content) else {
                    continue;
                };
                open = Some(Open {
                    fence,
                    line,
                    begin: offset,
                    is_plan: info.split_whitespace().next() == Some(PLAN_BLOCK),
                });
            }
            Some(block) if closes(content, block.fence) => {
                if block.is_plan {
                    match &mut found {
                        None => {
                            found = Some(PlanBlock {
                                text: markdown.get(block.begin..start).unwrap_or(""),
                                fence_line: block.line,
                                ignored: Vec::new(),
                            });
                        }
                        Some(first) => first.ignored.push(block.line),
                    }
                }
                open = None;
            }
            Some(block) => {
                let is_plan = opening(content).is_some_and(|(_, info)| info.trim() == PLAN_BLOCK);
                if is_plan && !block.is_plan && nested.is_none() {
                    nested = Some((line, block.line));
                }
            }
        }
    }
    if let Some(mut block) = found {
        block
            .ignored
            .extend(open.filter(|last| last.is_plan).map(|last| last.line));
        return Ok(block);
    }
    match open {
        Some(block) if block.is_plan => Err(PlanError::UnclosedBlock { line: block.line }),
        _ => Err(PlanError::NoBlock { nested }),
    }
}

/// Reads a fence that can open a block, and its info string.
fn opening(line: &str) -> Option<(Fence, &str)> {
    let (fence, rest) = fence(line)?;
    // as CommonMark has it, so that inline code such as ```x``` opens nothing
    let is_inline = fence.mark == '`' && rest.contains('`');
    (!is_inline).then_some((fence, rest))
}

fn closes(line: &str, open: Fence) -> bool {
    fence(line).is_some_and(|(fence, rest)| {
        fence.mark == open.mark && fence.length >= open.length && rest.trim().is_empty()
    })
}

fn fence(line: &str) -> Option<(Fence, &str)> {
    let text = line.trim_start_matches(' ');
    let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let rest = text.trim_start_matches(mark);
    let length = text.len() - rest.len();
    (line.len() - text.len() <= 3 && length >= 3).then_some((Fence { mark, length }, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(text: &str, fence_line: usize, ignored: Vec<usize>) -> PlanBlock<'_> {
        PlanBlock {
            text,
            fence_line,
            ignored,
        }
    }

    #[test]
    fn the_first_closed_block_counts() {
        for (markdown, expected) in [
            ("```symphony-phases\n[]\n```\n", block("[]\n", 1, vec![])),
            (
                "# Plan\r\n\r\n```symphony-phases\r\n[]\r\n```",
                block("[]\r\n", 3, vec![]),
            ),
            ("\u{feff}```symphony-phases\n```", block("", 1, vec![])),
            (
                "~~~~symphony-phases x=1\n```\n~~~\n~~~~~  \n",
                block("```\n~~~\n", 1, vec![]),
            ),
            (
                "  ``` symphony-phases\n1\n```\n```symphony-phases\n2\n```",
                block("1\n", 1, vec![4]),
            ),
            (
                "```symphony-phases\n1\n```\n```symphony-phases\n2",
                block("1\n", 1, vec![4]),
            ),
            (
                "```json\n{}\n```\n```symphony-phases\n1\n```",
                block("1\n", 4, vec![]),
            ),
            (
                "````md\n```symphony-phases\n0\n```\n````\n```symphony-phases\n1\n```",
                block("1\n", 6, vec![]),
            ),
        ] {
            assert_eq!(find_block(markdown), Ok(expected), "{markdown}");
        }
    }

    #[test]
    fn a_missing_and_an_unclosed_block_are_told_apart() {
        for (markdown, expected) in [
            ("", PlanError::NoBlock { nested: None }),
            (
                "# Plan\n```json\n[]\n```",
                PlanError::NoBlock { nested: None },
            ),
            (
                "```symphony-phases-2\n[]\n```",
                PlanError::NoBlock { nested: None },
            ),
            (
                "    ```symphony-phases\n[]\n```",
                PlanError::NoBlock { nested: None },
            ),
            (
                "```md\n```symphony-phases\n[]\n```",
                PlanError::NoBlock {
                    nested: Some((2, 1)),
                },
            ),
            (
                "a\n```symphony-phases\n[]\n``\n",
                PlanError::UnclosedBlock { line: 2 },
            ),
        ] {
            assert_eq!(find_block(markdown), Err(expected), "{markdown}");
        }
    }
}
