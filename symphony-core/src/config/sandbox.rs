//! What the section `sandbox` says: how strongly agents are confined, and what they reach nevertheless.

use std::path::PathBuf;

use super::defaults;
use crate::closed_set::closed_set;

closed_set!(
    /// The level of protection that the configuration asks for.
    SandboxSetting, "sandbox level", {
        /// The strongest level that is enough; no run starts where none is.
        Auto = "auto",
        /// Namespaces by bubblewrap, and Landlock and seccomp inside them.
        Namespace = "namespace",
        /// Landlock and seccomp alone.
        Landlock = "landlock",
        /// Nothing: agents run as the user.
        Off = "off",
    }
);

closed_set!(
    /// The level of protection that a run had.
    SandboxLevel, "sandbox level", {
        /// Namespaces by bubblewrap, and Landlock and seccomp inside them.
        Namespace = "namespace",
        /// Landlock and seccomp alone.
        Landlock = "landlock",
        /// Nothing: the agent ran as the user.
        Off = "off",
    }
);

closed_set!(
    /// What the network of a sandbox reaches.
    SandboxNetwork, "sandbox network", {
        /// The allowed hosts, through Symphony's proxy.
        Allowlist = "allowlist",
        /// Everything that the machine reaches.
        Host = "host",
        /// The provider's API alone.
        None = "none",
    }
);

closed_set!(
    /// What a sandbox sees of the user's caches of downloads.
    SandboxCache, "sandbox cache", {
        /// They can be read.
        Read = "read",
        /// Nothing.
        None = "none",
    }
);

/// How agents are confined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxSettings {
    /// The level that is asked for.
    pub level: SandboxSetting,
    /// bubblewrap: a bare name is looked up in `PATH`.
    pub bwrap: PathBuf,
    /// Files and folders that can be read, beyond those that every run needs; absolute.
    pub read: Vec<PathBuf>,
    /// Files and folders that can be written, beyond those that every run needs; absolute.
    pub write: Vec<PathBuf>,
    /// What the network reaches.
    pub network: SandboxNetwork,
    /// Allowed hosts, beyond those that follow from the provider and the project's tools.
    pub hosts: Vec<String>,
    /// What is visible of caches of downloads.
    pub cache: SandboxCache,
    /// The most memory of a run's processes, in bytes; `None` for no limit. Enforced where cgroups allow it.
    pub memory_bytes: Option<u64>,
    /// The most processes and threads of a run.
    pub processes: u64,
    /// The most bytes in the sandbox's `/tmp`.
    pub tmp_bytes: u64,
}

impl SandboxSettings {
    /// Returns whether runs are confined at all.
    pub const fn is_on(&self) -> bool {
        !matches!(self.level, SandboxSetting::Off)
    }
}

impl Default for SandboxSettings {
    fn default() -> Self {
        Self {
            level: SandboxSetting::Off,
            bwrap: PathBuf::from(defaults::SANDBOX_BWRAP),
            read: Vec::new(),
            write: Vec::new(),
            network: SandboxNetwork::Allowlist,
            hosts: Vec::new(),
            cache: SandboxCache::Read,
            memory_bytes: None,
            processes: defaults::SANDBOX_PROCESSES,
            tmp_bytes: defaults::SANDBOX_TMP_BYTES,
        }
    }
}
