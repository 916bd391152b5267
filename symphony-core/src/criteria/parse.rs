//! Reading acceptance criteria from markdown.

use super::model::{CRITERIA_MAX, CRITERION_CHARS_MAX, Criteria, Criterion};
use crate::contract::markdown::{closes, folded, is_underline, marked, opens, unindented};

/// What the heading of the list is called, without regard to case and emphasis.
const HEADING: &str = "acceptance criteria";
/// The level of a line that only looks like a heading: below all real ones.
const LABEL_LEVEL: usize = 7;
/// Stands at the end of a criterion that was cut.
const CUT: &str = " […]";

/// Collects the criteria of an issue: those of its text, then those of its documents, given as path and text. One that is there
/// twice counts once.
pub fn collect_criteria(issue_text: &str, documents: &[(&str, &str)]) -> Criteria {
    let mut criteria = Criteria::default();
    let mut known = Vec::new();
    let texts = std::iter::once((None, issue_text))
        .chain(documents.iter().map(|(path, text)| (Some(*path), *text)));
    for (source, text) in texts {
        for criterion in parse_criteria(text) {
            let key = folded(&criterion);
            if known.contains(&key) {
                continue;
            }
            known.push(key);
            let item = u32::try_from(criteria.items.len() + 1).unwrap_or(u32::MAX);
            if criteria.items.len() < CRITERIA_MAX {
                criteria.items.push(Criterion {
                    item,
                    text: criterion,
                    source: source.map(str::to_owned),
                });
            } else {
                criteria.left_out += 1;
            }
        }
    }
    criteria
}

/// Reads the items below each heading "Acceptance criteria" of a markdown text, in their order, each on one line.
///
/// Items are those of task lists, bulleted and numbered lists. Nested items belong to theirs. The heading may be one of any level, or a
/// line of its own that ends in a colon or is bold. Code blocks and HTML comments are passed over.
pub fn parse_criteria(text: &str) -> Vec<String> {
    let mut reader = Reader::default();
    for line in text.lines() {
        reader.read(line);
    }
    reader.end_item();
    reader.found
}

/// Reads line by line.
#[derive(Debug, Default)]
struct Reader {
    found: Vec<String>,
    /// The level of the heading whose list is read; none outside.
    section: Option<usize>,
    item: Option<Item>,
    fence: Option<(char, usize)>,
    in_comment: bool,
    /// Whether the line before was empty.
    after_blank: bool,
    /// The line before, where it can be the text of an underlined heading.
    above: String,
}

/// An item that may go on.
#[derive(Debug)]
struct Item {
    indent: usize,
    text: String,
}

impl Reader {
    fn read(&mut self, line: &str) {
        let above = std::mem::take(&mut self.above);
        let after_blank = std::mem::take(&mut self.after_blank);
        if let Some((mark, length)) = self.fence {
            // In an item a fence is indented as the item is.
            if closes(line.trim_start(), mark, length) {
                self.fence = None;
            }
            return;
        }
        if self.in_comment {
            self.in_comment = !line.contains("-->");
            return;
        }
        let content = line.trim();
        if let Some(opened) = opens(content) {
            self.fence = Some(opened);
        } else if content.starts_with("<!--") {
            self.in_comment = !content.contains("-->");
        } else if content.is_empty() {
            self.after_blank = true;
        } else if let Some((level, title)) = unindented(line).and_then(heading) {
            self.enter(level, title);
        } else if is_underline(content) && !above.is_empty() {
            self.enter(if content.starts_with('=') { 1 } else { 2 }, &above);
        } else if let Some((indent, text)) = list_item(line) {
            self.begin_item(indent, text);
        } else if is_label(content) && indent_of(line) == 0 {
            self.enter(LABEL_LEVEL, content);
            content.clone_into(&mut self.above);
        } else {
            self.continue_item(line, after_blank);
            if self.item.is_none() {
                content.clone_into(&mut self.above);
            }
        }
    }

    /// A heading ends the list of one of its own level or above, and may begin one.
    fn enter(&mut self, level: usize, title: &str) {
        self.end_item();
        if folded(title) == HEADING {
            self.section = Some(level);
        } else if self.section.is_some_and(|section| level <= section) {
            self.section = None;
        }
    }

    fn begin_item(&mut self, indent: usize, text: &str) {
        if self.section.is_none() {
            return;
        }
        match &mut self.item {
            // One column more may be a matter of taste; two are a level.
            Some(item) if indent > item.indent + 1 => {
                push(&mut item.text, "; ", without_box(text));
            }
            _ => {
                self.end_item();
                self.item = Some(Item {
                    indent,
                    text: without_box(text).to_owned(),
                });
            }
        }
    }

    /// A line goes on with an item, unless it is a paragraph of its own.
    fn continue_item(&mut self, line: &str, after_blank: bool) {
        match &mut self.item {
            Some(item)
                if indent_of(line) > item.indent || !(after_blank || item.text.is_empty()) =>
            {
                push(&mut item.text, " ", line.trim());
            }
            Some(_) => {
                self.end_item();
                // Nothing says where the list below such a line ends but the next paragraph.
                if self.section == Some(LABEL_LEVEL) {
                    self.section = None;
                }
            }
            None => {}
        }
    }

    fn end_item(&mut self) {
        let text = self.item.take().map(|item| shortened(&item.text));
        self.found.extend(text.filter(|text| !text.is_empty()));
    }
}

fn push(text: &mut String, between: &str, more: &str) {
    if !text.is_empty() {
        text.push_str(between);
    }
    text.push_str(more);
}

