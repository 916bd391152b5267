//! What of a checkout a generation does not have.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use symphony_core::warm::{Ecosystem, KeptFolder};

use crate::deep::remove_deep;

/// What cargo's profiles have that is kept. What is beside it is made again from there, also where nothing changed: the
/// programs that are directly in a profile's folder, which would outlive the target that they were built from.
const OF_PROFILE: &[&str] = &[".fingerprint", "build", "deps", "incremental"];
/// Files that cargo keeps about its whole folder.
const OF_TARGET: &[&str] = &[".rustc_info.json", "CACHEDIR.TAG"];

/// Removes everything from a checkout but tracked files and what is kept of some folders.
///
/// # Errors
/// When something cannot be read or removed.
pub(super) fn prune(
    root: &Path,
    tracked: &BTreeSet<PathBuf>,
    keep: &[KeptFolder],
) -> io::Result<()> {
    let above: BTreeSet<&Path> = tracked
        .iter()
        .flat_map(|path| path.ancestors().skip(1))
        .collect();
    let mut open = vec![PathBuf::new()];
    while let Some(folder) = open.pop() {
        for (path, is_folder) in entries(root, &folder)? {
            let kept = keep.iter().find(|kept| path == Path::new(kept.name));
            match kept {
                Some(kept) if is_folder => prune_kept(root, kept)?,
                _ if is_folder && above.contains(path.as_path()) => open.push(path),
                _ if !is_folder && tracked.contains(&path) => {}
                _ => remove(&root.join(path))?,
            }
        }
    }
    Ok(())
}

fn prune_kept(root: &Path, kept: &KeptFolder) -> io::Result<()> {
    let folder = PathBuf::from(kept.name);
    match kept.ecosystem {
        Ecosystem::Cargo => prune_target(root, &folder),
        Ecosystem::Node | Ecosystem::Python => prune_packages(root, folder),
    }
}

/// A profile is in `target/<profile>` or, for another platform, in `target/<platform>/<profile>`.
fn prune_target(root: &Path, folder: &Path) -> io::Result<()> {
    for (path, is_folder) in entries(root, folder)? {
        if is_folder && is_profile(root, &path) {
            prune_profile(root, &path)?;
        } else if is_folder && has_profile(root, &path)? {
            for (path, is_folder) in entries(root, &path)? {
                if is_folder && is_profile(root, &path) {
                    prune_profile(root, &path)?;
                } else {
                    remove(&root.join(path))?;
                }
            }
        } else if is_folder || !is_named(&path, OF_TARGET) {
            remove(&root.join(path))?;
        }
    }
    Ok(())
}

fn is_profile(root: &Path, folder: &Path) -> bool {
    let place = root.join(folder).join(".fingerprint");
    fs::symlink_metadata(place).is_ok_and(|meta| meta.is_dir())
}

fn has_profile(root: &Path, folder: &Path) -> io::Result<bool> {
    for (path, is_folder) in entries(root, folder)? {
        if is_folder && is_profile(root, &path) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn prune_profile(root: &Path, folder: &Path) -> io::Result<()> {
    for (path, is_folder) in entries(root, folder)? {
        if !is_folder || !is_named(&path, OF_PROFILE) {
            remove(&root.join(path))?;
        }
    }
    Ok(())
}

/// Removes what tools other than the one that installs write into a folder of packages.
fn prune_packages(root: &Path, folder: PathBuf) -> io::Result<()> {
    let mut open = vec![folder];
    while let Some(folder) = open.pop() {
        for (path, is_folder) in entries(root, &folder)? {
            if is_written_by_others(&path) {
                remove(&root.join(path))?;
            } else if is_folder {
                open.push(path);
            }
        }
    }
    Ok(())
}

/// Returns whether an entry of a folder of packages is made by those who use the packages, also of the project's source.
pub(super) fn is_written_by_others(path: &Path) -> bool {
    is_named(path, &[".cache", ".prisma", "__pycache__"])
        || path.extension() == Some(OsStr::new("pyc"))
}

fn is_named(path: &Path, names: &[&str]) -> bool {
    let name = path.file_name().unwrap_or_default();
    names.iter().any(|known| name == OsStr::new(known))
}

fn entries(root: &Path, folder: &Path) -> io::Result<Vec<(PathBuf, bool)>> {
    let read = fs::read_dir(root.join(folder))?;
    read.map(|entry| {
        let entry = entry?;
        Ok((folder.join(entry.file_name()), entry.file_type()?.is_dir()))
    })
    .collect()
}

fn remove(at: &Path) -> io::Result<()> {
    if fs::symlink_metadata(at)?.is_dir() {
        remove_deep(at).map(drop)
    } else {
        fs::remove_file(at)
    }
}

#[cfg(test)]
mod tests {
    use symphony_core::warm::FOLDERS;

    use super::*;

    #[test]
    fn only_what_a_tool_makes_for_itself_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let mut files = vec![
            ("src/lib.rs", true),
            ("src/ignored.rs", false),
            ("notes/draft", false),
            (".env", false),
            (".git/HEAD", false),
            ("target/CACHEDIR.TAG", true),
            ("target/.rustc_info.json", true),
            ("target/tmp/left", false),
            ("target/doc/index.html", false),
            ("target/nextest/default/junit.xml", false),
            ("target/debug/.cargo-lock", false),
            ("target/debug/tool", false),
            ("target/debug/tool.d", false),
            ("target/debug/examples/show-1f", false),
            ("target/debug/.fingerprint/tool-1f/lib", true),
            ("target/debug/build/tool-1f/out/gen.rs", true),
            ("target/debug/deps/tool-1f", true),
            ("target/debug/incremental/tool-1f/s", true),
            ("target/wasm32/debug/.fingerprint/a", true),
            ("target/wasm32/debug/tool.wasm", false),
            ("target/wasm32/notes", false),
            ("node_modules/a/index.js", true),
            ("node_modules/.cache/babel/1", false),
            ("node_modules/.package-lock.json", true),
            (".venv/lib/python3/site-packages/a.py", true),
            (".venv/lib/python3/site-packages/__pycache__/a.pyc", false),
            (".venv/bin/python", true),
        ];
        files.extend([("crates/node_modules/b/index.js", false)]);
        for (path, _) in &files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let tracked = BTreeSet::from([PathBuf::from("src/lib.rs")]);
        prune(root, &tracked, FOLDERS).unwrap();
        for (path, is_kept) in files {
            assert_eq!(root.join(path).exists(), is_kept, "{path}");
        }
    }

    #[test]
    fn a_link_in_the_place_of_a_kept_folder_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (root, outside) = (folder.path().join("root"), folder.path().join("outside"));
        fs::create_dir_all(root.join("target")).unwrap();
        fs::create_dir_all(outside.join("debug/.fingerprint")).unwrap();
        fs::write(outside.join("debug/file"), "").unwrap();
        fs::remove_dir(root.join("target")).unwrap();
        std::os::unix::fs::symlink(&outside, root.join("target")).unwrap();
        prune(&root, &BTreeSet::new(), FOLDERS).unwrap();
        assert!(!root.join("target").exists());
        assert!(outside.join("debug/file").exists());
    }
}
