//! Unwanted content of a pull request: links to commits that no one can fetch, and commits that a person took out of
//! the base. A merge refuses it, and a tick finds it before anyone tries to merge.

use std::collections::BTreeMap;

use symphony_core::id::PrId;
use symphony_core::outside::{BaseView, CheckoutInTheWay, MergeConflict, MergeObstacle, OpenInto};
use symphony_core::pull_request::PullRequest;
use symphony_store::{Project, Store};
use symphony_workspace::{
    BaseCheckout, BranchName, CommitId, MergedTrees, Repository, WorkspaceError,
};

use crate::error::RunnerError;
use crate::merge::MergeOptions;
use crate::merge::incoming::Incoming;
use crate::merge::not_merged::{MergeRefusal, NotMerged};
use crate::merge::unpublished::unpublished_head;
use crate::upkeep::rewound::{earlier_places, returning_commits};

/// A base branch, as a tick compares the pull requests into it that wait for a person with it.
pub(crate) struct LookedAtBase<'a> {
    repository: &'a Repository,
    name: &'a str,
    head: &'a CommitId,
    /// Where it was before it was moved back.
    places: Vec<CommitId>,
    /// Its checkout, if it has one and something approved may be merged into it.
    checkout: Option<BaseCheckout>,
}

impl<'a> LookedAtBase<'a> {
    /// Looks at a base branch once for all pull requests into it.
    ///
    /// # Errors
    /// When git fails, or the database cannot be read.
    pub(crate) fn look(
        store: &Store,
        project: &Project,
        repository: &'a Repository,
        (name, head): (&'a str, &'a CommitId),
        open: &[&OpenInto],
    ) -> Result<Self, RunnerError> {
        let checkout = if open.iter().any(|open| open.is_approved) {
            let checkout = repository.base_checkout(&BranchName::parse(name)?);
            checkout.unwrap_or_else(|error| {
                tracing::warn!(project = %project.id, base = %name, %error, "the checkout of a base was not looked at");
                None
            })
        } else {
            None
        };
        Ok(Self {
            repository,
            name,
            head,
            places: earlier_places(store, &project.id, name, head)?,
            checkout,
        })
    }

    /// Adds what keeps pull requests from being merged. What git cannot tell now, the next tick asks again.
    ///
    /// # Errors
    /// When the base is gone.
    pub(crate) fn compare(
        &self,
        open: &[&OpenInto],
        view: &mut BaseView,
    ) -> Result<(), RunnerError> {
        let mut heads = Vec::new();
        for open in open {
            match head_of(open) {
                Ok(head) => heads.push((*open, head)),
                Err(error) => {
                    tracing::warn!(pr = %open.pr, %error, "it is not known whether it can be merged");
                }
            }
        }
        let merged = self.merged(&heads)?;
        for (open, head) in &heads {
            let merged = merged.get(&open.pr);
            if let Err(error) = self.look_for_unwanted(open, head, merged, view) {
                tracing::warn!(pr = %open.pr, %error, "it is not known whether it can be merged");
            }
            if let Some(Err(files)) = merged.filter(|_| self.has_moved_since(open)) {
                view.conflicting.push(MergeConflict {
                    pr: open.pr,
                    base: open.base.clone(),
                    files: files.clone(),
                });
            }
        }
        Ok(())
    }

    /// Returns whether the base is elsewhere than when the pull request was opened. Otherwise it has no conflict.
    fn has_moved_since(&self, open: &OpenInto) -> bool {
        open.base_commit != self.head.as_str()
    }

    /// Returns the checkout that a merge of a pull request would move.
    fn checkout_of(&self, open: &OpenInto) -> Option<&BaseCheckout> {
        self.checkout.as_ref().filter(|_| open.is_approved)
    }

    /// Merges what may conflict, or may overwrite files in the checkout, with the base.
    fn merged(
        &self,
        heads: &[(&OpenInto, CommitId)],
    ) -> Result<BTreeMap<PrId, MergedTrees>, RunnerError> {
        let needed = heads
            .iter()
            .filter(|(open, _)| self.has_moved_since(open) || self.checkout_of(open).is_some());
        let (needed, heads): (Vec<PrId>, Vec<CommitId>) =
            needed.map(|(open, head)| (open.pr, head.clone())).unzip();
        if heads.is_empty() {
            return Ok(BTreeMap::new());
        }
        let merged = self.repository.merges_of_all(self.head, &heads)?;
        let merged = needed.into_iter().zip(merged);
        Ok(merged
            .filter_map(|(pr, merged)| Some((pr, merged?)))
            .collect())
    }

    fn look_for_unwanted(
        &self,
        open: &OpenInto,
        head: &CommitId,
        merged: Option<&MergedTrees>,
        view: &mut BaseView,
    ) -> Result<(), RunnerError> {
        let incoming = Incoming {
            pr: open.pr,
            of: &open.of,
            branch: self.name,
            base: self.head,
            head,
        };
        let unpublished = unpublished_head(self.repository, incoming)?;
        view.unpublished.extend(unpublished);
        let returning = returning_commits(self.repository, incoming, &self.places)?;
        view.returning.extend(returning);
        if let (Some(checkout), Some(Ok(tree))) = (self.checkout_of(open), merged) {
            let files = checkout.in_the_way(self.head, tree)?;
            if !files.is_empty() {
                view.overwriting.push(CheckoutInTheWay {
                    pr: open.pr,
                    path: checkout.path().display().to_string(),
                    files,
                });
            }
        }
        Ok(())
    }
}

fn head_of(open: &OpenInto) -> Result<CommitId, RunnerError> {
    RunnerError::commit(
        &open.head_commit,
        format_args!("the head of pull request {}", open.pr),
    )
}

/// Refuses a merge that would bring unwanted content into the base, unless it is forced.
///
/// # Errors
/// When there is such content, or git fails.
pub(crate) fn refuse_unwanted(
    store: &Store,
    repository: &Repository,
    pr: &PullRequest,
    base: &CommitId,
    head: &CommitId,
    options: &MergeOptions,
) -> Result<(), RunnerError> {
    if options.force {
        return Ok(());
    }
    refuse_filters(repository, base, head, pr)?;
    let incoming = Incoming {
        pr: pr.id,
        of: &pr.of,
        branch: &pr.base,
        base,
        head,
    };
    if let Some(found) = unpublished_head(repository, incoming)? {
        return Err(NotMerged::found(pr, MergeObstacle::Unpublished(found)).into());
    }
    let places = earlier_places(store, &pr.project, &pr.base, base)?;
    match returning_commits(repository, incoming, &places)? {
        Some(found) => Err(NotMerged::found(pr, MergeObstacle::Returning(found)).into()),
        None => Ok(()),
    }
}

/// Refuses a change that adds a filter which Symphony may not run. The checkout of the base would get its files
/// unfiltered, and the project would be on hold from then on.
fn refuse_filters(
    repository: &Repository,
    base: &CommitId,
    head: &CommitId,
    pr: &PullRequest,
) -> Result<(), RunnerError> {
    let (name, patterns) = match repository.require_filters_of(head) {
        Err(WorkspaceError::FilterNotRun { name, patterns, .. }) => (name, patterns),
        other => return Ok(other?),
    };
    if repository.require_filters_of(base).is_err() {
        // A filter that the base already has holds the project, and is reported there.
        return Ok(());
    }
    Err(NotMerged::new(pr, MergeRefusal::Filter { name, patterns }).into())
}
