//! Branches, tags and the stash, which all checkouts of a repository share. They are recorded at dispatch, and compared
//! at exit.
//!
//! Nothing is undone, since a person may have done it. What is lost gets a rescue ref, so that it can be restored.

use std::collections::{BTreeMap, BTreeSet};

use symphony_core::shared_refs::{ChangedRef, Kept, SharedRefs, changed_ref_text, dropped_text};

use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::identity::is_own_branch;
use crate::repository::Repository;

/// The newest entry of the stash.
const STASH: &str = "refs/stash";
/// The folder of rescue refs for lost shared objects, each under its own name.
const KEPT_BELOW: &str = "refs/symphony/rescue/_shared";
/// The history of how many moved branches is read, with one call of git each. More is a mirror, not work on branches.
const MOVED_MAX: usize = 500;

impl Repository {
    /// Reads the branches, the tags and the entries of the stash, with at most two calls of git.
    ///
    /// # Errors
    /// When git fails.
    pub fn shared_refs(&self) -> Result<SharedRefs, WorkspaceError> {
        let refs = self.reader().refs(&["refs/heads/", "refs/tags/", STASH])?;
        let named = |(name, object): (Vec<u8>, String)| {
            (String::from_utf8_lossy(&name).into_owned(), object)
        };
        let mut refs: BTreeMap<String, String> = refs.into_iter().map(named).collect();
        let stash = match refs.remove(STASH) {
            Some(newest) => self.stash_entries(newest)?,
            None => Vec::new(),
        };
        Ok(SharedRefs { refs, stash })
    }

    /// Lists the stash. The reflog of its ref has the entries below the newest one.
    fn stash_entries(&self, newest: String) -> Result<Vec<String>, WorkspaceError> {
        let entries = self.stash_log()?.into_iter().map(|(entry, _)| entry);
        let entries: Vec<String> = entries.collect();
        Ok(if entries.is_empty() {
            vec![newest]
        } else {
            entries
        })
    }

    /// Lists the entries of the stash with their messages, newest first.
    pub(crate) fn stash_log(&self) -> Result<Vec<(String, String)>, WorkspaceError> {
        let log = self
            .git
            .command("log")
            .args(["-g", "--format=%H %gs", STASH, "--"])
            .answer(&[0, 128])?;
        let log = String::from_utf8_lossy(&log.stdout).into_owned();
        let entries = log.lines().filter_map(|line| line.split_once(' '));
        Ok(entries
            .map(|(entry, message)| (entry.to_owned(), message.to_owned()))
            .collect())
    }

    /// Returns what was deleted or rewritten since, each in words that include the command to restore it, and keeps the
    /// objects. It leaves out branches that moved forward or were rewritten with the same changes, deleted ones whose
    /// commits another one has, stash entries that were popped, Symphony's own branches, and everything new.
    ///
    /// # Errors
    /// When git fails.
    pub fn lost_refs(&self, before: &SharedRefs) -> Result<Vec<String>, WorkspaceError> {
        let now = self.shared_refs()?;
        let own: BTreeSet<String> = before
            .refs
            .keys()
            .filter(|name| name.strip_prefix("refs/heads/").is_some_and(is_own_branch))
            .cloned()
            .collect();
        let mut lost = Vec::new();
        let mut moved = 0;
        for changed in now.changed_since(before, &own) {
            if changed.may_have_gone_on() {
                moved += 1;
                if moved > MOVED_MAX
                    || self.has_gone_on(&changed)
                    || self.is_rewritten_alike(&changed)
                {
                    continue;
                }
            }
            lost.push(changed);
        }
        self.leave_out_merged(&mut lost, &now)?;
        if moved > MOVED_MAX {
            tracing::warn!(moved, "only the first of many moved branches were checked");
        }
        let mut dropped = now.dropped_since(before);
        dropped.retain(|entry| !self.is_stash_applied(entry));
        if lost.is_empty() && dropped.is_empty() {
            return Ok(Vec::new());
        }
        let objects = lost.iter().map(|changed| &changed.was).chain(&dropped);
        let kept = self.keep_objects(&objects.cloned().collect())?;
        let fate = |object: &String| {
            if kept.contains(object) {
                Kept::Rescued
            } else {
                Kept::Gone
            }
        };
        let changed = lost
            .iter()
            .map(|changed| changed_ref_text(changed, fate(&changed.was)));
        let dropped = dropped.iter().map(|entry| dropped_text(entry, fate(entry)));
        Ok(changed.chain(dropped).collect())
    }

