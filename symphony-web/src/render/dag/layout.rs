//! Order within layers, so that few edges cross (Sugiyama, Tagawa and Toda 1981: sweeps by barycentre).

use std::collections::{BTreeMap, BTreeSet};

use super::links::{Links, exact, mean};
use super::place::settled;

/// Sweeps over all layers, down and up; more change little.
const SWEEPS: usize = 12;

/// Most points that edges over several layers are led through; further ones are drawn straight.
const BENDS_MAX: usize = 4_000;

/// Height of a node with the gap below it.
pub(super) const NODE_STEP: f64 = 72.0;

/// Height of a point that an edge is led through.
const BEND_STEP: f64 = 24.0;

/// Where everything is: for each item its layer and the height of its middle. Nodes come first, then bends.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Layout {
    pub(super) layer: Vec<usize>,
    pub(super) middle: Vec<f64>,
    /// The items that each edge goes through.
    pub(super) routes: Vec<Vec<usize>>,
    pub(super) layers: usize,
    pub(super) height: f64,
}

/// Lays out nodes whose edges lead from lower layers to higher ones.
pub(super) fn layout(node_layers: &[usize], edges: &BTreeSet<(usize, usize)>) -> Layout {
    let nodes = node_layers.len();
    let mut layer = node_layers.to_vec();
    let mut routes = Vec::with_capacity(edges.len());
    for (from, to) in edges {
        let mut route = vec![*from];
        let (first, last) = (node_layers.get(*from), node_layers.get(*to));
        let between = first.map_or(0, |first| first + 1)..last.copied().unwrap_or(0);
        if layer.len() - nodes + between.len() <= BENDS_MAX {
            for at in between {
                route.push(layer.len());
                layer.push(at);
            }
        }
        route.push(*to);
        routes.push(route);
    }
    let layers = layer.iter().max().map_or(0, |last| last + 1);
    let mut rows: Vec<Vec<usize>> = vec![Vec::new(); layers];
    for (item, at) in layer.iter().enumerate() {
        if let Some(row) = rows.get_mut(*at) {
            row.push(item);
        }
    }
    let links = Links::new(layer.len(), &routes);
    order(&mut rows, &links);
    let (middle, height) = settled(&rows, &links, |item| {
        if item < nodes { NODE_STEP } else { BEND_STEP }
    });
    Layout {
        layer,
        middle,
        routes,
        layers,
        height,
    }
}

/// Sorts each layer by the mean place of its neighbours, and keeps the best order that was seen.
fn order(rows: &mut Vec<Vec<usize>>, links: &Links) {
    let mut best = (crossings(rows, links), rows.clone());
    for sweep in 0..SWEEPS {
        if best.0 == 0 {
            break;
        }
        let is_down = sweep % 2 == 0;
        for step in 1..rows.len() {
            let (at, neighbour) = if is_down {
                (step, step - 1)
            } else {
                (rows.len() - 1 - step, rows.len() - step)
            };
            let place = places(rows.get(neighbour).map_or(&[], Vec::as_slice));
            let Some(row) = rows.get_mut(at) else {
                continue;
            };
            let own = places(row);
            let mean = |item: &usize| {
                let linked = if is_down {
                    links.before(*item)
                } else {
                    links.after(*item)
                };
                mean(linked.iter().filter_map(|other| place.get(other).copied()))
                    .or_else(|| own.get(item).copied())
                    .unwrap_or(0.0)
            };
            row.sort_by(|left, right| mean(left).total_cmp(&mean(right)));
        }
        let now = crossings(rows, links);
        if now < best.0 {
            best = (now, rows.clone());
        }
    }
    *rows = best.1;
}

/// Returns the place of each item of a row, from 0 to 1.
fn places(row: &[usize]) -> BTreeMap<usize, f64> {
    let count = exact(row.len()).max(1.0);
    let place = |(at, item): (usize, &usize)| (*item, (exact(at) + 0.5) / count);
    row.iter().enumerate().map(place).collect()
}

/// Counts the pairs of edges that cross, with a tree of sums (Barth, Jünger and Mutzel 2002).
fn crossings(rows: &[Vec<usize>], links: &Links) -> usize {
    let mut count = 0;
    for (upper, lower) in rows.iter().zip(rows.iter().skip(1)) {
        let place: BTreeMap<usize, usize> = lower
            .iter()
            .enumerate()
            .map(|(at, item)| (*item, at))
            .collect();
        let mut sums = vec![0_usize; lower.len() + 1];
        let mut seen = 0;
        for item in upper {
            let after = links.after(*item).iter();
            let mut ends: Vec<usize> = after.filter_map(|to| place.get(to).copied()).collect();
            ends.sort_unstable();
            // edges of earlier items that end further on
            for end in &ends {
                let mut at = end + 1;
                let mut not_after = 0;
                while at > 0 {
                    not_after += sums.get(at).copied().unwrap_or(0);
                    at &= at - 1;
                }
                count += seen - not_after;
            }
            for end in ends {
                seen += 1;
                let mut at = end + 1;
                while let Some(sum) = sums.get_mut(at) {
                    *sum += 1;
                    at += at & at.wrapping_neg();
                }
            }
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn laid_out(layers: &[usize], edges: &[(usize, usize)]) -> Layout {
        layout(layers, &edges.iter().copied().collect())
    }

    #[test]
    fn crossing_edges_are_uncrossed() {
        let links = Links::new(4, &[vec![0, 3], vec![1, 2]]);
        assert_eq!(crossings(&[vec![0, 1], vec![2, 3]], &links), 1);
        let mut rows = vec![vec![0, 1], vec![2, 3]];
        order(&mut rows, &links);
        assert_eq!(crossings(&rows, &links), 0);
    }

    #[test]
    fn a_long_edge_goes_around_nodes() {
        // 0 → 1 → 2 and 0 → 2 past 1
        let found = laid_out(&[0, 1, 2], &[(0, 1), (1, 2), (0, 2)]);
        assert_eq!(found.routes.len(), 3);
        assert_eq!(found.routes[1], [0, 3, 2]);
        assert_eq!(found.layer[3], 1);
        assert!(
            (found.middle[3] - found.middle[1]).abs() >= 47.0,
            "{:?}",
            found.middle
        );
    }

    #[test]
    fn a_chain_is_a_straight_line() {
        let found = laid_out(&[0, 1, 2], &[(0, 1), (1, 2)]);
        assert_eq!(found.middle, [36.0, 36.0, 36.0]);
        assert_eq!((found.layers, found.height), (3, NODE_STEP));
    }
}
