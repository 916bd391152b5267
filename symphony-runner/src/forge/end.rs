//! Merges and closes on one side, done on the other.

use symphony_core::Timestamp;
use symphony_core::issue::IssueStatus;
use symphony_core::outside::{Evidence, FoundMerge, OutsideMerge, missing_of};
use symphony_core::pull_request::PrState;
use symphony_forge::change::PullChange;
use symphony_store::{BaseMove, Context, OrderedMerge};
use symphony_tracker::remote::RemoteUser;
use symphony_workspace::{BranchName, CommitId, Failpoint, Remote, Repository};

use super::base::short;
use super::hear::is_refusal;
use super::round::{Mirrored, Round};
use crate::cancel::end_run_on;
use crate::error::RunnerError;
use crate::merge::place::place_here;
use crate::merge::settle::record;
use crate::merge::turn::MergeTurn;
use crate::order::{close_pr, shift_issue};
use crate::outreach::stop::Stop;

/// At how many looks a forge may still show a pull request as open whose commits its base has. It notices that by itself, some time
/// after the push; closed before, it would look like one that was turned down.
const UNMARKED_LOOKS_MAX: u32 = 5;

impl Round<'_> {
    /// Records a merge that was made there, once the base here has it.
    pub(super) fn take_merge(
        &mut self,
        repository: &Repository,
        both: &mut Mirrored,
        commit: Option<String>,
        by: Option<RemoteUser>,
    ) -> Result<(), Stop> {
        let base = BranchName::parse(&both.pr.base)?;
        let problem = self.follow_base(repository, &base)?;
        let commit = commit.unwrap_or_else(|| both.pr.head_commit.clone());
        let merged = RunnerError::commit(&commit, "the merge that the forge names")?;
        if !has(repository, &base, &merged)? {
            both.pull.problem = Some(problem.unwrap_or_else(|| {
                format!(
                    "it was merged at the forge as {commit}, which `{base}` here does not have yet"
                )
            }));
            return Ok(());
        }
        Failpoint::ForgeTaken.reach();
        let ordered = both.pull.ends.ordered.clone();
        match ordered.filter(|ordered| both.pr.state.is_open() && ordered.commit == commit) {
            Some(ordered) => self.take_order(both, &ordered, &merged),
            None => self.take_outside_merge(both, commit, by),
        }
    }

    /// Records a merge that a person ordered here and the forge made: the order could not be finished then.
    fn take_order(
        &mut self,
        both: &mut Mirrored,
        ordered: &OrderedMerge,
        merged: &CommitId,
    ) -> Result<(), Stop> {
        // The command that ordered it waits for this look to end, and records it then.
        let Some(_turn) = MergeTurn::take(&self.session.project, &both.pr.of)? else {
            return Ok(());
        };
        let context = ordered.context(Timestamp::now());
        let store = &mut self.session.store;
        if store.merge_intent(both.pr.id)?.is_none() {
            let before = both.pr.base_commit.clone();
            let place = place_here(&self.session.installation, &self.session.project)?;
            let moved = BaseMove {
                from: &before,
                to: merged.as_str(),
                place: place.as_ref(),
            };
            store.record_merge_intent(&context, &both.pr, moved)?;
        }
        both.pr = record(store, &context, both.pr.id, merged)?;
        both.pull.is_open = false;
        self.report.merged.push(both.pr.id);
        Ok(())
    }

    fn take_outside_merge(
        &mut self,
        both: &mut Mirrored,
        commit: String,
        by: Option<RemoteUser>,
    ) -> Result<(), Stop> {
        let found = FoundMerge {
            project: both.pr.project.clone(),
            of: both.pr.of.clone(),
            pr: both.pr.id,
            base: both.pr.base.clone(),
            head: both.pr.head_commit.clone(),
            merge: OutsideMerge {
                commit,
                evidence: Evidence::Forge,
                by: by.map(|by| by.login),
            },
            missing: missing_of(&both.pr),
        };
        let context = Context::system(Timestamp::now());
        let store = &mut self.session.store;
        if both.pr.state == PrState::Rejected {
            // what it works on is finished, and its next commits would need a pull request that no one asked for
            end_run_on(&self.session.installation, store, &context, &both.pr.of)?;
        }
        match store
            .record_outside_merge(&context, &found)
            .map_err(RunnerError::from)
        {
            Ok(true) => self.report.merged.push(both.pr.id),
            Ok(false) => {}
            Err(error) if is_refusal(&error) => {
                let text = format!(
                    "it was merged at the forge, but the merge cannot be recorded here: {error}"
                );
                self.report.problems.push(text.clone());
                let entry = self.noted(text);
                self.save(both, &[entry])?;
            }
            Err(error) => return Err(error.into()),
        }
        both.pull.is_open = false;
        Ok(())
    }

    /// Someone merged an older commit of the branch. What the base has of ours is for the look at the base to find.
    pub(super) fn note_older_merge(&mut self, both: &mut Mirrored, head: &str) -> Result<(), Stop> {
        let text = format!(
            "it was merged at the forge at {}, but its head here is {}: Symphony opens another pull request for the rest. Run `symphony pr close {}` if nothing is missing",
            short(head),
            short(&both.pr.head_commit),
            both.pr.reference()
        );
        let entry = self.noted(text.clone());
        both.pull.is_open = false;
        self.save(both, &[entry])?;
        let of = both.pr.of.reference(both.pr.id);
        self.report.problems.push(format!("{of}: {text}"));
        Ok(())
    }

    /// It was closed there: it is closed here, and its issue waits in the backlog. No agent is sent to do again what a person does not
    /// want.
    pub(super) fn close_here(&mut self, both: &mut Mirrored) -> Result<(), Stop> {
        let text = if both.pr.state == PrState::Rejected {
            "the pull request was closed at the forge, so no agent works on it any longer"
        } else {
            "the pull request was closed at the forge, so it is closed here, too"
        };
        both.pull.ends.close(Timestamp::now());
        self.report.closed.push(both.pr.id);
        self.shelve(both, text)
    }

    /// It was merged there after it was sent back here, and not as it is here: no agent repeats what the base has.
    pub(super) fn shelve_merged(&mut self, both: &mut Mirrored, head: &str) -> Result<(), Stop> {
        let text = format!(
            "it was merged at the forge at {} after it was sent back here at {}, so no agent works on it any longer",
            short(head),
            short(&both.pr.head_commit)
        );
        self.report.problems.push(text.clone());
        self.report.stopped.push(both.pr.id);
        self.shelve(both, &text)
    }

    fn shelve(&mut self, both: &mut Mirrored, text: &str) -> Result<(), Stop> {
        let context = self.someone();
        if let Some(issue) = both.pr.of.issue()
            && let Err(error) = shift_issue(self.session, &context, issue, IssueStatus::Backlog)
            && !is_refusal(&error)
        {
            return Err(error.into());
        }
        let pr = self.session.store.pr(both.pr.id)?;
        if pr.state.is_open() {
            close_pr(self.session, &context, &pr)?;
        }
        both.pr = self.session.store.pr(both.pr.id)?;
        both.pull.is_open = false;
        let entry = self.noted(text);
        self.save(both, &[entry])
    }

    /// It was closed or merged here, or its issue was given up. A merge whose commits the base has there is noticed by the forge itself,
    /// unless they were squashed.
    pub(super) async fn close_there(
        &mut self,
        repository: &Repository,
        both: &mut Mirrored,
    ) -> Result<(), Stop> {
        let Some(theirs) = &both.theirs else {
            return Ok(());
        };
        let number = theirs.number;
        let merged = both.pr.merged_commit.clone();
        let merged = merged.filter(|_| both.pr.state == PrState::Merged);
        if let Some(merged) = &merged {
            // whoever reads a closed one would take it for rejected
            if !self.is_pushed(repository, &both.pr.base, merged)? {
                return Ok(());
            }
            let is_noticed = self.is_pushed(repository, &both.pr.base, &both.pr.head_commit)?;
            if is_noticed && both.pull.ends.unmarked_looks < UNMARKED_LOOKS_MAX {
                both.pull.ends.unmarked_looks += 1;
                return Ok(());
            }
        }
        self.client.update(number, &PullChange::close()).await?;
        if let Some(merged) = &merged {
            // After the close: whoever dies in between writes no second one.
            let text = format!("Merged into `{}` as {}.", both.pr.base, short(merged));
            self.client.add_comment(number, &text).await?;
        } else {
            both.pull.ends.close(Timestamp::now());
        }
        both.pull.is_open = false;
        Ok(())
    }

    /// Whether the base at the forge has a commit.
    fn is_pushed(&self, repository: &Repository, base: &str, commit: &str) -> Result<bool, Stop> {
        let branch = BranchName::parse(base)?;
        let environment = &self.session.installation.environment;
        let remote = Remote::new(repository, &self.settings.remote, environment);
        let commit = RunnerError::commit(commit, "the merged commit")?;
        let there = remote.head(&branch)?;
        Ok(match there {
            Some(there) => {
                repository.has_commit(&there)? && repository.has_merged(&commit, &there)?
            }
            None => false,
        })
    }
}

fn has(repository: &Repository, base: &BranchName, commit: &CommitId) -> Result<bool, Stop> {
    let Some(head) = repository.branch_head(base)? else {
        return Ok(false);
    };
    Ok(repository.has_merged(commit, &head)?)
}
