//! The folder of all workspaces, from what the settings say of it.

use std::path::{Component, Path, PathBuf};

use super::place::{Place, leading_reference};

/// Name of the folder that is used when the settings name none.
const DEFAULT_FOLDER: &str = "symphony_workspaces";

/// What a path of the settings came to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Resolved {
    /// The path as it is used.
    Path(PathBuf),
    /// The variable is not set, or is empty: the default is used.
    Unset(String),
    /// `~` where the user has no home.
    NoHome,
    /// `~name`, which only a shell knows.
    OtherHome(String),
}

/// Returns the folder that is used when the settings name none.
pub(super) fn default_root(place: &Place<'_>) -> PathBuf {
    without_dots(&place.temporary.join(DEFAULT_FOLDER))
}

/// Resolves a path of the settings. A name without a separator stays as it is, as the specification says.
pub(super) fn resolve(text: &str, place: &Place<'_>) -> Resolved {
    let path = match leading_reference(text) {
        Some((name, rest)) => match (place.variable)(name) {
            Some(value) if !value.is_empty() => match rest {
                "" => PathBuf::from(value),
                rest => PathBuf::from(value).join(rest),
            },
            _ => return Resolved::Unset(name.to_owned()),
        },
        None => PathBuf::from(text),
    };
    let mut components = path.components();
    let first = components.next();
    match first.and_then(|first| first.as_os_str().to_str()) {
        Some("~") => match place.home {
            Some(home) => Resolved::Path(without_dots(&home.join(components.as_path()))),
            None => Resolved::NoHome,
        },
        Some(other) if other.starts_with('~') => Resolved::OtherHome(other.to_owned()),
        _ if is_bare(&path) => Resolved::Path(path),
        _ => Resolved::Path(without_dots(&place.current.join(path))),
    }
}

/// A name without any separator; `.` and `..` are paths.
fn is_bare(path: &Path) -> bool {
    let has_separator = path.as_os_str().as_encoded_bytes().contains(&b'/');
    !has_separator && matches!(path.components().next(), Some(Component::Normal(_)))
}

/// Takes `.` and `..` out of a path by its text alone. `..` does not leave the root.
pub(crate) fn without_dots(path: &Path) -> PathBuf {
    let mut kept = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => match kept.components().next_back() {
                Some(Component::Normal(_)) => {
                    kept.pop();
                }
                Some(Component::RootDir | Component::Prefix(_)) => {}
                _ => kept.push(".."),
            },
            other => kept.push(other),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::{OsStr, OsString};
    use std::os::unix::ffi::OsStrExt as _;

    fn resolved(text: &str, home: Option<&str>) -> Resolved {
        let variable = |name: &str| match name {
            "ROOT" => Some(OsString::from("/data/work")),
            "TILDE" => Some(OsString::from("~/work")),
            "EMPTY" => Some(OsString::new()),
            "BYTES" => Some(OsStr::from_bytes(b"/data/\xff\xfe").to_owned()),
            _ => None,
        };
        resolve(
            text,
            &Place {
                variable: &variable,
                home: home.map(Path::new),
                temporary: Path::new("/tmp"),
                current: Path::new("/projects/one"),
            },
        )
    }

    #[test]
    fn tilde_path_expansion() {
        let path = |text: &str| Resolved::Path(text.into());
        for (text, home, expected) in [
            ("~", Some("/home/u"), path("/home/u")),
            ("~/", Some("/home/u"), path("/home/u")),
            ("~/a/../b", Some("/home/u"), path("/home/u/b")),
            ("~/../../..", Some("/home/u"), path("/")),
            ("~", None, Resolved::NoHome),
            (
                "~other/x",
                Some("/home/u"),
                Resolved::OtherHome("~other".to_owned()),
            ),
            ("a/~/b", Some("/home/u"), path("/projects/one/a/~/b")),
        ] {
            assert_eq!(resolved(text, home), expected, "{text}");
        }
    }

    #[test]
    fn variables_and_relative_paths_of_the_workspace_root() {
        let path = |text: &str| Resolved::Path(text.into());
        for (text, expected) in [
            ("/a//b/./c", path("/a/b/c")),
            ("/a/../../b", path("/b")),
            ("./a", path("/projects/one/a")),
            ("../a", path("/projects/a")),
            ("a/b", path("/projects/one/a/b")),
            ("..", path("/projects")),
            ("work", path("work")),
            ("$ROOT", path("/data/work")),
            ("$ROOT/x/../y", path("/data/work/y")),
            ("$TILDE", path("/home/u/work")),
            ("$MISSING", Resolved::Unset("MISSING".to_owned())),
            ("$EMPTY/x", Resolved::Unset("EMPTY".to_owned())),
            ("env:ROOT", path("env:ROOT")),
            ("$A-B", path("$A-B")),
        ] {
            assert_eq!(resolved(text, Some("/home/u")), expected, "{text}");
        }
    }

    #[test]
    fn a_path_that_is_not_unicode_is_kept_byte_for_byte() {
        let Resolved::Path(path) = resolved("$BYTES/x", None) else {
            panic!("no path")
        };
        assert_eq!(path.as_os_str().as_bytes(), b"/data/\xff\xfe/x");
    }

    #[test]
    fn the_default_is_below_the_folder_of_temporary_files() {
        let place = Place {
            variable: &|_| None,
            home: None,
            temporary: Path::new("/var/tmp"),
            current: Path::new("/"),
        };
        assert_eq!(
            default_root(&place),
            Path::new("/var/tmp/symphony_workspaces")
        );
    }
}
