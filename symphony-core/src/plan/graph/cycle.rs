//! Finding phases that wait for each other.
#![expect(
    clippy::indexing_slicing,
    reason = "all indices are positions of nodes, made here and below the length of every table"
)]

/// Longest path that a message shows whole, in ids; the middle of longer ones is omitted.
pub const CYCLE_IDS_MAX: usize = 64;

/// Finds one cycle in each group of nodes that wait for each other, by Tarjan's algorithm for strongly connected
/// components without recursion; linear.
///
/// `waits_for[n]` are the nodes that `n` waits for. A cycle begins with its group's first node, each node waits for
/// the next and the last for the first; cycles come in the order of their first nodes.
pub(crate) fn find_cycles(waits_for: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let group_of = groups(waits_for);
    let mut first_of_group = vec![usize::MAX; waits_for.len()];
    let mut size_of_group = vec![0_usize; waits_for.len()];
    for (node, group) in group_of.iter().enumerate() {
        first_of_group[*group] = first_of_group[*group].min(node);
        size_of_group[*group] += 1;
    }
    let mut came_from = vec![usize::MAX; waits_for.len()];
    (0..waits_for.len())
        .filter(|node| {
            let group = group_of[*node];
            let is_cyclic = size_of_group[group] > 1 || waits_for[*node].contains(node);
            first_of_group[group] == *node && is_cyclic
        })
        .map(|start| shortest_way_back(start, waits_for, &group_of, &mut came_from))
        .collect()
}

/// Walks breadth first within the group of `start` until an edge returns to it.
fn shortest_way_back(
    start: usize,
    waits_for: &[Vec<usize>],
    group_of: &[usize],
    came_from: &mut [usize],
) -> Vec<usize> {
    let mut queue = vec![start];
    came_from[start] = start;
    let mut next = 0;
    while let Some(node) = queue.get(next).copied() {
        next += 1;
        for target in &waits_for[node] {
            if *target == start {
                let mut path = vec![node];
                let mut at = node;
                while at != start {
                    at = came_from[at];
                    path.push(at);
                }
                path.reverse();
                return path;
            }
            if group_of[*target] == group_of[start] && came_from[*target] == usize::MAX {
                came_from[*target] = node;
                queue.push(*target);
            }
        }
    }
    vec![start]
}

/// Numbers the strongly connected groups: for each node the number of its group.
fn groups(waits_for: &[Vec<usize>]) -> Vec<usize> {
    const UNSEEN: usize = usize::MAX;
    let count = waits_for.len();
    let mut index_of = vec![UNSEEN; count];
    let mut low = vec![0_usize; count];
    let mut group_of = vec![UNSEEN; count];
    let mut open = Vec::new();
    let mut walk: Vec<(usize, usize)> = Vec::new();
    let (mut next_index, mut next_group) = (0, 0);
    for root in 0..count {
        if index_of[root] != UNSEEN {
            continue;
        }
        walk.push((root, 0));
        while let Some((node, edge)) = walk.pop() {
            if edge == 0 {
                index_of[node] = next_index;
                low[node] = next_index;
                next_index += 1;
                open.push(node);
            } else {
                // back from the node behind the previous edge
                let target = waits_for[node][edge - 1];
                if group_of[target] == UNSEEN {
                    low[node] = low[node].min(low[target]);
                }
            }
            if let Some(target) = waits_for[node].get(edge).copied() {
                walk.push((node, edge + 1));
                if index_of[target] == UNSEEN {
                    walk.push((target, 0));
                }
            } else if low[node] == index_of[node] {
                while let Some(member) = open.pop() {
                    group_of[member] = next_group;
                    if member == node {
                        break;
                    }
                }
                next_group += 1;
            }
        }
    }
    group_of
}

/// Renders a cycle as `a -> b -> a`.
pub(crate) fn render_cycle(names: &[&str]) -> String {
    let mut shown: Vec<&str> = Vec::new();
    let left_out;
    if names.len() > CYCLE_IDS_MAX {
        let half = CYCLE_IDS_MAX / 2;
        left_out = format!("... {} more ...", names.len() - 2 * half);
        shown.extend(&names[..half]);
        shown.push(&left_out);
        shown.extend(&names[names.len() - half..]);
    } else {
        shown.extend(names);
    }
    shown.extend(names.first());
    shown.join(" -> ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_group_yields_one_short_cycle() {
        for (waits_for, expected) in [
            (vec![], vec![]),
            (vec![vec![], vec![0], vec![0, 1]], vec![]),
            (vec![vec![1], vec![0]], vec![vec![0, 1]]),
            (vec![vec![0]], vec![vec![0]]),
            (
                vec![vec![1], vec![2], vec![3, 0], vec![0]],
                vec![vec![0, 1, 2]],
            ),
            (vec![vec![2], vec![0], vec![3], vec![2]], vec![vec![2, 3]]),
            (
                vec![vec![], vec![2], vec![1, 1], vec![4, 0], vec![3, 1]],
                vec![vec![1, 2], vec![3, 4]],
            ),
        ] {
            assert_eq!(find_cycles(&waits_for), expected, "{waits_for:?}");
        }
    }

    #[test]
    fn long_cycles_are_shown_in_part() {
        assert_eq!(render_cycle(&["a", "b"]), "a -> b -> a");
        let names = vec!["x"; 100_000];
        let text = render_cycle(&names);
        assert!(text.contains("x -> ... 99936 more ... -> x"), "{text}");
        assert!(text.len() < 1_000);
    }
}
