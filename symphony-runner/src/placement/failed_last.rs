//! The order of a tick's calls of hubs.

/// Puts last what failed in the last tick: a few that fail whenever they are tried may not use up the time of all others.
pub(super) fn failed_last<T>(items: &mut [T], has_failed: impl Fn(&T) -> bool) {
    items.sort_by_cached_key(has_failed);
}
