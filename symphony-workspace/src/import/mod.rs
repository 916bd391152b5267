//! Imports what an agent committed in its own git folder into the project's repository.
//!
//! Everything in that folder is the agent's: its configuration can name programs, its alternates another repository,
//! a link another folder. So git never opens it. Symphony reads its refs as text, copies its objects, which are data,
//! into a folder of Symphony's own, and git fetches from there: it checks every object, and that nothing is missing.

mod fault;
mod large;
mod log;
mod objects;
mod refs;
mod unfinished;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use self::fault::{not_copied, reason};
use crate::commit_id::CommitId;
use crate::deep::remove_deep;
use crate::error::WorkspaceError;
use crate::git::copy_shallow;
use crate::linux::Folder;
use crate::pristine::{borrow_objects, config_text};
use crate::repository::{BranchName, Repository};
use crate::worktree::WorktreeKey;

pub(crate) use log::LogEntry;
pub(crate) use refs::Tags;
pub(crate) use unfinished::Unfinished;

/// Where objects wait to be checked, in the repository's git folder.
const WAITING: &str = "symphony-imports";

/// A folder there that is older belongs to a process that is dead.
const OLD: Duration = Duration::from_hours(6);

/// What keeps git's memory small: an agent can make an object of any size, which is tiny as a file, and git would compare them
/// with each other in memory. Larger ones are passed on as they are read.
const SETTINGS: &str = "[core]\n\tbigFileThreshold = 1m\n[pack]\n\tthreads = 1\n\twindow = 0\n";

/// The refs of what was imported, by worktree.
const IMPORTED: &str = "refs/symphony/runs";

/// Returns the folder of the refs of what was imported from a worktree.
pub(crate) fn imported_folder(key: &WorktreeKey) -> String {
    format!("{IMPORTED}/{}/", key.as_ref_part())
}

/// The folder of the stash among them.
const STASH_FOLDER: &str = "stash";

/// The refs that wait to be fetched.
const OFFERED: &str = "refs/agent";

/// What came from an agent's git folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// The commit that was checked out; `None` on a branch without a commit, or when its objects are not complete.
    pub head: Option<CommitId>,
    /// The full name of the branch that was checked out; `None` when detached.
    pub branch: Option<String>,
    /// Commits of other branches, of the stash, of further worktrees and of the log of `HEAD` that the repository did not
    /// have, by the full name of what has them.
    pub others: Vec<(String, CommitId)>,
    /// Names of what was left out: its commits are not complete, or git would not take them.
    pub left_out: Vec<String>,
    /// What its tags name, where they were asked for: commits, and objects of tags.
    pub(crate) tags: Vec<CommitId>,
    /// All branches there.
    pub(crate) branches: BTreeMap<String, CommitId>,
    /// Where `HEAD` has been, the oldest entry first, as far as the commits are here.
    pub(crate) log: Vec<LogEntry>,
    /// The same of the worktree's own branch.
    pub(crate) branch_log: Vec<LogEntry>,
    pub(crate) unfinished: Unfinished,
}

impl Repository {
    /// Brings the commits of an agent's own git folder into this repository, and keeps them by refs below
    /// `refs/symphony/runs/<worktree>`. Other refs stay as they are, and nothing in the agent's folder is executed, followed or
    /// changed.
    ///
    /// An agent can name any commit that the repository has as its head.
    ///
    /// # Errors
    /// [`WorkspaceError::Tampered`] when the folder is not what a git folder is made of, or has more than can be copied.
    pub fn import(
        &self,
        checkout: &Path,
        key: &WorktreeKey,
        branch: Option<&BranchName>,
    ) -> Result<Imported, WorkspaceError> {
        self.import_with(checkout, key, branch, Tags::Given)
    }

