//! One look at the forge of a project.

use std::collections::BTreeMap;

use symphony_core::config::{ForgeSettings, ProjectConfig, PushWhen};
use symphony_core::log::TrackerEntry;
use symphony_core::pull_request::{PrState, PullRequest, VerifiedGates};
use symphony_forge::fault::{About, about};
use symphony_forge::remote::RemotePull;
use symphony_store::{ForgePull, ForgeRecord, PrFilter};
use symphony_sync::Forge;
use symphony_tracker::fault::Fault;
use symphony_workspace::Repository;

use super::fault::{as_forge, hold_forge};
use super::kept_base::KeptBase;
use super::report::ForgeReport;
use crate::error::RunnerError;
use crate::outreach::stop::Stop;
use crate::repository::open_repository;
use crate::session::Session;

/// What a look works with.
pub(super) struct Round<'a> {
    pub(super) session: &'a mut Session,
    pub(super) config: &'a ProjectConfig,
    pub(super) settings: &'a ForgeSettings,
    pub(super) client: &'a dyn Forge,
    pub(super) record: ForgeRecord,
    pub(super) report: ForgeReport,
    /// Bases that a person has to push, or not, by name.
    pub(super) kept_bases: BTreeMap<String, KeptBase>,
}

/// A pull request on both sides.
pub(super) struct Mirrored {
    pub(super) pr: PullRequest,
    pub(super) pull: ForgePull,
    pub(super) theirs: Option<RemotePull>,
    /// What was in the way at the look before this one.
    before: Option<String>,
}

impl Mirrored {
    /// Begins the exchange of a pull request: what was in the way is found again, or it is over.
    pub(super) fn begin(pr: PullRequest, mut pull: ForgePull) -> Self {
        Self {
            before: pull.problem.take(),
            pr,
            pull,
            theirs: None,
        }
    }
}

