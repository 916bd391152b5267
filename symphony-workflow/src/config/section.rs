//! One section of the settings, read leniently: unknown names are noted, every problem is collected.

use std::time::Duration;

use serde_json::{Map, Number, Value};
use symphony_core::front_matter::{FrontMatter, Node, Problem, ProblemKind, Step};

use super::model::MILLISECONDS_MAX;
use crate::source::{FILE, Note};

/// What was found while settings are read.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) problems: Vec<Problem>,
    pub(super) notes: Vec<Note>,
}

/// A mapping of the settings.
#[derive(Debug)]
pub(super) struct Section<'a> {
    matter: &'a FrontMatter,
    entries: Vec<(&'a Node, &'a Node)>,
    at: Vec<Step>,
    /// Its name with a final dot; empty for the whole.
    prefix: String,
}

impl<'a> Section<'a> {
    /// Opens the whole settings.
    pub(super) fn whole(matter: &'a FrontMatter, known: &[&str], findings: &mut Findings) -> Self {
        let fields = matter.fields().iter();
        let section = Self {
            matter,
            entries: fields.map(|field| (&field.name, &field.value)).collect(),
            at: Vec::new(),
            prefix: String::new(),
        };
        section.check_names(known, findings);
        section
    }

    /// Opens a section, which is empty when it is absent or no mapping.
    pub(super) fn inner(&self, name: &str, known: &[&str], findings: &mut Findings) -> Self {
        let mut at = self.at.clone();
        let mut entries = Vec::new();
        if let Some((index, value)) = self.entry(name) {
            at.push(Step::Value(index));
            match value {
                Node::Null => {}
                Node::Mapping(inner) => {
                    entries = inner.iter().map(|(name, value)| (name, value)).collect();
                }
                other => self.unexpected(name, other.described(), "a mapping", findings),
            }
        }
        let section = Self {
            matter: self.matter,
            entries,
            at,
            prefix: format!("{}{name}.", self.prefix),
        };
        section.check_names(known, findings);
        section
    }

