//! Merges and closes on one side, followed on the other.

use symphony_core::Timestamp;
use symphony_core::issue::IssueStatus;
use symphony_core::outside::{Evidence, FoundMerge, OutsideMerge, missing_of};
use symphony_core::pull_request::PrState;
use symphony_forge::change::PullChange;
use symphony_store::Context;
use symphony_tracker::remote::RemoteUser;
use symphony_workspace::{BranchName, CommitId, Failpoint, Remote, Repository};

use super::fault::Stop;
use super::hear::is_refusal;
use super::round::{Mirrored, Round};
use crate::error::RunnerError;
use crate::order::{close_pr, shift_issue};

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
                format!("it is merged at the forge as {commit}, which `{base}` here does not have")
            }));
            return Ok(());
        }
        Failpoint::ForgeTaken.reach();
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
        if store.record_outside_merge(&context, &found)? {
            self.report.ended.push(both.pr.id);
        }
        both.pull.is_open = false;
        Ok(())
    }

    /// Someone merged another commit of the branch. What the base has of ours is for the look at the base to find.
    pub(super) fn note_other_merge(&mut self, both: &mut Mirrored, head: &str) -> Result<(), Stop> {
        let short = |commit: &str| commit.get(..10).unwrap_or(commit).to_owned();
        let text = format!(
            "it was merged at the forge at {}, and here it is at {}: what is missing needs a pull request of its own",
            short(head),
            short(&both.pr.head_commit)
        );
        let entry = self.noted(text.clone());
        both.pull.is_open = false;
        self.save(both, &[entry])?;
        self.report.problems.push(text);
        Ok(())
    }

    /// It was closed there: it is closed here, and its issue waits in the backlog. No agent is sent to do again what a person does not
    /// want.
    pub(super) fn close_here(&mut self, both: &mut Mirrored) -> Result<(), Stop> {
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
        let entry = self.noted("the pull request was closed there, so it is closed here");
        self.save(both, &[entry])?;
        self.report.ended.push(both.pr.id);
        Ok(())
    }

    /// It was closed or merged here. A merge whose commits the base has there is noticed by the forge itself, unless they were squashed.
    pub(super) async fn close_there(&mut self, both: &mut Mirrored) -> Result<(), Stop> {
        let Some(theirs) = &both.theirs else {
            return Ok(());
        };
        let number = theirs.number;
        let merged = both.pr.merged_commit.clone();
        let merged = merged.filter(|_| both.pr.state == PrState::Merged);
        if let Some(merged) = &merged
            && !self.is_pushed(&both.pr.base, merged)?
        {
            // whoever reads a closed one would take it for rejected
            return Ok(());
        }
        let change = PullChange {
            is_open: Some(false),
            ..PullChange::default()
        };
        self.client.update(number, &change).await?;
        if let Some(merged) = &merged {
            // After the close: whoever dies in between writes no second one.
            let short = merged.get(..10).unwrap_or(merged);
            let text = format!("Merged into `{}` as {short}.", both.pr.base);
            self.client.add_comment(number, &text).await?;
        }
        both.pull.is_open = false;
        Ok(())
    }

    /// Whether the base at the forge has a commit, as it was last fetched.
    fn is_pushed(&self, base: &str, commit: &str) -> Result<bool, Stop> {
        let repository = crate::repository::open_repository(&self.session.project, self.config)?;
        let branch = BranchName::parse(base)?;
        let environment = &self.session.installation.environment;
        let remote = Remote::new(&repository, &self.settings.remote, environment);
        let commit = RunnerError::commit(commit, "the merged commit")?;
        let there = remote.head(&branch)?;
        Ok(match there {
            Some(there) => {
                repository.has_commit(&there)? && repository.is_merged(&commit, &there)?
            }
            None => false,
        })
    }
}

fn has(repository: &Repository, base: &BranchName, commit: &CommitId) -> Result<bool, Stop> {
    let Some(head) = repository.branch_head(base)? else {
        return Ok(false);
    };
    Ok(repository.has_commit(commit)? && repository.is_merged(commit, &head)?)
}
