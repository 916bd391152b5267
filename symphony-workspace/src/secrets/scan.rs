//! Looking for secret values in what a branch adds.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use aho_corasick::{AhoCorasick, MatchKind};
use serde::{Deserialize, Serialize};

use super::needles::forms;
use super::values::{Secret, secrets_in};
use super::wrapped::Unwrapped;
use crate::artifact::read_beneath;
use crate::commit_id::CommitId;
use crate::copy::matching_files;
use crate::error::WorkspaceError;
use crate::git::Git;
use crate::repository::Repository;
use crate::worktree::Worktree;

/// Largest copied file; as large as may be copied.
const SECRET_FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Objects that are read by one call of git, in bytes.
const BATCH_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Largest object that can be searched.
const OBJECT_BYTES_MAX: usize = 200 * 1024 * 1024;

/// A secret value in a commit. The value itself is not shown.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SecretLeak {
    /// The copied file that has the value, relative to the project.
    pub file: PathBuf,
    /// The value's name in that file: its key, or its line.
    pub name: String,
    /// Where it was found: a path, or `commit <id>` for a message.
    pub found_in: String,
}

impl fmt::Display for SecretLeak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file,
            name,
            found_in,
        } = self;
        write!(
            f,
            "the value of `{name}` in {} (found in {found_in})",
            file.display()
        )
    }
}

/// A file that Symphony copied into the worktree, and that a commit took.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CopiedLeak {
    /// The copied file, relative to the project.
    pub file: PathBuf,
    /// The newest commit that has something of it.
    pub commit: String,
}

impl fmt::Display for CopiedLeak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, commit } = self;
        let commit: String = commit.chars().take(12).collect();
        write!(
            f,
            "the file {}, which Symphony copied into the worktree (in commit {commit})",
            file.display()
        )
    }
}

/// What a scan found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SecretScan {
    /// Secret values, sorted.
    pub leaks: Vec<SecretLeak>,
    /// Copied files, sorted, whatever they hold.
    pub copied: Vec<CopiedLeak>,
    /// Paths of Symphony's own, sorted.
    pub reserved: Vec<PathBuf>,
    /// How many values were searched for.
    pub values: usize,
}

impl SecretScan {
    /// Returns whether the branch may be published.
    pub fn is_clean(&self) -> bool {
        self.leaks.is_empty() && self.copied.is_empty() && self.reserved.is_empty()
    }

    /// Lists what the commits hold and must not, the first few of each kind: "hold secrets …".
    pub fn problems(&self, max: usize) -> String {
        let copied = self.copied.iter().map(ToString::to_string);
        let leaks = self.leaks.iter().map(ToString::to_string);
        let secrets: Vec<String> = copied.chain(leaks).take(max).collect();
        let reserved = self.reserved.iter().take(max);
        let reserved: Vec<String> = reserved.map(|path| path.display().to_string()).collect();
        let mut problems = Vec::new();
        if !secrets.is_empty() {
            problems.push(format!(
                "contain secrets from the project's configuration files: {}",
                secrets.join("; ")
            ));
        }
        if !reserved.is_empty() {
            problems.push(format!(
                "contain files that only Symphony writes: {}",
                reserved.join(", ")
            ));
        }
        problems.join("; and ")
    }
}

pub(super) struct Needles {
    pub(super) secrets: Vec<(PathBuf, Secret)>,
    owners: Vec<usize>,
    automaton: AhoCorasick,
}

#[derive(Debug)]
pub(super) struct Object {
    id: String,
    name: String,
    bytes: usize,
}

