//! The base branches, as they are at the forge: fetched before worktrees are made of them, and pushed after a merge here.

use std::collections::BTreeSet;

use symphony_core::pull_request::PullRequest;
use symphony_forge::base::{Base, BaseStep, Relation, before_merges, plan_base};
use symphony_tracker::fault::Fault;
use symphony_workspace::{
    BranchName, CommitId, Identity, Pushed, Remote, Repository, WorkspaceError,
};

use super::fault::as_forge;
use super::kept_base::KeptBase;
use super::round::Round;
use crate::error::RunnerError;
use crate::outreach::stop::Stop;

impl Round<'_> {
    /// Brings every base branch of an open pull request, and the project's own, to where it is at the forge; or the forge to where it
    /// is here, after a merge here. Reads what is demanded of each.
    pub(super) async fn follow_bases(&mut self, repository: &Repository) -> Result<(), Stop> {
        let mut bases: BTreeSet<String> = BTreeSet::from([repository.base()?.branch.to_string()]);
        bases.extend(self.session.store.open_bases(&self.record.project)?);
        // after a merge here, its base is still to be pushed
        for pull in self.session.store.open_forge_pulls(&self.record.project)? {
            bases.insert(self.session.store.pr(pull.pr)?.base);
        }
        self.record.rules.retain(|name, _| bases.contains(name));
        self.record.problem = None;
        for name in bases {
            let branch = BranchName::parse(&name)?;
            let rules = match self.client.rules(&name).await {
                Err(Fault::NotFound { .. }) if self.is_missing(repository, &branch)? => {
                    // the pull requests into it wait, and all others go on
                    self.record.rules.remove(&name);
                    let problem = missing_base(&name, &self.settings.remote);
                    self.record.problem.get_or_insert(problem);
                    continue;
                }
                rules => rules?,
            };
            self.record.rules.insert(name, rules);
            if let Some(problem) = self.follow_base(repository, &branch)? {
                self.record.problem.get_or_insert(problem);
            }
        }
        Ok(())
    }

    /// Whether the remote has no such branch. The API says the same of what its token may not see.
    fn is_missing(&self, repository: &Repository, branch: &BranchName) -> Result<bool, Stop> {
        let environment = &self.session.installation.environment;
        let remote = Remote::new(repository, &self.settings.remote, environment);
        Ok(remote.head(branch)?.is_none())
    }

    /// Brings one base branch together with the forge's. Returns what is in the way.
    pub(super) fn follow_base(
        &mut self,
        repository: &Repository,
        branch: &BranchName,
    ) -> Result<Option<String>, Stop> {
        let environment = self.session.installation.environment.clone();
        let remote_name = self.settings.remote.clone();
        let remote = Remote::new(repository, &remote_name, &environment);
        let theirs = remote.fetch(branch)?;
        let Some(ours) = repository.branch_head(branch)? else {
            return Ok(Some(format!(
                "the base branch `{branch}` does not exist here"
            )));
        };
        let relation = relation(repository, &ours, &theirs)?;
        let removed = self.removed(repository, branch, &ours, &theirs)?;
        let unowned = match relation {
            Relation::Ahead => self.unowned(repository, branch, &ours, &theirs)?,
            _ => None,
        };
        let step = plan_base(Base {
            relation,
            removed: removed.as_deref(),
            unowned: unowned.as_deref(),
        });
        let problem = match &step {
            BaseStep::Nothing => None,
            BaseStep::Forward => forward(repository, branch, &ours, &theirs),
            BaseStep::Push => return self.publish(&remote, branch, &ours),
            BaseStep::Unowned { commit } => Some(format!(
                "`{branch}` has commits here that `{remote_name}` lacks, and {} is not a merge by Symphony: run `git push {remote_name} {branch}` to publish them",
                short(commit)
            )),
            BaseStep::Removed { commit } => Some(format!(
                "`{branch}` at `{remote_name}` no longer has {}, which is still here, so Symphony does not push `{branch}`. To drop it here, too, run `git fetch {remote_name}` and \
                 `git reset --keep {remote_name}/{branch}` in the checkout of `{branch}`; to restore it there, run `git push {remote_name} {branch}`",
                short(commit)
            )),
            BaseStep::Apart => Some(format!(
                "`{branch}` here and at `{remote_name}` have diverged: run `git pull --no-rebase {remote_name} {branch}` in the checkout of `{branch}`, then `git push {remote_name} {branch}`"
            )),
        };
        let is_kept = matches!(
            step,
            BaseStep::Unowned { .. } | BaseStep::Removed { .. } | BaseStep::Apart
        );
        // A rewritten branch is one until a person has decided, whatever it gets there meanwhile.
        if !matches!(step, BaseStep::Removed { .. }) {
            self.note_base(branch, &theirs)?;
        }
        let kept = problem.clone().filter(|_| is_kept);
        match kept {
            Some(problem) => {
                let kept = KeptBase { theirs, problem };
                self.kept_bases.insert(branch.to_string(), kept);
            }
            None => drop(self.kept_bases.remove(branch.as_str())),
        }
        Ok(problem)
    }

    /// Returns the commit that the forge had before and does not have any more, if it is here.
    fn removed(
        &self,
        repository: &Repository,
        branch: &BranchName,
        ours: &CommitId,
        theirs: &CommitId,
    ) -> Result<Option<String>, Stop> {
        let known = self.record.bases.get(branch.as_str());
        let Some(known) = known.and_then(|known| CommitId::parse(known).ok()) else {
            return Ok(None);
        };
        let is_removed =
            repository.has_merged(&known, ours)? && !repository.is_merged(&known, theirs)?;
        Ok(is_removed.then(|| known.to_string()))
    }

    /// Returns the newest commit of a base that the forge lacks and no recorded merge brought. A person who has not pushed their
    /// commits may not want them to be seen.
    fn unowned(
        &self,
        repository: &Repository,
        branch: &BranchName,
        ours: &CommitId,
        theirs: &CommitId,
    ) -> Result<Option<String>, Stop> {
        let store = &self.session.store;
        let merges = store.own_merges(&self.record.project, branch.as_str())?;
        let steps = before_merges(ours.as_str(), &merges);
        for step in &steps {
            let Ok(commit) = CommitId::parse(step) else {
                continue;
            };
            if repository.has_merged(&commit, theirs)? {
                return Ok(None);
            }
        }
        Ok(steps.into_iter().next_back())
    }

    /// Returns why a branch is not to be pushed: it begins at commits of its base that a person has not pushed, or has taken out.
    pub(super) fn begins_at_kept(
        &self,
        repository: &Repository,
        pr: &PullRequest,
    ) -> Result<Option<String>, Stop> {
        let Some(kept) = self.kept_bases.get(&pr.base) else {
            return Ok(None);
        };
        let begin = RunnerError::commit(&pr.base_commit, "the base of the pull request")?;
        let is_there = repository.has_merged(&begin, &kept.theirs)?;
        Ok((!is_there).then(|| kept.problem.clone()))
    }

    fn publish(
        &mut self,
        remote: &Remote<'_>,
        branch: &BranchName,
        ours: &CommitId,
    ) -> Result<Option<String>, Stop> {
        match remote.advance(ours, branch)? {
            Pushed::Done => {
                self.report.bases.push(branch.to_string());
                self.note_base(branch, ours)?;
                Ok(None)
            }
            // someone was faster: the next look decides again
            Pushed::Moved => Ok(None),
            Pushed::Refused { detail } => {
                let remote = &self.settings.remote;
                Ok(Some(format!(
                    "the forge refuses the push of `{branch}`: {detail}. Run `git push {remote} {branch}:refs/heads/NAME` and open a pull request for the branch NAME; \
                     once it is merged, `{branch}` here follows. `symphony config set forge.merge forge` makes later merges at the forge"
                )))
            }
        }
    }

    /// Remembers what a base has at the forge. At once: a look that fails later must not forget what was pushed.
    fn note_base(&mut self, branch: &BranchName, commit: &CommitId) -> Result<(), Stop> {
        let name = branch.to_string();
        if self.record.bases.get(&name).map(String::as_str) == Some(commit.as_str()) {
            return Ok(());
        }
        self.record.bases.insert(name, commit.to_string());
        let (project, bases) = (&self.record.project, &self.record.bases);
        let store = &mut self.session.store;
        Ok(store.save_forge_bases(&as_forge(), project, bases)?)
    }
}

