//! A merge at the forge, at a person's order: asked for, and followed by the base here.
//!
//! What could keep the base here from following is looked for before the forge is asked, since a merge there cannot be taken back. If
//! it is made and the base still cannot follow, whose order it was is recorded, so that a later look or a second order records the
//! merge as theirs.

use symphony_core::Timestamp;
use symphony_core::config::{ForgeMethod, ForgeSettings};
use symphony_core::outside::{CheckoutInTheWay, MergeObstacle};
use symphony_forge::change::MergeWish;
use symphony_forge::check::required;
use symphony_forge::end::{Order, Ours, plan_order};
use symphony_forge::remote::{BranchRules, MergeAnswer, MergeMethod, RemotePull};
use symphony_store::{BaseMove, ForgePull, OrderedMerge, Store};
use symphony_sync::Forge;
use symphony_tracker::remote::RemoteUser;
use symphony_workspace::{BranchName, CommitId, Failpoint, Identity, Remote};

use super::base::short;
use super::fault::as_forge;
use super::merge::ForgeMerge;
use crate::error::RunnerError;
use crate::merge::place::place_here;
use crate::merge::refusals::base_gone;
use crate::merge::{MergeRefusal, NotMerged};
use crate::runtime::block_on;

impl ForgeMerge<'_> {
    /// Has the forge merge, and brings the base here to it. The caller has the turn of the helper.
    pub(super) fn order(
        &self,
        store: &mut Store,
        settings: &ForgeSettings,
        rules: &BranchRules,
        client: &dyn Forge,
    ) -> Result<CommitId, RunnerError> {
        let pull = store.forge_pull_of(self.pr.id)?;
        let not_there = |problem: Option<String>| {
            self.refused(MergeRefusal::NotAtForge {
                commit: self.pr.head_commit.clone(),
                problem,
            })
        };
        let Some(mut pull) = pull.filter(|pull| pull.is_open) else {
            return Err(not_there(None));
        };
        let Some(number) = pull.number else {
            return Err(not_there(pull.problem));
        };
        let theirs = block_on(&self.installation.root, client.pull(number))?
            .map_err(|fault| self.refused(MergeRefusal::Forge(fault.to_string())))?;
        let ordered = pull.ends.ordered.as_ref();
        let ours = Ours {
            state: self.pr.state,
            head: &self.pr.head_commit,
            base: &self.pr.base,
            pushed: &pull.pushed,
            is_given_up: false,
        };
        match plan_order(
            ours,
            &theirs,
            ordered.map(|ordered| ordered.commit.as_str()),
        ) {
            Order::Ask => {
                self.refuse_unchecked(client, &required(rules, &settings.checks))?;
                self.require_room(store, settings)?;
                let commit = self.ask(settings, client, &theirs)?;
                Failpoint::ForgeMerged.reach();
                self.note_order(store, &mut pull, &commit)?;
                self.follow(store, settings, &commit)?;
                Ok(commit)
            }
            Order::Follow { commit } => {
                let commit = RunnerError::commit(&commit, "the merge that the forge made")?;
                self.follow(store, settings, &commit)?;
                Ok(commit)
            }
            Order::Merged { commit, by } => Err(self.refused(MergeRefusal::Forge(merged_words(
                commit.as_deref(),
                by.as_ref(),
            )))),
            Order::Closed => Err(self.refused(MergeRefusal::Forge(
                "it is closed there; run `symphony forge sync` to close it here, too".to_owned(),
            ))),
            Order::OtherBase { base } => Err(self.refused(MergeRefusal::OtherBase {
                there: base,
                here: self.pr.base.clone(),
            })),
            Order::OtherHead { .. } => Err(not_there(pull.problem)),
        }
    }

    /// Refuses a merge that the base here could not follow.
    fn require_room(&self, store: &Store, settings: &ForgeSettings) -> Result<(), RunnerError> {
        let repository = self.repository;
        let base = BranchName::parse(&self.pr.base)?;
        let head = RunnerError::commit(&self.pr.head_commit, "the recorded head")?;
        let environment = &self.installation.environment;
        let theirs = Remote::new(repository, &settings.remote, environment).fetch(&base)?;
        let Some(ours) = repository.branch_head(&base)? else {
            return Err(base_gone(store, self.pr)?);
        };
        if !repository.is_merged(&ours, &theirs)? {
            return Err(self.refused(MergeRefusal::BaseAhead {
                base: self.pr.base.clone(),
                remote: settings.remote.clone(),
            }));
        }
        let Some(checkout) = repository.base_checkout(&base)? else {
            return Ok(());
        };
        // the base will have both: what it has there already, and the change
        for commit in [&theirs, &head] {
            let files = repository.in_the_way_of(commit, &checkout, &ours)?;
            if !files.is_empty() {
                let found = CheckoutInTheWay {
                    pr: self.pr.id,
                    path: checkout.path().display().to_string(),
                    files,
                };
                return Err(NotMerged::found(self.pr, MergeObstacle::Checkout(found)).into());
            }
        }
        Ok(())
    }

    fn ask(
        &self,
        settings: &ForgeSettings,
        client: &dyn Forge,
        theirs: &RemotePull,
    ) -> Result<CommitId, RunnerError> {
        let (title, message) = self.message.split_once('\n').unwrap_or((self.message, ""));
        let wish = MergeWish {
            head: self.pr.head_commit.clone(),
            method: self.method(settings),
            title: title.to_owned(),
            message: message.trim().to_owned(),
        };
        let answer = block_on(&self.installation.root, client.merge(theirs.number, &wish))?;
        let why = match answer {
            Ok(MergeAnswer::Merged { commit }) => {
                return RunnerError::commit(&commit, "the merge that the forge names");
            }
            Ok(MergeAnswer::NotMergeable { detail }) => detail,
            Ok(MergeAnswer::HeadMoved) => "its branch there has another head".to_owned(),
            Err(fault) => fault.to_string(),
        };
        Err(self.refused(MergeRefusal::Forge(why)))
    }

    fn method(&self, settings: &ForgeSettings) -> MergeMethod {
        if self.options.squash.is_some() {
            return MergeMethod::Squash;
        }
        match settings.method {
            ForgeMethod::Merge => MergeMethod::Merge,
            ForgeMethod::Squash => MergeMethod::Squash,
            ForgeMethod::Rebase => MergeMethod::Rebase,
        }
    }

    /// Records whose order it was, before anything that may fail.
    fn note_order(
        &self,
        store: &mut Store,
        pull: &mut ForgePull,
        commit: &CommitId,
    ) -> Result<(), RunnerError> {
        pull.ends.ordered = OrderedMerge::of(commit.as_str(), self.context);
        Ok(store.save_forge_pull(&as_forge(), &self.pr.of, pull, &[])?)
    }

    /// Brings the base here to the merge.
    fn follow(
        &self,
        store: &mut Store,
        settings: &ForgeSettings,
        commit: &CommitId,
    ) -> Result<(), RunnerError> {
        let waits = match self.fetch(store, settings, commit) {
            Ok(None) => return Ok(()),
            Ok(Some(waits)) => waits,
            Err(error) => error.to_string(),
        };
        Err(self.refused(MergeRefusal::MergedThere {
            commit: commit.to_string(),
            waits,
        }))
    }

    /// Fetches the base and moves it. Returns what is in the way.
    fn fetch(
        &self,
        store: &mut Store,
        settings: &ForgeSettings,
        commit: &CommitId,
    ) -> Result<Option<String>, RunnerError> {
        let repository = self.repository;
        let base = BranchName::parse(&self.pr.base)?;
        let environment = &self.installation.environment;
        let theirs = Remote::new(repository, &settings.remote, environment).fetch(&base)?;
        let Some(ours) = repository.branch_head(&base)? else {
            return Ok(Some(format!("`{base}` does not exist")));
        };
        if !repository.has_merged(commit, &theirs)? {
            return Ok(Some(format!(
                "`{}` does not have the merge yet",
                settings.remote
            )));
        }
        if !repository.is_merged(&ours, &theirs)? {
            return Ok(Some(format!(
                "`{base}` has commits that `{}` lacks",
                settings.remote
            )));
        }
        // Whoever dies from here on leaves a merge by this person, and before, one that the forge reports.
        let context = self.context.at(Timestamp::now());
        let place = place_here(self.installation, self.project)?;
        let planned = BaseMove {
            from: ours.as_str(),
            to: commit.as_str(),
            place: place.as_ref(),
        };
        store.record_merge_intent(&context, self.pr, planned)?;
        Failpoint::MergeIntended.reach();
        let identity = repository
            .human_identity()
            .unwrap_or_else(Identity::symphony);
        let Err(error) = repository.move_base(&base, &ours, &theirs, &identity) else {
            return Ok(None);
        };
        // Git may fail after it moved the ref, so the base decides, not the error.
        let now = repository.branch_head(&base)?;
        if now.is_some_and(|now| now == theirs) {
            return Ok(None);
        }
        if let Some(intent) = store.merge_intent(self.pr.id)? {
            store.take_back_merge(&context, &intent)?;
        }
        Ok(Some(error.to_string()))
    }
}

fn merged_words(commit: Option<&str>, by: Option<&RemoteUser>) -> String {
    let commit = commit.map(|commit| format!(" as {}", short(commit)));
    let by = by.map(|by| format!(" by {}", by.login));
    format!(
        "it is already merged there{}{}; run `symphony forge sync` to record that",
        commit.unwrap_or_default(),
        by.unwrap_or_default()
    )
}
