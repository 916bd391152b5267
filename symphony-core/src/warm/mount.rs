//! The one path at which commands see the checkouts of a project.

use std::path::{Path, PathBuf};

use crate::config::SandboxSettings;
use crate::id::ProjectId;

/// Where sandboxes show checkouts. Nothing of the machine is there.
const CHECKOUTS: &str = "/symphony";

/// Where commands see their checkout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mount {
    /// At one path for all checkouts of the project, by a mount namespace.
    Canonical,
    /// At its own path, because there are no namespaces at this level.
    NoNamespace,
    /// At its own path, because a setting shows a folder that contains the canonical path.
    Covered {
        /// The folder of `sandbox.read` or `sandbox.write`.
        by: String,
    },
}

/// Returns the path at which sandboxes show the checkouts of a project.
pub fn canonical_path(project: &ProjectId) -> PathBuf {
    Path::new(CHECKOUTS).join(project.as_str())
}

/// Decides where commands see a checkout.
pub fn mount_of(
    canonical: &Path,
    has_namespaces: bool,
    settings: &SandboxSettings,
    home: Option<&PathBuf>,
) -> Mount {
    if !has_namespaces {
        return Mount::NoNamespace;
    }
    let shown = settings.read.iter().chain(&settings.write).chain(home);
    let mut in_the_way =
        shown.filter(|path| canonical.starts_with(path) || path.starts_with(canonical));
    match in_the_way.next() {
        Some(path) => Mount::Covered {
            by: path.display().to_string(),
        },
        None => Mount::Canonical,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checkouts_are_at_one_path_only_where_nothing_else_is_shown() {
        let canonical = canonical_path(&ProjectId::parse("api").unwrap());
        assert_eq!(canonical, Path::new("/symphony/api"));
        let covered = |by: &str| Mount::Covered { by: by.to_owned() };
        for (path, expected) in [
            ("/cache", Mount::Canonical),
            ("/symphony/api-2", Mount::Canonical),
            ("/symphony", covered("/symphony")),
            ("/symphony/api", covered("/symphony/api")),
            ("/symphony/api/target", covered("/symphony/api/target")),
            ("/", covered("/")),
        ] {
            for is_written in [false, true] {
                let mut settings = SandboxSettings::default();
                let list = if is_written {
                    &mut settings.write
                } else {
                    &mut settings.read
                };
                list.push(path.into());
                assert_eq!(mount_of(&canonical, true, &settings, None), expected);
                let none = mount_of(&canonical, false, &settings, None);
                assert_eq!(none, Mount::NoNamespace);
            }
            let home = PathBuf::from(path);
            let found = mount_of(&canonical, true, &SandboxSettings::default(), Some(&home));
            assert_eq!(found, expected);
        }
    }
}
