//! Finds the fenced block that holds the plan in a markdown text.

use std::borrow::Cow;

use super::comment::{Unclosed, after_comment, last_closing, leaves_open};
use super::container::{CODE_INDENT, Containers, Cursor};
use super::error::{HiddenBlock, Hider, PlanError};

/// The info string of the block.
pub const PLAN_BLOCK: &str = "symphony-phases";

/// The block of a plan file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanBlock<'a> {
    /// The text between the fences. In a quote or a list item, spaces replace the prefix of each line, so that columns
    /// stay those of the file.
    pub text: Cow<'a, str>,
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
    /// The plan's text as far as it was read, if the block is in a quote or a list item.
    unquoted: Option<String>,
}

/// Finds the first ` ```symphony-phases ` block of a markdown text, by `CommonMark`'s rules for fences, quotes and list
/// items; linear. What is in an HTML comment does not count.
///
/// # Errors
/// [`PlanError::NoBlock`] and [`PlanError::UnclosedBlock`].
pub fn find_block(markdown: &str) -> Result<PlanBlock<'_>, PlanError> {
    let mut search = Search {
        markdown,
        last_closing: last_closing(markdown),
        containers: Containers::default(),
        open: None,
        comment: None,
        is_paragraph: false,
        found: None,
        unclosed: None,
        hidden: None,
    };
    let mut offset = 0;
    for (index, raw) in markdown.split_inclusive('\n').enumerate() {
        search.read(index + 1, offset, raw);
        offset += raw.len();
    }
    search.end()
}

/// A search that has read a number of lines.
struct Search<'a> {
    markdown: &'a str,
    /// Where the last comment ends.
    last_closing: Option<usize>,
    containers: Containers,
    open: Option<Open>,
    /// Line of the comment that is open.
    comment: Option<usize>,
    /// Whether the line before was running text, which the next line may continue.
    is_paragraph: bool,
    found: Option<PlanBlock<'a>>,
    /// The first plan block that ends with its quote or list item: its line, and the line that is outside.
    unclosed: Option<(usize, usize)>,
    hidden: Option<HiddenBlock>,
}

impl<'a> Search<'a> {
    fn read(&mut self, line: usize, offset: usize, raw: &'a str) {
        let content = raw.trim_end_matches(['\n', '\r']);
        let content = content.strip_prefix('\u{feff}').unwrap_or(content);
        if let Some(opened) = self.comment {
            return self.read_comment(line, opened, content, offset + raw.len());
        }
        let mut cursor = Cursor::new(content);
        let continued = self.containers.continued_by(&mut cursor);
        let is_inside = continued == self.containers.depth();
        if let Some(block) = self.open.take() {
            if is_inside {
                self.open = self.read_block(block, line, offset, raw, cursor);
                return;
            }
            // as in a browser, a block ends with the quote or item that it is in
            if block.is_plan {
                self.note_unclosed(block.line, line);
            }
        }
        if !is_inside && !self.is_lazy(cursor) {
            self.containers.close_after(continued);
        }
        self.read_text(line, offset + raw.len(), cursor);
    }

    /// Reads a line outside of blocks.
    fn read_text(&mut self, line: usize, next: usize, mut cursor: Cursor<'_>) {
        self.containers.open(&mut cursor);
        let is_code = cursor.indent() >= CODE_INDENT && !self.is_paragraph;
        if cursor.is_blank() || is_code {
            self.is_paragraph = false;
            return;
        }
        if let Some((fence, info)) = opening(cursor.rest()) {
            let is_plan = info.split_whitespace().next() == Some(PLAN_BLOCK);
            self.is_paragraph = false;
            self.open = Some(Open {
                fence,
                line,
                begin: next,
                is_plan,
                unquoted: (is_plan && self.containers.depth() > 0).then(String::new),
            });
            return;
        }
        self.is_paragraph = !cursor.rest().trim_start().starts_with('#');
        self.look_for_comment(line, next, cursor.rest());
    }

    fn look_for_comment(&mut self, line: usize, next: usize, text: &str) {
        let is_closed = self.last_closing.is_some_and(|closing| closing >= next);
        let unclosed = if is_closed {
            Unclosed::Hides
        } else {
            Unclosed::HidesWhenFirst
        };
        if leaves_open(text, unclosed) {
            self.comment = Some(line);
            self.is_paragraph = false;
        }
    }

