//! What has to be equal between the build of a generation and its use.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::id::ProjectId;

/// What has to be equal between the build of a generation and its use.
///
/// Lock files are not in it: they decide for each folder by itself ([`super::plan_seed`]), since cargo copes with a changed
/// one, and npm does not.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GenerationKey {
    /// The version of this format and of the rules by which generations are made.
    pub version: u32,
    /// The project.
    pub project: ProjectId,
    /// The operating system, as `std::env::consts::OS` names it.
    pub system: String,
    /// The architecture of the processor, as `std::env::consts::ARCH` names it.
    pub architecture: String,
    /// The path at which the checkout was seen.
    pub canonical: PathBuf,
    /// A digest of the set-up, the copied files, the environment, the toolchains and the sandbox.
    pub ground: String,
    /// A digest of the commands of all gates.
    pub gates: String,
}

/// A part of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeyPart {
    /// The rules by which generations are made.
    Version,
    /// The project.
    Project,
    /// The operating system or the architecture.
    Machine,
    /// The path at which the checkout is seen.
    Path,
    /// Set-up, copied files, environment, toolchains or sandbox.
    Ground,
    /// The commands of the gates.
    Gates,
}

impl GenerationKey {
    /// The version of the rules by which generations are made now.
    pub const VERSION: u32 = 2;

    /// Returns the first part in which another key differs; `None` if both are equal.
    pub fn differs_in(&self, other: &Self) -> Option<KeyPart> {
        let Self {
            version,
            project,
            system,
            architecture,
            canonical,
            ground,
            gates,
        } = self;
        let machine = (system, architecture) == (&other.system, &other.architecture);
        let equal = [
            (KeyPart::Version, *version == other.version),
            (KeyPart::Project, *project == other.project),
            (KeyPart::Machine, machine),
            (KeyPart::Path, *canonical == other.canonical),
            (KeyPart::Ground, *ground == other.ground),
            (KeyPart::Gates, *gates == other.gates),
        ];
        equal
            .into_iter()
            .find_map(|(part, is_equal)| (!is_equal).then_some(part))
    }
}

impl fmt::Display for KeyPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Version => "the version of Symphony's own rules",
            Self::Project => "the project",
            Self::Machine => "the machine",
            Self::Path => "the path of the checkout",
            Self::Ground => "the set-up, the environment or a toolchain",
            Self::Gates => "the commands of the gates",
        })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::warm) fn key() -> GenerationKey {
        GenerationKey {
            version: GenerationKey::VERSION,
            project: ProjectId::parse("api").unwrap(),
            system: "linux".to_owned(),
            architecture: "x86_64".to_owned(),
            canonical: "/symphony/api".into(),
            ground: "a1".to_owned(),
            gates: "b2".to_owned(),
        }
    }

    #[test]
    fn each_part_makes_another_key() {
        let changed = [
            (
                KeyPart::Version,
                GenerationKey {
                    version: 0,
                    ..key()
                },
            ),
            (
                KeyPart::Project,
                GenerationKey {
                    project: ProjectId::parse("web").unwrap(),
                    ..key()
                },
            ),
            (
                KeyPart::Machine,
                GenerationKey {
                    system: "macos".to_owned(),
                    ..key()
                },
            ),
            (
                KeyPart::Machine,
                GenerationKey {
                    architecture: "aarch64".to_owned(),
                    ..key()
                },
            ),
            (
                KeyPart::Path,
                GenerationKey {
                    canonical: "/symphony/web".into(),
                    ..key()
                },
            ),
            (
                KeyPart::Ground,
                GenerationKey {
                    ground: "a2".to_owned(),
                    ..key()
                },
            ),
            (
                KeyPart::Gates,
                GenerationKey {
                    gates: "b3".to_owned(),
                    ..key()
                },
            ),
        ];
        for (part, other) in changed {
            assert_eq!(key().differs_in(&other), Some(part));
            assert_eq!(other.differs_in(&key()), Some(part));
        }
        assert_eq!(key().differs_in(&key()), None);
    }
}
