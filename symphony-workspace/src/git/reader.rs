//! Reading refs, objects and history. Refs and objects are read by libgit2 if it can open the repository, otherwise by
//! the program.
//!
//! libgit2 needs no process, but refuses some repositories (reftable, partial clones, SHA-256). Then the program
//! answers the same question.
//!
//! History is read commit by commit (`commits`), and by the program where that takes too long. libgit2's own walks trust
//! `info/grafts` and the commit graph, which agents can write; the program is configured to read the commits themselves.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::answer::fields;
use super::library::{self, Opened};
use super::place::Git;
use super::relation::Relation;
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;

/// A link to a commit of another repository in an index or a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Link {
    /// Where the other repository is checked out, as git stores it. It need not be UTF-8.
    pub(crate) path: PathBuf,
    /// The commit that the link refers to.
    pub(crate) commit: String,
}

/// Reads from the common git folder.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CommonReader<'a> {
    git: &'a Git,
}

impl<'a> CommonReader<'a> {
    pub(crate) fn new(git: &'a Git) -> Self {
        Self { git }
    }

    pub(super) fn git(self) -> &'a Git {
        self.git
    }

    /// Opens the repository with libgit2. It follows a `commondir` file that somebody planted, so then there is only the
    /// program, which is not run there.
    pub(super) fn library(self) -> Option<git2::Repository> {
        self.git.place().refuse_redirected().ok()?;
        library::open(&self.git.place().common_dir)
    }

    /// Asks libgit2 about objects. Unlike [`Self::library`], it is opened once.
    fn ask_library<T>(self, question: impl FnOnce(&mut Opened) -> T) -> Option<T> {
        let place = self.git.place();
        place.refuse_redirected().ok()?;
        self.git.library().ask(&place.common_dir, question)
    }

    /// Returns whether libgit2 finds a commit with this full ref name. Runs no program.
    pub(crate) fn finds(self, name: &str) -> bool {
        self.library().is_some_and(|repository| {
            let found = repository.find_reference(name);
            found.and_then(|found| found.peel_to_commit()).is_ok()
        })
    }

    /// Returns the ref that a symbolic one leads to; `None` for any other, and where libgit2 cannot tell.
    pub(crate) fn leads_to(self, name: &str) -> Option<String> {
        let repository = self.library()?;
        let found = repository.find_reference(name).ok()?;
        found.symbolic_target().ok().flatten().map(str::to_owned)
    }

    /// Returns whether a ref with this full name exists, wherever it leads. The program is called only where libgit2
    /// cannot tell.
    pub(crate) fn has(self, name: &str) -> Result<bool, WorkspaceError> {
        if let Some(repository) = self.library() {
            match repository.find_reference(name) {
                Ok(_) => return Ok(true),
                // a ref that is a link is not found
                Err(error) if error.code() == git2::ErrorCode::NotFound => return self.lists(name),
                Err(error) => tracing::debug!(%error, name, "libgit2 cannot read a ref"),
            }
        }
        Ok(self.reference(name)?.is_some())
    }

    /// Returns whether the ignore files cover a path of the work tree. Only libgit2 can tell, since the program refuses
    /// this question while pathspecs are literal.
    pub(crate) fn ignores(self, path: &str) -> bool {
        self.library()
            .is_some_and(|repository| repository.is_path_ignored(path).unwrap_or(false))
    }

    /// Returns the commit that a full ref name leads to; `None` when the ref does not exist.
    pub(crate) fn reference(self, name: &str) -> Result<Option<CommitId>, WorkspaceError> {
        if let Some(repository) = self.library() {
            match repository
                .find_reference(name)
                .and_then(|found| found.peel_to_commit())
            {
                Ok(commit) => return Ok(parsed(commit.id())),
                // a ref that is a link is not found either
                Err(error) if error.code() == git2::ErrorCode::NotFound => {
                    if name.starts_with("refs/") && !self.lists(name)? {
                        return Ok(None);
                    }
                }
                Err(error) => tracing::debug!(%error, name, "libgit2 cannot read a ref"),
            }
        }
        let answer = self
            .git
            .command("rev-parse")
            .args(["--verify", "--quiet", "--end-of-options"])
            .arg(format!("{name}^{{commit}}"))
            .answer(&[0, 1])?;
        let text = String::from_utf8_lossy(&answer.stdout);
        Ok(CommitId::parse(text.trim_end()).ok())
    }

    /// Returns whether the repository has the commit.
    pub(crate) fn has_commit(self, commit: &CommitId) -> Result<bool, WorkspaceError> {
        if let Ok(id) = git2::Oid::from_str(commit.as_str())
            && self.ask_library(|it| it.repository.find_commit(id).is_ok()) == Some(true)
        {
            return Ok(true);
        }
        let answer = self
            .git
            .command("cat-file")
            .args(["-e", &format!("{commit}^{{commit}}")])
            .answer(&[0, 1, 128])?;
        Ok(answer.code == 0)
    }

    /// Returns the best common ancestor; `None` when the histories are unrelated.
    pub(crate) fn merge_base(
        self,
        one: &CommitId,
        two: &CommitId,
    ) -> Result<Option<CommitId>, WorkspaceError> {
        if one == two {
            return Ok(Some(one.clone()));
        }
        // Which of several is the best one, git says.
        if let Some(relation) = self.relation(one, two)
            && relation.bases.len() <= 1
        {
            return Ok(relation.bases.first().copied().and_then(parsed));
        }
        let answer = self
            .git
            .command("merge-base")
            .args([one.as_str(), two.as_str()])
            .answer(&[0, 1])?;
        let text = String::from_utf8_lossy(&answer.stdout);
        Ok(CommitId::parse(text.trim_end()).ok())
    }

    /// Returns how two commits are related, without a process; `None` if that cannot be known in this way.
    fn relation(self, one: &CommitId, two: &CommitId) -> Option<Relation<git2::Oid>> {
        // In a shallow clone, commits have parents that git does not count.
        if self.git.place().common_dir.join("shallow").exists() {
            return None;
        }
        let [one, two] = [one, two].map(|commit| git2::Oid::from_str(commit.as_str()).ok());
        let (one, two) = (one?, two?);
        self.ask_library(|it| it.relation(one, two))?
    }

    /// Returns whether `ancestor` is `descendant` or one of its ancestors.
    pub(crate) fn is_ancestor(
        self,
        ancestor: &CommitId,
        descendant: &CommitId,
    ) -> Result<bool, WorkspaceError> {
        if ancestor == descendant {
            return Ok(true);
        }
        Ok(self.merge_base(ancestor, descendant)?.as_ref() == Some(ancestor))
    }

    /// Returns the first parent of a commit; `None` when it has none.
    pub(crate) fn first_parent(
        self,
        commit: &CommitId,
    ) -> Result<Option<CommitId>, WorkspaceError> {
        let answer = self
            .git
            .command("rev-parse")
            .args(["--verify", "--quiet", "--end-of-options"])
            .arg(format!("{commit}^1"))
            .answer(&[0, 1, 128])?;
        let text = String::from_utf8_lossy(&answer.stdout);
        Ok(CommitId::parse(text.trim_end()).ok())
    }

    /// Counts the commits of `head` that `base` does not have.
    pub(crate) fn ahead(self, base: &CommitId, head: &CommitId) -> Result<usize, WorkspaceError> {
        if base == head {
            return Ok(0);
        }
        if let Some(count) = self.relation(base, head).and_then(|it| it.only_two) {
            return Ok(count);
        }
        let text = self
            .git
            .command("rev-list")
            .args(["--count", head.as_str(), &format!("^{base}")])
            .line()?;
        text.parse().map_err(
            |_found: std::num::ParseIntError| WorkspaceError::GitAnswer {
                command: "git rev-list --count".to_owned(),
                expected: "a number",
                found: text,
            },
        )
    }

    /// Returns the links to commits of other repositories that a commit has and another one lacks or has differently.
    pub(crate) fn links_between(
        self,
        base: &CommitId,
        head: &CommitId,
    ) -> Result<Vec<Link>, WorkspaceError> {
        match self.ask_library(|it| library_links(&it.repository, base, head)) {
            Some(Ok(links)) => return Ok(links),
            Some(Err(error)) => tracing::debug!(%error, "libgit2 cannot compare two commits"),
            None => {}
        }
        let list = self
            .git
            .command("diff-tree")
            .args(["-r", "-z", "--raw", "--no-renames", "--no-ext-diff"])
            .arg("--ignore-submodules=none")
            .args([base.as_str(), head.as_str()])
            .run()?;
        let mut fields = fields(&list);
        let mut links = Vec::new();
        // `:<mode> 160000 <commit> <commit> <status>`, and the path.
        while let (Some(meta), Some(path)) = (fields.next(), fields.next()) {
            let meta = String::from_utf8_lossy(meta);
            let mut parts = meta.split(' ').skip(1);
            if parts.next() == Some("160000")
                && let Some(commit) = parts.nth(1)
            {
                links.push(Link {
                    path: Path::new(OsStr::from_bytes(path)).to_owned(),
                    commit: commit.to_owned(),
                });
            }
        }
        Ok(links)
    }

    /// Reads a file at a commit; `None` when the commit has no regular file there.
    pub(crate) fn blob(
        self,
        commit: &CommitId,
        path: &str,
        bytes_max: usize,
    ) -> Result<Option<Vec<u8>>, WorkspaceError> {
        if let Some(Ok(found)) = self.ask_library(|it| library_blob(&it.repository, commit, path)) {
            return within(commit, path, found, bytes_max);
        }
        let entry = self
            .git
            .command("ls-tree")
            .args(["-z", "--full-tree", commit.as_str(), "--", path])
            .run()?;
        // Neither a link's target nor a folder is a file's text.
        if !entry.starts_with(b"100") {
            return Ok(None);
        }
        let answer = self
            .git
            .command("cat-file")
            .args(["blob", &format!("{commit}:{path}")])
            .stdout_max(bytes_max)
            .answer(&[0, 128])?;
        if answer.cut {
            return Err(too_large(commit, path, bytes_max + 1, bytes_max));
        }
        Ok((answer.code == 0).then_some(answer.stdout))
    }
}

