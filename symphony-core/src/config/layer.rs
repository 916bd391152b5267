//! Merges layers, and records which one each value came from.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

use serde_json::Value;

use super::check::{Setting, Settings};
use super::key::{DefaultValue, Key, Kind};
use super::path::{KeyPath, Segment};
use super::problem::Position;
use super::table::KEYS;
use super::value::IssuePrefix;
use crate::id::ProjectId;

/// One layer: the values of a file's top level, a project's section or the database.
#[derive(Debug, Clone)]
pub struct Layer<'a> {
    /// Where it comes from.
    pub source: Source,
    /// Its settings.
    pub settings: &'a Settings,
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// No one said anything.
    Default,
    /// What the setup wizard or `init` stored.
    Database,
    /// A file.
    File {
        /// Its absolute path.
        path: PathBuf,
        /// The section, when it is not the top level.
        project: Option<ProjectId>,
    },
}

/// An effective value.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The value; `null` for an optional key that is not set.
    pub value: Value,
    /// Which layer it comes from.
    pub source: Source,
    /// The path as it is spelled there.
    pub written: KeyPath,
    /// Where it is, when it comes from a file.
    pub position: Option<Position>,
}

impl Entry {
    /// Returns where the value comes from, for a person: `default`, `database`, `FILE:LINE:COLUMN`.
    pub fn origin(&self) -> Origin<'_> {
        Origin(self)
    }
}

/// How an [`Entry`]'s origin is shown.
#[derive(Debug, Clone, Copy)]
pub struct Origin<'a>(&'a Entry);

impl fmt::Display for Origin<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.source {
            Source::Default => f.write_str("default"),
            Source::Database => f.write_str("database"),
            Source::File { path, .. } => {
                write!(f, "{}", path.display())?;
                match self.0.position {
                    Some(Position { line, column }) => write!(f, ":{line}:{column}"),
                    None => Ok(()),
                }
            }
        }
    }
}

/// What paths start from.
#[derive(Debug, Clone)]
pub struct Place {
    /// The project's root.
    pub root: PathBuf,
    /// The user's home folder, for `~/`.
    pub home: Option<PathBuf>,
}

/// Every effective value with its source: what `config show` prints, and what the typed
/// configuration is read from.
#[derive(Debug, Clone)]
pub struct Effective {
    /// What the layers say, over [`DEFAULTS`].
    entries: BTreeMap<KeyPath, Entry>,
    pub(super) place: Place,
}

/// The values that no layer sets: the same for all, and four times as many as in a usual file.
static DEFAULTS: LazyLock<BTreeMap<KeyPath, Entry>> = LazyLock::new(|| {
    let mut defaults = BTreeMap::new();
    push_defaults(KEYS, &KeyPath::root(), &mut defaults);
    defaults
});

impl Effective {
    /// Applies layers over the defaults, the weakest first.
    ///
    /// Objects are merged key by key, lists are replaced as a whole, and `null` unsets.
    pub fn resolve(layers: &[Layer<'_>], place: Place) -> Self {
        let mut entries = BTreeMap::new();
        let folder = place
            .root
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        let prefix = IssuePrefix::from_folder(&folder.unwrap_or_default());
        entries.insert(
            KeyPath::of("prefix"),
            default_entry("prefix", prefix.as_str().into()),
        );
        for layer in layers {
            for (path, setting) in layer.settings.iter() {
                let Setting {
                    value,
                    written,
                    position,
                } = setting.clone();
                let entry = Entry {
                    value,
                    source: layer.source.clone(),
                    written,
                    position,
                };
                if !(entry.value.is_null() && path == &KeyPath::of("prefix")) {
                    entries.insert(path.clone(), entry);
                }
            }
        }
        Self { entries, place }
    }

    /// Returns every value, in the order of the paths.
    pub fn iter(&self) -> impl Iterator<Item = (&KeyPath, &Entry)> {
        let mut all: BTreeMap<&KeyPath, &Entry> = DEFAULTS.iter().collect();
        all.extend(&self.entries);
        all.into_iter()
    }

    /// Returns what the layers say together as one document, without the defaults. Relative paths are as they were
    /// written: they mean something else in a file of another folder.
    pub fn document(&self) -> Value {
        let mut document = Value::Object(serde_json::Map::new());
        let said = self.entries.iter();
        for (path, entry) in said.filter(|(_, entry)| entry.source != Source::Default) {
            path.put(&mut document, entry.value.clone());
        }
        document
    }

    /// Returns the value at a path in the table's spelling.
    pub fn get(&self, path: &KeyPath) -> Option<&Entry> {
        self.entries.get(path).or_else(|| DEFAULTS.get(path))
    }

    /// Returns the list that a key refers to, if the key names one item of it or something below: its path and its
    /// value.
    pub fn list_above(&self, key: &KeyPath) -> Option<(KeyPath, &Entry)> {
        let is_index = |segment: &Segment| matches!(segment, Segment::Index(_));
        let at = key.segments().iter().position(is_index)?;
        let above: KeyPath = key.segments().get(..at)?.iter().cloned().collect();
        let entry = self.get(&above)?;
        Some((above, entry))
    }

    /// Returns the free names below a path that are set (`env` → `RUST_BACKTRACE`), in order. No default has a free
    /// name.
    pub fn names_below(&self, path: &KeyPath) -> BTreeSet<&str> {
        self.entries
            .iter()
            .filter(|(_, entry)| !entry.value.is_null())
            .filter_map(|(at, _)| match at.below(path)?.first()? {
                Segment::Key(name) => Some(name.as_str()),
                Segment::Index(_) => None,
            })
            .collect()
    }

    /// Makes a configured path absolute: `~/` is the home folder, anything else relative starts
    /// from `base`.
    pub(super) fn absolute(&self, text: &str, base: &Path) -> PathBuf {
        match (text.strip_prefix('~'), &self.place.home) {
            (Some(""), Some(home)) => home.clone(),
            (Some(below), Some(home)) if below.starts_with('/') => {
                home.join(below.trim_start_matches('/'))
            }
            _ => base.join(text),
        }
    }
}

/// Resolves `.` and `..` textually, so that the spelling of a path shows what it is below.
pub fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

fn default_entry(path: &str, value: Value) -> Entry {
    Entry {
        value,
        source: Source::Default,
        written: KeyPath::of(path),
        position: None,
    }
}

fn push_defaults(keys: &'static [Key], above: &KeyPath, entries: &mut BTreeMap<KeyPath, Entry>) {
    for key in keys {
        let path = above.key(key.name);
        match key.kind {
            Kind::Section(below) => push_defaults(below, &path, entries),
            Kind::Map(..) | Kind::Projects => {}
            Kind::Leaf(_) if key.name.starts_with('$') => {}
            Kind::Leaf(_) | Kind::List(_) => {
                let value = match key.default {
                    DefaultValue::Unset(_) => Value::Null,
                    _ => key.default_json().unwrap_or_default(),
                };
                let entry = Entry {
                    value,
                    source: Source::Default,
                    written: path.clone(),
                    position: None,
                };
                entries.insert(path, entry);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_path_says_what_it_is_below() {
        for (path, expected) in [
            ("/p/.symphony-workspaces", "/p/.symphony-workspaces"),
            ("/p/../wt", "/wt"),
            ("/p/./a/../b/", "/p/b"),
            ("/../../x", "/x"),
            ("/p/..", "/"),
        ] {
            assert_eq!(without_dots(Path::new(path)), Path::new(expected), "{path}");
        }
    }
}
