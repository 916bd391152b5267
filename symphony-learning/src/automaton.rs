//! Which of many patterns occur in a text, in time linear in patterns and text whatever they hold (Aho and Corasick, 1975).
//!
//! The guaranteed way: the faster ways of this crate count their work and come here when it gets too much.
//! Built from sorted patterns, so that the trie needs no table of edges and no hashing: a node's first child is the
//! next node, its other children hang on it as a list (at most 256, in UTF-8 text far fewer).

use crate::texts::{NONE, small, wide};

/// Most bytes of patterns in one automaton, so that node numbers fit in 32 bits: half of their range.
pub(crate) const PATTERN_BYTES_MAX: usize = 1 << 31;

const ROOT: u32 = 0;

#[derive(Debug, Clone, Copy)]
struct TrieNode {
    label: u8,
    leaf: bool,
    /// The patterns that end here, by this node or by its failure chain, were reported.
    seen: bool,
    /// The next child of the same parent.
    sibling: u32,
    /// The node of the longest proper suffix that is in the trie.
    fail: u32,
    /// The pattern that ends here.
    pattern: u32,
}

impl TrieNode {
    fn new(label: u8) -> Self {
        Self {
            label,
            leaf: true,
            seen: false,
            sibling: NONE,
            fail: ROOT,
            pattern: NONE,
        }
    }
}

/// How an occurrence is in its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Occurrence {
    /// The pattern is the whole text. Reported for each such text.
    Whole,
    /// The pattern is a proper part of the text. Reported once for each pattern, for the first such text.
    Part,
}

/// A set of patterns to look for, with the memory of what was found.
#[derive(Debug)]
pub(crate) struct Automaton {
    nodes: Vec<TrieNode>,
    /// The root's children by label: the step that scanning takes most often.
    top: Vec<u32>,
}

impl Automaton {
    /// Builds from distinct, non-empty patterns in byte order, each with the number to report it by.
    pub(crate) fn new<'a>(sorted: impl Iterator<Item = (&'a [u8], u32)>) -> Self {
        let mut root = TrieNode::new(0);
        root.seen = true;
        let mut automaton = Self {
            nodes: vec![root],
            top: vec![NONE; 256],
        };
        automaton.plant(sorted);
        automaton.link();
        automaton
    }

    fn plant<'a>(&mut self, sorted: impl Iterator<Item = (&'a [u8], u32)>) {
        let mut path: Vec<u32> = vec![ROOT];
        let mut before: &[u8] = &[];
        for (pattern, number) in sorted {
            let shared = shared_prefix(before, pattern);
            // The last child of the node where the two part; the new branch becomes its sibling.
            let mut elder = path.get(shared + 1).copied();
            path.truncate(shared + 1);
            for &label in pattern.get(shared..).unwrap_or_default() {
                let node = small(self.nodes.len());
                self.nodes.push(TrieNode::new(label));
                let parent = path.last().copied().unwrap_or(ROOT);
                match elder.take() {
                    Some(elder) => self.node_mut(elder).sibling = node,
                    None => self.node_mut(parent).leaf = false,
                }
                if parent == ROOT
                    && let Some(slot) = self.top.get_mut(usize::from(label))
                {
                    *slot = node;
                }
                path.push(node);
            }
            let last = path.last().copied().unwrap_or(ROOT);
            self.node_mut(last).pattern = number;
            before = pattern;
        }
    }

    /// Sets the failure links, nearest the root first.
    fn link(&mut self) {
        let mut queue: Vec<u32> = Vec::with_capacity(self.nodes.len());
        queue.push(ROOT);
        let mut next = 0;
        while let Some(&parent) = queue.get(next) {
            next += 1;
            let parent_fail = self.node(parent).fail;
            let mut child = self.first_child(parent);
            while child != NONE {
                let TrieNode { label, sibling, .. } = self.node(child);
                if parent != ROOT {
                    let fail = self.step(parent_fail, label);
                    self.node_mut(child).fail = fail;
                }
                queue.push(child);
                child = sibling;
            }
        }
    }

    /// Reports the patterns that occur in a text.
    pub(crate) fn scan(&mut self, text: &[u8], mut report: impl FnMut(u32, Occurrence)) {
        let mut state = ROOT;
        // How long the match that `state` stands for is: equal to the text's length only when it is the whole text.
        let mut depth_is_all = true;
        let last = text.len().wrapping_sub(1);
        for (place, &label) in text.iter().enumerate() {
            let child = self.child(state, label);
            if child == NONE {
                depth_is_all = false;
                state = if state == ROOT {
                    ROOT
                } else {
                    self.step(self.node(state).fail, label)
                };
            } else {
                state = child;
            }
            let mut from = state;
            if depth_is_all && place == last {
                let node = self.node(state);
                if node.pattern != NONE {
                    report(node.pattern, Occurrence::Whole);
                }
                from = node.fail;
            }
            while !self.node(from).seen {
                let node = self.node_mut(from);
                node.seen = true;
                let TrieNode { pattern, fail, .. } = *node;
                if pattern != NONE {
                    report(pattern, Occurrence::Part);
                }
                from = fail;
            }
        }
    }

    /// Goes from a state over a label: to the child, or to that of the nearest suffix that has one, or to the root.
    fn step(&self, mut state: u32, label: u8) -> u32 {
        loop {
            let child = self.child(state, label);
            if child != NONE {
                return child;
            }
            if state == ROOT {
                return ROOT;
            }
            state = self.node(state).fail;
        }
    }

    fn child(&self, state: u32, label: u8) -> u32 {
        if state == ROOT {
            return self.top.get(usize::from(label)).copied().unwrap_or(NONE);
        }
        let mut child = self.first_child(state);
        while child != NONE {
            let node = self.node(child);
            if node.label >= label {
                return if node.label == label { child } else { NONE };
            }
            child = node.sibling;
        }
        NONE
    }

    fn first_child(&self, state: u32) -> u32 {
        if self.node(state).leaf {
            NONE
        } else {
            state + 1
        }
    }

    #[expect(
        clippy::indexing_slicing,
        reason = "node numbers come from this automaton alone"
    )]
    fn node(&self, number: u32) -> TrieNode {
        self.nodes[wide(number)]
    }

    #[expect(
        clippy::indexing_slicing,
        reason = "node numbers come from this automaton alone"
    )]
    fn node_mut(&mut self, number: u32) -> &mut TrieNode {
        &mut self.nodes[wide(number)]
    }
}