    /// Does the same. `tags` says whose they are.
    pub(crate) fn import_with(
        &self,
        checkout: &Path,
        key: &WorktreeKey,
        branch: Option<&BranchName>,
        tags: Tags,
    ) -> Result<Imported, WorkspaceError> {
        let tampered = |what: String| WorkspaceError::Tampered {
            path: checkout.to_owned(),
            what,
        };
        let folder = open_git_folder(checkout).map_err(|error| tampered(reason(&error)))?;
        let found = Found::read(&folder, branch, tags).map_err(|error| tampered(reason(&error)))?;
        let mut imported = Imported {
            others: Vec::new(),
            left_out: found.refs.left_out.clone(),
            log: Vec::new(),
            branch_log: Vec::new(),
            unfinished: found.unfinished.clone(),
            branch: found.refs.branch.clone(),
            branches: found.refs.branches.clone(),
            tags: found.refs.tags.values().cloned().collect(),
            head: found.refs.head.clone(),
        };
        let offers = self.offers(found.named())?;
        if let Some(any) = offers.first().map(|offer| offer.commit.clone()) {
            let waiting = Waiting::make(self.common_dir()).map_err(|source| {
                WorkspaceError::io("make a folder in", self.common_dir(), source)
            })?;
            self.lay_out_waiting(&waiting.0, &any, &offers)?;
            objects::copy(&folder, &waiting.0.join("objects"))
                .map_err(|error| not_copied(checkout, error))?;
            self.fetch_offers(&waiting.0, key, offers, &mut imported)?;
        }
        self.leave_out_incomplete(&mut imported)?;
        self.take_in_large(&folder, key)?;
        imported.log = self.known(found.log)?;
        imported.branch_log = self.known(found.branch_log)?;
        Ok(imported)
    }

    /// Removes the refs of what was imported from a worktree: what of it matters is on a branch or has a rescue ref.
    ///
    /// # Errors
    /// When git fails.
    pub fn forget_imported(&self, key: &WorktreeKey) -> Result<(), WorkspaceError> {
        let folder = format!("{IMPORTED}/{}", key.as_ref_part());
        let names = self.reader().names_below(&format!("{folder}/"))?;
        if names.is_empty() {
            return Ok(());
        }
        let lines: Vec<String> = names
            .iter()
            .map(|name| format!("delete {name}\n"))
            .collect();
        self.git
            .command("update-ref")
            .args(["--no-deref", "--stdin"])
            .stdin(lines.concat().into_bytes())
            .run()
            .map(drop)
    }

    /// Lists what was imported from a worktree's agent: the entries of its stash, and all other commits.
    pub(crate) fn imported_commits(
        &self,
        key: &WorktreeKey,
    ) -> Result<(Vec<CommitId>, Vec<CommitId>), WorkspaceError> {
        let folder = format!("{IMPORTED}/{}/", key.as_ref_part());
        let names = self.reader().names_below(&folder)?;
        let parts = names.iter().filter_map(|name| {
            let (kind, commit) = name.strip_prefix(&folder)?.split_once('/')?;
            Some((kind, CommitId::parse(commit).ok()?))
        });
        let mut stash = Vec::new();
        let mut others = Vec::new();
        for (kind, commit) in parts {
            let list = if kind == STASH_FOLDER {
                &mut stash
            } else {
                &mut others
            };
            list.push(commit);
        }
        Ok((stash, others))
    }

    /// Returns the entries whose commits are here.
    fn known(&self, entries: Vec<LogEntry>) -> Result<Vec<LogEntry>, WorkspaceError> {
        let mut known = Vec::with_capacity(entries.len());
        for entry in entries {
            let has_before = match &entry.before {
                Some(before) => self.reader().has_commit(before)?,
                None => true,
            };
            if has_before && self.reader().has_commit(&entry.commit)? {
                known.push(entry);
            }
        }
        Ok(known)
    }

    /// Returns what the repository does not have of what an agent's folder has, each commit once.
    fn offers(
        &self,
        named: impl Iterator<Item = (Kind, String, CommitId)>,
    ) -> Result<Vec<Offer>, WorkspaceError> {
        let mut seen = BTreeSet::new();
        let mut offers = Vec::new();
        for (kind, name, commit) in named {
            if seen.insert(commit.clone()) && !self.reader().has_commit(&commit)? {
                offers.push(Offer { kind, name, commit });
            }
        }
        Ok(offers)
    }

