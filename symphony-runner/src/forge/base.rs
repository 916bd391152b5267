//! The base branches, as they are at the forge: fetched before worktrees are made of them, and pushed after a merge here.

use std::collections::BTreeSet;

use symphony_core::pull_request::PrState;
use symphony_store::PrFilter;
use symphony_workspace::{
    BranchName, CommitId, Identity, Pushed, Remote, Repository, WorkspaceError,
};

use super::fault::Stop;
use super::round::Round;

/// How a base branch is related to the one at the forge.
#[derive(Debug, PartialEq, Eq)]
enum Relation {
    Same,
    /// The forge has more.
    Behind,
    /// This side has more.
    Ahead,
    /// Each has commits that the other lacks.
    Apart,
}

impl Round<'_> {
    /// Brings every base branch of an open pull request, and the project's own, to where it is at the forge; or the forge to where it
    /// is here, after a merge here. Reads what is demanded of each.
    pub(super) async fn follow_bases(&mut self, repository: &Repository) -> Result<(), Stop> {
        let mut bases: BTreeSet<String> = BTreeSet::from([repository.base()?.branch.to_string()]);
        bases.extend(self.session.store.open_bases(&self.record.project)?);
        self.record.rules.retain(|name, _| bases.contains(name));
        self.record.problem = None;
        for name in bases {
            let branch = BranchName::parse(&name)?;
            let rules = self.client.rules(&name).await?;
            self.record.rules.insert(name, rules);
            if let Some(problem) = self.follow_base(repository, &branch)? {
                self.record.problem.get_or_insert(problem);
            }
        }
        Ok(())
    }

    /// Brings one base branch together with the forge's. Returns what is in the way.
    pub(super) fn follow_base(
        &self,
        repository: &Repository,
        branch: &BranchName,
    ) -> Result<Option<String>, Stop> {
        let environment = &self.session.installation.environment;
        let remote = Remote::new(repository, &self.settings.remote, environment);
        let theirs = remote.fetch(branch)?;
        let Some(ours) = repository.branch_head(branch)? else {
            return Ok(Some(format!(
                "the base branch `{branch}` does not exist here"
            )));
        };
        match relation(repository, &ours, &theirs)? {
            Relation::Same => Ok(None),
            Relation::Behind => forward(repository, branch, &ours, &theirs),
            Relation::Ahead if self.is_own_merge(branch, &ours)? => publish(&remote, branch, &ours),
            Relation::Ahead => Ok(Some(format!(
                "`{branch}` has commits here that `{}` lacks, and the newest is no merge by Symphony: push them yourself if they are meant to be there",
                self.settings.remote
            ))),
            Relation::Apart => Ok(Some(format!(
                "`{branch}` here and at `{}` have each commits that the other lacks: merge or rebase it by hand, then push it",
                self.settings.remote
            ))),
        }
    }
}

impl Round<'_> {
    /// Whether a commit of a base is a merge that is recorded here. Commits that a person has not pushed are theirs to push.
    fn is_own_merge(&self, branch: &BranchName, commit: &CommitId) -> Result<bool, Stop> {
        let filter = PrFilter {
            project: Some(self.record.project.clone()),
            state: Some(PrState::Merged),
            ..PrFilter::default()
        };
        let merged = self.session.store.prs(&filter)?;
        Ok(merged.iter().any(|pr| {
            pr.base == branch.to_string() && pr.merged_commit.as_deref() == Some(commit.as_str())
        }))
    }
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
) -> Result<Option<String>, Stop> {
    match repository.move_base(branch, ours, theirs, &Identity::symphony()) {
        // moved, or someone committed at this moment: the next look decides again
        Ok(()) | Err(WorkspaceError::RefMoved { .. }) => Ok(None),
        Err(error @ WorkspaceError::CheckoutDirty { .. }) => Ok(Some(format!(
            "`{branch}` stays behind the forge's, because of changes in its checkout: {error}"
        ))),
        Err(error) => Err(error.into()),
    }
}

fn publish(
    remote: &Remote<'_>,
    branch: &BranchName,
    ours: &CommitId,
) -> Result<Option<String>, Stop> {
    Ok(match remote.advance(ours, branch)? {
        Pushed::Done | Pushed::Moved => None,
        Pushed::Refused { detail } => Some(format!(
            "the forge does not take what `{branch}` has here: {detail}; where the branch is protected, set `forge.merge` to `forge`"
        )),
    })
}
