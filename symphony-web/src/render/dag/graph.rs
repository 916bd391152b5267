//! Nodes and what each waits for, with edges that say nothing new left out.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Most nodes that are drawn; the list shows all.
pub const NODES_MAX: usize = 500;

/// A node: a phase of a plan.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its id, by which edges name it.
    pub id: String,
    /// Its title.
    pub title: String,
    /// A small second line: its state, its time.
    pub small: String,
    /// The class of its state: `run`, `fin`, `bad`, `wait`.
    pub class: &'static str,
    /// Where it leads.
    pub href: Option<String>,
}

/// Nodes with their edges.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Graph {
    /// The nodes.
    pub nodes: Vec<Node>,
    /// What waits for what: the earlier node's id, then the later one's. Unknown ids are ignored.
    pub edges: Vec<(String, String)>,
}

impl Graph {
    /// Returns the edges by the places of their nodes, sorted, each once.
    pub(super) fn indexed(&self) -> BTreeSet<(usize, usize)> {
        let places: BTreeMap<&str, usize> = (0..)
            .zip(&self.nodes)
            .map(|(place, node)| (node.id.as_str(), place))
            .collect();
        let place = |id: &String| places.get(id.as_str()).copied();
        let edges = self.edges.iter();
        let edges = edges.filter_map(|(from, to)| Some((place(from)?, place(to)?)));
        edges.filter(|(from, to)| from != to).collect()
    }
}

/// Assigns each node the length of the longest way to it. An edge that closes a circle is left out; the edges that remain
/// lead from lower layers to higher ones.
pub(super) fn layers(
    count: usize,
    edges: &BTreeSet<(usize, usize)>,
) -> (Vec<usize>, BTreeSet<(usize, usize)>) {
    let mut layer = vec![0; count];
    let mut targets: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut waits = vec![0_usize; count];
    for (from, to) in edges {
        if let (Some(list), Some(waiting)) = (targets.get_mut(*from), waits.get_mut(*to)) {
            list.push(*to);
            *waiting += 1;
        }
    }
    let mut open: BTreeSet<usize> = (0..count).collect();
    let is_ready = |at: &usize, waits: &[usize]| waits.get(*at) == Some(&0);
    let mut ready: BTreeSet<usize> = open
        .iter()
        .copied()
        .filter(|at| is_ready(at, &waits))
        .collect();
    let mut kept = BTreeSet::new();
    // none is ready: a circle, which is opened at its first node
    while let Some(next) = ready.pop_first().or_else(|| open.first().copied()) {
        open.remove(&next);
        let below = layer.get(next).map_or(0, |layer| layer + 1);
        for to in targets
            .get(next)
            .into_iter()
            .flatten()
            .filter(|to| open.contains(to))
        {
            kept.insert((next, *to));
            if let (Some(layer), Some(waiting)) = (layer.get_mut(*to), waits.get_mut(*to)) {
                *layer = below.max(*layer);
                *waiting -= 1;
            }
            if is_ready(to, &waits) {
                ready.insert(*to);
            }
        }
    }
    (layer, kept)
}

/// Leaves out the edges that others imply: if C waits for B and B for A, C need not show that it waits for A.
pub(super) fn reduced(
    layer: &[usize],
    edges: &BTreeSet<(usize, usize)>,
) -> BTreeSet<(usize, usize)> {
    let count = layer.len();
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|at| layer.get(*at).copied());
    let mut sources: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (from, to) in edges {
        if let Some(list) = sources.get_mut(*to) {
            list.push(*from);
        }
    }
    let mut ancestors: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); count];
    let mut kept = BTreeSet::new();
    for to in order {
        let mut direct = sources.get(to).cloned().unwrap_or_default();
        // what a higher source waits for is implied, with all that it waits for itself
        direct.sort_by_key(|source| Reverse(layer.get(*source).copied()));
        let mut all: BTreeSet<usize> = BTreeSet::new();
        for source in direct {
            if all.insert(source) {
                kept.insert((source, to));
                all.extend(ancestors.get(source).into_iter().flatten());
            }
        }
        if let Some(place) = ancestors.get_mut(to) {
            *place = all;
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layered(count: usize, edges: &[(usize, usize)]) -> (Vec<usize>, Vec<(usize, usize)>) {
        let (layer, kept) = layers(count, &edges.iter().copied().collect());
        let reduced = reduced(&layer, &kept);
        (layer, reduced.into_iter().collect())
    }

    #[test]
    fn layers_are_longest_ways_without_implied_edges() {
        for (count, edges, layer, kept) in [
            (0, &[][..], &[][..], &[][..]),
            (2, &[], &[0, 0], &[]),
            (3, &[(0, 1), (1, 2), (0, 2)], &[0, 1, 2], &[(0, 1), (1, 2)]),
            (
                4,
                &[(0, 1), (0, 2), (1, 3), (2, 3)],
                &[0, 1, 1, 2],
                &[(0, 1), (0, 2), (1, 3), (2, 3)],
            ),
            // a circle is opened at its first node
            (3, &[(0, 1), (1, 2), (2, 0)], &[0, 1, 2], &[(0, 1), (1, 2)]),
        ] {
            assert_eq!(
                layered(count, edges),
                (layer.to_vec(), kept.to_vec()),
                "{edges:?}"
            );
        }
    }

    proptest::proptest! {
        #[test]
        fn edges_lead_upwards_and_reach_the_same(edges in proptest::collection::btree_set((0_usize..12, 0_usize..12), 0..40)) {
            let edges = edges.into_iter().filter(|(from, to)| from != to).collect();
            let (layer, kept) = layers(12, &edges);
            proptest::prop_assert!(kept.iter().all(|(from, to)| layer[*from] < layer[*to]));
            proptest::prop_assert!(kept.is_subset(&edges));
            let fewer = reduced(&layer, &kept);
            proptest::prop_assert!(fewer.is_subset(&kept));
            proptest::prop_assert_eq!(reached(&fewer), reached(&kept));
            // nothing that could still be left out
            for edge in &fewer {
                let mut without = fewer.clone();
                without.remove(edge);
                proptest::prop_assert_ne!(reached(&without), reached(&fewer));
            }
        }
    }

    /// Returns all pairs of which the second waits for the first, directly or not.
    fn reached(edges: &BTreeSet<(usize, usize)>) -> BTreeSet<(usize, usize)> {
        let mut all = edges.clone();
        loop {
            let further: BTreeSet<_> = all
                .iter()
                .flat_map(|(from, middle)| {
                    let next = edges.iter().filter(move |(start, _)| start == middle);
                    next.map(|(_, to)| (*from, *to))
                })
                .collect();
            let before = all.len();
            all.extend(further);
            if all.len() == before {
                return all;
            }
        }
    }

    #[test]
    fn unknown_ids_and_loops_are_ignored() {
        let node = |id: &str| Node {
            id: id.to_owned(),
            ..Node::default()
        };
        let edge = |from: &str, to: &str| (from.to_owned(), to.to_owned());
        let graph = Graph {
            nodes: vec![node("a"), node("b")],
            edges: vec![
                edge("a", "b"),
                edge("a", "b"),
                edge("a", "a"),
                edge("x", "b"),
            ],
        };
        assert_eq!(graph.indexed().into_iter().collect::<Vec<_>>(), [(0, 1)]);
    }
}
