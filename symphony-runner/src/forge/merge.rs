//! A merge through the forge, at a person's request.

use symphony_core::Timestamp;
use symphony_core::config::{ForgeMethod, ForgeSettings, MergeWhere, ProjectConfig};
use symphony_core::pull_request::PullRequest;
use symphony_forge::change::MergeWish;
use symphony_forge::check::{SeenCheck, required};
use symphony_forge::remote::{CheckResult, MergeAnswer, MergeMethod, PullNumber};
use symphony_store::{Context, ForgePull, ForgeRecord, Project, Store};
use symphony_workspace::{BranchName, CommitId, Failpoint, Identity, Remote, Repository};

use super::client::{client_of, repository_of};
use crate::error::RunnerError;
use crate::installation::Installation;
use crate::merge::{MergeOptions, MergeRefusal, NotMerged};
use crate::outreach::helper::Helper;
use crate::runtime::block_on;

/// A merge that may be the forge's to make.
#[derive(Debug)]
pub(crate) struct ForgeMerge<'a> {
    pub(crate) installation: &'a Installation,
    pub(crate) project: &'a Project,
    pub(crate) config: &'a ProjectConfig,
    pub(crate) repository: &'a Repository,
    pub(crate) pr: &'a PullRequest,
    pub(crate) options: &'a MergeOptions,
    /// Who merges.
    pub(crate) context: &'a Context,
    /// The message of the commit that is made.
    pub(crate) message: &'a str,
}

impl ForgeMerge<'_> {
    /// Merges through the forge, and brings the base here to where it is there. `None` where merges are made here; checks that the
    /// forge requires have passed then, too.
    pub(crate) fn merge(&self, store: &mut Store) -> Result<Option<CommitId>, RunnerError> {
        let Some(settings) = &self.config.forge else {
            return Ok(None);
        };
        let record = store.forge(&self.project.id)?;
        let pull = store.forge_pull_of(self.pr.id)?;
        self.refuse_unchecked(settings, record.as_ref(), pull.as_ref())?;
        if !self.is_there(settings, record.as_ref()) {
            return Ok(None);
        }
        let pushed = pull
            .as_ref()
            .filter(|pull| pull.is_open && pull.pushed.last() == Some(&self.pr.head_commit));
        let Some(number) = pushed.and_then(|pull| pull.number) else {
            return Err(self.refused(MergeRefusal::NotAtForge {
                commit: self.pr.head_commit.clone(),
                problem: pull.and_then(|pull| pull.problem),
            }));
        };
        // The helper would see a merge that is not recorded here, and record it as someone else's.
        let _turn = Helper::Forge.take(self.installation, &|| {})?;
        let commit = self.ask(settings, number)?;
        Failpoint::ForgeMerged.reach();
        self.follow(store, settings, &commit)?;
        Ok(Some(commit))
    }

    fn refused(&self, why: MergeRefusal) -> RunnerError {
        NotMerged::new(self.pr, why).into()
    }

    fn is_there(&self, settings: &ForgeSettings, record: Option<&ForgeRecord>) -> bool {
        match settings.merge {
            MergeWhere::Forge => true,
            MergeWhere::Local => false,
            MergeWhere::Auto => record
                .and_then(|record| record.rules.get(&self.pr.base))
                .is_some_and(|rules| rules.is_protected),
        }
    }

    /// Refuses a head whose required checks have not passed, as far as they were read.
    fn refuse_unchecked(
        &self,
        settings: &ForgeSettings,
        record: Option<&ForgeRecord>,
        pull: Option<&ForgePull>,
    ) -> Result<(), RunnerError> {
        let rules = record.and_then(|record| record.rules.get(&self.pr.base));
        let names = required(&rules.cloned().unwrap_or_default(), &settings.checks);
        if self.options.force || names.is_empty() {
            return Ok(());
        }
        let seen: &[SeenCheck] = pull
            .and_then(|pull| pull.checks_of(&self.pr.head_commit))
            .unwrap_or_default();
        let open: Vec<String> = names
            .iter()
            .filter_map(|name| {
                let check = seen.iter().find(|check| check.name == *name);
                match check {
                    Some(check) if check.result == CheckResult::Passed => None,
                    Some(check) => Some(format!("{name} ({})", check.how())),
                    None => Some(format!("{name} (not seen yet)")),
                }
            })
            .collect();
        if open.is_empty() {
            return Ok(());
        }
        Err(self.refused(MergeRefusal::Checks(open.join(", "))))
    }

    fn ask(&self, settings: &ForgeSettings, number: PullNumber) -> Result<CommitId, RunnerError> {
        let (title, message) = self.message.split_once('\n').unwrap_or((self.message, ""));
        let wish = MergeWish {
            head: self.pr.head_commit.clone(),
            method: self.method(settings),
            title: title.to_owned(),
            message: message.trim().to_owned(),
        };
        let (installation, project) = (self.installation, self.project);
        let client = repository_of(installation, project, self.config, settings)
            .and_then(|repository| client_of(installation, settings, &repository));
        let client =
            client.map_err(|fault| self.refused(MergeRefusal::Forge(fault.to_string())))?;
        let answer = block_on(&installation.root, client.merge(number, &wish))?;
        match answer {
            Ok(MergeAnswer::Merged { commit }) => {
                RunnerError::commit(&commit, "the merge that the forge names")
            }
            Ok(MergeAnswer::NotMergeable { detail }) => {
                Err(self.refused(MergeRefusal::Forge(detail)))
            }
            Ok(MergeAnswer::HeadMoved) => Err(self.refused(MergeRefusal::Forge(
                "its branch there is at another commit".to_owned(),
            ))),
            Err(fault) => Err(self.refused(MergeRefusal::Forge(fault.to_string()))),
        }
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

    /// Brings the base here to the merge. If that fails, the merge is made, and the next look at the forge records it.
    fn follow(
        &self,
        store: &mut Store,
        settings: &ForgeSettings,
        commit: &CommitId,
    ) -> Result<(), RunnerError> {
        let followed = self.fetch(store, settings, commit);
        let stuck = |why: String| {
            self.refused(MergeRefusal::Forge(format!(
                "it did merge it, as {commit}, and the base here could not follow: {why}; once it can, `symphony forge sync` records the merge"
            )))
        };
        match followed {
            Ok(true) => Ok(()),
            Ok(false) => Err(stuck(format!(
                "`{}` has commits here that the forge lacks",
                self.pr.base
            ))),
            Err(error) => Err(stuck(error.to_string())),
        }
    }

    fn fetch(
        &self,
        store: &mut Store,
        settings: &ForgeSettings,
        commit: &CommitId,
    ) -> Result<bool, RunnerError> {
        let repository = self.repository;
        let base = BranchName::parse(&self.pr.base)?;
        let environment = &self.installation.environment;
        let theirs = Remote::new(repository, &settings.remote, environment).fetch(&base)?;
        let Some(ours) = repository.branch_head(&base)? else {
            return Ok(false);
        };
        if !repository.is_merged(&ours, &theirs)? || !repository.is_merged(commit, &theirs)? {
            return Ok(false);
        }
        // Whoever dies from here on leaves a merge by this person, and before, one that the forge reports.
        let context = self.context.at(Timestamp::now());
        store.record_merge_intent(&context, self.pr, ours.as_str(), commit.as_str())?;
        Failpoint::MergeIntended.reach();
        let identity = repository
            .human_identity()
            .unwrap_or_else(Identity::symphony);
        repository.move_base(&base, &ours, &theirs, &identity)?;
        Ok(true)
    }
}
