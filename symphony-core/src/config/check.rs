//! Checks a whole document against the table of keys: all problems at once.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::key::{DefaultValue, Each, Key, Kind, Leaf, NameRule, Scope};
use super::leaf::{check_leaf, describe, expected, wrong};
use super::name_rule::{known_name, rule_expected};
use super::path::KeyPath;
use super::problem::{ConfigProblem, Position, Positions, ProblemKind};
use super::table::KEYS;
use super::unknown_key::unknown;
use crate::id::ProjectId;

/// Which file it is: this decides what its top level applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileRole {
    /// `~/.config/symphony/config.json`: its top level applies to all projects.
    Global,
    /// A `symphony.config.json`: its top level applies to the project it belongs to.
    Project,
}

/// A file that was read.
#[derive(Debug, Clone, Copy)]
pub struct FileInput<'a> {
    /// What it holds.
    pub value: &'a Value,
    /// Which file it is.
    pub role: FileRole,
    /// Its path, as problems show it.
    pub file: &'a str,
    /// The positions of its values.
    pub positions: &'a Positions,
}

/// One value that a file or the database sets.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// The value in its canonical form; `null` unsets the value of the layers below.
    pub value: Value,
    /// The path as it is spelled in the file.
    pub written: KeyPath,
    /// Where the value is in the file.
    pub position: Option<Position>,
}

/// The values that a file or section sets, by their paths in the table's spelling.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settings(pub(super) BTreeMap<KeyPath, Setting>);

impl Settings {
    /// Returns the values in the order of their paths.
    pub fn iter(&self) -> impl Iterator<Item = (&KeyPath, &Setting)> {
        self.0.iter()
    }

    /// Returns whether nothing is set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A checked file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ConfigDocument {
    /// What is at the top level.
    pub top: Settings,
    /// The sections `projects.<id>`.
    pub projects: BTreeMap<ProjectId, Settings>,
}

/// Checks a file against the table of keys.
///
/// Values with a problem are left out of the document.
pub fn parse_file(input: &FileInput<'_>) -> (ConfigDocument, Vec<ConfigProblem>) {
    let place = match input.role {
        FileRole::Global => Place::GlobalTop,
        FileRole::Project => Place::ProjectTop,
    };
    let mut checker = Checker::new(Some(input.file), Some(input.positions), place);
    match input.value {
        Value::Object(object) => checker.section(KEYS, object, &At::default()),
        other => checker.problem(&KeyPath::root(), wrong(other, "an object".to_owned())),
    }
    let Checker {
        settings,
        projects,
        problems,
        ..
    } = checker;
    (
        ConfigDocument {
            top: Settings(settings),
            projects,
        },
        problems,
    )
}

/// Checks what the setup wizard stored for a project: an object with keys of a project, such as
/// `gates`, `sensitive_paths` and `risk`.
pub fn parse_project_row(value: &Value) -> (Settings, Vec<ConfigProblem>) {
    let mut checker = Checker::new(Some("database"), None, Place::Section);
    match value {
        Value::Null => {}
        Value::Object(object) => checker.section(KEYS, object, &At::default()),
        other => checker.problem(&KeyPath::root(), wrong(other, "an object".to_owned())),
    }
    (Settings(checker.settings), checker.problems)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    GlobalTop,
    ProjectTop,
    Section,
}

impl Place {
    /// Where a key may be used instead, if it is not allowed here.
    const fn refuses(self, scope: Scope) -> Option<&'static str> {
        match (self, scope) {
            (Self::Section, Scope::TopLevel) => {
                Some("at the top level of the global file or of the file in the project's root")
            }
            (Self::GlobalTop, Scope::OneProject) => {
                Some("in the file in the project's root, or below `projects.<id>`")
            }
            _ => None,
        }
    }
}

/// A path in both spellings.
#[derive(Debug, Clone, Default)]
struct At {
    written: KeyPath,
    known: KeyPath,
}

impl At {
    fn below(&self, written: &str, known: &str) -> Self {
        Self {
            written: self.written.key(written),
            known: self.known.key(known),
        }
    }
}

struct Checker<'a> {
    file: Option<&'a str>,
    positions: Option<&'a Positions>,
    place: Place,
    settings: BTreeMap<KeyPath, Setting>,
    projects: BTreeMap<ProjectId, Settings>,
    problems: Vec<ConfigProblem>,
}

impl<'a> Checker<'a> {
    const fn new(file: Option<&'a str>, positions: Option<&'a Positions>, place: Place) -> Self {
        Self {
            file,
            positions,
            place,
            settings: BTreeMap::new(),
            projects: BTreeMap::new(),
            problems: Vec::new(),
        }
    }

    /// Records a problem of a value (or of something that misses in it), at the value.
    fn problem(&mut self, path: &KeyPath, kind: ProblemKind) {
        let position = self.positions.and_then(|positions| positions.value(path));
        self.push(path, kind, position);
    }

