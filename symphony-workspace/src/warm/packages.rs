//! Folders of packages: whether gates left them as the set-up made them, and whether they hold the project's own source.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use symphony_core::warm::{
    Ecosystem, FOLDERS, KeptFolder, PythonOrigin, has_own_backend, is_copied_by_node,
    is_made_by_script, is_only_a_link, origin_of_python,
};

use super::changes::normal;
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

/// Returns whether a folder of packages has something that was made of the project's own source, as old as the folder. What cannot
/// be read counts as such.
pub(super) fn has_own_source(
    checkout: &Path,
    folder: &KeptFolder,
    tracked: &BTreeSet<PathBuf>,
) -> bool {
    let root = checkout.join(folder.name);
    match folder.ecosystem {
        Ecosystem::Cargo => false,
        Ecosystem::Node => {
            named(tracked, "package.json").any(|path| is_copied_by(checkout, path, tracked))
                || is_any_made_by_script(&root).unwrap_or(true)
        }
        Ecosystem::Python => {
            named(tracked, "pyproject.toml").any(|path| {
                read_text(&checkout.join(path)).map_or(true, |text| has_own_backend(&text))
            }) || has_copied_package(&root).unwrap_or(true)
        }
    }
}

fn named<'t>(tracked: &'t BTreeSet<PathBuf>, name: &'t str) -> impl Iterator<Item = &'t PathBuf> {
    let is_named = move |path: &&PathBuf| path.file_name() == Some(OsStr::new(name));
    tracked.iter().filter(is_named)
}

fn is_copied_by(checkout: &Path, manifest: &Path, tracked: &BTreeSet<PathBuf>) -> bool {
    let folder = manifest.parent().unwrap_or(Path::new(""));
    let is_tracked =
        |archive: &str| normal(&folder.join(archive)).is_some_and(|path| tracked.contains(&path));
    read_text(&checkout.join(manifest)).map_or(true, |text| is_copied_by_node(&text, is_tracked))
}

/// Looks at the `package.json` of each package in a folder of packages, also of those inside of others.
fn is_any_made_by_script(packages: &Path) -> io::Result<bool> {
    let mut open = vec![packages.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let path = entry.path();
            if entry.file_type()?.is_dir() {
                open.push(path);
            } else if entry.file_name() == "package.json" && is_package(&folder) {
                // Files of a package that are no UTF-8 count as well.
                if read_text(&path).map_or(true, |text| is_made_by_script(&text)) {
                    return Ok(true);
                }
            }
        }
    }
    Ok(false)
}

/// Returns whether a folder is where a package is installed: `node_modules/a` or `node_modules/@b/a`.
fn is_package(folder: &Path) -> bool {
    let name = |at: usize| folder.ancestors().nth(at).and_then(Path::file_name);
    let is_scope = name(1).is_some_and(|name| name.as_bytes().starts_with(b"@"));
    let above = if is_scope { name(2) } else { name(1) };
    above == Some(OsStr::new("node_modules"))
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
            let origin = read_if_there(&path.join("direct_url.json"))?;
            match origin.map_or(PythonOrigin::Elsewhere, |text| origin_of_python(&text)) {
                PythonOrigin::Elsewhere => {}
                PythonOrigin::Copied => return Ok(true),
                PythonOrigin::Linked => {
                    let record = read_text(&path.join("RECORD"))?;
                    let starters = read_if_there(&path.join("entry_points.txt"))?;
                    if !is_only_a_link(&record, &starters.unwrap_or_default()) {
                        return Ok(true);
                    }
                }
            }
        }
    }
    Ok(false)
}

fn read_if_there(path: &Path) -> io::Result<Option<String>> {
    match read_text(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
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
    fn what_was_made_of_the_projects_own_source_is_found() {
        let checkout = tempfile::tempdir().unwrap();
        let root = checkout.path();
        let has = |name: &str, files: &[&str]| {
            let tracked = files.iter().map(PathBuf::from).collect();
            has_own_source(root, &folder(name), &tracked)
        };
        let packages = |path: &str, text: &str| {
            write(
                root,
                &format!(".venv/lib/python3/site-packages/{path}"),
                text,
            );
        };
        assert!(has(".venv", &[]), "there is none to look at");
        let editable = r#"{"url":"file:///symphony/api","dir_info":{"editable":true}}"#;
        packages("a-1.dist-info/direct_url.json", editable);
        packages("b-1.dist-info/METADATA", "");
        assert!(has(".venv", &[]), "an editable one without a list");
        packages("a-1.dist-info/RECORD", "a.pth,,\n");
        assert!(!has(".venv", &[]));
        packages("a-1.dist-info/RECORD", "a.pth,,\na/native.so,,\n");
        assert!(has(".venv", &[]), "a compiled module");
        packages("a-1.dist-info/RECORD", "a.pth,,\n");
        write(
            root,
            "pyproject.toml",
            "[build-system]\nbackend-path = ['.']\n",
        );
        assert!(has(".venv", &["pyproject.toml"]));
        packages(
            "b-1.dist-info/direct_url.json",
            r#"{"url":"file:///symphony/api","dir_info":{}}"#,
        );
        assert!(has(".venv", &[]));

        write(root, "package.json", r#"{"dependencies":{"a":"1"}}"#);
        let archive = r#"{"dependencies":{"a":"file:../vendor/a.tgz"}}"#;
        write(root, "ui/package.json", archive);
        write(root, "node_modules/a/package.json", r#"{"name":"a"}"#);
        assert!(!has("node_modules", &["package.json", "src/index.js"]));
        assert!(has("node_modules", &["package.json", "ui/package.json"]));
        assert!(!has("node_modules", &["ui/package.json", "vendor/a.tgz"]));
        assert!(has("node_modules", &["gone/package.json"]));
        let script = r#"{"name":"b","scripts":{"install":"x"}}"#;
        write(root, "node_modules/a/test/b/package.json", script);
        assert!(!has("node_modules", &[]), "it is not installed");
        write(
            root,
            "node_modules/a/node_modules/@s/b/package.json",
            script,
        );
        assert!(has("node_modules", &[]));
        assert!(!has("target", &["Cargo.toml"]));
    }
}
