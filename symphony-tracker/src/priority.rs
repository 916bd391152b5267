//! Priorities: a field of the tracker (Linear), or a label that means one (GitHub).

use std::collections::BTreeSet;

use symphony_core::config::TrackerSettings;
use symphony_core::issue::Priority;

use crate::base::RemoteFields;
use crate::change::Change;
use crate::labels;

/// What a tracker shows of a priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    /// This one.
    Named(Priority),
    /// One of those for which the settings have no label.
    Unnamed,
}

impl Shown {
    /// Returns the priority that is taken over.
    pub(crate) const fn taken(self) -> Priority {
        match self {
            Self::Named(priority) => priority,
            Self::Unnamed => Priority::None,
        }
    }
}

/// Returns what the tracker shows; `None` if priorities are not mirrored there. Of several labels, the most urgent counts.
pub(crate) fn shown(settings: &TrackerSettings, remote: &RemoteFields) -> Option<Shown> {
    if !labels::have_meaning(settings) {
        return Some(Shown::Named(remote.priority.unwrap_or(Priority::None)));
    }
    if settings.priorities.is_empty() {
        return None;
    }
    let named = settings
        .priorities
        .iter()
        .find(|(_, label)| labels::has(&remote.labels, label));
    Some(named.map_or(Shown::Unnamed, |(priority, _)| Shown::Named(*priority)))
}

/// Returns how the tracker would show a priority of ours.
pub(crate) fn as_shown(settings: &TrackerSettings, priority: Priority) -> Shown {
    if !labels::have_meaning(settings) || settings.priorities.contains_key(&priority) {
        Shown::Named(priority)
    } else {
        Shown::Unnamed
    }
}

/// Returns the change that makes the tracker show a priority of ours; `None` if it does.
pub(crate) fn change(
    settings: &TrackerSettings,
    remote: &RemoteFields,
    priority: Priority,
) -> Option<Change> {
    if !labels::have_meaning(settings) {
        return (remote.priority != Some(priority)).then_some(Change::SetPriority { priority });
    }
    label_change(
        &remote.labels,
        settings.priorities.values(),
        settings.priorities.get(&priority),
    )
}

/// Returns the change after which, of some labels, a set has only the wanted one; `None` if that is so.
pub(crate) fn label_change<'a>(
    labels: &BTreeSet<String>,
    among: impl Iterator<Item = &'a String>,
    wanted: Option<&String>,
) -> Option<Change> {
    let is_wanted = |name: &String| wanted.is_some_and(|wanted| labels::is_same(wanted, name));
    let (kept, remove): (BTreeSet<String>, _) = labels::present(labels, among)
        .into_iter()
        .partition(is_wanted);
    let add: BTreeSet<String> = match wanted {
        Some(wanted) if kept.is_empty() => BTreeSet::from([wanted.clone()]),
        _ => BTreeSet::new(),
    };
    let is_needed = !(add.is_empty() && remove.is_empty());
    is_needed.then_some(Change::SetLabels { add, remove })
}
