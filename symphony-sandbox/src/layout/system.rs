//! Where a system has its programs and libraries.

use std::path::Path;

/// Folders that hold the system's programs and libraries; on many systems some are links into `/usr`.
pub(super) const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/nix/store",
    "/gnu/store",
];

/// Returns whether a path is in a folder that every sandbox shows.
pub(crate) fn is_in_system(path: &Path) -> bool {
    SYSTEM.iter().any(|folder| path.starts_with(folder))
}