    /// Fetches all at once, or else one after the other: one that is not complete must not cost the run's work.
    fn fetch_offers(
        &self,
        waiting: &Path,
        key: &WorktreeKey,
        offers: Vec<Offer>,
        imported: &mut Imported,
    ) -> Result<(), WorkspaceError> {
        let is_all = match self.fetch_waiting(waiting, key, "*") {
            Ok(()) => true,
            Err(WorkspaceError::Git { code: Some(_), .. }) => false,
            Err(error) => return Err(error),
        };
        for offer in offers {
            if !is_all {
                match self.fetch_waiting(waiting, key, &offer.place()) {
                    Ok(()) => {}
                    Err(WorkspaceError::Git { code: Some(_), .. }) => {
                        imported.left_out.push(offer.name);
                        continue;
                    }
                    Err(error) => return Err(error),
                }
            }
            if !matches!(offer.kind, Kind::Head | Kind::Log | Kind::Tag) {
                imported.others.push((offer.name, offer.commit));
            }
        }
        Ok(())
    }

    /// Leaves out what is no commit, or did not come: an agent's disk may have been full, and a ref can name anything.
    fn leave_out_incomplete(&self, imported: &mut Imported) -> Result<(), WorkspaceError> {
        let has = |commit: &CommitId| self.reader().has_commit(commit);
        if let Some(head) = &imported.head
            && !has(head)?
        {
            imported.head = None;
            imported.left_out.push("HEAD".to_owned());
        }
        let mut whole = BTreeMap::new();
        for (name, commit) in std::mem::take(&mut imported.branches) {
            if has(&commit)? {
                whole.insert(name, commit);
            }
        }
        imported.branches = whole;
        let mut merged = Vec::new();
        for commit in std::mem::take(&mut imported.unfinished.merged) {
            if has(&commit)? {
                merged.push(commit);
            }
        }
        imported.unfinished.merged = merged;
        let mut others = Vec::new();
        for (name, commit) in std::mem::take(&mut imported.others) {
            if has(&commit)? {
                others.push((name, commit));
            } else {
                imported.left_out.push(name);
            }
        }
        imported.others = others;
        imported.left_out.sort();
        imported.left_out.dedup();
        Ok(())
    }

    /// Makes a repository that has the refs to fetch, and borrows the objects of this one.
    fn lay_out_waiting(
        &self,
        git_dir: &Path,
        any: &CommitId,
        offers: &[Offer],
    ) -> Result<(), WorkspaceError> {
        let write = || -> io::Result<()> {
            borrow_objects(git_dir, self.common_dir())?;
            fs::write(git_dir.join("HEAD"), "ref: refs/heads/head\n")?;
            let lines: BTreeSet<String> = offers
                .iter()
                .map(|offer| format!("{} {OFFERED}/{}\n", offer.commit, offer.place()))
                .collect();
            let lines: String = lines.into_iter().collect();
            fs::write(git_dir.join("packed-refs"), lines)?;
            let config = config_text(git_dir, self.common_dir(), any.is_sha256()) + SETTINGS;
            fs::write(git_dir.join("config"), config)
        };
        write().map_err(|source| WorkspaceError::io("lay out", git_dir, source))?;
        copy_shallow(self.common_dir(), git_dir)
    }

    fn fetch_waiting(
        &self,
        git_dir: &Path,
        key: &WorktreeKey,
        which: &str,
    ) -> Result<(), WorkspaceError> {
        let key = key.as_ref_part();
        self.git
            .command("fetch")
            .fetching_a_folder()
            .args(["--quiet", "--no-tags", "--no-write-fetch-head"])
            .args(["--no-recurse-submodules", "--no-auto-maintenance", "--"])
            .arg(git_dir)
            .arg(format!("+{OFFERED}/{which}:{IMPORTED}/{key}/{which}"))
            .slow()
            .run()
            .map(drop)
    }
}

/// What has a commit in an agent's git folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Head,
    Branch,
    Stash,
    Worktree,
    Merge,
    Tag,
    Log,
}

/// A commit that the repository does not have.
#[derive(Debug)]
struct Offer {
    kind: Kind,
    /// What has it there.
    name: String,
    commit: CommitId,
}

impl Offer {
    /// Returns the end of the name of its ref. Names of the agent's are not part of it: two of them may not fit beside each
    /// other (`a` and `a/b`).
    fn place(&self) -> String {
        let folder = match self.kind {
            Kind::Head => "head",
            Kind::Branch => "branch",
            Kind::Stash => STASH_FOLDER,
            Kind::Worktree => "worktree",
            Kind::Merge => "merge",
            Kind::Tag => "tag",
            Kind::Log => "log",
        };
        format!("{folder}/{}", self.commit)
    }
}

