//! The folder that an agent works in: its name, and the check that it is where it belongs (sections 4.2 and 9.5).

use std::path::{Component, Path, PathBuf};

/// Longest name of a folder, in bytes, that common file systems take.
pub const KEY_BYTES_MAX: usize = 255;

/// The name of a ticket's folder: its identifier, with `_` in place of everything but letters and digits of ASCII, `.`,
/// `_` and `-`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct WorkspaceKey(String);

/// Why a folder is not one of a ticket.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WorkspaceFault {
    /// The identifier leaves no name that a folder can have.
    #[error("the identifier `{identifier}` cannot be made into the name of a folder")]
    NoName {
        /// The identifier, with everything but plain characters replaced.
        identifier: String,
    },
    /// The identifier is too long.
    #[error(
        "the identifier has {bytes} bytes, but a folder's name can have at most {KEY_BYTES_MAX}"
    )]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// A path is not absolute, or has `..` in it, so that its place is not certain.
    #[error("{} is not an absolute path without `..`", path.display())]
    NotNormal {
        /// The path.
        path: PathBuf,
    },
    /// The folder is the one of all workspaces itself.
    #[error("{} is the folder of all workspaces", path.display())]
    IsRoot {
        /// The path.
        path: PathBuf,
    },
    /// The folder is elsewhere.
    #[error("{} is outside of {}", path.display(), root.display())]
    Outside {
        /// The path.
        path: PathBuf,
        /// The folder of all workspaces.
        root: PathBuf,
    },
    /// The agent would start in another folder than the ticket's.
    #[error("the agent would start in {}, not in {}", found.display(), expected.display())]
    OtherFolder {
        /// Where it would start.
        found: PathBuf,
        /// The ticket's folder.
        expected: PathBuf,
    },
}

impl WorkspaceKey {
    /// Makes the name for an identifier; the same identifier always gives the same name.
    ///
    /// # Errors
    /// When the name would be blank, `.` or `..`, or longer than a folder's name can be.
    pub fn of(identifier: &str) -> Result<Self, WorkspaceFault> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let key: String = identifier
            .chars()
            .map(|c| if is_plain(c) { c } else { '_' })
            .collect();
        if key.len() > KEY_BYTES_MAX {
            return Err(WorkspaceFault::TooLong { bytes: key.len() });
        }
        if matches!(key.as_str(), "" | "." | "..") {
            return Err(WorkspaceFault::NoName { identifier: key });
        }
        Ok(Self(key))
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the folder below the one of all workspaces.
    pub fn folder(&self, root: &Path) -> PathBuf {
        root.join(&self.0)
    }
}

/// Checks that a folder is below the one of all workspaces, by their texts alone. The caller resolves links in both first:
/// a link in the place of a workspace would lead elsewhere.
///
/// # Errors
/// When one of the paths is relative or has `..`, or the folder is the root or outside of it.
pub fn check_contained(path: &Path, root: &Path) -> Result<(), WorkspaceFault> {
    for each in [root, path] {
        let has_dots = each.components().any(|part| part == Component::ParentDir);
        if !each.is_absolute() || has_dots {
            return Err(WorkspaceFault::NotNormal {
                path: each.to_owned(),
            });
        }
    }
    match path.strip_prefix(root) {
        Ok(rest) if rest.as_os_str().is_empty() => Err(WorkspaceFault::IsRoot {
            path: path.to_owned(),
        }),
        Ok(_) => Ok(()),
        Err(_) => Err(WorkspaceFault::Outside {
            path: path.to_owned(),
            root: root.to_owned(),
        }),
    }
}

