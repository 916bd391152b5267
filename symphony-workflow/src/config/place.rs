//! Where a `WORKFLOW.md` is read: what the settings may refer to.

use std::ffi::OsString;
use std::fmt;
use std::path::Path;

/// The surroundings that settings refer to. They are read at the edge, and are values here.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// Looks up a variable of the environment.
    pub variable: &'a dyn Fn(&str) -> Option<OsString>,
    /// What `~` means; `None` where the user has no home.
    pub home: Option<&'a Path>,
    /// The system's folder for temporary files.
    pub temporary: &'a Path,
    /// The folder that relative paths begin in.
    pub current: &'a Path,
}

impl fmt::Debug for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Place")
            .field("home", &self.home)
            .field("temporary", &self.temporary)
            .field("current", &self.current)
            .finish_non_exhaustive()
    }
}

/// Returns the name in `$NAME`; `None` for every other text.
pub(super) fn reference(text: &str) -> Option<&str> {
    let name = text.strip_prefix('$')?;
    is_name(name).then_some(name)
}

/// Splits `$NAME/rest` into the name and the rest, which is empty for `$NAME` alone.
pub(super) fn leading_reference(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text
        .strip_prefix('$')?
        .split_once('/')
        .unwrap_or((text.get(1..)?, ""));
    is_name(name).then_some((name, rest))
}

fn is_name(name: &str) -> bool {
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    begins
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_whole_names() {
        for (text, whole, leading) in [
            ("$HOME", Some("HOME"), Some(("HOME", ""))),
            ("$_a1", Some("_a1"), Some(("_a1", ""))),
            ("$HOME/x/y", None, Some(("HOME", "x/y"))),
            ("$", None, None),
            ("$1A", None, None),
            ("$A-B", None, None),
            ("${A}", None, None),
            ("$$A", None, None),
            ("$A ", None, None),
            ("x$A", None, None),
            ("env:A", None, None),
            ("", None, None),
        ] {
            assert_eq!(reference(text), whole, "{text}");
            assert_eq!(leading_reference(text), leading, "{text}");
        }
    }
}
