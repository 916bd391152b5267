//! Where a value is in a configuration file: `projects.api.gates[2].command`.

use std::fmt;

use serde_json::Value;

/// One step of a [`KeyPath`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Segment {
    /// A name in an object.
    Key(String),
    /// A place in a list, from zero.
    Index(usize),
}

/// The path of a value, from the top of a file (the empty path) or of a project's section.
///
/// A name that is empty or holds `.`, `[`, `]`, `"` or white space is shown in double quotes
/// (`projects."my.app".prefix`), and is read back so.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyPath(Vec<Segment>);

/// A text that is not a key path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a key: {reason}")]
pub struct KeyPathError {
    /// The given text.
    pub text: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

impl KeyPath {
    /// The top of a file.
    pub const fn root() -> Self {
        Self(Vec::new())
    }

    /// Builds a path from plain names separated by dots, without quotes or indexes.
    pub fn of(dotted: &str) -> Self {
        Self(
            dotted
                .split('.')
                .map(|name| Segment::Key(name.to_owned()))
                .collect(),
        )
    }

    /// Sets a value in a document, and creates the objects above it. What is not an object is replaced; an index, which
    /// no key of a configuration needs, stops there.
    pub fn put(&self, document: &mut Value, value: Value) {
        let mut place = document;
        for segment in &self.0 {
            let Segment::Key(name) = segment else { return };
            if !place.is_object() {
                *place = Value::Object(serde_json::Map::new());
            }
            let Some(object) = place.as_object_mut() else {
                return;
            };
            place = object.entry(name.clone()).or_insert(Value::Null);
        }
        *place = value;
    }

    /// Parses what a person types: names separated by dots, names in double quotes, `[n]` for a
    /// place in a list.
    ///
    /// # Errors
    /// When a name is empty, a quote or a bracket is not closed, or an index is not a number.
    pub fn parse(text: &str) -> Result<Self, KeyPathError> {
        let fail = |reason| KeyPathError {
            text: text.to_owned(),
            reason,
        };
        let mut segments = Vec::new();
        let mut rest = text;
        loop {
            rest = if let Some(quoted) = rest.strip_prefix('"') {
                let (name, after) =
                    split_quoted(quoted).ok_or_else(|| fail("a quote is not closed"))?;
                segments.push(Segment::Key(name));
                after
            } else {
                let end = rest.find(['.', '[', '"']).unwrap_or(rest.len());
                let (name, after) = rest.split_at(end);
                if name.trim().is_empty() {
                    return Err(fail("a name is empty"));
                }
                segments.push(Segment::Key(name.trim().to_owned()));
                after
            };
            while let Some(bracket) = rest.strip_prefix('[') {
                let (number, after) = bracket
                    .split_once(']')
                    .ok_or_else(|| fail("a bracket is not closed"))?;
                let number = number.trim().parse().ok();
                segments.push(Segment::Index(
                    number.ok_or_else(|| fail("an index is not a number"))?,
                ));
                rest = after;
            }
            if rest.is_empty() {
                return Ok(Self(segments));
            }
            rest = rest
                .strip_prefix('.')
                .ok_or_else(|| fail("a dot is missing between two names"))?;
        }
    }

    /// Returns the steps.
    pub fn segments(&self) -> &[Segment] {
        &self.0
    }

    /// Returns whether this is the root.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the path of a name below this one.
    #[must_use]
    pub fn key(&self, name: &str) -> Self {
        let mut path = self.clone();
        path.0.push(Segment::Key(name.to_owned()));
        path
    }

    /// Returns the path of a place in the list at this path.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        let mut path = self.clone();
        path.0.push(Segment::Index(index));
        path
    }

    /// Returns this path continued by another.
    #[must_use]
    pub fn join(&self, below: &Self) -> Self {
        Self(self.0.iter().chain(&below.0).cloned().collect())
    }

