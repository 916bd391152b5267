//! What confines the commands of a checkout: the level of agents, a home of its own for each command, and no socket.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use symphony_core::config::{ProjectConfig, SandboxSettings};

use super::checkout::CheckoutRequest;
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
    /// Puts together what confines the commands of a checkout. Its git folder is its own, and borrows the objects of the project.
    ///
    /// # Errors
    /// When the machine does not have what the configuration asks for.
    pub(super) fn sandbox(
        &self,
        checkout: &Path,
        environment: &BTreeMap<OsString, OsString>,
    ) -> Result<RunSandbox, RunnerError> {
        let protection = protection(self.installation, self.config, environment)?;
        let common = self.repository.common_dir();
        let places = Places {
            checkout: checkout.to_owned(),
            access: Access::Write,
            read: object_folders(common),
            write: Vec::new(),
            sockets: Vec::new(),
            closed: vec![
                self.installation.state_dir(),
                self.repository.root().join(STATE_DIR),
                common.to_owned(),
            ],
            home: home_of(environment.get(OsStr::new("HOME")).map(OsString::as_os_str)),
            ways: None,
        };
        // what a killed process left
        remove_starts(&self.logs)
            .map_err(|error| RunnerError::io("remove old homes in", &self.logs, error))?;
        Ok(RunSandbox::new(
            protection,
            self.config.sandbox.clone(),
            places,
            self.logs.clone(),
        ))
    }
}

/// Returns what results depend on of the sandbox: a command that passes without one may fail in one, and the other way round.
/// Nothing at `off`. Where the level is not available, no result counts and no command runs.
pub(super) fn ground_of(
    installation: &Installation,
    config: &ProjectConfig,
    environment: &BTreeMap<OsString, OsString>,
) -> Vec<Vec<u8>> {
    if !config.sandbox.is_on() {
        return Vec::new();
    }
    let level = protection(installation, config, environment)
        .map_or("unavailable", |protection| protection.record().level.name());
    let mut all = said(&config.sandbox);
    all.push(level.into());
    all
}

/// Returns what the configuration says that results may depend on.
pub(super) fn said(settings: &SandboxSettings) -> Vec<Vec<u8>> {
    if !settings.is_on() {
        return Vec::new();
    }
    let mut all: Vec<Vec<u8>> = [
        settings.level.name(),
        settings.network.name(),
        settings.cache.name(),
    ]
    .map(Into::into)
    .to_vec();
    let limits = [
        settings.memory_bytes.unwrap_or(0),
        settings.processes,
        settings.tmp_bytes,
    ];
    all.extend(limits.map(|limit| limit.to_le_bytes().to_vec()));
    for (name, paths) in [("read", &settings.read), ("write", &settings.write)] {
        all.push(name.into());
        all.extend(
            paths
                .iter()
                .map(|path| path.as_os_str().as_bytes().to_vec()),
        );
    }
    all.push("hosts".into());
    all.extend(settings.hosts.iter().map(|host| host.clone().into_bytes()));
    all
}

#[cfg(test)]
mod tests {
    use symphony_core::config::{SandboxCache, SandboxNetwork, SandboxSetting};

    use super::*;

    #[test]
    fn results_depend_on_each_setting_that_commands_can_notice() {
        let namespace = || SandboxSettings {
            level: SandboxSetting::Namespace,
            ..SandboxSettings::default()
        };
        let mut seen = vec![said(&SandboxSettings::default())];
        assert!(seen.iter().all(Vec::is_empty), "nothing at `off`");
        for changed in [
            namespace(),
            SandboxSettings {
                level: SandboxSetting::Landlock,
                ..namespace()
            },
            SandboxSettings {
                network: SandboxNetwork::Host,
                ..namespace()
            },
            SandboxSettings {
                cache: SandboxCache::None,
                ..namespace()
            },
            SandboxSettings {
                read: vec!["/data".into()],
                ..namespace()
            },
            SandboxSettings {
                write: vec!["/data".into()],
                ..namespace()
            },
            SandboxSettings {
                hosts: vec!["example.com".to_owned()],
                ..namespace()
            },
            SandboxSettings {
                processes: 64,
                ..namespace()
            },
            SandboxSettings {
                tmp_bytes: 1 << 20,
                ..namespace()
            },
            SandboxSettings {
                memory_bytes: Some(1 << 30),
                ..namespace()
            },
        ] {
            let now = said(&changed);
            assert!(!seen.contains(&now), "{changed:?}");
            seen.push(now);
        }
        assert_eq!(said(&namespace()), said(&namespace()));
    }
}
