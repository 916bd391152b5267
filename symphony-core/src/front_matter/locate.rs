//! Where a value is in the file.
//!
//! The YAML library reports positions only in errors. So a value is located by parsing the document again and failing
//! on purpose when the value is reached: this costs only when there is a problem to report.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

/// A place in a file, both parts counted from 1; columns are characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl Position {
    /// The first character of a file.
    pub const START: Self = Self { line: 1, column: 1 };
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// One step on the way from the whole front matter to a part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The name of a mapping's entry, by its index.
    Key(usize),
    /// The value of a mapping's entry, by its index.
    Value(usize),
    /// An item of a list, by its index.
    Item(usize),
}

/// Lines of the file before its front matter: the opening fence.
const LINES_BEFORE: usize = 1;

/// Returns the position of a part of the front matter in the file; the file's beginning if that is unknown.
pub(super) fn locate(matter: &str, path: &[Step]) -> Position {
    let deserializer = serde_yaml::Deserializer::from_str(matter);
    match (Target { path }).deserialize(deserializer) {
        Err(error) => position_of(&error),
        Ok(()) => Position::START,
    }
}

/// Returns where in the file an error of the YAML library is.
pub(super) fn position_of(error: &serde_yaml::Error) -> Position {
    error
        .location()
        .map_or(Position::START, |location| Position {
            line: location.line() + LINES_BEFORE,
            column: location.column(),
        })
}

/// Reads nothing, and fails where the path ends.
struct Target<'a> {
    path: &'a [Step],
}

impl<'de> DeserializeSeed<'de> for Target<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Target<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the end of the path")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let Some((Step::Item(index), path)) = self.path.split_first() else {
            return Err(serde::de::Error::custom("here"));
        };
        for _ in 0..*index {
            items.next_element::<IgnoredAny>()?;
        }
        items.next_element_seed(Target { path })?;
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let Some((Step::Key(index) | Step::Value(index), path)) = self.path.split_first() else {
            return Err(serde::de::Error::custom("here"));
        };
        for _ in 0..*index {
            entries.next_entry::<IgnoredAny, IgnoredAny>()?;
        }
        if matches!(self.path.first(), Some(Step::Key(_))) {
            entries.next_key_seed(Target { path: &[] })?;
        } else {
            entries.next_key::<IgnoredAny>()?;
            entries.next_value_seed(Target { path })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_found_in_the_file() {
        let matter = "a: 1\nb:\n  - x\n  - {k: é, l: [7]}\n";
        for (path, line, column) in [
            (&[Step::Key(0)][..], 2, 1),
            (&[Step::Value(0)], 2, 4),
            (&[Step::Key(1)], 3, 1),
            (&[Step::Value(1), Step::Item(0)], 4, 5),
            (&[Step::Value(1), Step::Item(1), Step::Key(1)], 5, 12),
            (
                &[Step::Value(1), Step::Item(1), Step::Value(1), Step::Item(0)],
                5,
                16,
            ),
            (&[], 2, 1),
        ] {
            assert_eq!(locate(matter, path), Position { line, column }, "{path:?}");
        }
        assert_eq!(locate("a: 1\n", &[Step::Item(0)]).line, 2);
    }
}
