//! Finds the fences, as a guard in front of the splitter.
//!
//! The splitter treats a file whose front matter is opened wrongly, or never closed, as one without any, and its YAML
//! would become a prompt. So the fences are found here first, and only a file that has both is split.

use gray_matter::engine::Engine;
use gray_matter::{Matter, Pod};

use super::locate::Position;
use super::problem::ProblemKind;

/// Longest file that is read, in bytes.
pub const FILE_BYTES_MAX: usize = 1 << 20;

/// Longest front matter that is read, in bytes: the YAML parser's time grows with the square of the nesting, which
/// at this length is a fraction of a second at worst.
pub const MATTER_BYTES_MAX: usize = 16 << 10;

/// Longest part of a line that is shown in a message, in characters.
const SHOWN_CHARS_MAX: usize = 60;

const FENCE: &str = "---";

/// A file split in two.
#[derive(Debug)]
pub(super) struct Split {
    /// The lines between the fences, with their line ends (`\n`).
    pub(super) matter: String,
    /// The body, normalised as the module says.
    pub(super) body: String,
    /// Line of the file on which the body begins, counted from 1.
    pub(super) body_line: usize,
}

/// Splits a file.
///
/// # Errors
/// When it is too long, or its front matter is not there, not closed, blank or too long.
pub(super) fn split(text: &str) -> Result<Split, (Position, ProblemKind)> {
    if text.len() > FILE_BYTES_MAX {
        return Err((
            Position::START,
            ProblemKind::FileTooLarge {
                bytes: text.len(),
                bytes_max: FILE_BYTES_MAX,
            },
        ));
    }
    let text = text
        .strip_prefix('\u{feff}')
        .unwrap_or(text)
        .replace("\r\n", "\n");
    let first = text.lines().next().unwrap_or("");
    if !is_fence(first) {
        return Err((
            Position::START,
            ProblemKind::NoFrontMatter {
                found: shown_line(first),
            },
        ));
    }
    let matter_lines = closing_fence(&text)?;
    let matter: String = text
        .split_inclusive('\n')
        .skip(1)
        .take(matter_lines)
        .collect();
    check_matter(&matter)?;
    let body = body_of(&text).unwrap_or_default();
    let blank = text
        .lines()
        .skip(matter_lines + 2)
        .take_while(|line| line.is_empty())
        .count();
    Ok(Split {
        matter,
        body,
        body_line: matter_lines + 3 + blank,
    })
}

/// The line that opens or closes: trailing white space does not count, a fourth dash does.
fn is_fence(line: &str) -> bool {
    line.trim_end() == FENCE
}

/// Returns the number of lines between the fences.
fn closing_fence(text: &str) -> Result<usize, (Position, ProblemKind)> {
    let mut lookalike = None;
    for (index, line) in text.lines().skip(1).enumerate() {
        if is_fence(line) {
            return Ok(index);
        }
        let trimmed = line.trim();
        let dashes = trimmed.len() >= 2 && trimmed.bytes().all(|byte| byte == b'-');
        if lookalike.is_none() && (dashes || matches!(trimmed, "..." | "+++" | "***")) {
            lookalike = Some((index + 2, cut(trimmed)));
        }
    }
    Err((Position::START, ProblemKind::Unclosed { lookalike }))
}

fn check_matter(matter: &str) -> Result<(), (Position, ProblemKind)> {
    check_length(matter)?;
    if matter.trim().is_empty() {
        return Err((Position::START, ProblemKind::Empty));
    }
    Ok(())
}

/// Refuses a front matter that would take the YAML parser too long.
pub(super) fn check_length(matter: &str) -> Result<(), (Position, ProblemKind)> {
    if matter.len() > MATTER_BYTES_MAX {
        return Err((
            Position::START,
            ProblemKind::MatterTooLarge {
                bytes: matter.len(),
                bytes_max: MATTER_BYTES_MAX,
            },
        ));
    }
    Ok(())
}

/// The splitter's engine: it parses nothing, since the YAML is read with exact positions from the file's own lines.
struct SplitOnly;

