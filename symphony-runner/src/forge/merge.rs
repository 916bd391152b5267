//! Where a merge that a person orders is made, and what the forge has against it.

use std::collections::BTreeSet;

use symphony_core::config::{ForgeSettings, MergeWhere, ProjectConfig};
use symphony_core::pull_request::PullRequest;
use symphony_forge::check::{plan_checks, required};
use symphony_forge::remote::{BranchRules, CheckResult};
use symphony_store::{Context, ForgePull, Project, Store};
use symphony_sync::Forge;
use symphony_tracker::fault::Fault;
use symphony_workspace::{CommitId, Repository};

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
    /// Merges through the forge, and brings the base here to where it is there. `None` where merges are made here; the forge has nothing
    /// against it then.
    pub(crate) fn merge(&self, store: &mut Store) -> Result<Option<CommitId>, RunnerError> {
        let Some(settings) = &self.config.forge else {
            return Ok(None);
        };
        let record = store.forge(&self.project.id)?;
        self.refuse_objected(store.forge_pull_of(self.pr.id)?.as_ref())?;
        let rules = record
            .as_ref()
            .and_then(|record| record.rules.get(&self.pr.base));
        let rules = rules.cloned().unwrap_or_default();
        if !is_there(settings, &rules) {
            self.refuse_here(store, settings, &rules)?;
            return Ok(None);
        }
        // The helper would see a merge that is not recorded here, and record it as someone else's.
        let _turn = Helper::Forge.take(self.installation, &|| {})?;
        let client = self.client(settings)?;
        self.order(store, settings, &rules, client.as_ref())
            .map(Some)
    }

    pub(super) fn refused(&self, why: MergeRefusal) -> RunnerError {
        NotMerged::new(self.pr, why).into()
    }

    fn client(&self, settings: &ForgeSettings) -> Result<Box<dyn Forge>, RunnerError> {
        let (installation, project) = (self.installation, self.project);
        repository_of(installation, project, self.config, settings)
            .and_then(|repository| client_of(installation, settings, &repository))
            .map_err(|fault| self.refused(MergeRefusal::Forge(fault.to_string())))
    }

    /// Refuses what a person at the forge sent back, as long as that is not recorded here as a verdict.
    fn refuse_objected(&self, pull: Option<&ForgePull>) -> Result<(), RunnerError> {
        let open = pull.filter(|pull| pull.is_open && !self.options.force);
        match open.and_then(|pull| pull.objection.clone()) {
            Some(objection) => Err(self.refused(MergeRefusal::Objection(objection))),
            None => Ok(()),
        }
    }

    /// Refuses a merge here that the forge would not follow.
    fn refuse_here(
        &self,
        store: &Store,
        settings: &ForgeSettings,
        rules: &BranchRules,
    ) -> Result<(), RunnerError> {
        if self.options.force {
            return Ok(());
        }
        let pull = store.forge_pull_of(self.pr.id)?.filter(|pull| pull.is_open);
        if let Some(base) = pull.and_then(|pull| pull.ends.base)
            && base != self.pr.base
        {
            return Err(self.refused(MergeRefusal::OtherBase {
                there: base,
                here: self.pr.base.clone(),
            }));
        }
        if rules.is_protected {
            return Err(self.refused(MergeRefusal::ProtectedBase(self.pr.base.clone())));
        }
        let names = required(rules, &settings.checks);
        if names.is_empty() {
            return Ok(());
        }
        let client = self.client(settings)?;
        self.refuse_unchecked(client.as_ref(), &names)
    }

    /// Refuses a head whose required checks have not passed, as the forge has them now: one that was green at the last look may have been
    /// run again since.
    pub(super) fn refuse_unchecked(
        &self,
        client: &dyn Forge,
        names: &BTreeSet<String>,
    ) -> Result<(), RunnerError> {
        if self.options.force || names.is_empty() {
            return Ok(());
        }
        let head = &self.pr.head_commit;
        let found = match block_on(&self.installation.root, client.checks(head))? {
            Ok(found) => found,
            // it does not have the commit
            Err(Fault::NotFound { .. }) => Vec::new(),
            Err(fault) => return Err(self.refused(MergeRefusal::Forge(fault.to_string()))),
        };
        let open: Vec<String> = plan_checks(names, &found, &[], false)
            .seen
            .iter()
            .filter(|check| check.result != CheckResult::Passed)
            .map(|check| {
                let is_known = found.iter().any(|found| found.name == check.name);
                let how = if is_known {
                    check.how()
                } else {
                    "not reported yet".to_owned()
                };
                format!("{} ({how})", check.name)
            })
            .collect();
        if open.is_empty() {
            return Ok(());
        }
        Err(self.refused(MergeRefusal::Checks(open.join(", "))))
    }
}

fn is_there(settings: &ForgeSettings, rules: &BranchRules) -> bool {
    match settings.merge {
        MergeWhere::Forge => true,
        MergeWhere::Local => false,
        MergeWhere::Auto => rules.is_protected,
    }
}
