//! Pull requests that have ended on one side: which ones they are, and what follows.

use symphony_core::Timestamp;
use symphony_core::issue::IssueStatus;
use symphony_core::pull_request::{PrState, PullRequest};
use symphony_forge::change::PullChange;
use symphony_forge::end::{End, Ours, plan_end};
use symphony_forge::remote::{PullNumber, RemotePull, RemoteState};
use symphony_store::ForgePull;
use symphony_tracker::fault::Fault;
use symphony_workspace::Repository;

use super::base::short;
use super::fault::as_forge;
use super::round::{Mirrored, Round};
use crate::outreach::stop::Stop;

/// How long a closed pull request is looked at, since someone may open it again: most do so at once, or not at all.
const WATCH_MS: i64 = 24 * 60 * 60 * 1_000;

impl Round<'_> {
    /// Follows a merge or a close on either side; returns whether there is nothing more to exchange.
    pub(super) async fn has_ended(
        &mut self,
        repository: &Repository,
        both: &mut Mirrored,
    ) -> Result<bool, Stop> {
        let Some(theirs) = both.theirs.clone() else {
            return Ok(false);
        };
        note_base_there(both, &theirs);
        let ours = Ours {
            state: both.pr.state,
            head: &both.pr.head_commit,
            base: &both.pr.base,
            pushed: &both.pull.pushed,
            is_given_up: self.is_given_up(&both.pr)?,
        };
        match plan_end(ours, &theirs) {
            End::None => {
                let is_over = theirs.state != RemoteState::Open;
                both.pull.is_open = !is_over;
                return Ok(is_over);
            }
            End::TakeMerge { commit, by } => self.take_merge(repository, both, commit, by)?,
            End::OlderMerged { head } => self.note_older_merge(both, &head)?,
            End::MoreMerged { head } => {
                both.pull.problem = Some(format!(
                    "it was merged at the forge at {}, with commits that Symphony did not push: run `symphony pr close {}` if nothing is missing",
                    short(&head),
                    both.pr.reference()
                ));
            }
            End::OtherBase { base } => {
                both.pull.problem = Some(format!(
                    "it was merged at the forge into `{base}`, but its base here is `{}`: run `symphony pr close {}` to accept that",
                    both.pr.base,
                    both.pr.reference()
                ));
            }
            End::Shelve { head } => self.shelve_merged(both, &head)?,
            End::CloseHere => self.close_here(both)?,
            End::CloseThere => self.close_there(repository, both).await?,
        }
        Ok(true)
    }

    /// Whether no one works on it any more. A plan's goes on until its plan has ended, which closes it.
    fn is_given_up(&self, pr: &PullRequest) -> Result<bool, Stop> {
        let Some(issue) = pr.of.issue() else {
            return Ok(false);
        };
        let issue = self.session.store.issue(issue)?;
        Ok(issue.state.status().is_terminal())
    }

    /// Mirrors a pull request that has ended here, or was sent back.
    pub(super) async fn mirror_ended(
        &mut self,
        repository: &Repository,
        pr: PullRequest,
        pull: ForgePull,
    ) -> Result<(), Stop> {
        let mut both = Mirrored::begin(pr, pull);
        let done = self.exchange_ended(repository, &mut both).await;
        self.settle(&both, done)
    }

    async fn exchange_ended(
        &mut self,
        repository: &Repository,
        both: &mut Mirrored,
    ) -> Result<(), Stop> {
        both.theirs = match both.pull.number {
            Some(number) => Some(self.client.pull(number).await?),
            None => self.unrecorded(both).await?,
        };
        if both.theirs.is_none() {
            // It was never opened there. Only one that is worked on can still be.
            let is_at_work = both.pr.state == PrState::Rejected && !self.is_given_up(&both.pr)?;
            both.pull.is_open = is_at_work;
            return Ok(());
        }
        if self.has_ended(repository, both).await? {
            return Ok(());
        }
        // it is worked on: what people write there meanwhile is for the next attempt
        self.write(both).await?;
        self.hear(both).await?;
        self.reply(both).await
    }

    /// Finds the pull request of a branch that was pushed: a look may have died after it had opened it.
    async fn unrecorded(&mut self, both: &mut Mirrored) -> Result<Option<RemotePull>, Stop> {
        if both.pull.pushed.is_empty() {
            return Ok(None);
        }
        let found = self.client.find(&both.pr.branch, &both.pr.base).await?;
        let found = found.filter(|found| found.state == RemoteState::Open);
        if let Some(found) = &found {
            both.pull.number = Some(found.number);
            both.pull.url = Some(found.url.clone());
        }
        Ok(found)
    }

    /// Closes what is open there though its issue was deleted here.
    pub(super) async fn close_left(&mut self) -> Result<(), Stop> {
        let project = self.record.project.clone();
        for number in self.session.store.left_forge_pulls(&project)? {
            match self.close_one_left(number).await {
                Ok(()) | Err(Fault::NotFound { .. }) => {
                    let store = &mut self.session.store;
                    store.forget_left_forge_pull(&as_forge(), &project, number)?;
                }
                Err(fault) => {
                    let why = self.of_one(&fault).await?;
                    let text = format!("pull request {number}, whose issue was deleted: {why}");
                    self.report.problems.push(text);
                }
            }
        }
        Ok(())
    }

    async fn close_one_left(&self, number: PullNumber) -> Result<(), Fault> {
        if self.client.pull(number).await?.state != RemoteState::Open {
            return Ok(());
        }
        self.client.update(number, &PullChange::close()).await?;
        // after the close, as everywhere: whoever dies in between writes no second one
        let text = "Its issue was deleted in Symphony.";
        self.client.add_comment(number, text).await.map(drop)
    }

    /// Looks whether someone has opened again what was closed on both sides. Symphony neither closes it again nor sends an agent: a
    /// person says what is wanted.
    pub(super) async fn watch_closed(&mut self) -> Result<(), Stop> {
        let since = Timestamp::now().as_millisecond().saturating_sub(WATCH_MS);
        let project = &self.record.project;
        let closed = self
            .session
            .store
            .closed_forge_pulls(project, Some(since))?;
        for mut pull in closed {
            let Some(number) = pull.number else { continue };
            let is_open = match self.client.pull(number).await {
                Ok(theirs) => theirs.state == RemoteState::Open,
                Err(Fault::NotFound { .. }) => false,
                Err(fault) => {
                    // what was found before counts until it can be read again
                    self.of_one(&fault).await?;
                    continue;
                }
            };
            let pr = self.session.store.pr(pull.pr)?;
            let problem = if is_open { self.reopened(&pr)? } else { None };
            if let Some(problem) = &problem {
                let of = pr.of.reference(pr.id);
                self.report.problems.push(format!("{of}: {problem}"));
            }
            if pull.problem != problem {
                let entries: Vec<_> = problem
                    .iter()
                    .map(|text| self.noted(text.clone()))
                    .collect();
                pull.problem = problem;
                let store = &mut self.session.store;
                store.save_forge_pull(&as_forge(), &pr.of, &pull, &entries)?;
            }
        }
        Ok(())
    }

    /// Says how one that was opened again can be taken up; nothing if its issue is in work.
    fn reopened(&self, pr: &PullRequest) -> Result<Option<String>, Stop> {
        let Some(issue) = pr.of.issue() else {
            return Ok(Some(
                "it was reopened at the forge, but its plan does not continue with it: close it there"
                    .to_owned(),
            ));
        };
        let status = self.session.store.issue(issue)?.state.status();
        let is_taken_up = matches!(
            status,
            IssueStatus::Todo | IssueStatus::InProgress | IssueStatus::Review
        );
        Ok((!is_taken_up).then(|| {
            format!(
                "it was reopened at the forge, but is closed here: run `symphony issue move {issue} todo` to send an agent, or close it there"
            )
        }))
    }
}

/// Notes the branch that it is for there. While that is another one than here, nothing is merged: the gates, the judge and the people
/// of either side looked at something else.
fn note_base_there(both: &mut Mirrored, theirs: &RemotePull) {
    both.pull.ends.base = Some(theirs.base_branch.clone());
    if theirs.state == RemoteState::Open
        && both.pr.state != PrState::Merged
        && both.pr.state != PrState::Closed
        && theirs.base_branch != both.pr.base
    {
        both.pull.problem = Some(format!(
            "its base is `{}` at the forge, but `{}` here: change the base there to `{}`, or close it",
            theirs.base_branch, both.pr.base, both.pr.base
        ));
    }
}