impl Engine for SplitOnly {
    fn parse(_matter: &str) -> gray_matter::Result<Pod> {
        Ok(Pod::Null)
    }
}

fn body_of(text: &str) -> Option<String> {
    let entity = Matter::<SplitOnly>::new().parse::<Pod>(text).ok()?;
    Some(entity.content)
}

fn shown_line(line: &str) -> String {
    if line.trim().is_empty() {
        "a blank line".to_owned()
    } else {
        format!("`{}`", cut(line.trim_end()))
    }
}

/// Cuts a text that is shown in a message, and escapes its control characters.
pub(super) fn cut(text: &str) -> String {
    let mut shown: String = text
        .chars()
        .take(SHOWN_CHARS_MAX)
        .flat_map(|c| {
            let escaped = c.is_control().then(|| c.escape_default());
            let plain = escaped.is_none().then_some(c);
            escaped.into_iter().flatten().chain(plain)
        })
        .collect();
    if text.chars().nth(SHOWN_CHARS_MAX).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_matter_and_body() {
        for (text, matter, body, body_line) in [
            ("---\na: 1\n---\n# T\n", "a: 1\n", "# T", 4),
            (
                "\u{feff}---\r\na: 1\r\n---\r\n\r\nx\r\ny",
                "a: 1\n",
                "x\ny",
                5,
            ),
            ("---  \n\n a: 1\n\n---\t\nx\n\n", "\n a: 1\n\n", "x\n", 6),
            ("---\na: 1\n---", "a: 1\n", "", 4),
            (
                "---\na: 1\n---\nx\n---\ny ---\n",
                "a: 1\n",
                "x\n---\ny ---",
                4,
            ),
            (
                "---\na: |\n  ---\n---\nx  \n  y\n",
                "a: |\n  ---\n",
                "x  \n  y",
                5,
            ),
        ] {
            let split = split(text).unwrap();
            assert_eq!(
                (split.matter.as_str(), split.body.as_str(), split.body_line),
                (matter, body, body_line),
                "{text:?}"
            );
        }
    }

    #[test]
    fn refuses_what_the_splitter_would_take_for_a_body() {
        for (text, expected) in [
            (
                "",
                "found a blank line, expected a first line `---` that opens the front matter",
            ),
            (
                "\n---\na: 1\n---\n",
                "found a blank line, expected a first line `---` that opens the front matter",
            ),
            (
                "----\na: 1\n----\n",
                "found `----`, expected a first line `---` that opens the front matter",
            ),
            (
                "# T\u{1b}[1m\n",
                "found `# T\\u{1b}[1m`, expected a first line `---` that opens the front matter",
            ),
            ("---\na: 1\n", "no line `---` closes the front matter"),
            ("---", "no line `---` closes the front matter"),
            (
                "---\na: 1\n...\nbody\n",
                "no line `---` closes the front matter; line 3 is `...`",
            ),
            (
                "---\na: 1\n ---\nbody\n",
                "no line `---` closes the front matter; line 3 is `---`",
            ),
            (
                "---\na: 1\n-----\nbody\n",
                "no line `---` closes the front matter; line 3 is `-----`",
            ),
            ("---\n---\nbody", "the front matter is empty"),
            ("---\n \n\n---\nbody", "the front matter is empty"),
        ] {
            let (_, kind) = split(text).unwrap_err();
            assert_eq!(kind.to_string(), expected, "{text:?}");
        }
    }

    #[test]
    fn long_files_and_long_matter_are_refused() {
        let long = format!("---\na: 1\n---\n{}", "x".repeat(FILE_BYTES_MAX));
        let (_, kind) = split(&long).unwrap_err();
        assert_eq!(
            kind.to_string(),
            "the file has 1048589 bytes, at most 1048576 are read"
        );
        let long = format!("---\na: {}\n---\nx", "x".repeat(MATTER_BYTES_MAX));
        let (_, kind) = split(&long).unwrap_err();
        assert_eq!(
            kind.to_string(),
            "the front matter has 16388 bytes, at most 16384 are read"
        );
    }
}