    /// Reads a line that begins in a comment.
    fn read_comment(&mut self, line: usize, opened: usize, content: &str, next: usize) {
        let text = content.trim_start_matches([' ', '\t', '>']);
        self.note_hidden(text, line, opened, Hider::Comment);
        if let Some(rest) = after_comment(content) {
            self.comment = None;
            // the rest of the line opens no block, but perhaps another comment, which begins no line
            self.look_for_comment(line, next, &format!("x{rest}"));
        }
    }

    /// Reads a line of an open block; returns the block while it stays open.
    fn read_block(
        &mut self,
        mut block: Open,
        line: usize,
        offset: usize,
        raw: &str,
        cursor: Cursor<'_>,
    ) -> Option<Open> {
        if !closes(cursor.rest(), block.fence) {
            if !block.is_plan {
                self.note_hidden(cursor.rest(), line, block.line, Hider::Block);
            }
            if let Some(text) = &mut block.unquoted {
                let (prefix, rest) = raw.split_at_checked(cursor.bytes()).unwrap_or(("", raw));
                text.extend(prefix.chars().map(|c| if c == '>' { ' ' } else { c }));
                text.push_str(rest);
            }
            return Some(block);
        }
        if block.is_plan {
            match &mut self.found {
                None => {
                    let plain = self.markdown.get(block.begin..offset).unwrap_or("");
                    self.found = Some(PlanBlock {
                        text: block.unquoted.map_or(Cow::Borrowed(plain), Cow::Owned),
                        fence_line: block.line,
                        ignored: Vec::new(),
                    });
                }
                Some(first) => first.ignored.push(block.line),
            }
        }
        None
    }

    /// Returns whether a line continues the running text before it, although it lacks the prefixes of its containers.
    fn is_lazy(&self, cursor: Cursor<'_>) -> bool {
        let text = cursor.rest().trim_start();
        self.is_paragraph
            && !cursor.is_blank()
            && !Containers::begin_at(cursor)
            && fence(cursor.rest()).is_none()
            && !text.starts_with(['#', '<'])
    }

    fn note_unclosed(&mut self, block: usize, outside: usize) {
        match &mut self.found {
            Some(first) => first.ignored.push(block),
            None => {
                self.unclosed.get_or_insert((block, outside));
            }
        }
    }

    fn note_hidden(&mut self, text: &str, line: usize, outer_line: usize, by: Hider) {
        let is_plan = opening(text).is_some_and(|(_, info)| info.trim() == PLAN_BLOCK);
        if is_plan && self.hidden.is_none() {
            self.hidden = Some(HiddenBlock {
                line,
                outer_line,
                by,
            });
        }
    }

