//! A dependency counts only when it is not stuck itself: what waits for something stranded, or in a circle, is
//! stranded.

use std::collections::{BTreeMap, BTreeSet};

use super::{Dependency, Item, Standing};

/// Items of a circle that a sentence names.
const CIRCLE_NAMED_MAX: usize = 5;

/// Follows what items wait for to its end, and marks items as stranded if that end cannot come.
pub(super) fn follow_dependencies(standings: &mut BTreeMap<Item, Standing>) {
    let edges: BTreeMap<Item, Vec<Item>> = standings
        .iter()
        .filter_map(|(item, standing)| Some((item.clone(), items_of(standing)?)))
        .collect();
    let mut settled: BTreeSet<Item> = standings
        .keys()
        .filter(|item| !edges.contains_key(item))
        .cloned()
        .collect();
    // Each round settles what waits only for settled things; what is left waits for itself, directly or through others.
    let mut waiting: Vec<(&Item, &Vec<Item>)> = edges.iter().collect();
    loop {
        let before = waiting.len();
        waiting.retain(|(item, on)| {
            let is_known = |on: &Item| settled.contains(on) || !standings.contains_key(on);
            if !on.iter().all(is_known) {
                return true;
            }
            let stuck = on
                .iter()
                .find_map(|on| stuck_on(item, on, standings.get(on)));
            if let Some(standing) = stuck {
                standings.insert((*item).clone(), standing);
            }
            settled.insert((*item).clone());
            false
        });
        if waiting.len() == before {
            break;
        }
    }
    for (item, _) in waiting {
        let why = in_circle(item, &edges);
        standings.insert(item.clone(), Standing::Stranded { why });
    }
}

/// Returns the items that an item waits for; `None` if it waits for no item.
fn items_of(standing: &Standing) -> Option<Vec<Item>> {
    let Standing::WaitsFor { dependencies } = standing else {
        return None;
    };
    let items = dependencies.iter().filter_map(|on| match on {
        Dependency::Item(item) => Some(item.clone()),
        _ => None,
    });
    Some(items.collect())
}

/// Returns the status of an item that waits in vain; `None` if what it waits for is not stuck.
fn stuck_on(item: &Item, on: &Item, standing: Option<&Standing>) -> Option<Standing> {
    let why = match (item, standing) {
        (_, None) => format!("it waits for {on}, which has ended or does not exist"),
        (_, Some(Standing::Stranded { why })) => format!("it waits for {on}: {why}"),
        // who shelves an issue shelves its pull request
        (Item::PullRequest(_), Some(Standing::NotAskedFor)) => return Some(Standing::NotAskedFor),
        (_, Some(Standing::NotAskedFor)) => {
            format!("it waits for {on}, which is in the backlog, but the inbox does not show this")
        }
        (_, Some(_)) => return None,
    };
    Some(Standing::Stranded { why })
}

/// Names the circle that an item is in, or waits for.
fn in_circle(item: &Item, edges: &BTreeMap<Item, Vec<Item>>) -> String {
    let mut path: Vec<&Item> = vec![item];
    while let Some(next) = path
        .last()
        .and_then(|last| edges.get(*last))
        .and_then(|on| on.iter().find(|on| edges.contains_key(*on)))
    {
        if path.contains(&next) || path.len() > CIRCLE_NAMED_MAX {
            path.push(next);
            break;
        }
        path.push(next);
    }
    let names: Vec<String> = path.iter().map(ToString::to_string).collect();
    format!("it waits in a circle: {}", names.join(" → "))
}