/// What is in an agent's git folder.
struct Found {
    refs: refs::Refs,
    log: Vec<LogEntry>,
    branch_log: Vec<LogEntry>,
    stash: Vec<LogEntry>,
    unfinished: Unfinished,
}

impl Found {
    fn read(folder: &Folder, branch: Option<&BranchName>, tags: Tags) -> io::Result<Self> {
        let own = branch.map(BranchName::reference);
        Ok(Self {
            refs: refs::read(folder, own.as_deref(), tags)?,
            log: log::of_head(folder)?,
            branch_log: match branch {
                Some(branch) => log::of_branch(folder, branch)?,
                None => Vec::new(),
            },
            stash: log::of_stash(folder)?,
            unfinished: unfinished::read(folder)?,
        })
    }

    /// Lists all commits that something there has, the most important first.
    fn named(&self) -> impl Iterator<Item = (Kind, String, CommitId)> {
        const STASH: &str = "refs/stash";
        let refs = &self.refs;
        let head = refs.head.iter().cloned();
        let head = head.map(|commit| (Kind::Head, "HEAD".to_owned(), commit));
        let named = |kind: Kind| {
            move |(name, commit): (&String, &CommitId)| (kind, name.clone(), commit.clone())
        };
        let branches = refs.branches.iter().map(named(Kind::Branch));
        let stash = refs.stash.iter().cloned();
        let stash = stash.chain(self.stash.iter().rev().map(|entry| entry.commit.clone()));
        let stash = stash.map(|commit| (Kind::Stash, STASH.to_owned(), commit));
        let worktrees = refs
            .worktrees
            .iter()
            .map(|(name, commit)| (Kind::Worktree, name.clone(), commit.clone()));
        let merged = self.unfinished.merged.iter().cloned();
        let merged = merged.map(|commit| (Kind::Merge, "MERGE_HEAD".to_owned(), commit));
        let tags = refs.tags.iter().map(named(Kind::Tag));
        let log = self
            .log
            .iter()
            .chain(&self.branch_log)
            .rev()
            .map(|entry| entry.commit.clone());
        let log = log.map(|commit| (Kind::Log, "the log of HEAD".to_owned(), commit));
        head.chain(branches)
            .chain(stash)
            .chain(worktrees)
            .chain(merged)
            .chain(tags)
            .chain(log)
            .collect::<Vec<_>>()
            .into_iter()
    }
}

/// Returns the commit that is checked out in a checkout with a git folder of an agent's.
pub(crate) fn head_in_folder(checkout: &Path) -> Result<CommitId, WorkspaceError> {
    let tampered = |what: String| WorkspaceError::Tampered {
        path: checkout.to_owned(),
        what,
    };
    let found = open_git_folder(checkout).and_then(|folder| refs::read(&folder, None, Tags::Given));
    let refs = found.map_err(|error| tampered(reason(&error)))?;
    refs.head
        .ok_or_else(|| tampered("nothing is committed on its branch".to_owned()))
}

/// Opens the git folder in a checkout, without following a link.
fn open_git_folder(checkout: &Path) -> io::Result<Folder> {
    let checkout = Folder::open(checkout)?;
    checkout.folder(Path::new(".git"))
}

/// A folder for objects that are not checked yet. It is removed with this value.
struct Waiting(PathBuf);

impl Waiting {
    fn make(common_dir: &Path) -> io::Result<Self> {
        let above = common_dir.join(WAITING);
        fs::create_dir_all(&above)?;
        remove_old(&above)?;
        let made = tempfile::Builder::new().prefix("i").tempdir_in(&above)?;
        Ok(Self(made.keep()))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Err(error) = remove_deep(&self.0) {
            tracing::warn!(path = %self.0.display(), %error, "a folder of imported objects stays");
        }
    }
}

/// Removes what dead processes left.
fn remove_old(above: &Path) -> io::Result<()> {
    for entry in fs::read_dir(above)? {
        let entry = entry?;
        let age = entry
            .metadata()
            .and_then(|meta| meta.modified())
            .map(|modified| {
                SystemTime::now()
                    .duration_since(modified)
                    .unwrap_or_default()
            });
        if age.is_ok_and(|age| age > OLD) {
            remove_deep(&entry.path())?;
        }
    }
    Ok(())
}