impl Repository {
    /// Looks for paths of Symphony's own in `head`, for copied files, by their path, in every commit that `head` adds
    /// to `base`, and for the values of all copied configuration files (8 characters and more, also in base64 and
    /// URL-encoded) in every blob, file name and commit message that `head` adds to its merge base with `base`. Values
    /// that occur in the base's own files are not secret.
    ///
    /// The files are read in the project and, when it still exists, in the worktree.
    ///
    /// # Errors
    /// When git fails, or an object is too large to be searched.
    pub fn scan_secrets(
        &self,
        worktree: Option<&Worktree>,
        base: &CommitId,
        head: &CommitId,
    ) -> Result<SecretScan, WorkspaceError> {
        let from = self.reader().merge_base(base, head)?;
        let copied = self.copied_in(worktree, base, from.as_ref(), head)?;
        let reserved = self.reserved_in(base, head)?;
        let Some(needles) = Needles::of(self.secrets(worktree)?)? else {
            return Ok(SecretScan {
                copied,
                reserved,
                ..SecretScan::default()
            });
        };
        let values = needles.secrets.len();
        let added = objects(&self.git, &added_objects(&self.git, from.as_ref(), head)?)?;
        let mut hits: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
        for_each(&self.git, &added, |object, contents| {
            for secret in needles.found_or_wrapped_in(contents) {
                hits.entry(secret).or_default().insert(object.name.clone());
            }
        })?;
        // The base is only read when there is something to acquit.
        if let Some(from) = from.as_ref().filter(|_| !hits.is_empty()) {
            let public = needles.occurring_in(&self.git, from)?;
            hits.retain(|secret, _| !public.contains(secret));
        }
        let mut leaks: Vec<SecretLeak> = hits
            .into_iter()
            .flat_map(|(secret, places)| places.into_iter().map(move |place| (secret, place)))
            .filter_map(|(secret, found_in)| {
                let (file, secret) = needles.secrets.get(secret)?;
                Some(SecretLeak {
                    file: file.clone(),
                    name: secret.name.clone(),
                    found_in,
                })
            })
            .collect();
        leaks.sort();
        leaks.dedup();
        Ok(SecretScan {
            leaks,
            copied,
            reserved,
            values,
        })
    }

    pub(super) fn secrets(
        &self,
        worktree: Option<&Worktree>,
    ) -> Result<Vec<(PathBuf, Secret)>, WorkspaceError> {
        let mut files = matching_files(&self.root, &self.workspaces_dir(), &self.options.copy)?;
        if let Some(worktree) = worktree {
            files.extend(self.protected_paths(worktree)?);
        }
        let places: Vec<&Path> = std::iter::once(self.root())
            .chain(worktree.map(Worktree::path))
            .collect();
        let mut secrets: Vec<(PathBuf, Secret)> = Vec::new();
        for file in &files {
            for place in &places {
                let text = file.to_string_lossy();
                // What could not be copied (a link, a folder, an oversized file) is no copied secret.
                let Ok(Some(bytes)) = read_beneath(place, &text, SECRET_FILE_BYTES_MAX) else {
                    continue;
                };
                for secret in secrets_in(file, &String::from_utf8_lossy(&bytes)) {
                    let known = secrets.iter().any(|(_, other)| other.value == secret.value);
                    if !known {
                        secrets.push((file.clone(), secret));
                    }
                }
            }
        }
        Ok(secrets)
    }
}

impl Needles {
    pub(super) fn of(secrets: Vec<(PathBuf, Secret)>) -> Result<Option<Self>, WorkspaceError> {
        if secrets.is_empty() {
            return Ok(None);
        }
        let mut owners = Vec::new();
        let mut patterns = Vec::new();
        for (number, (_, secret)) in secrets.iter().enumerate() {
            for form in forms(&secret.value) {
                owners.push(number);
                patterns.push(form);
            }
        }
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .build(&patterns)
            .map_err(|error| WorkspaceError::Pattern {
                pattern: "the values of the copied files".to_owned(),
                reason: error.to_string(),
            })?;
        Ok(Some(Self {
            secrets,
            owners,
            automaton,
        }))
    }

    pub(super) fn found_in(&self, contents: &[u8]) -> BTreeSet<usize> {
        self.automaton
            .find_overlapping_iter(contents)
            .filter_map(|found| self.owners.get(found.pattern().as_usize()).copied())
            .collect()
    }

    /// Returns the numbers of the values that the tree of a commit has in its files.
    ///
    /// # Errors
    /// When git fails, or an object is too large to be searched.
    pub(super) fn occurring_in(
        &self,
        git: &Git,
        commit: &CommitId,
    ) -> Result<BTreeSet<usize>, WorkspaceError> {
        let mut found = BTreeSet::new();
        let old = objects(git, &tree_objects(git, commit)?)?;
        for_each(git, &old, |_, contents| {
            found.extend(self.found_in(contents));
        })?;
        Ok(found)
    }