/// Returns a commit's name as people read it.
pub(super) fn short(commit: &str) -> &str {
    commit.get(..10).unwrap_or(commit)
}

fn relation(
    repository: &Repository,
    ours: &CommitId,
    theirs: &CommitId,
) -> Result<Relation, WorkspaceError> {
    if ours == theirs {
        return Ok(Relation::Same);
    }
    Ok(
        match (
            repository.is_merged(ours, theirs)?,
            repository.is_merged(theirs, ours)?,
        ) {
            (true, _) => Relation::Behind,
            (false, true) => Relation::Ahead,
            (false, false) => Relation::Apart,
        },
    )
}

/// Moves the base here forward, with the checkout that shows it. Someone's own changes there are not overwritten.
fn forward(
    repository: &Repository,
    branch: &BranchName,
    ours: &CommitId,
    theirs: &CommitId,
) -> Option<String> {
    match repository.move_base(branch, ours, theirs, &Identity::symphony()) {
        // moved, or someone committed at this moment: the next look decides again
        Ok(()) | Err(WorkspaceError::RefMoved { .. }) => None,
        Err(error @ WorkspaceError::CheckoutDirty { .. }) => Some(format!(
            "`{branch}` cannot follow the forge, because its checkout has changes: {error}"
        )),
        // such as a lock of the index: it is gone at one of the next looks, or a person has to remove it
        Err(error) => Some(format!(
            "`{branch}` cannot be moved forward: {}",
            RunnerError::from(error).with_causes()
        )),
    }
}

/// Describes a base branch that the forge does not have.
pub(super) fn missing_base(branch: &str, remote: &str) -> String {
    format!(
        "the base branch `{branch}` does not exist at `{remote}`: run `git push {remote} {branch}` to create it"
    )
}
