//! Bringing a clone up to date: what the hub has, the base in its checkout, and the branch of the run's issue.

use std::collections::BTreeMap;
use std::fs::File;

use symphony_core::Timestamp;
use symphony_core::id::RunId;

use super::fetches::Fetches;
use super::lay_out::use_sha256;
use super::saved::saved_folder;
use super::{FETCHED_RESULTS, HubClone, RESULTS};
use crate::change::{RescueRef, overwrite};
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::identity::is_own_branch;
use crate::remote::NoAnswer;
use crate::repository::{Base, BranchName, Repository, point_head};
use crate::worktree::{BranchFate, RemoveRequest, WorktreeKey};

/// Where what was fetched is.
const HEADS: &str = "refs/symphony/hub/heads/";
/// The file whose lock is held while a clone is brought up to date. Fetches of two runs would otherwise fail on each other's refs.
const LOCK: &str = "symphony-hub.lock";

/// What a run needs of its clone.
#[derive(Debug, Clone)]
pub struct HubUpdate {
    /// The worktree and the branch of its issue; `None` leaves both as they are.
    pub issue: Option<(WorktreeKey, BranchName)>,
    /// Whether earlier runs may have saved something of the issue at the hub.
    pub has_saved: bool,
    /// The run whose result is needed, too, although no branch may have it yet.
    pub result_of: Option<RunId>,
    /// The time, for the names of what is saved.
    pub now: Timestamp,
}

/// A clone that is up to date.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpdatedClone {
    /// The base.
    pub base: Base,
    /// The commit that the issue's branch is at; `None` if the hub has no such branch.
    pub start: Option<CommitId>,
    /// Where work of this host that the hub does not know was saved.
    pub rescues: Vec<RescueRef>,
}

impl HubClone {
    /// Fetches what the hub has, and makes base and issue as they are there.
    ///
    /// Runs that wait for each other share a fetch, apart from what one of them alone needs.
    ///
    /// A worktree of the issue stays only if its branch is as at the hub: otherwise it is from a run that was lost, whose work no other
    /// run may build on. Its work is saved in this clone.
    ///
    /// # Errors
    /// When the fetch that this one waited for did not get through; when the hub does not answer, has no base, or uses another hash than what was fetched earlier; when the worktree cannot be removed because a process works in it.
    pub fn update(&self, update: &HubUpdate) -> Result<UpdatedClone, WorkspaceError> {
        let repository = &self.repository;
        let fetches = Fetches::of(repository.common_dir());
        let arrival = fetches.arrive();
        let mut lock = self.lock()?;
        if fetches.is_lost(arrival) {
            return Err(self.fetch_lost());
        }
        let own = update.own_refs();
        if fetches.serve(arrival) && !own.is_empty() {
            // Without the lock: no other run of this host needs these refs.
            drop(lock);
            self.hub().mirror(&own)?;
            lock = self.lock()?;
        }
        // Another fetch may have begun since, and failed.
        if !fetches.serve(arrival) {
            fetches.make(|| self.fetch_first(update), || self.follow())?;
        }
        let mut updated = UpdatedClone {
            base: repository.base()?,
            start: None,
            rescues: Vec::new(),
        };
        if let Some((key, branch)) = &update.issue {
            let at_hub = repository.reader().commits_below(HEADS)?;
            updated.start = at_hub.get(branch.as_str()).cloned();
            let start = updated.start.as_ref();
            updated.rescues =
                repository.settle_issue(key, branch, &updated.base.branch, start, update.now)?;
        }
        drop(lock);
        Ok(updated)
    }

    fn fetch_lost(&self) -> WorkspaceError {
        let name = self.address.clone();
        WorkspaceError::RemoteSilent {
            detail: format!(
                "the one that was under way did not get through, and is not tried again for each run that waited for it; `git ls-remote {name}` on this host shows whether the hub answers"
            ),
            name,
            call: "git fetch".to_owned(),
            why: NoAnswer::Unreachable,
        }
    }

    /// Fetches. Which hash the hub uses shows at the first time.
    fn fetch_first(&self, update: &HubUpdate) -> Result<(), WorkspaceError> {
        match self.fetch(update) {
            Err(WorkspaceError::OtherObjectFormat(_)) if self.repository.is_empty()? => {
                use_sha256(self.repository.common_dir())?;
                self.fetch(update)
            }
            fetched => fetched,
        }
    }