    fn end(mut self) -> Result<PlanBlock<'a>, PlanError> {
        let open = self.open.filter(|block| block.is_plan);
        let open = open.map(|block| block.line);
        // The first block counts, even if it is the one that is not closed.
        let first = self.found.as_ref().map(|block| block.fence_line);
        match (self.unclosed, first, open) {
            (Some((line, outside)), None, _) => Err(PlanError::UnclosedBlock {
                line,
                outside: Some(outside),
            }),
            (Some((line, outside)), Some(first), _) if line < first => {
                Err(PlanError::UnclosedBlock {
                    line,
                    outside: Some(outside),
                })
            }
            (None, None, Some(line)) => Err(PlanError::UnclosedBlock {
                line,
                outside: None,
            }),
            _ => {
                if let Some(block) = &mut self.found {
                    block.ignored.extend(open);
                }
                self.found.ok_or(PlanError::NoBlock {
                    hidden: self.hidden,
                })
            }
        }
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
            text: Cow::Borrowed(text),
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
            ("", PlanError::NoBlock { hidden: None }),
            (
                "# Plan\n```json\n[]\n```",
                PlanError::NoBlock { hidden: None },
            ),
            (
                "```symphony-phases-2\n[]\n```",
                PlanError::NoBlock { hidden: None },
            ),
            (
                "    ```symphony-phases\n[]\n```",
                PlanError::NoBlock { hidden: None },
            ),
            (
                "```md\n```symphony-phases\n[]\n```",
                PlanError::NoBlock {
                    hidden: Some(HiddenBlock {
                        line: 2,
                        outer_line: 1,
                        by: Hider::Block,
                    }),
                },
            ),
            (
                "a\n```symphony-phases\n[]\n``\n",
                PlanError::UnclosedBlock {
                    line: 2,
                    outside: None,
                },
            ),
        ] {
            assert_eq!(find_block(markdown), Err(expected), "{markdown}");
        }
    }

    #[test]
    fn blocks_in_quotes_and_list_items_count() {
        for (markdown, expected) in [
            (
                "> ```symphony-phases\n> [\n>]\n> ```\n",
                block("  [\n ]\n", 1, vec![]),
            ),
            (
                "> text\nlazy\n> > ```symphony-phases\n> > []\n> > ```",
                block("    []\n", 3, vec![]),
            ),
            (
                "1. Do this:\n\n   ```symphony-phases\n   [\n\n   ]\n   ```\n",
                block("   [\n\n   ]\n", 3, vec![]),
            ),
            (
                "10) Do\nthis:\n    ```symphony-phases\n    []\n    ```\n",
                block("    []\n", 3, vec![]),
            ),
            (
                "- ```symphony-phases\n  []\n  ```\n",
                block("  []\n", 1, vec![]),
            ),
            (
                "- a\n  - b\n\n    ~~~symphony-phases\n    []\n    ~~~\n",
                block("    []\n", 4, vec![]),
            ),
            (
                "-\t```symphony-phases\n\t[]\n\t```\n",
                block("\t[]\n", 1, vec![]),
            ),
            (
                "> - ```symphony-phases\n>   []\n>   ```\n",
                block("    []\n", 1, vec![]),
            ),
            (
                "- item\n\n```symphony-phases\n[]\n```\n",
                block("[]\n", 3, vec![]),
            ),
            (
                "```symphony-phases\n> []\n- 1\n```\n",
                block("> []\n- 1\n", 1, vec![]),
            ),
        ] {
            assert_eq!(find_block(markdown), Ok(expected), "{markdown}");
        }
    }

    #[test]
    fn a_block_ends_with_the_quote_or_item_that_it_is_in() {
        for (markdown, line, outside) in [
            ("> ```symphony-phases\n> [\n]\n> ```\n", 1, 3),
            ("- ```symphony-phases\n  [\n]\n  ```\n", 1, 3),
            ("> ```symphony-phases\n\n> []\n> ```\n", 1, 2),
        ] {
            let outside = Some(outside);
            assert_eq!(
                find_block(markdown),
                Err(PlanError::UnclosedBlock { line, outside }),
                "{markdown}"
            );
        }
    }

    #[test]
    fn blocks_in_comments_do_not_count() {
        const PLAN: &str = "```symphony-phases\n[]\n```\n";
        for (before, after, line) in [
            ("<!--\n```symphony-phases\nold\n```\n-->\n", "", 6),
            ("<!-- old:\n\n```symphony-phases\nold\n```\n\n-->\n", "", 8),
            ("Old: <!--\n```symphony-phases\nold\n```\n-->\n", "", 6),
            ("> <!--\n> ```symphony-phases\n> old\n> ```\n> -->\n", "", 6),
            (
                "<!-- a --> <!-- b\n```symphony-phases\nold\n```\n-->\n",
                "",
                6,
            ),
            (
                "<!-- a\n--> b <!-- c\n```symphony-phases\nold\n```\n-->\n",
                "",
                7,
            ),
            ("<!-- a -->\n", "<!--\n```symphony-phases\n1\n```\n", 2),
            ("Comments begin with <!-- in HTML.\n", "", 2),
            ("Comments begin with `<!--` and end with `-->`.\n", "", 2),
            ("```html\n<!--\n```\n", "", 4),
            ("    <!--\n\n", "-->\n", 3),
        ] {
            let markdown = format!("{before}{PLAN}{after}");
            assert_eq!(
                find_block(&markdown),
                Ok(block("[]\n", line, vec![])),
                "{markdown}"
            );
        }
        for markdown in [
            "<!--\n```symphony-phases\n[]\n```\n-->\n",
            "<!--\n```symphony-phases\n[]\n```\n",
        ] {
            let hidden = HiddenBlock {
                line: 2,
                outer_line: 1,
                by: Hider::Comment,
            };
            assert_eq!(
                find_block(markdown),
                Err(PlanError::NoBlock {
                    hidden: Some(hidden)
                })
            );
        }
    }
}