/// Checks, before an agent starts, that it starts in the ticket's folder and nowhere else.
///
/// # Errors
/// As [`check_contained`], and when it would start in another folder.
pub fn check_launch(start: &Path, workspace: &Path, root: &Path) -> Result<(), WorkspaceFault> {
    check_contained(workspace, root)?;
    if start != workspace {
        return Err(WorkspaceFault::OtherFolder {
            found: start.to_owned(),
            expected: workspace.to_owned(),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    #[test]
    fn workspace_keys_are_sanitised() {
        for (identifier, key) in [
            ("ABC-123", Some("ABC-123")),
            ("MT/Det", Some("MT_Det")),
            ("../../etc", Some(".._.._etc")),
            ("..", None),
            (".", None),
            ("", None),
            ("...", Some("...")),
            ("/", Some("_")),
            ("a b\n\0c", Some("a_b__c")),
            ("Ünïcode-7", Some("_n_code-7")),
            ("a\u{301}", Some("a_")),
            ("x.y_z-1", Some("x.y_z-1")),
            ("~", Some("_")),
            ("$HOME", Some("_HOME")),
        ] {
            let found = WorkspaceKey::of(identifier);
            assert_eq!(
                found.as_ref().ok().map(WorkspaceKey::as_str),
                key,
                "{identifier:?}"
            );
        }
        let error = WorkspaceKey::of(&"x".repeat(256)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the identifier has 256 bytes, but a folder's name can have at most 255"
        );
        assert!(WorkspaceKey::of(&"x".repeat(255)).is_ok());
    }

    #[test]
    fn a_folder_outside_of_the_root_is_rejected() {
        let text = |path: &str, root: &str| {
            check_contained(Path::new(path), Path::new(root)).map_err(|error| error.to_string())
        };
        for (path, root, expected) in [
            ("/w/A-1", "/w", Ok(())),
            ("/w/A-1/sub", "/w/", Ok(())),
            ("/w//A-1/", "/w", Ok(())),
            ("/w", "/w", Err("/w is the folder of all workspaces")),
            ("/w/.", "/w", Err("/w/. is the folder of all workspaces")),
            ("/wide/A-1", "/w", Err("/wide/A-1 is outside of /w")),
            ("/", "/w", Err("/ is outside of /w")),
            (
                "/w/../x",
                "/w",
                Err("/w/../x is not an absolute path without `..`"),
            ),
            (
                "/w/A-1",
                "/w/..",
                Err("/w/.. is not an absolute path without `..`"),
            ),
            ("w/A-1", "w", Err("w is not an absolute path without `..`")),
            ("A-1", "/w", Err("A-1 is not an absolute path without `..`")),
            ("/W/A-1", "/w", Err("/W/A-1 is outside of /w")),
        ] {
            assert_eq!(text(path, root), expected.map_err(str::to_owned), "{path}");
        }
    }

    #[test]
    fn paths_that_are_not_unicode_are_compared_byte_for_byte() {
        let path = |bytes: &'static [u8]| Path::new(OsStr::from_bytes(bytes));
        assert!(check_contained(path(b"/w\xff/A-1"), path(b"/w\xff")).is_ok());
        assert!(check_contained(path(b"/w\xff/A-1"), path(b"/w\xfe")).is_err());
    }

    #[test]
    fn an_agent_starts_in_the_folder_of_its_ticket_only() {
        let check = |start: &str, workspace: &str| {
            check_launch(Path::new(start), Path::new(workspace), Path::new("/w"))
        };
        assert_eq!(check("/w/A-1", "/w/A-1"), Ok(()));
        assert!(matches!(
            check("/w/A-2", "/w/A-1"),
            Err(WorkspaceFault::OtherFolder { .. })
        ));
        assert!(matches!(
            check("/w", "/w"),
            Err(WorkspaceFault::IsRoot { .. })
        ));
        assert!(matches!(
            check("/x", "/x"),
            Err(WorkspaceFault::Outside { .. })
        ));
    }

    proptest! {
        #[test]
        fn every_key_names_one_folder_below_the_root(identifier in "\\PC{0,40}|[./a-c]{0,8}") {
            if let Ok(key) = WorkspaceKey::of(&identifier) {
                let root = Path::new("/some/root");
                let folder = key.folder(root);
                prop_assert_eq!(check_contained(&folder, root), Ok(()));
                prop_assert_eq!(folder.parent(), Some(root));
                prop_assert_eq!(WorkspaceKey::of(key.as_str()), Ok(key.clone()));
                prop_assert_eq!(key.as_str().chars().count(), identifier.chars().count());
            }
        }
    }
}
