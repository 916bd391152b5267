//! Descendants of processes in a table.

use std::collections::{BTreeMap, BTreeSet};

use symphony_core::id::RunId;

use super::record::ProcessRecord;
use super::system;

/// Lists the living descendants of the roots within a table, roots excluded, parents first.
pub(super) fn descendants_within(records: &[ProcessRecord], roots: &[i32]) -> Vec<ProcessRecord> {
    let mut children: BTreeMap<i32, Vec<&ProcessRecord>> = BTreeMap::new();
    for record in records {
        children.entry(record.parent).or_default().push(record);
    }
    let mut seen: BTreeSet<i32> = roots.iter().copied().collect();
    let mut queue: Vec<i32> = roots.to_vec();
    let mut found = Vec::new();
    let mut next = 0;
    while let Some(pid) = queue.get(next).copied() {
        next += 1;
        for child in children.get(&pid).into_iter().flatten() {
            if seen.insert(child.pid) {
                queue.push(child.pid);
                found.push((*child).clone());
            }
        }
    }
    found
}

/// Returns the run that a process supervises, according to its command line.
pub(super) fn supervised_run(pid: i32) -> Option<RunId> {
    let words = system::command_line(pid);
    let mut words = words.iter().filter_map(|word| word.to_str());
    words.find(|word| *word == "supervise")?;
    let run = (words.next() == Some("--run")).then(|| words.next())??;
    RunId::parse(run).ok()
}

/// Lists the descendants of some processes, without other supervisors and their descendants.
pub(super) fn own_descendants(records: &[ProcessRecord], roots: &[i32]) -> Vec<ProcessRecord> {
    let below = descendants_within(records, roots);
    let others: Vec<i32> = below
        .iter()
        .filter(|record| supervised_run(record.pid).is_some())
        .map(|record| record.pid)
        .collect();
    let spared = descendants_within(records, &others);
    let is_spared = |record: &ProcessRecord| {
        others.contains(&record.pid) || spared.iter().any(|other| other.pid == record.pid)
    };
    below
        .into_iter()
        .filter(|record| !is_spared(record))
        .collect()
}