    /// Makes what all runs share as it is at the hub.
    fn follow(&self) -> Result<(), WorkspaceError> {
        let repository = &self.repository;
        repository.follow_branches(&repository.reader().commits_below(HEADS)?)?;
        if let Some(head) = self.hub().head_branch()? {
            repository.show_branch(&head)?;
        }
        repository.show(&repository.base()?)?;
        repository.exclude(&repository.own_excludes())?;
        Ok(())
    }

    fn lock(&self) -> Result<File, WorkspaceError> {
        let path = self.repository.common_dir().join(LOCK);
        let failed = |source| WorkspaceError::io("lock", path.clone(), source);
        let mut options = File::options();
        let file = options.create(true).truncate(false).write(true).open(&path);
        let file = file.map_err(failed)?;
        file.lock().map_err(failed)?;
        Ok(file)
    }

    fn fetch(&self, update: &HubUpdate) -> Result<(), WorkspaceError> {
        let mut wanted = vec![
            format!("+refs/heads/*:{HEADS}*"),
            "+refs/tags/*:refs/tags/*".to_owned(),
        ];
        wanted.extend(update.own_refs());
        self.hub().mirror(&wanted)
    }
}

impl HubUpdate {
    /// Returns the refspecs of what no other run needs.
    fn own_refs(&self) -> Vec<String> {
        let mut wanted = Vec::new();
        if let Some((key, _)) = self.issue.as_ref().filter(|_| self.has_saved) {
            // What earlier runs on lost hosts had done: comments on the issue name it.
            let folder = saved_folder(key);
            wanted.push(format!("+{folder}*:{folder}*"));
        }
        if let Some(run) = &self.result_of {
            // As a pattern, since one that is not there yet is no error.
            wanted.push(format!("+{RESULTS}{run}*:{FETCHED_RESULTS}{run}*"));
        }
        wanted
    }
}

impl Repository {
    /// Returns whether nothing was fetched yet.
    fn is_empty(&self) -> Result<bool, WorkspaceError> {
        Ok(self.reader().names_below("refs/")?.is_empty())
    }

    /// Makes the branches of people as they are at the hub. Those of Symphony belong to the runs of this host.
    fn follow_branches(&self, at_hub: &BTreeMap<String, CommitId>) -> Result<(), WorkspaceError> {
        let of_people = |name: &&String| !is_own_branch(name);
        let here = self.reader().commits_below("refs/heads/")?;
        let gone = here
            .keys()
            .filter(of_people)
            .filter(|name| !at_hub.contains_key(*name));
        let gone: Vec<String> = gone
            .map(|name| format!("delete refs/heads/{name}\n"))
            .collect();
        let mut moved = Vec::new();
        for (name, commit) in at_hub.iter().filter(|(name, _)| of_people(name)) {
            if here.get(name) != Some(commit) {
                moved.push(format!("update refs/heads/{name} {commit}\n"));
            }
        }
        // Deleted first: a new branch `a/b` needs a folder where the old branch `a` has its file.
        for lines in [gone, moved].into_iter().filter(|lines| !lines.is_empty()) {
            self.git
                .command("update-ref")
                .args(["--no-deref", "--stdin"])
                .stdin(lines.concat().into_bytes())
                .run()?;
        }
        Ok(())
    }

    /// Points `HEAD` to the branch that is checked out at the hub, by which an unusual default branch is known.
    fn show_branch(&self, head: &BranchName) -> Result<(), WorkspaceError> {
        match self.branch_head(head)? {
            Some(_) => point_head(&self.git, head, "symphony: the hub's branch"),
            None => Ok(()),
        }
    }

    /// Makes the checkout equal the base. Runs read its files, such as `WORKFLOW.md`, and none writes there.
    fn show(&self, base: &Base) -> Result<(), WorkspaceError> {
        point_head(&self.git, &base.branch, "symphony: the base")?;
        overwrite(&self.git, &base.commit)
    }

    /// Makes the branch of an issue as it is at the hub. Returns where other work of this host was saved.
    fn settle_issue(
        &self,
        key: &WorktreeKey,
        branch: &BranchName,
        base: &BranchName,
        start: Option<&CommitId>,
        now: Timestamp,
    ) -> Result<Vec<RescueRef>, WorkspaceError> {
        if self.branch_head(branch)?.as_ref() == start && start.is_some() {
            return Ok(Vec::new());
        }
        let removed = self.remove_worktree(&RemoveRequest {
            key,
            branch: Some(branch),
            base,
            fate: BranchFate::Delete,
            now,
        })?;
        if let Some(start) = start {
            self.create_branch(branch, start)?;
        }
        Ok(removed.rescues)
    }
}