    /// Returns the branches with a prefix that were moved or deleted since where `explained` does not have that, each in words that include the command to restore it, and keeps the objects.
    ///
    /// # Errors
    /// When git fails.
    pub fn unexplained_moves(
        &self,
        before: &SharedRefs,
        now: &SharedRefs,
        prefix: &str,
        explained: &BTreeMap<String, BTreeSet<Option<String>>>,
    ) -> Result<Vec<String>, WorkspaceError> {
        let moved = now.unexplained_since(before, prefix, explained);
        if moved.is_empty() {
            return Ok(Vec::new());
        }
        let kept = self.keep_objects(&moved.iter().map(|moved| moved.was.clone()).collect())?;
        let text = |moved: &ChangedRef| {
            let is_kept = kept.contains(&moved.was);
            changed_ref_text(moved, if is_kept { Kept::Rescued } else { Kept::Gone })
        };
        Ok(moved.iter().map(text).collect())
    }

    /// Leaves out deleted branches whose commits another branch or a tag has.
    fn leave_out_merged(
        &self,
        lost: &mut Vec<ChangedRef>,
        now: &SharedRefs,
    ) -> Result<(), WorkspaceError> {
        let is_deleted = |changed: &ChangedRef| {
            changed.now.is_none() && changed.name.strip_prefix("refs/heads/").is_some()
        };
        let deleted = lost.iter().filter(|changed| is_deleted(changed));
        let objects: BTreeSet<String> = deleted.map(|changed| changed.was.clone()).collect();
        if objects.is_empty() {
            return Ok(());
        }
        let present = self.present_objects(&objects)?;
        let kept = self.reachable_now(&present.iter().collect(), now)?;
        lost.retain(|changed| !(is_deleted(changed) && kept.contains(&changed.was)));
        Ok(())
    }

    /// Returns whether a branch still has all that it had. False if git cannot tell.
    fn has_gone_on(&self, changed: &ChangedRef) -> bool {
        let commits = changed.now.as_deref().map(CommitId::parse);
        let (Ok(was), Some(Ok(now))) = (CommitId::parse(&changed.was), commits) else {
            return false;
        };
        self.is_merged(&was, &now).unwrap_or(false)
    }

    /// Creates rescue refs for objects, in one transaction. Returns those that the repository has.
    fn keep_objects(&self, objects: &BTreeSet<String>) -> Result<BTreeSet<String>, WorkspaceError> {
        let kept = self.present_objects(objects)?;
        let updates: Vec<String> = kept
            .iter()
            .map(|object| format!("update {KEPT_BELOW}/{object} {object}\n"))
            .collect();
        self.git
            .command("update-ref")
            .args(["-m", "symphony: rescue", "--stdin"])
            .stdin(updates.concat().into_bytes())
            .run()?;
        Ok(kept)
    }

    /// Returns the objects that the repository has.
    fn present_objects(
        &self,
        objects: &BTreeSet<String>,
    ) -> Result<BTreeSet<String>, WorkspaceError> {
        let asked: Vec<&str> = objects.iter().map(String::as_str).collect();
        let found = self
            .git
            .command("cat-file")
            .arg("--batch-check=%(objectname) %(objecttype)")
            .stdin(asked.join("\n").into_bytes())
            .run()?;
        let found = String::from_utf8_lossy(&found).into_owned();
        let present = found
            .lines()
            .filter(|line| !line.ends_with(" missing"))
            .filter_map(|line| line.split(' ').next());
        Ok(present.map(str::to_owned).collect())
    }
}
