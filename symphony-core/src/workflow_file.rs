//! `WORKFLOW.md` files of openai/symphony: how one is split, and how one is recognised among a project's own files.
//!
//! A project may have a `WORKFLOW.md` of its own, whose text takes the place of the worker's profile. One of
//! openai/symphony has settings in front of a template, and neither may reach an agent as it is. The rule of this
//! module is that of section 5.2 of openai/symphony's specification, and it differs from [`crate::front_matter`]'s: a
//! file without settings is allowed, and the text below them is trimmed.

use crate::front_matter::FrontMatter;

/// The sections that openai/symphony's specification names, `server` of its extension among them.
pub const SECTIONS: [&str; 7] = [
    "tracker",
    "polling",
    "workspace",
    "hooks",
    "agent",
    "codex",
    "server",
];

const FENCE: &str = "---";

/// A `WORKFLOW.md`, split.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkflowText {
    /// The lines of the settings, which begin on line 2 of the file; `None` when the file opens with something else.
    pub matter: Option<String>,
    /// Whether a line `---` ends the settings. If none does, all that follows belongs to them.
    pub is_closed: bool,
    /// The template, trimmed.
    pub body: String,
    /// Line of the file on which the template begins, counted from 1.
    pub body_line: usize,
}

/// Splits a file. A byte order mark is dropped, and every line end becomes `\n`.
pub fn split(text: &str) -> WorkflowText {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut lines = text.split_inclusive('\n');
    if !lines.next().is_some_and(is_fence) {
        return body_of(&text, 1, None, true);
    }
    let mut matter = String::new();
    let mut is_closed = false;
    for line in lines.by_ref() {
        if is_fence(line) {
            is_closed = true;
            break;
        }
        matter.push_str(line);
    }
    let first_line = matter.lines().count() + 3;
    let rest: String = lines.collect();
    body_of(&rest, first_line, Some(matter), is_closed)
}

/// Says whether a file is openai/symphony's: it opens with settings. Where they cannot be read, one of the names of its
/// sections decides, so that a broken file stays out of prompts too.
pub fn is_theirs(text: &str) -> bool {
    let WorkflowText {
        matter: Some(matter),
        is_closed,
        ..
    } = split(text)
    else {
        return false;
    };
    let has_section = matter.lines().any(opens_section);
    let read = FrontMatter::of_parts("", matter, String::new(), 1);
    has_section || (is_closed && read.is_ok_and(|read| !read.fields().is_empty()))
}

fn opens_section(line: &str) -> bool {
    let name = line.split_once(':').map(|(name, _)| name.trim_end());
    let name = name.map(|name| name.trim_matches(['"', '\'']));
    name.is_some_and(|name| SECTIONS.contains(&name))
}

/// The line that opens or closes; trailing white space does not count, a fourth dash does.
fn is_fence(line: &str) -> bool {
    line.trim_end() == FENCE
}

fn body_of(text: &str, line: usize, matter: Option<String>, is_closed: bool) -> WorkflowText {
    let trimmed = text.trim_start();
    let skipped = text.len() - trimmed.len();
    let blank = text.bytes().take(skipped).filter(|byte| *byte == b'\n');
    WorkflowText {
        matter,
        is_closed,
        body_line: line + blank.count(),
        body: trimmed.trim_end().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_and_template_are_split() {
        for (text, matter, is_closed, body, body_line) in [
            ("", None, true, "", 1),
            ("Work on it.\n", None, true, "Work on it.", 1),
            ("\n---\na: 1\n---\n", None, true, "---\na: 1\n---", 2),
            ("----\na: 1\n----\nx", None, true, "----\na: 1\n----\nx", 1),
            (" ---\na: 1\n---", None, true, "---\na: 1\n---", 1),
            ("---", Some(""), false, "", 3),
            ("---\n---\nx", Some(""), true, "x", 3),
            ("---\na: 1\n---\n\n  x \n\n", Some("a: 1\n"), true, "x", 5),
            (
                "---  \na: 1\n---\t\nx\n---\ny",
                Some("a: 1\n"),
                true,
                "x\n---\ny",
                4,
            ),
            (
                "\u{feff}---\r\na: 1\r\n---\r\nx\r\ny\r\n",
                Some("a: 1\n"),
                true,
                "x\ny",
                4,
            ),
            ("---\ra: 1\r---\rx", Some("a: 1\n"), true, "x", 4),
            (
                "---\na: |\n  ---\n  b\n---\nx",
                Some("a: |\n  ---\n  b\n"),
                true,
                "x",
                6,
            ),
            ("---\na: 1\nx\n", Some("a: 1\nx\n"), false, "", 5),
        ] {
            let expected = WorkflowText {
                matter: matter.map(str::to_owned),
                is_closed,
                body: body.to_owned(),
                body_line,
            };
            assert_eq!(split(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_file_with_settings_is_theirs() {
        for (text, expected) in [
            ("", false),
            ("Work on {{ issue.identifier }}.", false),
            ("# How we work\n\n---\ntracker: x\n---\n", false),
            ("----\ntracker: x\n----\n", false),
            ("---\n---\nbody", false),
            ("---\n# nothing\n---\nbody", false),
            ("---\njust a line\n---\nbody", false),
            ("---\n- a\n- b\n---\nbody", false),
            ("---\nWhatever follows a rule\n", false),
            ("---\ntracker:\n  kind: linear\n---\nbody", true),
            ("\u{feff}---\r\ntracker: {}\r\n---\r\nbody", true),
            ("---\nunknown: 1\n---\nbody", true),
            ("---\ntracker: [\n---\nbody", true),
            ("---\n\"hooks\" :\n  after_create: x\n", true),
            ("---\ncodex: @\n", true),
            ("---\nnote: a rule, and no settings\n", false),
        ] {
            assert_eq!(is_theirs(text), expected, "{text:?}");
        }
        let long = format!("---\ntracker:\n  x: {}\n---\n", "y".repeat(1 << 20));
        assert!(is_theirs(&long));
    }
}
