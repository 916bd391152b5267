//! The file, split into settings and template (section 5.2).

use std::fmt;

use symphony_core::front_matter::{FILE_BYTES_MAX, FrontMatter, Position, Problem, ProblemKind};
use symphony_core::workflow_file::split;

use crate::error::WorkflowError;

/// How messages name the file.
pub(crate) const FILE: &str = "WORKFLOW.md";

/// A `WORKFLOW.md` whose settings are YAML.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    matter: FrontMatter,
    notes: Vec<Note>,
}

/// Something that a person may want to know about a file that is used as it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Note {
    /// Line of the file, counted from 1.
    pub line: usize,
    /// The field, dotted, when it is about one.
    pub field: Option<String>,
    /// What was found, and what follows from it.
    pub text: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{FILE}:{}: ", self.line)?;
        if let Some(field) = &self.field {
            write!(f, "{field}: ")?;
        }
        f.write_str(&self.text)
    }
}

impl Source {
    /// Reads the text of a file. One without settings has a template only, and one whose settings are never closed has
    /// no template.
    ///
    /// # Errors
    /// When the file or its settings are too long, or the settings are no YAML, or no mapping.
    pub fn parse(text: &str) -> Result<Self, WorkflowError> {
        if text.len() > FILE_BYTES_MAX {
            return Err(WorkflowError::Parse(Box::new(Problem {
                file: FILE.to_owned(),
                position: Position::START,
                field: None,
                kind: ProblemKind::FileTooLarge {
                    bytes: text.len(),
                    bytes_max: FILE_BYTES_MAX,
                },
            })));
        }
        let split = split(text);
        let mut notes = Vec::new();
        if !split.is_closed {
            notes.push(Note {
                line: 1,
                field: None,
                text: "no line `---` closes the front matter, so all of the file belongs to it, \
                       and the default prompt is used"
                    .to_owned(),
            });
        }
        let matter = split.matter.unwrap_or_default();
        let matter = FrontMatter::of_parts(FILE, matter, split.body, split.body_line)?;
        Ok(Self { matter, notes })
    }

    /// Returns the settings, which [`Config::read`](crate::config::Config::read) gives types.
    pub fn settings(&self) -> &FrontMatter {
        &self.matter
    }

    /// Returns the template of the prompt, trimmed.
    pub fn prompt_template(&self) -> &str {
        self.matter.body()
    }

    /// Returns the line of the file on which the template begins.
    pub fn template_line(&self) -> usize {
        self.matter.body_line()
    }

    /// Returns what is remarkable about how the file is split.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class_and_text(text: &str) -> (&'static str, String) {
        let error = Source::parse(text).unwrap_err();
        assert!(error.blocks_dispatch(), "{error}");
        (error.class(), error.to_string())
    }

    #[test]
    fn front_matter_and_prompt_body_are_split() {
        for (text, fields, template, line) in [
            ("", 0, "", 1),
            ("\n Work on it. \n", 0, "Work on it.", 2),
            ("---\n---\nWork.", 0, "Work.", 3),
            ("---\n# nothing\n\n---\nWork.", 0, "Work.", 5),
            (
                "---\ntracker: {}\nnew: 1\n---\n\nWork.\n---\n",
                2,
                "Work.\n---",
                6,
            ),
            ("\u{feff}---\r\ntracker: {}\r\n---\r\na\r\nb", 1, "a\nb", 4),
            ("---\ntracker: {}\n", 1, "", 4),
        ] {
            let source = Source::parse(text).unwrap();
            assert_eq!(source.settings().fields().len(), fields, "{text:?}");
            assert_eq!(source.prompt_template(), template, "{text:?}");
            assert_eq!(source.template_line(), line, "{text:?}");
        }
    }

    #[test]
    fn front_matter_that_never_ends_is_noted() {
        let source = Source::parse("---\ntracker: {}\n").unwrap();
        assert_eq!(
            source.notes()[0].to_string(),
            "WORKFLOW.md:1: no line `---` closes the front matter, so all of the file belongs to it, and the default \
             prompt is used"
        );
        assert!(Source::parse("---\n---\n").unwrap().notes().is_empty());
    }

    #[test]
    fn front_matter_that_is_no_map_is_a_typed_error() {
        for (matter, found) in [
            ("- a\n- b", "2:1: found a list"),
            ("text", "2:1: found `text`"),
            ("7", "2:1: found the number 7"),
            ("!x {a: 1}", "2:1: found a value with the tag `x`"),
            ("~", "1:1: the front matter is empty"),
        ] {
            let (class, text) = class_and_text(&format!("---\n{matter}\n---\nWork.\n"));
            assert_eq!(class, "workflow_front_matter_not_a_map", "{matter}");
            assert!(text.starts_with(&format!("WORKFLOW.md:{found}")), "{text}");
        }
    }

    #[test]
    fn invalid_yaml_is_a_typed_error() {
        for (matter, place) in [
            ("a: [1", "3:1: invalid YAML"),
            ("a: b: c", "2:5: invalid YAML"),
            ("a: \t@x", "2:5: invalid YAML"),
            ("a: *b", "2:4: invalid YAML"),
            ("a: 1\n...\nb: 2", "1:1: invalid YAML"),
        ] {
            let (class, text) = class_and_text(&format!("---\n{matter}\n---\nWork.\n"));
            assert_eq!(class, "workflow_parse_error", "{matter}");
            assert!(text.starts_with(&format!("WORKFLOW.md:{place}")), "{text}");
        }
    }

    #[test]
    fn bombs_and_floods_are_refused_at_once() {
        let uses = |of: &str| vec![format!("*{of}"); 9].join(", ");
        let names = ["a", "b", "c", "d", "e", "f", "g"];
        let lines = names
            .windows(2)
            .map(|pair| format!("{}: &{} [{}]\n", pair[1], pair[1], uses(pair[0])));
        let bomb = format!(
            "a: &a [x, x, x, x, x, x, x, x, x]\n{}",
            lines.collect::<String>()
        );
        let deep = format!("a: {}1{}", "[".repeat(500), "]".repeat(500));
        let deep_map = format!("a: {}1{}", "{a: ".repeat(2000), "}".repeat(2000));
        for matter in [bomb, deep, deep_map, "x".repeat(20_000), "? ".repeat(4000)] {
            let (class, _) = class_and_text(&format!("---\n{matter}\n---\nWork.\n"));
            assert_eq!(class, "workflow_parse_error", "{matter:.40}");
        }
        let (class, text) = class_and_text(&"x".repeat(FILE_BYTES_MAX + 1));
        assert_eq!(class, "workflow_parse_error");
        assert_eq!(
            text,
            "WORKFLOW.md:1:1: the file has 1048577 bytes, at most 1048576 are read"
        );
        assert!(Source::parse(&"x".repeat(FILE_BYTES_MAX)).is_ok());
    }

    #[test]
    fn a_missing_file_is_a_typed_error() {
        let error = WorkflowError::MissingFile {
            path: "/p/WORKFLOW.md".into(),
            reason: "no such file".to_owned(),
        };
        assert_eq!(error.class(), "missing_workflow_file");
        assert_eq!(
            error.to_string(),
            "cannot read /p/WORKFLOW.md: no such file"
        );
        assert!(error.blocks_dispatch());
    }
}
