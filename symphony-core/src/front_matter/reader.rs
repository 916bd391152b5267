//! Typed access to the fields of a front matter that collects every problem instead of stopping at the first.

use super::document::FrontMatter;
use super::locate::{Position, Step};
use super::node::Node;
use super::problem::{Problem, ProblemKind};
use crate::nearest::nearest;

/// Means every name in a list of names.
const EVERY: &str = "*";

/// Reads the fields of one mapping. Each problem is recorded with its position; [`Reader::finish`] returns them all.
#[derive(Debug)]
pub struct Reader<'a> {
    matter: &'a FrontMatter,
    entries: Vec<(&'a Node, &'a Node)>,
    /// The way from the front matter to this mapping.
    at: Vec<Step>,
    /// The same as text, with a final dot, or empty.
    prefix: String,
    problems: Vec<Problem>,
}

impl<'a> Reader<'a> {
    /// Begins reading a file's fields; unknown and duplicate fields are recorded as problems.
    pub fn new(matter: &'a FrontMatter, known: &'static [&'static str]) -> Self {
        let entries = matter
            .fields()
            .iter()
            .map(|field| (&field.name, &field.value))
            .collect();
        let mut reader = Self {
            matter,
            entries,
            at: Vec::new(),
            prefix: String::new(),
            problems: Vec::new(),
        };
        reader.check_names(known);
        reader
    }

    /// Returns the problems in the order of the file.
    pub fn finish(self) -> Vec<Problem> {
        let mut problems = self.problems;
        problems.sort_by_key(|problem| problem.position);
        problems
    }

    /// Returns a field's value unless it is absent or `null`.
    pub fn node(&self, field: &str) -> Option<&'a Node> {
        let (_, value) = self.entry(field)?;
        (*value != Node::Null).then_some(value)
    }

