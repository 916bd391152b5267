//! What the machine has of the files that every sandbox shows.

use std::path::{Path, PathBuf};

use super::etc;
use super::system::SYSTEM;

/// Files and folders of `/etc` that programs read. Not among them is what says something about the machine, and private keys,
/// which root and some groups can read.
const ETC: &[&str] = &[
    "alternatives",
    "bash.bashrc",
    "ca-certificates",
    "ca-certificates.conf",
    "crypto-policies",
    "debian_version",
    "fonts",
    "gitattributes",
    "group",
    "host.conf",
    "inputrc",
    "java",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "locale.alias",
    "locale.conf",
    "localtime",
    "login.defs",
    "lsb-release",
    "magic",
    "mime.types",
    "nsswitch.conf",
    "os-release",
    "passwd",
    "pki/ca-trust",
    "pki/tls/certs",
    "pki/tls/openssl.cnf",
    "profile",
    "profile.d",
    "protocols",
    "rpc",
    "services",
    "shells",
    "ssl/cert.pem",
    "ssl/certs",
    "ssl/openssl.cnf",
    "terminfo",
    "timezone",
];

/// Files of the kernel that say something about the user or the machine: there is nothing in them inside namespaces.
const EMPTIED: &[&str] = &["/proc/keys", "/proc/key-users", "/proc/cmdline"];

/// A folder of the system, and how it appears inside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SystemFolder {
    /// A folder.
    Folder(PathBuf),
    /// A link, with its target.
    Link(PathBuf, PathBuf),
}

/// What the machine has of the files that every sandbox shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// Programs and libraries.
    pub system: Vec<SystemFolder>,
    /// Files and folders below `/etc`.
    pub etc: Vec<PathBuf>,
    /// A folder with copies of these files and folders, so that one mount is enough.
    pub gathered: Option<PathBuf>,
    /// Files that are shown empty.
    pub emptied: Vec<PathBuf>,
}

impl Machine {
    /// Looks at this machine.
    pub fn observe() -> Self {
        let system = SYSTEM.iter().map(PathBuf::from).filter_map(|path| {
            if let Ok(target) = path.read_link() {
                return Some(SystemFolder::Link(path, target));
            }
            path.is_dir().then_some(SystemFolder::Folder(path))
        });
        let etc = ETC.iter().map(|name| Path::new("/etc").join(name));
        Self {
            system: system.collect(),
            etc: etc.filter(|path| path.exists()).collect(),
            gathered: None,
            emptied: EMPTIED
                .iter()
                .map(PathBuf::from)
                .filter(|path| path.exists())
                .collect(),
        }
    }

    /// Copies what is shown of `/etc` into one folder below `place`, if it was not before: a start is faster then. Where that
    /// does not work, the files are shown one by one.
    #[must_use]
    pub fn gathered_in(mut self, place: &Path) -> Self {
        self.gathered = etc::gathered(&self.etc, place).ok();
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_keys_of_the_machine_are_not_listed() {
        for name in ETC {
            assert!(!["ssl", "pki", "shadow"].contains(name), "{name}");
        }
    }
}
