//! Folders of packages: whether gates left them as the set-up made them, and whether they hold the project's own source.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::Path;

use symphony_core::warm::{Ecosystem, FOLDERS, KeptFolder, is_copied_by_node, is_copied_by_python};

use super::marks::Marks;
use super::prune::is_written_by_others;
use crate::own_file::read_text;

/// What the folders of packages of a checkout look like.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PackageMarks {
    by_folder: BTreeMap<&'static str, String>,
}

impl PackageMarks {
    /// Looks at the folders of packages of a checkout, without what those write who use the packages. A folder that cannot be
    /// looked at is left out, and so is not kept.
    pub fn of(checkout: &Path) -> Self {
        let mut by_folder = BTreeMap::new();
        let packages = FOLDERS
            .iter()
            .filter(|folder| folder.ecosystem != Ecosystem::Cargo);
        for folder in packages {
            let root = checkout.join(folder.name);
            if !fs::symlink_metadata(&root).is_ok_and(|meta| meta.is_dir()) {
                continue;
            }
            match Marks::of(&root, is_written_by_others) {
                Ok(marks) => {
                    by_folder.insert(folder.name, marks.digest);
                }
                Err(error) => {
                    tracing::info!(folder = %root.display(), %error, "a folder of packages is not kept");
                }
            }
        }
        Self { by_folder }
    }

    /// Returns whether a folder looks as it did then.
    pub(super) fn agree_on(&self, now: &Self, folder: &KeptFolder) -> bool {
        let before = self.by_folder.get(folder.name);
        before.is_some() && before == now.by_folder.get(folder.name)
    }
}

/// Returns whether a folder of packages has a copy of source of the project, as old as the folder. What cannot be read counts
/// as one.
pub(super) fn has_own_source(
    checkout: &Path,
    folder: &KeptFolder,
    manifests: impl Iterator<Item = impl AsRef<Path>>,
) -> bool {
    match folder.ecosystem {
        Ecosystem::Cargo => false,
        Ecosystem::Node => manifests
            .filter(|path| path.as_ref().file_name() == Some(OsStr::new("package.json")))
            .any(|path| {
                read_text(&checkout.join(path)).map_or(true, |text| is_copied_by_node(&text))
            }),
        Ecosystem::Python => has_copied_package(&checkout.join(folder.name)).unwrap_or(true),
    }
}

fn has_copied_package(environment: &Path) -> io::Result<bool> {
    for version in fs::read_dir(environment.join("lib"))? {
        let packages = version?.path().join("site-packages");
        let Ok(packages) = fs::read_dir(packages) else {
            continue;
        };
        for package in packages {
            let path = package?.path();
            match path.extension().and_then(OsStr::to_str) {
                // `setup.py install` leaves no note of where it came from.
                Some("egg") => return Ok(true),
                Some("dist-info") => {}
                _ => continue,
            }
            match read_text(&path.join("direct_url.json")) {
                Ok(text) if is_copied_by_python(&text) => return Ok(true),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> KeptFolder {
        *FOLDERS.iter().find(|folder| folder.name == name).unwrap()
    }

    fn write(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn a_package_that_a_gate_changed_shows_and_its_caches_do_not() {
        let checkout = tempfile::tempdir().unwrap();
        let root = checkout.path();
        write(root, "node_modules/a/index.js", "1");
        write(root, ".venv/lib/python3/site-packages/a.py", "1");
        let before = PackageMarks::of(root);
        write(root, "node_modules/.cache/babel/1", "x");
        write(
            root,
            ".venv/lib/python3/site-packages/__pycache__/a.pyc",
            "x",
        );
        write(root, "target/debug/deps/a", "x");
        let (node, python) = (folder("node_modules"), folder(".venv"));
        let now = PackageMarks::of(root);
        assert!(before.agree_on(&now, &node) && before.agree_on(&now, &python));
        write(root, "node_modules/unsaved/index.js", "1");
        let now = PackageMarks::of(root);
        assert!(!before.agree_on(&now, &node) && before.agree_on(&now, &python));
        assert!(!PackageMarks::default().agree_on(&PackageMarks::default(), &node));
    }

    #[test]
    fn a_copy_of_the_projects_own_source_is_found() {
        let checkout = tempfile::tempdir().unwrap();
        let root = checkout.path();
        let has = |name: &str, files: &[&str]| has_own_source(root, &folder(name), files.iter());
        assert!(has(".venv", &[]), "there is none to look at");
        write(
            root,
            ".venv/lib/python3/site-packages/a-1.dist-info/direct_url.json",
            r#"{"url":"file:///symphony/api","dir_info":{"editable":true}}"#,
        );
        write(
            root,
            ".venv/lib/python3/site-packages/b-1.dist-info/METADATA",
            "",
        );
        assert!(!has(".venv", &[]));
        write(
            root,
            ".venv/lib/python3/site-packages/b-1.dist-info/direct_url.json",
            r#"{"url":"file:///symphony/api","dir_info":{}}"#,
        );
        assert!(has(".venv", &[]));
        write(root, "package.json", r#"{"dependencies":{"a":"1"}}"#);
        write(
            root,
            "ui/package.json",
            r#"{"dependencies":{"a":"file:../a"}}"#,
        );
        assert!(!has("node_modules", &["package.json", "src/index.js"]));
        assert!(has("node_modules", &["package.json", "ui/package.json"]));
        assert!(has("node_modules", &["gone/package.json"]));
        assert!(!has("target", &["Cargo.toml"]));
    }
}
