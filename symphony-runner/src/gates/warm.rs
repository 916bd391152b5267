//! Gates that start with kept build output, and checkouts from which it is kept.
//!
//! A pass in such a checkout counts. A failure does not: all gates then run in a checkout without it, as if nothing had been
//! kept. The decisions are [`symphony_core::warm`], the files [`symphony_workspace::WarmPool`].

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use sha2::{Digest as _, Sha256};
use symphony_core::Timestamp;
use symphony_core::config::{ProjectConfig, SandboxLevel};
use symphony_core::id::RunId;
use symphony_core::warm::{
    Candidate, Circumstances, ColdReason, GenerationKey, Mount, canonical_path, choose, mount_of,
};
use symphony_store::Project;
use symphony_workspace::{CommitId, Generation, Repository, WarmPool};

use super::digest::add;
use super::request::CheckoutRequest;
use super::sandbox::protection;
use crate::error::RunnerError;
use crate::installation::Installation;
use crate::network::NetworkLog;
use crate::sandbox::{Protection, home_of};
use crate::watchdog::StepLog;

/// How old kept build output gets before a base that has moved is built again: a day.
const AGE_MAX_MS: i64 = 24 * 60 * 60 * 1000;

impl CheckoutRequest<'_> {
    /// Returns where commands see their checkout.
    pub(super) fn mount(
        &self,
        protection: &Protection,
        environment: &BTreeMap<OsString, OsString>,
    ) -> Mount {
        let home = home_of(environment.get(OsStr::new("HOME")).map(OsString::as_os_str));
        let has_namespaces = protection.record().level == SandboxLevel::Namespace;
        let canonical = canonical_path(self.project);
        mount_of(
            &canonical,
            has_namespaces,
            &self.config.sandbox,
            home.as_ref(),
        )
    }

    /// Returns whether the base branch has a commit.
    ///
    /// # Errors
    /// When git fails, or there is no base branch.
    pub(super) fn is_on_base(&self, commit: &CommitId) -> Result<bool, RunnerError> {
        let base = self.repository.base()?;
        // A commit that was taken out of the base may be gone altogether.
        Ok(self.repository.has_merged(commit, &base.commit)?)
    }

    /// Returns the kept build output that a checkout may start with.
    ///
    /// # Errors
    /// [`ColdReason`] when there is none; otherwise when git fails, or what results depend on cannot be read.
    pub(super) fn generation(
        &self,
        mount: &Mount,
        pool: &WarmPool,
    ) -> Result<Result<Generation, ColdReason>, RunnerError> {
        let is_asked = self.config.worktree.warm;
        if !is_asked {
            return Ok(Err(ColdReason::NotAsked));
        }
        let key = self.generation_key()?;
        let generations = pool.generations();
        let merged = generations
            .iter()
            .map(|generation| self.is_on_base(&generation.commit))
            .collect::<Result<Vec<bool>, _>>()?;
        let candidates: Vec<Candidate<'_>> = generations
            .iter()
            .zip(merged)
            .map(|(generation, is_merged)| Candidate {
                key: &generation.key,
                is_merged,
                made: generation.made_ms,
            })
            .collect();
        let circumstances = Circumstances {
            is_asked,
            is_disabled: pool.disabled().is_some(),
            must_be_cold: false,
            mount,
        };
        let chosen = choose(circumstances, &key, &candidates);
        let chosen = chosen.map(|index| generations.into_iter().nth(index));
        Ok(chosen.and_then(|generation| generation.ok_or(ColdReason::NoGeneration)))
    }

    /// Returns what has to be equal between the build of kept output and its use.
    ///
    /// # Errors
    /// When the files that a checkout gets copied cannot be listed.
    pub(super) fn generation_key(&self) -> Result<GenerationKey, RunnerError> {
        let ground = self.ground()?;
        let mut gates = Sha256::new();
        for definition in ground.definitions(&self.config.gates) {
            add(&mut gates, definition.as_bytes());
        }
        Ok(GenerationKey {
            version: GenerationKey::VERSION,
            project: self.project.clone(),
            system: std::env::consts::OS.to_owned(),
            architecture: std::env::consts::ARCH.to_owned(),
            canonical: canonical_path(self.project),
            ground: ground.digest(),
            gates: format!("{:x}", gates.finalize()),
        })
    }

    /// Returns whether build output of the base has to be kept again: there is none that can be used, or it is old and the base
    /// has moved since. It says so once a day at most, as long as nothing else changes.
    ///
    /// # Errors
    /// As [`CheckoutRequest::generation`], or when the attempt cannot be noted.
    pub(super) fn should_keep_again(&self) -> Result<bool, RunnerError> {
        if !self.config.worktree.warm {
            return Ok(false);
        }
        let pool = WarmPool::of_project(self.repository.root());
        let environment = self.environment();
        let protection = protection(self.installation, self.config, &environment)?;
        let mount = self.mount(&protection, &environment);
        let found = self.generation(&mount, &pool)?;
        let now_ms = Timestamp::now().as_millisecond();
        let lacks = match found {
            Ok(generation) => {
                let base = self.repository.base()?.commit;
                now_ms.saturating_sub(generation.made_ms) > AGE_MAX_MS && generation.commit != base
            }
            Err(ColdReason::NoGeneration | ColdReason::OtherKey(_) | ColdReason::NotMerged) => true,
            Err(_) => false,
        };
        // A base whose build leaves nothing that can be kept, or that is red, is not built for each change.
        Ok(lacks && pool.note_attempt(&self.generation_key()?, now_ms, AGE_MAX_MS)?)
    }
}

/// Whether the gates of a project's changes start with kept build output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WarmState {
    /// They start with that of a commit of the base, if it fits the change.
    Kept {
        /// The commit.
        commit: CommitId,
        /// When it was kept.
        made: Timestamp,
    },
    /// They start without any.
    Cold(ColdReason),
}

/// Returns with what the gates of a project's next change start.
///
/// # Errors
/// When the machine cannot confine them as the configuration asks, git fails, or what results depend on cannot be read.
pub fn warm_state(
    installation: &Installation,
    config: &ProjectConfig,
    project: &Project,
    repository: &Repository,
) -> Result<WarmState, RunnerError> {
    if !config.worktree.warm {
        return Ok(WarmState::Cold(ColdReason::NotAsked));
    }
    let request = CheckoutRequest {
        installation,
        config,
        project: &project.id,
        repository,
        // The marker is not part of what results depend on.
        id: &RunId::parse(uuid::Uuid::nil().to_string()).expect("a UUID is a run id"),
        logs: PathBuf::new(),
        steps: &StepLog::default(),
        network: NetworkLog::default(),
    };
    let environment = request.environment();
    let protection = protection(installation, config, &environment)?;
    let mount = request.mount(&protection, &environment);
    let found = request.generation(&mount, &WarmPool::of_project(&project.root))?;
    Ok(match found {
        Ok(generation) => WarmState::Kept {
            commit: generation.commit,
            made: Timestamp::from_millisecond(generation.made_ms).unwrap_or(Timestamp::UNIX_EPOCH),
        },
        Err(reason) => WarmState::Cold(reason),
    })
}