    /// Reads a text that is not blank.
    pub fn text(&mut self, field: &str) -> Option<&'a str> {
        match self.node(field)? {
            Node::Text(text) if !text.trim().is_empty() => Some(text),
            other => {
                let expected = match other {
                    Node::Bool(_) | Node::Integer(_) | Node::Float(_) => "a text (in quotes)",
                    _ => "a text",
                };
                self.unexpected(field, &[], other.described(), expected, None);
                None
            }
        }
    }

    /// Reads a text and parses it; `expected` describes what the field accepts.
    pub fn parsed<T>(
        &mut self,
        field: &str,
        expected: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let text = self.text(field)?;
        let parsed = parse(text.trim());
        if parsed.is_none() {
            let found = Node::Text(text.to_owned()).described();
            self.unexpected(field, &[], found, expected, None);
        }
        parsed
    }

    /// Reads one of a closed set of names.
    pub fn choice<T>(
        &mut self,
        field: &str,
        names: &'static [&'static str],
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let text = self.text(field)?;
        let parsed = parse(text.trim());
        if parsed.is_none() {
            let found = Node::Text(text.to_owned()).described();
            let expected = format!("one of {}", names.join(", "));
            self.unexpected(
                field,
                &[],
                found,
                &expected,
                nearest(text, names.iter().copied()),
            );
        }
        parsed
    }

    /// Reads a list of texts, none of them blank. `None` when the field is absent or wrong.
    pub fn texts(&mut self, field: &str) -> Option<Vec<String>> {
        let node = self.node(field)?;
        let Node::List(items) = node else {
            self.unexpected(field, &[], node.described(), "a list of texts", None);
            return None;
        };
        let mut texts = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            match item {
                Node::Text(text) if !text.trim().is_empty() => texts.push(text.trim().to_owned()),
                other => {
                    let expected = match other {
                        Node::Mapping(_) => "a text (in quotes, since it has a `: ` in it)",
                        _ => "a text",
                    };
                    self.unexpected(
                        field,
                        &[Step::Item(index)],
                        other.described(),
                        expected,
                        None,
                    );
                }
            }
        }
        (texts.len() == items.len()).then_some(texts)
    }

    /// Reads a list of names of a closed set, or `*`; `expected` describes what the field accepts.
    pub fn names(
        &mut self,
        field: &str,
        names: &'static [&'static str],
        expected: &str,
    ) -> Option<Vec<String>> {
        let texts = self.texts(field)?;
        let mut are_known = true;
        for (index, text) in texts.iter().enumerate() {
            if text == EVERY || names.contains(&text.as_str()) {
                continue;
            }
            are_known = false;
            let found = Node::Text(text.clone()).described();
            let nearest = nearest(text, names.iter().copied());
            self.unexpected(field, &[Step::Item(index)], found, expected, nearest);
        }
        are_known.then_some(texts)
    }

    /// Reads a whole number within bounds, both included.
    pub fn integer(&mut self, field: &str, min: u32, max: u32) -> Option<u32> {
        let node = self.node(field)?;
        if let Node::Integer(value) = node
            && let Ok(value) = u32::try_from(*value)
            && (min..=max).contains(&value)
        {
            return Some(value);
        }
        let expected = format!("a whole number from {min} to {max}");
        self.unexpected(field, &[], node.described(), &expected, None);
        None
    }

    /// Reads `true` or `false`.
    pub fn boolean(&mut self, field: &str) -> Option<bool> {
        match self.node(field)? {
            Node::Bool(value) => Some(*value),
            other => {
                self.unexpected(field, &[], other.described(), "`true` or `false`", None);
                None
            }
        }
    }

    /// Reads a nested mapping by a reader of its own.
    pub fn nested<T>(
        &mut self,
        field: &str,
        known: &'static [&'static str],
        read: impl FnOnce(&mut Self) -> T,
    ) -> Option<T> {
        let (index, value) = self.entry(field)?;
        let entries = match value {
            Node::Null => return None,
            Node::Mapping(entries) => entries,
            other => {
                self.unexpected(field, &[], other.described(), "a mapping", None);
                return None;
            }
        };
        let mut at = self.at.clone();
        at.push(Step::Value(index));
        let mut inner = Self {
            matter: self.matter,
            entries: entries.iter().map(|(name, value)| (name, value)).collect(),
            at,
            prefix: format!("{}{field}.", self.prefix),
            problems: Vec::new(),
        };
        inner.check_names(known);
        let read = read(&mut inner);
        self.problems.append(&mut inner.problems);
        Some(read)
    }

    /// Records that a required field is missing, unless it exists (then its problem is recorded already).
    pub fn require(&mut self, field: &str, expected: &str) {
        if self.node(field).is_none() {
            let position = match (self.entry(field), self.at.as_slice()) {
                (Some((index, _)), _) => self.position(&[Step::Key(index)]),
                (None, []) => Position::START,
                (None, _) => self.position(&[]),
            };
            self.note(
                position,
                field,
                ProblemKind::MissingField {
                    expected: expected.to_owned(),
                },
            );
        }
    }

    /// Records that a field's value, or its part at `inside`, is not what the field accepts.
    pub fn unexpected(
        &mut self,
        field: &str,
        inside: &[Step],
        found: String,
        expected: &str,
        nearest: Option<&str>,
    ) {
        let mut path = Vec::new();
        let mut name = field.to_owned();
        if let Some((index, _)) = self.entry(field) {
            path.push(Step::Value(index));
            path.extend_from_slice(inside);
        }
        for step in inside {
            if let Step::Item(index) = step {
                name = format!("{name}[{index}]");
            }
        }
        let position = self.position(&path);
        self.note(
            position,
            &name,
            ProblemKind::Unexpected {
                found,
                expected: expected.to_owned(),
                nearest: nearest.map(str::to_owned),
            },
        );
    }

    /// Notes that the file has no body.
    pub fn require_body(&mut self) {
        if self.matter.body().trim().is_empty() {
            self.problems.push(Problem {
                file: self.matter.file().to_owned(),
                position: Position {
                    line: self.matter.body_line(),
                    column: 1,
                },
                field: None,
                kind: ProblemKind::EmptyBody,
            });
        }
    }

    fn check_names(&mut self, known: &'static [&'static str]) {
        let names: Vec<&Node> = self.entries.iter().map(|(name, _)| *name).collect();
        for (index, name) in names.iter().enumerate() {
            let shown = match name {
                Node::Text(text) => super::fence::cut(text),
                other => other.described(),
            };
            let known_name = matches!(name, Node::Text(text) if known.contains(&text.as_str()));
            let first = names.iter().position(|other| other == name);
            let kind = match first {
                Some(first) if first < index => ProblemKind::DuplicateField {
                    first_line: self.position(&[Step::Key(first)]).line,
                },
                _ if known_name => continue,
                _ => ProblemKind::UnknownField {
                    nearest: nearest(&shown, known.iter().copied()),
                    known,
                },
            };
            let position = self.position(&[Step::Key(index)]);
            self.note(position, &shown, kind);
        }
    }

    fn entry(&self, field: &str) -> Option<(usize, &'a Node)> {
        self.entries
            .iter()
            .enumerate()
            .find(|(_, (name, _))| matches!(name, Node::Text(text) if text == field))
            .map(|(index, (_, value))| (index, *value))
    }

    fn position(&self, path: &[Step]) -> Position {
        let mut whole = self.at.clone();
        whole.extend_from_slice(path);
        self.matter.position(&whole)
    }

    fn note(&mut self, position: Position, field: &str, kind: ProblemKind) {
        self.problems.push(Problem {
            file: self.matter.file().to_owned(),
            position,
            field: Some(format!("{}{field}", self.prefix)),
            kind,
        });
    }
}
