//! Reading acceptance criteria from markdown.

use std::collections::BTreeSet;

use super::heading::{is_label, may_name_criteria, names_criteria};
use super::model::{CRITERIA_MAX, CRITERION_CHARS_MAX, Criteria, Criterion, MissedCriteria};
use crate::contract::markdown::{closes, folded, is_underline, marked, opens, unindented};

/// Most headings without criteria that are reported for one text.
const MISSED_MAX: usize = 3;
/// The level of a line that only looks like a heading: below all real ones.
const LABEL_LEVEL: usize = 7;
/// The end of a criterion that was cut.
const CUT: &str = " […]";

/// Collects the criteria of an issue: those of its text, then those of its documents, given as path and text. One that
/// is there twice counts once.
pub fn collect_criteria(issue_text: &str, documents: &[(&str, &str)]) -> Criteria {
    let mut criteria = Criteria::default();
    let mut known = BTreeSet::new();
    let texts = std::iter::once((None, issue_text))
        .chain(documents.iter().map(|(path, text)| (Some(*path), *text)));
    for (source, text) in texts {
        for criterion in parse_criteria(text) {
            if !known.insert(folded(&criterion)) {
                continue;
            }
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
/// Items are those of task lists, bulleted and numbered lists. Nested items belong to theirs. The heading may be one of
/// any level, or a line of its own. Code blocks and HTML comments are skipped.
pub fn parse_criteria(text: &str) -> Vec<String> {
    CriteriaReader::read_text(text).found
}

/// Finds what may be meant as acceptance criteria but is not read as such, in the order of the text: headings that are
/// almost the expected one, and those without an item below them.
pub fn missed_criteria(text: &str) -> Vec<MissedCriteria> {
    CriteriaReader::read_text(text).missed
}

/// Reads line by line.
#[derive(Debug, Default)]
struct CriteriaReader {
    found: Vec<String>,
    missed: Vec<MissedCriteria>,
    /// The title of the newest heading, while it has no item.
    without_items: Option<String>,
    /// The level of the heading whose list is being read; `None` outside.
    section: Option<usize>,
    item: Option<Item>,
    fence: Option<(char, usize)>,
    in_comment: bool,
    /// Whether the line before was empty.
    after_blank: bool,
    /// The line before, if it can be the text of an underlined heading.
    above: String,
}

/// An item that may continue on the next line.
#[derive(Debug)]
struct Item {
    indent: usize,
    text: String,
}

impl CriteriaReader {
    fn read_text(text: &str) -> Self {
        let mut reader = Self::default();
        for line in text.lines() {
            reader.read(line);
        }
        reader.end_item();
        reader.end_section();
        reader
    }

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
        } else if indent_of(line) == 0
            && is_label(content)
            && self.begins_paragraph(content, &above, after_blank)
        {
            self.enter(LABEL_LEVEL, content);
            content.clone_into(&mut self.above);
        } else {
            self.continue_item(line, after_blank);
            if self.item.is_none() && self.section.is_none() && may_name_criteria(content) {
                self.miss(MissedCriteria::Heading(content.to_owned()));
            }
            if self.item.is_none() {
                content.clone_into(&mut self.above);
            }
        }
    }

    /// A heading ends the list of one of its own level or above, and may begin one.
    fn enter(&mut self, level: usize, title: &str) {
        self.end_item();
        if names_criteria(title) {
            self.end_section();
            self.section = Some(level);
            self.without_items = Some(title.to_owned());
            return;
        }
        if may_name_criteria(title) {
            self.miss(MissedCriteria::Heading(title.to_owned()));
        }
        if self.section.is_some_and(|section| level <= section) {
            self.end_section();
        }
    }

    /// A line within a paragraph, or one that continues an item, is not a label, unless its marks show it.
    fn begins_paragraph(&self, content: &str, above: &str, after_blank: bool) -> bool {
        let is_marked = content.ends_with(':') || content.starts_with(['*', '_']);
        is_marked || after_blank || (above.is_empty() && self.item.is_none())
    }

    fn end_section(&mut self) {
        self.section = None;
        if let Some(title) = self.without_items.take() {
            self.miss(MissedCriteria::NoItems(title));
        }
    }

    fn miss(&mut self, missed: MissedCriteria) {
        if self.missed.len() < MISSED_MAX {
            self.missed.push(missed);
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

    /// A line continues an item, unless it is a paragraph of its own.
    fn continue_item(&mut self, line: &str, after_blank: bool) {
        match &mut self.item {
            Some(item)
                if indent_of(line) > item.indent || !(after_blank || item.text.is_empty()) =>
            {
                push(&mut item.text, " ", line.trim());
            }
            Some(_) => {
                self.end_item();
                // Only the next paragraph ends the list below such a line.
                if self.section == Some(LABEL_LEVEL) {
                    self.end_section();
                }
            }
            None => {}
        }
    }

    fn end_item(&mut self) {
        let text = self.item.take().map(|item| shortened(&item.text));
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            self.without_items = None;
            self.found.push(text);
        }
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
            ("## Acceptance Criteria (must have)\n- one", &["one"]),
            ("### 3. Acceptance criteria\n- one", &["one"]),
            ("## ✅ Acceptance criteria\n- one", &["one"]),
            ("*Acceptance criteria*\n\n- one", &["one"]),
            ("**Acceptance criteria:** \n- one", &["one"]),
            (
                "Do it.\n\nAcceptance criteria\n\n- one\n\nMore.\n- no",
                &["one"],
            ),
            ("See the\nacceptance criteria\nof SYM-1:\n- no", &[]),
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
    fn what_may_be_meant_as_criteria_and_is_not_read_as_such_is_named() {
        for (text, expected) in [
            ("", &[][..]),
            ("## Acceptance criteria\n- one", &[]),
            ("The acceptance criteria are below.\n- one", &[]),
            ("## Acceptance criteria\n- see the acceptance criteria", &[]),
            (
                "## Acceptance criteria for it\n- one",
                &[
                    "“Acceptance criteria for it” is not recognised as the heading of acceptance criteria",
                ],
            ),
            (
                "h2. Acceptance criteria\n- one",
                &[
                    "“h2. Acceptance criteria” is not recognised as the heading of acceptance criteria",
                ],
            ),
            (
                "## Acceptance criteria\nIt greets.\n## Notes\n- no",
                &["there is no list below “Acceptance criteria”"],
            ),
            ("```\n## Acceptance criteria for it\n```\n- one", &[]),
        ] {
            let missed: Vec<String> = missed_criteria(text)
                .iter()
                .map(ToString::to_string)
                .collect();
            assert_eq!(missed, expected, "{text}");
        }
    }

    #[test]
    fn a_list_of_any_length_is_read_at_once() {
        let items: Vec<String> = (0..60_000).map(|n| format!("- c {n}")).collect();
        let text = format!("# Acceptance criteria\n{}", items.join("\n"));
        let criteria = collect_criteria(&text, &[]);
        assert_eq!(
            (criteria.items.len(), criteria.left_out),
            (CRITERIA_MAX, 59_950)
        );
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
