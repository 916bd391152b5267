//! What git knows about two commits, for the decisions about a seed.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use symphony_core::warm::{Change, FOLDERS};

use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::git::{Git, fields};
use crate::own_file::read_text;

/// Returns the entries of a commit at the path of a kept folder. What is below one counts, since git lists its folder.
pub(super) fn tracked_in_kept(git: &Git, commit: &CommitId) -> Result<Vec<String>, WorkspaceError> {
    let list = git
        .command("ls-tree")
        .args(["-z", "--name-only", "--full-tree", commit.as_str()])
        .run()?;
    // A file system that ignores case would take `Target` for `target`.
    let names = fields(&list).map(String::from_utf8_lossy).filter(|name| {
        let mut known = FOLDERS.iter();
        known.any(|folder| name.eq_ignore_ascii_case(folder.name))
    });
    Ok(names.map(Cow::into_owned).collect())
}

/// Returns what differs between two commits; `None` if a name is not text, or git says something unknown.
pub(super) fn changes_between(
    git: &Git,
    old: &CommitId,
    new: &CommitId,
) -> Result<Option<Vec<Change>>, WorkspaceError> {
    let list = git
        .command("diff-tree")
        .args(["-r", "-z", "--no-renames", "--name-status"])
        .args([old.as_str(), new.as_str()])
        .slow()
        .run()?;
    Ok(parse(&list))
}

fn parse(list: &[u8]) -> Option<Vec<Change>> {
    let mut fields = fields(list);
    let mut changes = Vec::new();
    while let Some(status) = fields.next() {
        let path = str::from_utf8(fields.next()?).ok()?.to_owned();
        changes.push(match status {
            b"A" => Change::Added(path),
            b"M" | b"T" => Change::Modified(path),
            b"D" => Change::Deleted(path),
            _ => return None,
        });
    }
    Some(changes)
}

/// Returns the build scripts that manifests of a checkout name, as paths in it. Manifests that cannot be read name none, since
/// cargo cannot build with them either.
pub(super) fn build_scripts(checkout: &Path, tracked: &BTreeSet<PathBuf>) -> Vec<String> {
    let manifests = tracked
        .iter()
        .filter(|path| path.file_name() == Some(OsStr::new("Cargo.toml")));
    let scripts = manifests.flat_map(|path| {
        let text = read_text(&checkout.join(path)).unwrap_or_default();
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let named = scripts_in(&text);
        named.into_iter().map(move |script| folder.join(script))
    });
    scripts
        .filter_map(|path| normal(&path)?.to_str().map(str::to_owned))
        .collect()
}

fn scripts_in(manifest: &str) -> Vec<String> {
    let parsed: Option<toml::Table> = toml::from_str(manifest).ok();
    let build = parsed
        .as_ref()
        .and_then(|table| table.get("package")?.get("build"));
    match build {
        Some(toml::Value::String(path)) => vec![path.clone()],
        Some(toml::Value::Array(paths)) => paths
            .iter()
            .filter_map(|path| path.as_str().map(str::to_owned))
            .collect(),
        _ => Vec::new(),
    }
}

/// Returns a path without `.` and `..`; `None` if it leads out.
pub(super) fn normal(path: &Path) -> Option<PathBuf> {
    use std::path::Component;
    let mut found = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => found.push(name),
            Component::CurDir => {}
            Component::ParentDir => {
                if !found.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_git_is_read_as_a_whole_or_not_at_all() {
        assert_eq!(parse(b""), Some(Vec::new()));
        assert_eq!(
            parse(b"A\0a b\0M\0b/c\0T\0d\0D\0e\0"),
            Some(vec![
                Change::Added("a b".to_owned()),
                Change::Modified("b/c".to_owned()),
                Change::Modified("d".to_owned()),
                Change::Deleted("e".to_owned()),
            ])
        );
        for odd in [&b"A\0"[..], b"R100\0a\0b\0", b"A\0\xff\0", b"U\0a\0"] {
            assert_eq!(parse(odd), None);
        }
    }

    #[test]
    fn build_scripts_with_other_names_are_found() {
        for (manifest, expected) in [
            ("[package]\nname = \"a\"\n", &[][..]),
            ("[package]\nbuild = \"make.rs\"\n", &["make.rs"]),
            (
                "[package]\nbuild = [\"a.rs\", \"b.rs\"]\n",
                &["a.rs", "b.rs"],
            ),
            ("[package]\nbuild = false\n", &[]),
            ("not toml", &[]),
        ] {
            assert_eq!(scripts_in(manifest), expected, "{manifest}");
        }
        for (path, expected) in [
            ("a/./b/../make.rs", Some("a/make.rs")),
            ("../make.rs", None),
            ("/make.rs", None),
        ] {
            assert_eq!(normal(Path::new(path)), expected.map(PathBuf::from));
        }
    }
}
