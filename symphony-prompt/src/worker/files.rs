//! The `Relevant Files` section: fenced contents, or why there are none.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::hidden::one_line;
use crate::worker::language::language;

/// Lines of a file that are shown.
pub(super) const FILE_LINES_MAX: usize = 200;

/// A file of the required context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum FileEntry {
    /// A file that was read.
    Loaded {
        /// Its path, relative to the project.
        path: String,
        /// Its text.
        content: String,
    },
    /// A path or pattern without text.
    Unreadable {
        /// The path or pattern.
        path: String,
        /// Why: `file not found`, `no file matches this pattern`, `outside the project`, `not a text file`.
        error: String,
    },
}

impl FileEntry {
    /// Returns the path or pattern.
    pub fn path(&self) -> &str {
        match self {
            Self::Loaded { path, .. } | Self::Unreadable { path, .. } => path,
        }
    }
}

/// Renders the entries, each path once.
pub(super) fn files_section(files: &[FileEntry]) -> Option<String> {
    let mut seen = BTreeSet::new();
    let entries: Vec<String> = files
        .iter()
        .filter(|entry| seen.insert(entry.path()))
        .map(render)
        .collect();
    (!entries.is_empty()).then(|| {
        format!(
            "## Relevant Files\n\nThe following files are relevant to this phase. Review them to understand the \
             context:\n\n{}",
            entries.join("\n\n")
        )
    })
}

fn render(entry: &FileEntry) -> String {
    let path = one_line(entry.path());
    match entry {
        FileEntry::Unreadable { error, .. } => format!("### {path}\nError: {}", one_line(error)),
        FileEntry::Loaded { content, .. } => {
            let fence = "`".repeat((longest_run(content) + 1).max(3));
            let content = content.replace("\r\n", "\n");
            let total = content.lines().count();
            let mut text = format!("### {path}\n{fence}{}\n", language(entry.path()));
            for line in content.lines().take(FILE_LINES_MAX) {
                text.push_str(line);
                text.push('\n');
            }
            text.push_str(&fence);
            if total > FILE_LINES_MAX {
                let hidden = total - FILE_LINES_MAX;
                let noun = if hidden == 1 { "line" } else { "lines" };
                text += &format!("\n... {hidden} more {noun} not shown ({total} in total)");
            }
            text
        }
    }
}

/// Returns the length of the longest run of backticks that begins a line, where it could close a fence.
fn longest_run(content: &str) -> usize {
    content
        .lines()
        .map(|line| {
            let unindented = line.trim_start_matches(' ');
            if line.len() - unindented.len() > 3 {
                return 0;
            }
            unindented.len() - unindented.trim_start_matches('`').len()
        })
        .max()
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loaded(path: &str, content: &str) -> FileEntry {
        FileEntry::Loaded {
            path: path.to_owned(),
            content: content.to_owned(),
        }
    }

    #[test]
    fn a_fence_is_longer_than_any_run_that_begins_a_line() {
        for (content, fence) in [
            ("plain", 3),
            ("a ``` b", 3),
            ("``", 3),
            ("```", 4),
            ("  ````", 5),
            ("    ````", 3),
        ] {
            let text = render(&loaded("a", content));
            let open = text.lines().nth(1).unwrap();
            assert_eq!(open, "`".repeat(fence), "{content:?}");
        }
    }

    #[test]
    fn a_path_is_shown_once_and_line_ends_are_one_byte() {
        let files = [loaded("a.rs", "x\r\ny\r\n"), loaded("a.rs", "other")];
        let section = files_section(&files).unwrap();
        assert!(
            section.ends_with("### a.rs\n```rust\nx\ny\n```"),
            "{section}"
        );
        assert_eq!(files_section(&[]), None);
    }

    #[test]
    fn two_hundred_lines_are_shown_and_the_rest_is_counted() {
        for (lines, notice) in [
            (200, "```"),
            (201, "... 1 more line not shown (201 in total)"),
            (203, "... 3 more lines not shown (203 in total)"),
        ] {
            let text = render(&loaded("a", &"x\n".repeat(lines)));
            assert_eq!(text.lines().last(), Some(notice));
        }
    }
}
