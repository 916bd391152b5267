//! What a machine offers for sandboxes, as the probe found it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a machine offers for sandboxes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// Whether bubblewrap makes the namespaces that a sandbox needs.
    pub bubblewrap: Bubblewrap,
    /// The version of the kernel's Landlock; `None` where it has none.
    pub landlock_abi: Option<u32>,
}

/// What trying bubblewrap came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "bubblewrap", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Bubblewrap {
    /// There is no such program.
    Missing,
    /// Its version lacks what a sandbox needs.
    Old {
        /// The version that was found.
        version: String,
    },
    /// The machine does not let it make namespaces.
    Refused {
        /// The version that was found.
        version: String,
        /// Its own words.
        message: String,
    },
    /// A sandbox did not keep what it must keep. Never used.
    Leaks {
        /// The version that was found.
        version: String,
        /// What got through.
        what: String,
    },
    /// It works.
    Works {
        /// The version that was found.
        version: String,
    },
}

impl fmt::Display for Bubblewrap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("bubblewrap is not installed"),
            Self::Old { version } => {
                let (major, minor) = BUBBLEWRAP_MIN;
                write!(f, "bubblewrap is {version}, and {major}.{minor} is needed")
            }
            Self::Refused { version, message } => {
                write!(f, "bubblewrap {version} cannot make a sandbox ({message})")
            }
            Self::Leaks { version, what } => {
                write!(
                    f,
                    "a sandbox of bubblewrap {version} failed its test: {what}"
                )
            }
            Self::Works { version } => write!(f, "bubblewrap {version} works"),
        }
    }
}

/// The oldest bubblewrap that is enough: it has `--disable-userns`.
pub const BUBBLEWRAP_MIN: (u32, u32) = (0, 8);

/// Reads the version from what `bwrap --version` prints, such as `bubblewrap 0.8.0`.
pub fn bubblewrap_version(printed: &str) -> Option<(&str, (u32, u32))> {
    let version = printed.trim().strip_prefix("bubblewrap ")?;
    let mut numbers = version.split('.').map(str::parse::<u32>);
    let (major, minor) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    Some((version, (major, minor)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        for (printed, enough) in [
            ("bubblewrap 0.8.0\n", Some(true)),
            ("bubblewrap 0.11.0", Some(true)),
            ("bubblewrap 1.0", Some(true)),
            ("bubblewrap 0.4.1", Some(false)),
            ("bubblewrap", None),
            ("bubblewrap x.y", None),
            ("", None),
        ] {
            let found = bubblewrap_version(printed).map(|(_, version)| version >= BUBBLEWRAP_MIN);
            assert_eq!(found, enough, "{printed}");
        }
    }
}
