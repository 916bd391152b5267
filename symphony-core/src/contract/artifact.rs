//! Reading an artifact's text: its headings and its words.

/// Returns the headings of a markdown text in their order, without their marks.
///
/// Headings of every level count, written with `#` or underlined; those inside fenced code and HTML comments do not.
pub fn headings(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut fence: Option<(char, usize)> = None;
    let mut in_comment = false;
    let mut previous = "";
    for line in text.lines() {
        let above = std::mem::take(&mut previous);
        if let Some((mark, length)) = fence {
            if closes(line, mark, length) {
                fence = None;
            }
            continue;
        }
        if in_comment {
            in_comment = !line.contains("-->");
            continue;
        }
        let Some(content) = unindented(line) else {
            continue;
        };
        if let Some(opened) = opens(content) {
            fence = Some(opened);
        } else if content.starts_with("<!--") {
            in_comment = !content.contains("-->");
        } else if let Some(heading) = marked(content) {
            found.push(heading);
        } else if is_underline(content) && !above.is_empty() {
            found.push(above);
        } else {
            previous = content.trim();
        }
    }
    found
}

/// Returns whether a text has a heading: case, emphasis, a final colon and the amount of white space are ignored.
pub fn has_heading(text: &str, wanted: &str) -> bool {
    let wanted = folded(wanted);
    headings(text)
        .iter()
        .any(|heading| folded(heading) == wanted)
}

/// Counts the words of a text: runs without white space that hold a letter or a digit.
pub fn word_count(text: &str) -> usize {
    text.split_whitespace()
        .filter(|word| word.chars().any(char::is_alphanumeric))
        .count()
}

pub(crate) fn folded(heading: &str) -> String {
    let words: Vec<&str> = heading.split_whitespace().collect();
    words
        .join(" ")
        .trim_matches(|c| matches!(c, '*' | '_' | '`' | ':'))
        .trim()
        .to_lowercase()
}

/// Returns the line without its indentation; `None` when it is indented so far that markdown treats it as code.
pub(crate) fn unindented(line: &str) -> Option<&str> {
    let content = line.trim_start_matches(' ');
    (line.len() - content.len() <= 3 && !content.starts_with('\t')).then_some(content)
}

pub(crate) fn opens(content: &str) -> Option<(char, usize)> {
    let mark = content.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = content.chars().take_while(|c| *c == mark).count();
    let info = content.trim_start_matches(mark);
    (length >= 3 && !(mark == '`' && info.contains('`'))).then_some((mark, length))
}

pub(crate) fn closes(line: &str, mark: char, length: usize) -> bool {
    unindented(line).is_some_and(|content| {
        let content = content.trim_end();
        content.chars().count() >= length && content.chars().all(|c| c == mark)
    })
}

pub(crate) fn marked(content: &str) -> Option<&str> {
    let rest = content.trim_start_matches('#');
    let level = content.len() - rest.len();
    if !(1..=6).contains(&level) || !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return None;
    }
    let title = rest.trim();
    let open = title.trim_end_matches('#');
    // Closing marks count as such only after a blank: `C#` keeps its own.
    let closed = open.is_empty() || open.ends_with([' ', '\t']);
    Some(if closed { open.trim_end() } else { title })
}

pub(crate) fn is_underline(content: &str) -> bool {
    let content = content.trim_end();
    !content.is_empty()
        && (content.bytes().all(|byte| byte == b'=') || content.bytes().all(|byte| byte == b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_of_every_form_but_not_inside_code() {
        let text = "# One\n\n```md\n# not\n``\n```\n   ## Two ##\n    # code\n~~~~\n# not\n~~~\n# not\n~~~~\n\
            Three\n=====\ntext\nFour\n---\n\n---\n<!--\n# not\n-->\n<!-- x --> \n#### C#\n####### no\n#no\n#\n";
        assert_eq!(headings(text), ["One", "Two", "Three", "Four", "C#", ""]);
    }

    #[test]
    fn an_open_fence_hides_the_rest() {
        assert_eq!(headings("# A\n```\n# B\n"), ["A"]);
    }

    #[test]
    fn headings_compare_without_case_and_marks() {
        let text = "##  Proposed   Approach:\n### **Risks**\n## 問題\n";
        for heading in ["proposed approach", "RISKS", "問題", " Proposed Approach "] {
            assert!(has_heading(text, heading), "{heading}");
        }
        assert!(!has_heading(text, "approach"));
    }

    #[test]
    fn words_have_a_letter_or_digit() {
        assert_eq!(word_count("One, two - three\n| --- | 4 |"), 4);
        assert_eq!(word_count(""), 0);
    }
}