fn shared_prefix(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// Builds automata over sorted distinct patterns, as many as needed to keep each within [`PATTERN_BYTES_MAX`], and gives
/// each to `scan`.
pub(crate) fn in_batches<'a>(
    sorted: &[u32],
    bytes_max: usize,
    pattern: impl Fn(u32) -> &'a [u8],
    mut scan: impl FnMut(Automaton),
) {
    let mut rest = sorted;
    while !rest.is_empty() {
        let mut bytes = 0_usize;
        let fits = rest
            .iter()
            .take_while(|&&number| {
                bytes = bytes.saturating_add(pattern(number).len());
                bytes <= bytes_max
            })
            .count();
        let (batch, later) = rest.split_at(fits.max(1));
        scan(Automaton::new(
            batch.iter().map(|&number| (pattern(number), number)),
        ));
        rest = later;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(patterns: &[&str], texts: &[&str]) -> Vec<(usize, u32, Occurrence)> {
        let sorted = patterns.iter().zip(0..).map(|(p, n)| (p.as_bytes(), n));
        let mut automaton = Automaton::new(sorted);
        let mut all = Vec::new();
        for (number, text) in texts.iter().enumerate() {
            automaton.scan(text.as_bytes(), |pattern, how| {
                all.push((number, pattern, how));
            });
        }
        all.sort_by_key(|&(text, pattern, _)| (text, pattern));
        all
    }

    #[test]
    fn reports_each_part_once_and_each_whole_always() {
        use Occurrence::{Part, Whole};
        assert_eq!(
            found(
                &["he", "her", "hers", "his", "she"],
                &["ushers", "hers", "she", "she"]
            ),
            [
                (0, 0, Part),
                (0, 1, Part),
                (0, 2, Part),
                (0, 4, Part),
                (1, 2, Whole),
                (2, 4, Whole),
                (3, 4, Whole)
            ]
        );
        // A whole text is not a part of itself, though it ends like a part of a later one.
        assert_eq!(
            found(&["a", "aa", "aaa"], &["aa", "aaa", "aaaa"]),
            [
                (0, 0, Part),
                (0, 1, Whole),
                (1, 1, Part),
                (1, 2, Whole),
                (2, 2, Part)
            ]
        );
        assert_eq!(
            found(&["é", "日本"], &["x日本é", ""]),
            [(0, 0, Part), (0, 1, Part)]
        );
    }

    #[test]
    fn batches_cover_all_patterns() {
        let patterns = ["abc", "bc", "c", "longer than a batch"];
        let mut hits = Vec::new();
        let mut batches = 0;
        in_batches(
            &[0, 1, 2, 3],
            4,
            |n| patterns[wide(n)].as_bytes(),
            |mut automaton| {
                batches += 1;
                automaton.scan(b"xabcx longer than a batch", |n, _| hits.push(n));
            },
        );
        hits.sort_unstable();
        assert_eq!((batches, hits), (3, vec![0, 1, 2, 3]));
    }
}
