//! The diff of a branch: what a pull request shows and a judge reads.

use serde::{Deserialize, Serialize};
use symphony_core::pull_request::FileStat;

use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::git::{Git, fields};
use crate::repository::Repository;

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// Its contents or its mode differ.
    Modified,
    /// It is gone.
    Deleted,
    /// It has another name, and perhaps other contents.
    Renamed,
    /// It became a link, a file or a submodule.
    TypeChanged,
}

/// One file of a diff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    /// Its path at the head (at the base, when deleted); not UTF-8 is replaced.
    pub path: String,
    /// Its path at the base, when renamed.
    pub old_path: Option<String>,
    /// What happened.
    pub kind: ChangeKind,
    /// Added lines; 0 for a binary file.
    pub insertions: u64,
    /// Removed lines; 0 for a binary file.
    pub deletions: u64,
    /// Whether git treats it as binary.
    pub binary: bool,
}

impl From<FileChange> for FileStat {
    fn from(file: FileChange) -> Self {
        Self {
            path: file.path,
            old_path: file.old_path,
            insertions: file.insertions,
            deletions: file.deletions,
        }
    }
}

/// A branch's change against its merge base.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffSnapshot {
    /// The best common ancestor with the base.
    pub merge_base: CommitId,
    /// The commit that was compared.
    pub head: CommitId,
    /// The patch, cut at a line's end when it is longer than its limit; not UTF-8 is replaced.
    pub patch: String,
    /// Whether it was cut.
    pub patch_cut: bool,
    /// All files, in git's order, also when the patch was cut.
    pub files: Vec<FileChange>,
}

const COMMON: &[&str] = &[
    "-r",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--ignore-submodules=none",
    "--find-renames",
];

impl Repository {
    /// Compares a head with its merge base.
    ///
    /// # Errors
    /// [`WorkspaceError::Unrelated`] when there is no merge base; else when git fails.
    pub fn diff(
        &self,
        base: &CommitId,
        head: &CommitId,
        patch_bytes_max: usize,
    ) -> Result<DiffSnapshot, WorkspaceError> {
        let merge_base =
            self.reader()
                .merge_base(base, head)?
                .ok_or_else(|| WorkspaceError::Unrelated {
                    base: base.to_string(),
                    head: head.to_string(),
                })?;
        let files = changed_files(&self.git, &merge_base, head)?;
        let answer = self
            .git
            .command("diff-tree")
            .apart(&merge_base)
            .args(COMMON)
            .args(["-p", "--src-prefix=a/", "--dst-prefix=b/", "-U3"])
            .args([merge_base.as_str(), head.as_str()])
            .stdout_max(patch_bytes_max)
            .answer(&[0])?;
        let whole_lines = if answer.cut {
            let end = answer.stdout.iter().rposition(|byte| *byte == b'\n');
            answer
                .stdout
                .get(..end.map_or(0, |at| at + 1))
                .unwrap_or_default()
        } else {
            &answer.stdout
        };
        Ok(DiffSnapshot {
            merge_base,
            head: head.clone(),
            patch: String::from_utf8_lossy(whole_lines).into_owned(),
            patch_cut: answer.cut,
            files,
        })
    }

    /// Lists the files that differ between two commits.
    ///
    /// # Errors
    /// When git fails.
    pub fn changed_files(
        &self,
        from: &CommitId,
        to: &CommitId,
    ) -> Result<Vec<FileChange>, WorkspaceError> {
        changed_files(&self.git, from, to)
    }
}

fn changed_files(
    git: &Git,
    from: &CommitId,
    to: &CommitId,
) -> Result<Vec<FileChange>, WorkspaceError> {
    let list = git
        .command("diff-tree")
        .apart(from)
        .args(COMMON)
        .args(["-z", "--raw", "--numstat", from.as_str(), to.as_str()])
        .run()?;
    parse_files(&list).ok_or_else(|| WorkspaceError::GitAnswer {
        command: "git diff-tree --raw --numstat".to_owned(),
        expected: "raw lines, then a count for each",
        found: String::from_utf8_lossy(&list).chars().take(80).collect(),
    })
}

/// Reads `-z --raw --numstat`: all raw records (a colon first), then all counts, in one order.
fn parse_files(list: &[u8]) -> Option<Vec<FileChange>> {
    let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut rest = list.split(|byte| *byte == 0).peekable();
    let mut files = Vec::new();
    while rest.peek().is_some_and(|record| record.starts_with(b":")) {
        let letter = *rest.next()?.rsplit(|byte| *byte == b' ').next()?.first()?;
        let first = lossy(rest.next()?);
        let (path, old_path) = if matches!(letter, b'R' | b'C') {
            (lossy(rest.next()?), Some(first))
        } else {
            (first, None)
        };
        files.push(FileChange {
            path,
            old_path,
            kind: kind_of(letter),
            insertions: 0,
            deletions: 0,
            binary: false,
        });
    }
    for file in &mut files {
        let mut counts = rest.next()?.splitn(3, |byte| *byte == b'\t');
        let added = str::from_utf8(counts.next()?).ok()?;
        let removed = str::from_utf8(counts.next()?).ok()?;
        file.binary = added == "-";
        if !file.binary {
            file.insertions = added.parse().ok()?;
            file.deletions = removed.parse().ok()?;
        }
        // A renamed file's count has an empty path, and the two paths follow.
        if counts.next()?.is_empty() {
            rest.next()?;
            rest.next()?;
        }
    }
    Some(files)
}

const fn kind_of(letter: u8) -> ChangeKind {
    match letter {
        b'A' | b'C' => ChangeKind::Added,
        b'D' => ChangeKind::Deleted,
        b'R' => ChangeKind::Renamed,
        b'T' => ChangeKind::TypeChanged,
        _ => ChangeKind::Modified,
    }
}

/// Lists the paths of a `-z` answer as text.
pub(crate) fn paths_of(list: &[u8]) -> Vec<String> {
    fields(list)
        .map(|path| String::from_utf8_lossy(path).into_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_records_and_counts_are_joined() {
        let list = b":100644 100644 aa bb M\0a b\0:100644 100644 aa bb R090\0old\0new\0:000000 100644 00 bb A\0bin\x003\t1\ta b\x002\t0\t\0old\0new\0-\t-\tbin\0";
        let file =
            |path: &str, old: Option<&str>, kind, insertions, deletions, binary| FileChange {
                path: path.into(),
                old_path: old.map(Into::into),
                kind,
                insertions,
                deletions,
                binary,
            };
        assert_eq!(
            parse_files(list),
            Some(vec![
                file("a b", None, ChangeKind::Modified, 3, 1, false),
                file("new", Some("old"), ChangeKind::Renamed, 2, 0, false),
                file("bin", None, ChangeKind::Added, 0, 0, true),
            ])
        );
        assert_eq!(parse_files(b""), Some(Vec::new()));
        assert_eq!(parse_files(b":100644 100644 aa bb M\0a\0"), None);
    }
}