    /// Finds also what line breaks cut in two.
    fn found_or_wrapped_in(&self, contents: &[u8]) -> BTreeSet<usize> {
        let mut found = self.found_in(contents);
        if let Some(unwrapped) = Unwrapped::of(contents) {
            found.extend(self.found_in(&unwrapped.bytes));
        }
        found
    }
}

/// Lists what `head` has and `from` has not: commits, trees and blobs, with a name for people.
fn added_objects(
    git: &Git,
    from: Option<&CommitId>,
    head: &CommitId,
) -> Result<Vec<(String, String)>, WorkspaceError> {
    let mut command = git.command("rev-list").args(["--objects", head.as_str()]);
    if let Some(from) = from {
        command = command.arg(format!("^{from}"));
    }
    let list = command.slow().run()?;
    Ok(String::from_utf8_lossy(&list)
        .lines()
        .filter_map(|line| {
            let (id, name) = match line.split_once(' ') {
                Some((id, "")) => (id, "the top folder".to_owned()),
                Some((id, path)) => (id, path.to_owned()),
                None => (line, format!("commit {line}")),
            };
            // A name with a line break continues on a line that begins with no object.
            CommitId::parse(id).ok().map(|id| (id.to_string(), name))
        })
        .collect())
}

/// Lists the blobs of a commit.
pub(super) fn tree_objects(
    git: &Git,
    commit: &CommitId,
) -> Result<Vec<(String, String)>, WorkspaceError> {
    let list = git
        .command("ls-tree")
        .args(["-r", "-z", "--full-tree", commit.as_str()])
        .run()?;
    Ok(crate::git::fields(&list)
        .filter_map(|entry| {
            let entry = String::from_utf8_lossy(entry);
            let (meta, path) = entry.split_once('\t')?;
            let mut meta = meta.split(' ').skip(1);
            (meta.next()? == "blob").then(|| Some((meta.next()?.to_owned(), path.to_owned())))?
        })
        .collect())
}

/// Learns the sizes; what is not in the repository (a submodule's commit) is left out.
pub(super) fn objects(
    git: &Git,
    named: &[(String, String)],
) -> Result<Vec<Object>, WorkspaceError> {
    let answer = git
        .command("cat-file")
        .arg("--batch-check=%(objectname) %(objectsize)")
        .stdin(lines(named.iter().map(|(id, _)| id.as_str())))
        .slow()
        .run()?;
    let answer = String::from_utf8_lossy(&answer);
    Ok(answer
        .lines()
        .zip(named)
        .filter_map(|(line, (id, name))| {
            let (_, size) = line.split_once(' ')?;
            Some(Object {
                id: id.clone(),
                name: name.clone(),
                bytes: size.parse().ok()?,
            })
        })
        .collect())
}

fn lines<'a>(ids: impl Iterator<Item = &'a str>) -> Vec<u8> {
    ids.flat_map(|id| [id.as_bytes(), b"\n"].concat()).collect()
}

/// Reads the objects, many by one call, and shows each.
pub(super) fn for_each(
    git: &Git,
    objects: &[Object],
    mut show: impl FnMut(&Object, &[u8]),
) -> Result<(), WorkspaceError> {
    let mut rest = objects;
    while !rest.is_empty() {
        let mut bytes = 0_usize;
        let count = rest
            .iter()
            .take_while(|object| {
                let fits = bytes == 0 || bytes + object.bytes <= BATCH_BYTES_MAX;
                bytes += object.bytes;
                fits
            })
            .count();
        let (batch, later) = rest.split_at(count.max(1));
        rest = later;
        if let Some(giant) = batch.iter().find(|object| object.bytes > OBJECT_BYTES_MAX) {
            return Err(WorkspaceError::TooLarge {
                path: giant.name.clone().into(),
                bytes: u64::try_from(giant.bytes).unwrap_or(u64::MAX),
                bytes_max: u64::try_from(OBJECT_BYTES_MAX).unwrap_or(u64::MAX),
            });
        }
        let answer = git
            .command("cat-file")
            .arg("--batch=")
            .stdin(lines(batch.iter().map(|object| object.id.as_str())))
            .slow()
            .run()?;
        // With an empty format each object is: a line end, its bytes, a line end.
        let mut at = 0;
        for object in batch {
            let start = at + 1;
            let end = start + object.bytes;
            show(object, answer.get(start..end).unwrap_or_default());
            at = end + 1;
        }
    }
    Ok(())
}
