//! How strongly a run is confined, and the pure choice of a level from what the probe found.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::facts::{Bubblewrap, Facts};

/// The Landlock version that a sandbox needs: the first that keeps signals and abstract sockets inside.
pub const LANDLOCK_ABI_MIN: u32 = 6;

/// The Landlock version from which Landlock alone is enough for `auto`: the first that also keeps an agent from sockets
/// with a path, such as those of a container engine or an SSH agent.
pub const LANDLOCK_ALONE_ABI_MIN: u32 = 9;

/// What a run is confined by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Nothing: the agent reaches what its user reaches.
    Off,
    /// Landlock and seccomp: only listed files, no way into other processes. The network stays open.
    Landlock,
    /// Namespaces by bubblewrap, and Landlock and seccomp inside them.
    Namespace,
}

impl Level {
    /// Every level, from the weakest to the strongest.
    pub const ALL: [Self; 3] = [Self::Off, Self::Landlock, Self::Namespace];

    /// Returns its name in the configuration and in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Landlock => "landlock",
            Self::Namespace => "namespace",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What the configuration asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LevelSetting {
    /// The strongest level that is enough; no run starts where none is.
    Auto,
    /// This level, or no run starts.
    Exactly(Level),
}

/// Why a level is not available.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unavailable {
    /// The kernel has no Landlock, or it was not enabled when the machine started.
    NoLandlock,
    /// The kernel's Landlock is too old.
    OldLandlock {
        /// The version that was found.
        found: u32,
        /// The oldest version that is enough.
        needed: u32,
    },
    /// bubblewrap cannot be used.
    Bubblewrap(Bubblewrap),
    /// `auto` found neither of the two levels that are enough.
    Neither {
        /// What keeps `namespace` from being used.
        namespace: Box<Unavailable>,
        /// What keeps `landlock` from being enough.
        landlock: Box<Unavailable>,
    },
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoLandlock => f.write_str("its kernel has no Landlock"),
            Self::OldLandlock { found, needed } => {
                write!(f, "its kernel has Landlock {found}, and {needed} is needed")
            }
            Self::Bubblewrap(found) => found.fmt(f),
            Self::Neither {
                namespace,
                landlock,
            } => match **namespace {
                // the same lack twice
                Self::NoLandlock | Self::OldLandlock { .. } => namespace.fmt(f),
                _ => write!(f, "{namespace}; without namespaces, {landlock}"),
            },
        }
    }
}

/// Chooses the level of a run. Never returns a weaker one than was asked for.
///
/// # Errors
/// What is missing, when the machine does not have what the level needs.
pub fn choose(setting: LevelSetting, facts: &Facts) -> Result<Level, Unavailable> {
    match setting {
        LevelSetting::Exactly(Level::Off) => Ok(Level::Off),
        LevelSetting::Exactly(Level::Landlock) => {
            landlock(facts, LANDLOCK_ABI_MIN).map(|()| Level::Landlock)
        }
        LevelSetting::Exactly(Level::Namespace) => namespace(facts).map(|()| Level::Namespace),
        LevelSetting::Auto => {
            let Err(no_namespace) = namespace(facts) else {
                return Ok(Level::Namespace);
            };
            let Err(no_landlock) = landlock(facts, LANDLOCK_ALONE_ABI_MIN) else {
                return Ok(Level::Landlock);
            };
            Err(Unavailable::Neither {
                namespace: Box::new(no_namespace),
                landlock: Box::new(no_landlock),
            })
        }
    }
}

/// `namespace` needs both layers: as root, bubblewrap alone lets an agent write the host's kernel settings.
fn namespace(facts: &Facts) -> Result<(), Unavailable> {
    match &facts.bubblewrap {
        Bubblewrap::Works { .. } => landlock(facts, LANDLOCK_ABI_MIN),
        unusable => Err(Unavailable::Bubblewrap(unusable.clone())),
    }
}

fn landlock(facts: &Facts, needed: u32) -> Result<(), Unavailable> {
    match facts.landlock_abi {
        None => Err(Unavailable::NoLandlock),
        Some(found) if found < needed => Err(Unavailable::OldLandlock { found, needed }),
        Some(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(bubblewrap: bool, landlock_abi: Option<u32>) -> Facts {
        Facts {
            bubblewrap: if bubblewrap {
                Bubblewrap::Works {
                    version: "0.8.0".to_owned(),
                }
            } else {
                Bubblewrap::Missing
            },
            landlock_abi,
        }
    }

    #[test]
    fn a_level_is_chosen_by_what_the_machine_has() {
        use Level::{Landlock, Namespace, Off};
        use LevelSetting::{Auto, Exactly};
        let table = [
            // setting, bubblewrap, Landlock, level
            (Exactly(Off), false, None, Some(Off)),
            (Exactly(Off), true, Some(9), Some(Off)),
            (Exactly(Landlock), false, None, None),
            (Exactly(Landlock), false, Some(5), None),
            (Exactly(Landlock), false, Some(6), Some(Landlock)),
            (Exactly(Landlock), true, Some(9), Some(Landlock)),
            (Exactly(Namespace), false, Some(9), None),
            (Exactly(Namespace), true, None, None),
            (Exactly(Namespace), true, Some(5), None),
            (Exactly(Namespace), true, Some(6), Some(Namespace)),
            (Auto, true, Some(7), Some(Namespace)),
            (Auto, true, Some(9), Some(Namespace)),
            (Auto, true, Some(5), None),
            (Auto, true, None, None),
            (Auto, false, None, None),
            (Auto, false, Some(8), None),
            (Auto, false, Some(9), Some(Landlock)),
            (Auto, false, Some(10), Some(Landlock)),
        ];
        for (setting, bubblewrap, abi, expected) in table {
            let chosen = choose(setting, &facts(bubblewrap, abi)).ok();
            assert_eq!(chosen, expected, "{setting:?} {bubblewrap} {abi:?}");
        }
    }

    #[test]
    fn auto_names_what_is_missing_for_both_levels() {
        assert_eq!(
            choose(LevelSetting::Auto, &facts(false, Some(7))),
            Err(Unavailable::Neither {
                namespace: Box::new(Unavailable::Bubblewrap(Bubblewrap::Missing)),
                landlock: Box::new(Unavailable::OldLandlock {
                    found: 7,
                    needed: 9
                }),
            })
        );
    }
}
