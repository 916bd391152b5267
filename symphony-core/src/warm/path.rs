//! Paths of git, which are text with slashes.

/// Returns the last part of a path.
pub(super) fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}