fn library_links(
    repository: &git2::Repository,
    base: &CommitId,
    head: &CommitId,
) -> Result<Vec<Link>, git2::Error> {
    let tree = |commit: &CommitId| {
        let id = git2::Oid::from_str(commit.as_str())?;
        repository.find_commit(id)?.tree()
    };
    let mut options = git2::DiffOptions::new();
    options.ignore_submodules(false).include_typechange(true);
    let diff =
        repository.diff_tree_to_tree(Some(&tree(base)?), Some(&tree(head)?), Some(&mut options))?;
    let new = diff.deltas().map(|delta| delta.new_file());
    let links = new.filter(|file| file.mode() == git2::FileMode::Commit);
    Ok(links
        .filter_map(|file| {
            Some(Link {
                path: Path::new(OsStr::from_bytes(file.path_bytes()?)).to_owned(),
                commit: file.id().to_string(),
            })
        })
        .collect())
}

fn parsed(id: git2::Oid) -> Option<CommitId> {
    CommitId::parse(&id.to_string()).ok()
}

fn library_blob(
    repository: &git2::Repository,
    commit: &CommitId,
    path: &str,
) -> Result<Option<Vec<u8>>, git2::Error> {
    let id = git2::Oid::from_str(commit.as_str())?;
    let tree = repository.find_commit(id)?.tree()?;
    match tree.get_path(Path::new(path)) {
        Ok(entry) if matches!(entry.filemode(), 0o100_644 | 0o100_755) => {
            Ok(Some(repository.find_blob(entry.id())?.content().to_vec()))
        }
        Ok(_) => Ok(None),
        Err(error) if error.code() == git2::ErrorCode::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn within(
    commit: &CommitId,
    path: &str,
    found: Option<Vec<u8>>,
    bytes_max: usize,
) -> Result<Option<Vec<u8>>, WorkspaceError> {
    match found {
        Some(bytes) if bytes.len() > bytes_max => {
            Err(too_large(commit, path, bytes.len(), bytes_max))
        }
        found => Ok(found),
    }
}

fn too_large(commit: &CommitId, path: &str, bytes: usize, bytes_max: usize) -> WorkspaceError {
    WorkspaceError::TooLarge {
        path: format!("{commit}:{path}").into(),
        bytes: u64::try_from(bytes).unwrap_or(u64::MAX),
        bytes_max: u64::try_from(bytes_max).unwrap_or(u64::MAX),
    }
}