    /// Records a problem of a name, at the name.
    fn name_problem(&mut self, path: &KeyPath, kind: ProblemKind) {
        let position = self.positions.and_then(|positions| positions.name(path));
        self.push(path, kind, position);
    }

    fn wrong_name(&mut self, path: &KeyPath, name: &str, expected: &str) {
        let found = describe(&Value::from(name)).replacen("the text", "the name", 1);
        self.name_problem(
            path,
            ProblemKind::WrongValue {
                found,
                expected: expected.to_owned(),
            },
        );
    }

    fn push(&mut self, path: &KeyPath, kind: ProblemKind, position: Option<Position>) {
        let file = self.file.map(str::to_owned);
        self.problems.push(ConfigProblem {
            path: path.clone(),
            kind,
            file,
            position,
        });
    }

    fn set(&mut self, at: &At, value: Value) {
        let position = self
            .positions
            .and_then(|positions| positions.value(&at.written));
        let setting = Setting {
            value,
            written: at.written.clone(),
            position,
        };
        self.settings.insert(at.known.clone(), setting);
    }

    fn section(&mut self, keys: &'static [Key], object: &Map<String, Value>, at: &At) {
        for (name, value) in object {
            let path = at.written.key(name);
            let Some(key) = Key::find(keys, name) else {
                let kind = unknown(keys, name, at.known.is_root());
                self.name_problem(&path, kind);
                continue;
            };
            if name != key.name && object.contains_key(key.name) {
                self.name_problem(
                    &path,
                    ProblemKind::Duplicate {
                        also: Some(key.name.to_owned()),
                    },
                );
                continue;
            }
            if let Some(expected) = self.place.refuses(key.scope) {
                self.name_problem(
                    &path,
                    ProblemKind::Misplaced {
                        expected: expected.to_owned(),
                    },
                );
                continue;
            }
            self.value(key, value, &at.below(name, key.name));
        }
    }

    fn value(&mut self, key: &'static Key, value: &Value, at: &At) {
        match (key.kind, value) {
            (Kind::Leaf(_), Value::Null) if matches!(key.default, DefaultValue::Unset(_)) => {
                self.set(at, Value::Null);
            }
            (Kind::Leaf(leaf), _) => self.leaf(leaf, value, at),
            (Kind::List(keys), Value::Array(items)) => self.list(keys, items, at),
            (Kind::List(_), other) => {
                self.problem(&at.written, wrong(other, "a list of objects".to_owned()));
            }
            (Kind::Section(keys), Value::Object(object)) => self.section(keys, object, at),
            (Kind::Map(rule, each), Value::Object(object)) => {
                self.unnamed(rule, each, object, at);
                self.map(rule, each, object, at);
            }
            (Kind::Projects, Value::Object(object)) => self.project_sections(object, at),
            (Kind::Section(_), other) => match key.short() {
                Some(short) => self.short(short, other, at),
                None => self.problem(&at.written, wrong(other, "an object".to_owned())),
            },
            (Kind::Map(..) | Kind::Projects, other) => {
                self.problem(&at.written, wrong(other, "an object".to_owned()));
            }
        }
    }

    /// Checks the short form of a section: the value of one of its keys in the place of the object.
    fn short(&mut self, short: &'static Key, value: &Value, at: &At) {
        let below = At {
            written: at.written.clone(),
            known: at.known.key(short.name),
        };
        match (short.kind, value) {
            (Kind::Leaf(leaf), Value::String(_)) => self.leaf(leaf, value, &below),
            (Kind::Leaf(leaf), other) => {
                let expected = format!("{}, or an object", expected(leaf));
                self.problem(&at.written, wrong(other, expected));
            }
            _ => self.problem(&at.written, wrong(value, "an object".to_owned())),
        }
    }

    fn leaf(&mut self, leaf: Leaf, value: &Value, at: &At) {
        match check_leaf(leaf, value, &at.written) {
            Ok(value) => self.set(at, value),
            Err(problems) => {
                for (path, kind) in problems {
                    self.problem(&path, kind);
                }
            }
        }
    }

    /// Checks what a map has of the section that needs no name.
    fn unnamed(&mut self, rule: NameRule, each: Each, object: &Map<String, Value>, at: &At) {
        let Some((known, keys)) = unnamed_of(rule, each) else {
            return;
        };
        let of_section = |(name, _): &(&String, &Value)| Key::find(keys, name).is_some();
        let section: Map<String, Value> = object
            .iter()
            .filter(of_section)
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        if let Some(name) = section.keys().next()
            && object.contains_key(known)
        {
            let also = Some(known.to_owned());
            self.name_problem(&at.written.key(name), ProblemKind::Duplicate { also });
            return;
        }
        let below = At {
            written: at.written.clone(),
            known: at.known.key(known),
        };
        self.section(keys, &section, &below);
    }

