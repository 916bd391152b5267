//! A file read: its fields as plain values, and its body.

use serde::de::DeserializeSeed;

use super::fence::{check_length, split};
use super::locate::{Position, Step, locate, position_of};
use super::node::{Bounds, DEPTH_MAX, Exceeded, NODES_MAX, Node, NodeSeed};
use super::problem::{Problem, ProblemKind};

/// One field of the front matter.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: Node,
    /// Its value.
    pub value: Node,
}

/// A file with front matter.
#[derive(Debug, Clone, PartialEq)]
pub struct FrontMatter {
    file: String,
    matter: String,
    fields: Vec<Field>,
    body: String,
    body_line: usize,
}

impl FrontMatter {
    /// Reads a file's text; `file` is how messages name it.
    ///
    /// # Errors
    /// The first thing that keeps the file from being read at all: size, fences, invalid YAML, bounds. What is wrong
    /// with its fields is found by a [`super::Reader`], all at once.
    pub fn parse(file: &str, text: &str) -> Result<Self, Box<Problem>> {
        let problem = |(position, kind)| {
            Box::new(Problem {
                file: file.to_owned(),
                position,
                field: None,
                kind,
            })
        };
        let split = split(text).map_err(problem)?;
        let fields = read_fields(&split.matter).map_err(problem)?;
        Ok(Self {
            file: file.to_owned(),
            matter: split.matter,
            fields,
            body: split.body,
            body_line: split.body_line,
        })
    }

    /// Reads a front matter that a caller split off by a rule of its own: its lines begin on line 2 of the file. A blank
    /// front matter, or one of comments only, has no fields.
    ///
    /// # Errors
    /// When it is too long, is not a mapping, or cannot be read within the bounds of [`parse`](Self::parse).
    pub fn of_parts(
        file: &str,
        matter: String,
        body: String,
        body_line: usize,
    ) -> Result<Self, Box<Problem>> {
        let problem = |(position, kind)| {
            Box::new(Problem {
                file: file.to_owned(),
                position,
                field: None,
                kind,
            })
        };
        check_length(&matter).map_err(problem)?;
        let is_blank = matter
            .lines()
            .all(|line| line.trim().is_empty() || line.trim_start().starts_with('#'));
        let fields = if is_blank {
            Vec::new()
        } else {
            read_fields(&matter).map_err(problem)?
        };
        Ok(Self {
            file: file.to_owned(),
            matter,
            fields,
            body,
            body_line,
        })
    }

    /// Returns the name of the file.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Returns the fields in the order of the file.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// Returns the body, normalised as the module says.
    pub fn body(&self) -> &str {
        &self.body
    }

    /// Returns the line on which the body begins, counted from 1.
    pub fn body_line(&self) -> usize {
        self.body_line
    }

    /// Returns the position of a part of the front matter.
    pub fn position(&self, path: &[Step]) -> Position {
        locate(&self.matter, path)
    }
}

fn read_fields(matter: &str) -> Result<Vec<Field>, (Position, ProblemKind)> {
    let bounds = Bounds::new();
    let read = NodeSeed::new(&bounds).deserialize(serde_yaml::Deserializer::from_str(matter));
    match read {
        Ok(Node::Mapping(entries)) => Ok(entries
            .into_iter()
            .map(|(name, value)| Field { name, value })
            .collect()),
        Ok(Node::Null) => Err((Position::START, ProblemKind::Empty)),
        Ok(other) => Err((
            locate(matter, &[]),
            ProblemKind::NotAMapping {
                found: other.described(),
            },
        )),
        Err(error) => Err((position_of(&error), kind_of(&error, bounds.exceeded()))),
    }
}

fn kind_of(error: &serde_yaml::Error, exceeded: Option<Exceeded>) -> ProblemKind {
    match exceeded {
        Some(Exceeded::Depth) => ProblemKind::TooDeep {
            depth_max: DEPTH_MAX,
        },
        Some(Exceeded::Nodes) => ProblemKind::TooManyValues {
            values_max: NODES_MAX,
        },
        None => ProblemKind::Syntax {
            message: without_lines(&error.to_string()),
        },
    }
}

/// Removes the library's line numbers from its message: they count from the front matter, not from the file.
fn without_lines(message: &str) -> String {
    let mut kept = String::with_capacity(message.len());
    let mut rest = message;
    while let Some((before, after)) = rest.split_once(" at line ") {
        kept.push_str(before);
        let after = after.trim_start_matches(|c: char| c.is_ascii_digit());
        rest = after.strip_prefix(" column ").map_or(after, |after| {
            after.trim_start_matches(|c: char| c.is_ascii_digit())
        });
    }
    kept.push_str(rest);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        FrontMatter::parse("f.md", text).unwrap_err().to_string()
    }

    #[test]
    fn what_cannot_be_read_is_named_with_its_place() {
        for (matter, expected) in [
            (
                "- a\n- b",
                "f.md:2:1: found a list, expected a mapping of fields to values",
            ),
            (
                "just text",
                "f.md:2:1: found `just text`, expected a mapping of fields to values",
            ),
            (
                "!x {a: 1}",
                "f.md:2:1: found a value with the tag `x`, expected a mapping of fields to values",
            ),
            ("# only a comment", "f.md:1:1: the front matter is empty"),
            ("~", "f.md:1:1: the front matter is empty"),
            (
                "a: 1\nb: [1",
                "f.md:4:1: invalid YAML: did not find expected ',' or ']', while parsing a flow sequence",
            ),
            (
                "a: b: c",
                "f.md:2:5: invalid YAML: mapping values are not allowed in this context",
            ),
            ("a: *nobody", "f.md:2:4: invalid YAML: unknown anchor"),
            (
                "a: \t@x",
                "f.md:2:5: invalid YAML: found character that cannot start any token, while scanning for the next token",
            ),
            (
                "a: 1\n...\nb: 2",
                "f.md:1:1: invalid YAML: deserializing from YAML containing more than one document is not supported",
            ),
        ] {
            assert_eq!(
                error(&format!("---\n{matter}\n---\nbody\n")),
                expected,
                "{matter}"
            );
        }
    }
}
