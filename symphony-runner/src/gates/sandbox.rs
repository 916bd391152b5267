//! What confines the commands of a checkout: the level of agents, a home of its own for each command, and no socket.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use symphony_core::config::ProjectConfig;
use symphony_core::warm::{Mount, canonical_path};
use symphony_workspace::WarmPool;

use super::confinement::said;
use super::request::CheckoutRequest;
use crate::error::RunnerError;
use crate::installation::Installation;
use crate::paths::STATE_DIR;
use crate::sandbox::{
    Access, Places, Protection, RunSandbox, SandboxFault, home_of, object_folders, remove_starts,
};

/// Chooses the level of a project's commands.
///
/// # Errors
/// When the machine does not have what the configuration asks for. No command may start then.
pub(super) fn protection(
    installation: &Installation,
    config: &ProjectConfig,
    environment: &BTreeMap<OsString, OsString>,
) -> Result<Protection, SandboxFault> {
    let search_path = environment.get(OsStr::new("PATH"));
    Protection::choose(
        &config.sandbox,
        &installation.executable,
        search_path.map(OsString::as_os_str),
        &installation.state_dir(),
    )
}

impl CheckoutRequest<'_> {
    /// Puts together what confines the commands of a checkout, and says where they see it. Its git folder is its own, and borrows the objects of the project.
    ///
    /// # Errors
    /// When the machine does not have what the configuration asks for.
    pub(super) fn sandbox(
        &self,
        checkout: &Path,
        environment: &BTreeMap<OsString, OsString>,
    ) -> Result<(RunSandbox, Mount), RunnerError> {
        let protection = protection(self.installation, self.config, environment)?;
        let common = self.repository.common_dir();
        let home = home_of(environment.get(OsStr::new("HOME")).map(OsString::as_os_str));
        let mount = self.mount(&protection, environment);
        // Cold checkouts as well: what is built in one is used in another one.
        let is_moved = self.config.worktree.warm && mount == Mount::Canonical;
        let places = Places {
            checkout: checkout.to_owned(),
            seen_at: is_moved.then(|| canonical_path(self.project)),
            access: Access::Write,
            read: object_folders(common),
            write: Vec::new(),
            sockets: Vec::new(),
            closed: vec![
                self.installation.state_dir(),
                self.repository.root().join(STATE_DIR),
                common.to_owned(),
            ],
            home,
            ways: None,
        };
        // what a killed process left
        remove_starts(&self.logs)
            .map_err(|error| RunnerError::io("remove old homes in", &self.logs, error))?;
        let sandbox = RunSandbox::new(
            protection,
            self.config.sandbox.clone(),
            places,
            self.logs.clone(),
        );
        Ok((sandbox, mount))
    }
}

/// Returns what results depend on of the sandbox: a command that passes without one may fail in one, and the other way round.
/// Nothing at `off`. Where the level is not available, no result counts and no command runs.
///
/// Results from a time in which checkouts could start with kept build output do not count once they may not: a cold run may
/// have disagreed with a warm one. `root` is the project's.
pub(super) fn ground_of(
    installation: &Installation,
    config: &ProjectConfig,
    root: &Path,
    environment: &BTreeMap<OsString, OsString>,
) -> Vec<Vec<u8>> {
    if !config.sandbox.is_on() {
        return Vec::new();
    }
    let level = protection(installation, config, environment)
        .map_or("unavailable", |protection| protection.record().level.name());
    let mut all = said(&config.sandbox);
    all.push(level.into());
    if config.worktree.warm && WarmPool::of_project(root).disabled().is_none() {
        all.push(b"warm".to_vec());
    }
    all
}