    fn map(&mut self, rule: NameRule, each: Each, object: &Map<String, Value>, at: &At) {
        let unnamed = unnamed_of(rule, each).map_or(&[][..], |(_, keys)| keys);
        for (name, value) in object {
            if Key::find(unnamed, name).is_some() {
                continue;
            }
            let path = at.written.key(name);
            let Some(known) = known_name(rule, name) else {
                self.wrong_name(&path, name, rule_expected(rule));
                continue;
            };
            if known != *name && object.contains_key(&known) {
                self.name_problem(&path, ProblemKind::Duplicate { also: Some(known) });
                continue;
            }
            let below = at.below(name, &known);
            match (each, value) {
                (Each::Leaf(_), Value::Null) => self.set(&below, Value::Null),
                (Each::Leaf(leaf), value) => self.leaf(leaf, value, &below),
                (Each::Section(keys), Value::Object(object)) => {
                    self.section(keys, object, &below);
                    if rule == NameRule::User {
                        self.require_all(keys, object, &path);
                    }
                    // It sets nothing, so no later check would see that it is there.
                    if rule == NameRule::Tracker && object.is_empty() {
                        let expected = "`kind`".to_owned();
                        self.problem(&path, ProblemKind::Missing { expected });
                    }
                }
                (Each::Section(_), other) => {
                    self.problem(&path, wrong(other, "an object".to_owned()));
                }
            }
        }
    }

    /// Asks for every key of an object: a user with half of the keys could not sign in.
    fn require_all(&mut self, keys: &[Key], object: &Map<String, Value>, path: &KeyPath) {
        for key in keys {
            if key.find_in(object).is_none_or(Value::is_null) {
                let expected = format!("`{}`", key.name);
                self.problem(path, ProblemKind::Missing { expected });
            }
        }
    }

    /// Checks a list of objects; it is set as a whole, and only when it has no problem.
    fn list(&mut self, keys: &'static [Key], items: &[Value], at: &At) {
        let before = self.problems.len();
        let mut checked = Vec::new();
        let mut names: BTreeMap<&str, usize> = BTreeMap::new();
        for (index, item) in items.iter().enumerate() {
            let path = at.written.index(index);
            let Value::Object(object) = item else {
                self.problem(&path, wrong(item, "an object".to_owned()));
                continue;
            };
            checked.push(Value::Object(self.item(keys, object, &path)));
            if let Some(name) = object.get("name").and_then(Value::as_str)
                && let Some(other) = names.insert(name, index)
            {
                let expected = format!("a name other than that of `{}`", at.written.index(other));
                self.problem(&path.key("name"), wrong(&Value::from(name), expected));
            }
        }
        if self.problems.len() == before {
            self.set(at, Value::Array(checked));
        }
    }

    /// Checks one object of a list and fills in its defaults.
    fn item(
        &mut self,
        keys: &'static [Key],
        object: &Map<String, Value>,
        path: &KeyPath,
    ) -> Map<String, Value> {
        let mut inner = Checker::new(self.file, self.positions, self.place);
        inner.section(
            keys,
            object,
            &At {
                written: path.clone(),
                known: KeyPath::root(),
            },
        );
        self.problems.append(&mut inner.problems);
        let mut item = Map::new();
        for key in keys {
            let given = Key::find_in(key, object);
            let set = inner
                .settings
                .remove(&KeyPath::of(key.name))
                .map(|setting| setting.value);
            match set
                .filter(|value| !value.is_null())
                .or_else(|| key.default_json())
            {
                Some(value) => {
                    item.insert(key.name.to_owned(), value);
                }
                None if given.is_none_or(Value::is_null) => {
                    let expected = format!("`{}`", key.name);
                    self.problem(path, ProblemKind::Missing { expected });
                }
                None => {}
            }
        }
        item
    }

    fn project_sections(&mut self, object: &Map<String, Value>, at: &At) {
        for (name, value) in object {
            let path = at.written.key(name);
            let id = match ProjectId::parse(name.as_str()) {
                Ok(id) => id,
                Err(error) => {
                    self.wrong_name(&path, name, error.expected);
                    continue;
                }
            };
            let Value::Object(section) = value else {
                self.problem(&path, wrong(value, "an object".to_owned()));
                continue;
            };
            let mut inner = Checker::new(self.file, self.positions, Place::Section);
            inner.section(
                KEYS,
                section,
                &At {
                    written: path,
                    known: KeyPath::root(),
                },
            );
            self.problems.append(&mut inner.problems);
            self.projects.insert(id, Settings(inner.settings));
        }
    }
}

impl Key {
    /// Returns the value that an object has for a key, in either spelling.
    fn find_in<'o>(&self, object: &'o Map<String, Value>) -> Option<&'o Value> {
        object.get(self.name).or_else(|| object.get(&self.alias()))
    }
}

/// Returns the name and the keys of the section of a map that needs no name.
const fn unnamed_of(rule: NameRule, each: Each) -> Option<(&'static str, &'static [Key])> {
    match (rule.unnamed(), each) {
        (Some(name), Each::Section(keys)) => Some((name, keys)),
        _ => None,
    }
}
