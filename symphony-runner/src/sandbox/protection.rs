//! The level that a project's programs have on this machine.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use symphony_core::config::{SandboxLevel, SandboxNetwork, SandboxSetting, SandboxSettings};
use symphony_core::run::SandboxRecord;
use symphony_sandbox::{Level, LevelSetting, Machine, Programs, choose};

use super::facts::facts_of;
use super::fault::SandboxFault;
use crate::process::resolve_program;

/// The folder of copies of what sandboxes show of `/etc`, in the installation's own folder.
const ETC: &str = "sandbox-etc";

/// The level that a project's programs have on this machine, with what makes it.
#[derive(Debug, Clone)]
pub struct Protection {
    record: SandboxRecord,
    pub(super) programs: Programs,
    pub(super) machine: Machine,
}

impl Protection {
    /// Chooses the level, by the configuration and what the machine offers. At `off` nothing is looked at.
    ///
    /// `symphony` is Symphony's own executable, `search_path` finds bubblewrap, and `state` is the installation's own folder.
    ///
    /// # Errors
    /// When the machine does not have what the configuration asks for. No program may start then.
    pub fn choose(
        settings: &SandboxSettings,
        symphony: &Path,
        search_path: Option<&OsStr>,
        state: &Path,
    ) -> Result<Self, SandboxFault> {
        let found = resolve_program(&settings.bwrap, search_path, Path::new("/"));
        let programs = Programs {
            symphony: symphony.to_owned(),
            bwrap: found.unwrap_or_else(|_missing| settings.bwrap.clone()),
        };
        if !settings.is_on() {
            return Ok(Self {
                record: SandboxRecord {
                    level: SandboxLevel::Off,
                    network: SandboxNetwork::Host,
                    landlock_abi: None,
                },
                programs,
                machine: Machine {
                    system: Vec::new(),
                    etc: Vec::new(),
                    gathered: None,
                    emptied: Vec::new(),
                },
            });
        }
        let facts = facts_of(&programs, state).map_err(SandboxFault::Probe)?;
        let level =
            choose(asked(settings.level), &facts).map_err(|reason| SandboxFault::Unavailable {
                setting: settings.level,
                reason,
            })?;
        Ok(Self {
            record: SandboxRecord {
                level: recorded(level),
                network: match level {
                    Level::Namespace => settings.network,
                    // only namespaces have a network of their own
                    Level::Landlock | Level::Off => SandboxNetwork::Host,
                },
                landlock_abi: facts.landlock_abi,
            },
            programs,
            machine: Machine::observe().gathered_in(&state.join(ETC)),
        })
    }

    /// Returns what is recorded with a run.
    pub const fn record(&self) -> SandboxRecord {
        self.record
    }

    /// Returns whether programs are confined at all.
    pub const fn is_on(&self) -> bool {
        !matches!(self.record.level, SandboxLevel::Off)
    }

    /// Returns whether programs have a network of their own, with Symphony's ways out.
    pub(crate) fn has_own_network(&self) -> bool {
        self.is_on() && self.record.network != SandboxNetwork::Host
    }

    /// Returns the path of a socket as a confined program sees it.
    pub(crate) fn socket_inside(&self, outside: &Path, name: &str) -> PathBuf {
        match self.record.level {
            SandboxLevel::Namespace => Path::new(symphony_sandbox::SOCKETS).join(name),
            SandboxLevel::Landlock | SandboxLevel::Off => outside.to_owned(),
        }
    }

    pub(super) const fn level(&self) -> Level {
        match self.record.level {
            SandboxLevel::Namespace => Level::Namespace,
            SandboxLevel::Landlock => Level::Landlock,
            SandboxLevel::Off => Level::Off,
        }
    }
}

/// Returns the setting in the words of the crate that confines.
pub const fn asked(setting: SandboxSetting) -> LevelSetting {
    match setting {
        SandboxSetting::Auto => LevelSetting::Auto,
        SandboxSetting::Namespace => LevelSetting::Exactly(Level::Namespace),
        SandboxSetting::Landlock => LevelSetting::Exactly(Level::Landlock),
        SandboxSetting::Off => LevelSetting::Exactly(Level::Off),
    }
}

const fn recorded(level: Level) -> SandboxLevel {
    match level {
        Level::Namespace => SandboxLevel::Namespace,
        Level::Landlock => SandboxLevel::Landlock,
        Level::Off => SandboxLevel::Off,
    }
}