impl Round<'_> {
    /// Does one look. A fault of the forge holds it, and is in the report.
    pub(super) async fn run(&mut self) -> Result<(), RunnerError> {
        match self.look().await {
            Ok(()) => Ok(()),
            Err(Stop::Fault(fault)) => {
                let store = &mut self.session.store;
                self.report.hold = Some(hold_forge(store, &self.record, fault)?);
                Ok(())
            }
            Err(Stop::Error(error)) => {
                // A tick's helper has no one to report to: without this, each tick would try again at once, and no one would know.
                let detail = error.with_causes();
                let store = &mut self.session.store;
                let held = hold_forge(store, &self.record, Fault::Here { detail });
                held.and(Err(error))
            }
        }
    }

    async fn look(&mut self) -> Result<(), Stop> {
        self.know_place().await?;
        // Before anything is read: what happens during the look is looked at by the next one.
        self.record.seen_event = self.session.store.forge_news(&self.record)?.1;
        let repository = open_repository(&self.session.project, self.config)?;
        self.follow_bases(&repository).await?;
        for pr in self.open_here()? {
            let done = self.mirror(&repository, pr.clone()).await;
            self.go_on(&pr, done).await?;
        }
        for pull in self.session.store.open_forge_pulls(&self.record.project)? {
            let pr = self.session.store.pr(pull.pr)?;
            if !pr.state.is_open() {
                let done = self.mirror_ended(&repository, pr.clone(), pull).await;
                self.go_on(&pr, done).await?;
            }
        }
        self.close_left().await?;
        self.watch_closed().await?;
        self.report.problems.extend(self.record.problem.clone());
        Ok(self
            .session
            .store
            .note_forge_look(&as_forge(), &self.record)?)
    }

    /// The pull requests that are open here. A proposal that nothing is left to do has no branch.
    fn open_here(&self) -> Result<Vec<PullRequest>, Stop> {
        let mut open = Vec::new();
        for state in [PrState::Open, PrState::Approved] {
            let filter = PrFilter {
                project: Some(self.record.project.clone()),
                state: Some(state),
                ..PrFilter::default()
            };
            open.extend(self.session.store.prs(&filter)?);
        }
        open.retain(|pr| pr.proposal.is_none());
        open.sort_by_key(|pr| pr.id);
        Ok(open)
    }

    /// Mirrors a pull request that is open here. What the forge refuses about it keeps no other back.
    async fn mirror(&mut self, repository: &Repository, pr: PullRequest) -> Result<(), Stop> {
        let known = self.session.store.forge_pull_of(pr.id)?;
        let is_known = known.as_ref().is_some_and(|known| known.is_open);
        if !is_known && !self.is_ready(&pr) {
            // one of an earlier round of the same branch may be open there
            let open = self.session.store.open_forge_pulls(&pr.project)?;
            if !open.iter().any(|pull| pull.branch == pr.branch) {
                return Ok(());
            }
        }
        let context = as_forge();
        let store = &mut self.session.store;
        let pull = store.ensure_forge_pull(&context, &pr.project, &pr.branch, pr.id)?;
        let mut both = Mirrored::begin(pr, pull);
        if let Some(number) = both.pull.number {
            both.theirs = Some(self.client.pull(number).await?);
        }
        let done = self.exchange(repository, &mut both).await;
        self.settle(&both, done)
    }

    async fn exchange(&mut self, repository: &Repository, both: &mut Mirrored) -> Result<(), Stop> {
        if self.has_ended(repository, both).await? {
            return Ok(());
        }
        let has_base = self.record.rules.contains_key(&both.pr.base);
        // what begins at someone's own commits would show them
        let kept = self.begins_at_kept(repository, &both.pr)?;
        if kept.is_some() {
            both.pull.problem = kept;
        } else if has_base && self.is_ready(&both.pr) && self.push(repository, both)? {
            self.open(both).await?;
            self.write(both).await?;
        }
        // Reviews before checks: a person's word about a commit is not to be answered by a rejection that came later.
        self.hear(both).await?;
        self.read_checks(both).await?;
        self.reply(both).await
    }

    /// Writes what became of a pull request. A refusal about it alone is its problem; all else ends the look.
    pub(super) fn settle(&mut self, both: &Mirrored, done: Result<(), Stop>) -> Result<(), Stop> {
        let mut pull = both.pull.clone();
        let stop = match done {
            Ok(()) => None,
            Err(Stop::Fault(fault)) if about(&fault) == About::One => {
                pull.problem = Some(fault.to_string());
                None
            }
            Err(stop) => Some(stop),
        };
        if let Some(problem) = pull.trouble() {
            let of = both.pr.of.reference(both.pr.id);
            self.report.problems.push(format!("{of}: {problem}"));
        }
        if stop.is_some() {
            // The look did not come far enough to know whether that is over: a hold of the forge must not hide it.
            pull.problem = pull.problem.or_else(|| both.before.clone());
        }
        self.session
            .store
            .save_forge_pull(&as_forge(), &both.pr.of, &pull, &[])?;
        stop.map_or(Ok(()), Err)
    }

    /// Whether it may be shown to people at the forge.
    pub(super) fn is_ready(&self, pr: &PullRequest) -> bool {
        let has_gates = !self.config.gates.is_empty();
        let is_green = match pr.gates_of_head() {
            Some(gates) => VerifiedGates::green(gates),
            None => !has_gates,
        };
        // whoever approved it whatever its gates report wants it to be merged
        let is_forced = pr.verdict_on_head().is_some_and(|verdict| verdict.force);
        let is_green = is_green || is_forced;
        match self.settings.push {
            PushWhen::Opened => is_green,
            PushWhen::Approved => is_green && pr.state == PrState::Approved,
        }
    }

    /// Saves what is known of a pull request, before or after a step that cannot be taken back.
    pub(super) fn save(&mut self, both: &Mirrored, entries: &[TrackerEntry]) -> Result<(), Stop> {
        let store = &mut self.session.store;
        Ok(store.save_forge_pull(&as_forge(), &both.pr.of, &both.pull, entries)?)
    }

    /// An entry of the log about the forge.
    pub(super) fn noted(&self, text: impl Into<String>) -> TrackerEntry {
        TrackerEntry::Noted {
            tracker: self.settings.kind.to_string(),
            text: text.into(),
        }
    }
}
