//! Labels: which are mirrored as labels, and which mean a status or a priority.
//!
//! Names are compared without case, as trackers do. Where the tracker has no priorities and no named states (GitHub), a label of
//! the settings means a priority or a status and is no label here. A phase label is ours alone: what phase an issue is in follows
//! from accepted work, and a label from outside must not skip one.

use std::collections::{BTreeMap, BTreeSet};

use symphony_core::config::{TrackerKind, TrackerSettings};
use symphony_core::issue::{LABEL_CHARS_MAX, LABELS_MAX, PHASE_LABEL_PREFIX};

/// Longest label that GitHub takes, in characters.
const GITHUB_LABEL_CHARS_MAX: usize = 50;

/// Returns the form of a name that is compared.
pub(crate) fn key(name: &str) -> String {
    name.trim().to_lowercase()
}

/// Returns whether two names are the same at a tracker.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    key(one) == key(other)
}

/// Returns whether labels mean statuses and priorities at this tracker.
pub(crate) fn have_meaning(settings: &TrackerSettings) -> bool {
    settings.place.kind() == TrackerKind::Github
}

/// Returns the labels that are mirrored as labels, by their compared form.
pub(crate) fn plain(
    settings: &TrackerSettings,
    labels: &BTreeSet<String>,
) -> BTreeMap<String, String> {
    let reserved = reserved(settings);
    labels
        .iter()
        .map(|name| (key(name), name.clone()))
        .filter(|(key, _)| !reserved.contains(key) && !key.starts_with(PHASE_LABEL_PREFIX))
        .collect()
}

fn reserved(settings: &TrackerSettings) -> BTreeSet<String> {
    if !have_meaning(settings) {
        return BTreeSet::new();
    }
    let names = settings.states.values().chain(settings.priorities.values());
    names.map(|name| key(name)).collect()
}

/// Returns which of some names a set of labels has, as they are written there.
pub(crate) fn present<'a>(
    labels: &BTreeSet<String>,
    names: impl Iterator<Item = &'a String>,
) -> BTreeSet<String> {
    let wanted: BTreeSet<String> = names.map(|name| key(name)).collect();
    labels
        .iter()
        .filter(|label| wanted.contains(&key(label)))
        .cloned()
        .collect()
}

/// Returns a set of labels after some were added and removed.
pub(crate) fn changed(
    labels: &BTreeSet<String>,
    add: &BTreeSet<String>,
    remove: &BTreeSet<String>,
) -> BTreeSet<String> {
    let gone: BTreeSet<String> = remove.iter().map(|name| key(name)).collect();
    let mut kept: BTreeSet<String> = labels
        .iter()
        .filter(|label| !gone.contains(&key(label)))
        .cloned()
        .collect();
    let had: BTreeSet<String> = kept.iter().map(|name| key(name)).collect();
    kept.extend(add.iter().filter(|name| !had.contains(&key(name))).cloned());
    kept
}

/// Returns whether a set has a label, in any case.
pub(crate) fn has(labels: &BTreeSet<String>, name: &str) -> bool {
    labels.iter().any(|label| is_same(label, name))
}

/// Returns whether Symphony can hold a label.
pub(crate) fn can_be_held(name: &str) -> bool {
    !name.trim().is_empty()
        && name.chars().count() <= LABEL_CHARS_MAX
        && !name.chars().any(char::is_control)
}

/// Returns whether the tracker can have a label.
pub(crate) fn can_be_sent(settings: &TrackerSettings, name: &str) -> bool {
    let chars_max = match settings.place.kind() {
        TrackerKind::Github => GITHUB_LABEL_CHARS_MAX,
        TrackerKind::Linear => LABEL_CHARS_MAX,
    };
    name.chars().count() <= chars_max
}

/// Returns why an issue that has `count` labels cannot take another one.
pub(crate) fn label_problem(name: &str, count: usize) -> Option<String> {
    if !can_be_held(name) {
        return Some("it is not a label that Symphony can have".to_owned());
    }
    (count >= LABELS_MAX).then(|| format!("an issue has at most {LABELS_MAX} labels"))
}