    /// Returns the rest of this path below `above`; `None` if it is not below it.
    pub fn below(&self, above: &Self) -> Option<&[Segment]> {
        self.0.strip_prefix(above.0.as_slice())
    }
}

impl FromIterator<Segment> for KeyPath {
    fn from_iter<I: IntoIterator<Item = Segment>>(segments: I) -> Self {
        Self(segments.into_iter().collect())
    }
}

/// Reads a quoted name whose first quote is gone: the name, and what follows its last quote.
fn split_quoted(text: &str) -> Option<(String, &str)> {
    let mut name = String::new();
    let mut characters = text.chars();
    loop {
        match characters.next()? {
            '"' => return Some((name, characters.as_str())),
            '\\' => name.push(unescape(&mut characters)?),
            other => name.push(other),
        }
    }
}

/// Reads what follows a backslash, as `char::escape_default` writes it.
fn unescape(characters: &mut std::str::Chars<'_>) -> Option<char> {
    match characters.next()? {
        'n' => Some('\n'),
        'r' => Some('\r'),
        't' => Some('\t'),
        'u' => {
            let (digits, after) = characters.as_str().strip_prefix('{')?.split_once('}')?;
            *characters = after.chars();
            char::from_u32(u32::from_str_radix(digits, 16).ok()?)
        }
        other => Some(other),
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Index(index) => write!(f, "[{index}]")?,
                Segment::Key(name) => {
                    if at > 0 {
                        f.write_str(".")?;
                    }
                    write_name(f, name)?;
                }
            }
        }
        Ok(())
    }
}

fn write_name(f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
    let plain = !name.is_empty()
        && !name.contains(|c: char| {
            matches!(c, '.' | '[' | ']' | '"' | '\\') || c.is_whitespace() || c.is_control()
        });
    if plain {
        return f.write_str(name);
    }
    f.write_str("\"")?;
    for character in name.chars() {
        match character {
            '"' | '\\' => write!(f, "\\{character}")?,
            control if control.is_control() => write!(f, "{}", control.escape_default())?,
            other => write!(f, "{other}")?,
        }
    }
    f.write_str("\"")
}

impl serde::Serialize for KeyPath {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_put_below_objects_that_are_made() {
        let mut document = serde_json::json!({ "a": 1, "env": { "X": "1" } });
        for (path, value) in [("env.Y", 2), ("a.b.c", 3), ("gates[0].name", 4)] {
            let path = KeyPath::parse(path).unwrap();
            path.put(&mut document, value.into());
        }
        assert_eq!(
            document,
            serde_json::json!({ "a": { "b": { "c": 3 } }, "env": { "X": "1", "Y": 2 }, "gates": null })
        );
    }

    #[test]
    fn paths_are_read_as_they_are_shown() {
        for text in [
            "gates",
            "projects.api.gates[2].command",
            "projects.\"my.app\".env.A",
            "a[0][1].b",
            "\"\"",
        ] {
            assert_eq!(KeyPath::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(KeyPath::parse(" a . b ").unwrap(), KeyPath::of("a.b"));
        assert_eq!(KeyPath::root().key("a\"b\\c").to_string(), r#""a\"b\\c""#);
    }

    #[test]
    fn broken_paths_say_why() {
        for (text, reason) in [
            ("", "a name is empty"),
            ("a..b", "a name is empty"),
            ("a.", "a name is empty"),
            ("a[1", "a bracket is not closed"),
            ("a[x]", "an index is not a number"),
            ("\"a", "a quote is not closed"),
            ("a[1]b", "a dot is missing between two names"),
        ] {
            assert_eq!(KeyPath::parse(text).unwrap_err().reason, reason, "{text}");
        }
    }

    #[test]
    fn below_gives_the_rest() {
        let path = KeyPath::of("env.FOO");
        assert_eq!(
            path.below(&KeyPath::of("env")),
            Some(&[Segment::Key("FOO".into())][..])
        );
        assert_eq!(path.below(&KeyPath::of("en")), None);
    }
}