    /// Returns a value that is there and is not `null`.
    pub(super) fn node(&self, name: &str) -> Option<&'a Node> {
        let (_, value) = self.entry(name)?;
        (*value != Node::Null).then_some(value)
    }

    /// Reads a text, blank or not.
    pub(super) fn text(&self, name: &str, findings: &mut Findings) -> Option<&'a str> {
        match self.node(name)? {
            Node::Text(text) => Some(text),
            other => {
                let expected = match other {
                    Node::Bool(_) | Node::Integer(_) | Node::Float(_) => "a text (in quotes)",
                    _ => "a text",
                };
                self.unexpected(name, other.described(), expected, findings);
                None
            }
        }
    }

    /// Reads a whole number, or a text that is one, within bounds.
    pub(super) fn integer(
        &self,
        name: &str,
        (min, max): (i128, i128),
        expected: &str,
        findings: &mut Findings,
    ) -> Option<i128> {
        let node = self.node(name)?;
        let found = integer_of(node).filter(|found| (min..=max).contains(found));
        if found.is_none() {
            self.unexpected(name, node.described(), expected, findings);
        }
        found
    }

    /// Reads a count of at least 1.
    pub(super) fn count(&self, name: &str, findings: &mut Findings) -> Option<u32> {
        let bounds = (1, u32::MAX.into());
        let found = self.integer(name, bounds, "a whole number of at least 1", findings);
        found.and_then(|found| u32::try_from(found).ok())
    }

    /// Reads a time of at least a millisecond.
    pub(super) fn milliseconds(&self, name: &str, findings: &mut Findings) -> Option<Duration> {
        let expected = format!("a whole number of milliseconds from 1 to {MILLISECONDS_MAX}");
        let bounds = (1, MILLISECONDS_MAX.into());
        let found = self.integer(name, bounds, &expected, findings);
        found
            .and_then(|found| u64::try_from(found).ok())
            .map(Duration::from_millis)
    }

    /// Reads names: a list of texts, or a text with commas between them. Blank names are dropped.
    pub(super) fn names(&self, name: &str, findings: &mut Findings) -> Option<Vec<String>> {
        const EXPECTED: &str = "a list of texts, or a text with commas";
        let node = self.node(name)?;
        let names: Vec<&str> = match node {
            Node::Text(text) => text.split(',').collect(),
            Node::List(items) => {
                let mut names = Vec::with_capacity(items.len());
                for (index, item) in items.iter().enumerate() {
                    if let Node::Text(text) = item {
                        names.push(text.as_str());
                    } else {
                        let of_item = format!("{name}[{index}]");
                        let inside = &[Step::Item(index)];
                        let found = item.described();
                        self.unexpected_at(
                            name,
                            inside,
                            &of_item,
                            found,
                            "a text (in quotes)",
                            findings,
                        );
                    }
                }
                names
            }
            other => {
                self.unexpected(name, other.described(), EXPECTED, findings);
                return None;
            }
        };
        let names = names
            .into_iter()
            .map(str::trim)
            .filter(|name| !name.is_empty());
        Some(names.map(str::to_owned).collect())
    }

    /// Reads a value that is passed on to Codex as it is, where `accepts` allows its kind.
    pub(super) fn passed_on(
        &self,
        name: &str,
        expected: &str,
        accepts: fn(&Node) -> bool,
        findings: &mut Findings,
    ) -> Option<Value> {
        let node = self.node(name)?;
        let value = accepts(node).then(|| json(node)).flatten();
        if value.is_none() {
            self.unexpected(name, node.described(), expected, findings);
        }
        value
    }

    /// Records that a value is not what its field takes. `found` must not repeat a secret.
    pub(super) fn unexpected(
        &self,
        name: &str,
        found: String,
        expected: &str,
        findings: &mut Findings,
    ) {
        self.unexpected_at(name, &[], name, found, expected, findings);
    }

    fn unexpected_at(
        &self,
        name: &str,
        inside: &[Step],
        shown: &str,
        found: String,
        expected: &str,
        findings: &mut Findings,
    ) {
        let index = self.entry(name).map_or(0, |(index, _)| index);
        let mut path = self.at.clone();
        path.push(Step::Value(index));
        path.extend_from_slice(inside);
        findings.problems.push(Problem {
            file: FILE.to_owned(),
            position: self.matter.position(&path),
            field: Some(format!("{}{shown}", self.prefix)),
            kind: ProblemKind::Unexpected {
                found,
                expected: expected.to_owned(),
                nearest: None,
            },
        });
    }

    /// Records what a person may want to know about a field.
    pub(super) fn note(&self, name: &str, text: impl Into<String>, findings: &mut Findings) {
        let index = self.entry(name).map(|(index, _)| index);
        let line = index.map_or(1, |index| self.line_of(index));
        findings.notes.push(Note {
            line,
            field: Some(format!("{}{name}", self.prefix)),
            text: text.into(),
        });
    }

    /// Returns the entries, each with its name if that is a text, a whole number or a truth value.
    pub(super) fn entries(&self) -> impl Iterator<Item = (Option<String>, &'a Node)> + '_ {
        let entries = self.entries.iter();
        entries.map(|(name, value)| (key(name), *value))
    }

    /// Notes an entry by its place, for names that are no fixed ones.
    pub(super) fn note_entry(&self, index: usize, text: String, findings: &mut Findings) {
        let name = self.entries.get(index).map(|(name, _)| shown(name));
        findings.notes.push(Note {
            line: self.line_of(index),
            field: name.map(|name| format!("{}{name}", self.prefix)),
            text,
        });
    }

    fn check_names(&self, known: &[&str], findings: &mut Findings) {
        for (index, (name, _)) in self.entries.iter().enumerate() {
            let first = self.entries.iter().position(|(other, _)| other == name);
            if let Some(first) = first.filter(|first| *first < index) {
                findings.problems.push(Problem {
                    file: FILE.to_owned(),
                    position: self.position_of(index),
                    field: Some(format!("{}{}", self.prefix, shown(name))),
                    kind: ProblemKind::DuplicateField {
                        first_line: self.line_of(first),
                    },
                });
            } else if !known.is_empty()
                && !matches!(name, Node::Text(name) if known.contains(&name.as_str()))
            {
                self.note_entry(index, "unknown field, ignored".to_owned(), findings);
            }
        }
    }

    fn entry(&self, name: &str) -> Option<(usize, &'a Node)> {
        let is_named = |entry: &Node| matches!(entry, Node::Text(text) if text == name);
        let index = self.entries.iter().position(|(entry, _)| is_named(entry))?;
        self.entries.get(index).map(|(_, value)| (index, *value))
    }

    fn position_of(&self, index: usize) -> symphony_core::front_matter::Position {
        let mut path = self.at.clone();
        path.push(Step::Key(index));
        self.matter.position(&path)
    }

    fn line_of(&self, index: usize) -> usize {
        self.position_of(index).line
    }
}

/// Returns a whole number, written as one or as a text.
pub(super) fn integer_of(node: &Node) -> Option<i128> {
    match node {
        Node::Integer(value) => Some(*value),
        Node::Text(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// The name of an entry in messages; a name that is no text is described.
fn shown(name: &Node) -> String {
    match name {
        Node::Text(text) if text.len() <= NAME_BYTES_MAX && !text.contains(char::is_control) => {
            text.clone()
        }
        Node::Integer(value) => value.to_string(),
        Node::Bool(value) => value.to_string(),
        other => other.described(),
    }
}

/// Longest name that messages repeat as it is: longer ones are cut.
const NAME_BYTES_MAX: usize = 60;

/// Turns a value into JSON; nothing for a value with a YAML tag, or a number that JSON does not have.
fn json(node: &Node) -> Option<Value> {
    Some(match node {
        Node::Null => Value::Null,
        Node::Bool(value) => Value::Bool(*value),
        Node::Integer(value) => Value::Number(Number::from_i128(*value)?),
        Node::Float(value) => Value::Number(Number::from_f64(*value)?),
        Node::Text(text) => Value::String(text.clone()),
        Node::List(items) => Value::Array(items.iter().map(json).collect::<Option<_>>()?),
        Node::Mapping(entries) => {
            let entry = |(name, value): &(Node, Node)| Some((key(name)?, json(value)?));
            Value::Object(entries.iter().map(entry).collect::<Option<Map<_, _>>>()?)
        }
        Node::Tagged(_) => return None,
    })
}

fn key(name: &Node) -> Option<String> {
    match name {
        Node::Text(text) => Some(text.clone()),
        Node::Integer(value) => Some(value.to_string()),
        Node::Bool(value) => Some(value.to_string()),
        _ => None,
    }
}