fn heading(content: &str) -> Option<(usize, &str)> {
    let title = marked(content)?;
    Some((content.len() - content.trim_start_matches('#').len(), title))
}

/// Says whether a line stands for a heading: it is bold as a whole, or ends in a colon and is the one that is looked for.
fn is_label(content: &str) -> bool {
    let bold = ["**", "__"].iter().any(|mark| {
        let inner = content.trim_end_matches(':').strip_prefix(mark);
        inner
            .and_then(|rest| rest.strip_suffix(mark))
            .is_some_and(|inner| !inner.is_empty() && !inner.contains(mark))
    });
    bold || (content.ends_with(':') && folded(content) == HEADING)
}

fn indent_of(line: &str) -> usize {
    let blank = line.chars().take_while(|c| matches!(c, ' ' | '\t'));
    blank.map(|c| if c == '\t' { 4 } else { 1 }).sum()
}

/// Returns the indentation and the text of an item of a list.
fn list_item(line: &str) -> Option<(usize, &str)> {
    let content = line.trim_start();
    let digits = content.len()
        - content
            .trim_start_matches(|c: char| c.is_ascii_digit())
            .len();
    let rest = if (1..=4).contains(&digits) {
        content.get(digits..)?.strip_prefix(['.', ')'])?
    } else {
        content.strip_prefix(['-', '*', '+'])?
    };
    (rest.is_empty() || rest.starts_with([' ', '\t'])).then(|| (indent_of(line), rest.trim()))
}

/// Takes off the box of a task.
fn without_box(text: &str) -> &str {
    ["[ ]", "[x]", "[X]"]
        .iter()
        .find_map(|mark| text.strip_prefix(mark))
        .map_or(text, str::trim_start)
}

fn shortened(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    if line.chars().count() <= CRITERION_CHARS_MAX {
        return line;
    }
    let room = CRITERION_CHARS_MAX - CUT.chars().count();
    let kept: String = line.chars().take(room).collect();
    kept + CUT
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn items_below_the_heading_are_read_whatever_kind_of_list_they_are_in() {
        for (text, expected) in [
            ("", &[][..]),
            ("- [ ] one\n- two", &[]),
            (
                "## Acceptance Criteria\n\n- [ ] one\n- [x] two\n* three\n+ four",
                &["one", "two", "three", "four"],
            ),
            ("# acceptance criteria:\n1. one\n2) two\n", &["one", "two"]),
            (
                "Acceptance criteria\n---\n- one\n\nOther\n===\n- no",
                &["one"],
            ),
            (
                "**Acceptance criteria**\n- one\n- two\n\nNow something else.\n- no",
                &["one", "two"],
            ),
            (
                "Acceptance criteria:\n\n- one\n\n**Out of scope**\n- no",
                &["one"],
            ),
            ("Acceptance criteria for whom?\n- no", &[]),
            (
                "## Acceptance Criteria\n### Reading\n- one\n### Writing\n- two\n## Test Plan\n- no",
                &["one", "two"],
            ),
            (
                "## Acceptance Criteria\nEach is checked.\n\n- one\n  goes on\nlazily\n\n  and on\n\nA paragraph.\n\n- two",
                &["one goes on lazily and on", "two"],
            ),
            (
                "## Acceptance Criteria\n- one\n  - [ ] a\n  - b\n- two",
                &["one; a; b", "two"],
            ),
            (
                "## Acceptance Criteria\n- one\n  ```\n  - no\n  ```\n- two\n```\n- no\n```\n<!-- - no -->\n<!--\n- no\n-->\n- three",
                &["one", "two", "three"],
            ),
            ("```\n## Acceptance Criteria\n- no\n```", &[]),
            (
                "## Acceptance Criteria\n-\n- \n-5 is no item\n- one",
                &["one"],
            ),
            (
                "## Acceptance Criteria\r\n- one\r\n- two\r\n",
                &["one", "two"],
            ),
            ("## Acceptance Criteria\nhello.txt says hello.\n", &[]),
        ] {
            assert_eq!(parse_criteria(text), expected, "{text}");
        }
    }

    #[test]
    fn criteria_are_numbered_over_all_sources_and_counted_once() {
        let list = |items: &[String]| format!("## Acceptance criteria\n{}", items.join("\n"));
        let own = list(&["- It greets.".to_owned(), "- It ends.".to_owned()]);
        let many: Vec<String> = (0..60).map(|n| format!("- Rule {n}")).collect();
        let document = list(&[vec!["1. it  GREETS.".to_owned()], many].concat());
        let criteria = collect_criteria(&own, &[("docs/plan.md", &document)]);
        let shown = |criterion: &Criterion| {
            let source = criterion.source.as_deref().unwrap_or("-");
            format!("{} {} {source}", criterion.item, criterion.text)
        };
        let first: Vec<String> = criteria.items.iter().take(3).map(shown).collect();
        assert_eq!(
            first,
            ["1 It greets. -", "2 It ends. -", "3 Rule 0 docs/plan.md"]
        );
        assert_eq!(
            (criteria.items.len(), criteria.left_out),
            (CRITERIA_MAX, 12)
        );
    }

    proptest! {
        /// Whatever the text, each criterion is one line of bounded length.
        #[test]
        fn criteria_are_bounded_lines(text in "(## Acceptance criteria\n|- |  - |1\\. |[a-é \t\r\n*:#`<>!-]|\n|x{300}){0,60}") {
            for criterion in parse_criteria(&text) {
                prop_assert!(!criterion.is_empty() && !criterion.contains(['\n', '\r']));
                prop_assert!(criterion.chars().count() <= CRITERION_CHARS_MAX);
            }
        }
    }
}
