//! Which removed line faces which added line: rows of the split view, and pairs whose changed words are marked.

use super::file::{Line, Side};

/// A row: a line of each side, or one with nothing beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair<'a> {
    /// The line before.
    pub left: Option<&'a Line>,
    /// The line after; an unchanged line is on both sides.
    pub right: Option<&'a Line>,
}

/// Pairs the lines of a hunk: in each run of changes the first removed line faces the first added one.
pub fn pairs(lines: &[Line]) -> Vec<Pair<'_>> {
    let mut pairs = Vec::with_capacity(lines.len());
    // a change is removed lines, then added ones: a removed line after an added one begins the next change
    let runs = lines.chunk_by(|before, after| match (before.side, after.side) {
        (Side::Both, Side::Both) | (Side::Removed, Side::Added) => true,
        (before, after) => before == after,
    });
    for run in runs {
        if run.first().is_some_and(|line| line.side == Side::Both) {
            pairs.extend(run.iter().map(|line| Pair {
                left: Some(line),
                right: Some(line),
            }));
            continue;
        }
        let middle = run.partition_point(|line| line.side == Side::Removed);
        let (removed, added) = run.split_at(middle);
        pairs.extend((0..removed.len().max(added.len())).map(|at| Pair {
            left: removed.get(at),
            right: added.get(at),
        }));
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(signs: &str) -> Vec<Line> {
        let line = |sign: char| Line {
            side: match sign {
                '-' => Side::Removed,
                '+' => Side::Added,
                _ => Side::Both,
            },
            ..Line::default()
        };
        signs.chars().map(line).collect()
    }

    fn shape(signs: &str) -> String {
        let sign = |line: Option<&Line>| match line.map(|line| line.side) {
            None => '.',
            Some(Side::Both) => '=',
            Some(Side::Removed) => '-',
            Some(Side::Added) => '+',
        };
        let lines = lines(signs);
        let rows = pairs(&lines);
        let rows = rows
            .iter()
            .map(|pair| format!("{}{}", sign(pair.left), sign(pair.right)));
        rows.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn removed_lines_face_added_ones() {
        for (signs, expected) in [
            ("", ""),
            ("=-+=", "== -+ =="),
            ("--+", "-+ -."),
            ("-++", "-+ .+"),
            ("+-", ".+ -."),
            ("-+-+", "-+ -+"),
            ("+=", ".+ =="),
        ] {
            assert_eq!(shape(signs), expected, "{signs}");
        }
    }

    proptest::proptest! {
        #[test]
        fn every_line_is_in_one_row_in_order(signs in "[-+=]{0,40}") {
            let lines = lines(&signs);
            let rows = pairs(&lines);
            let on = |side: Side, pick: fn(&Pair<'_>) -> Option<*const Line>| {
                let expected: Vec<*const Line> =
                    lines.iter().filter(|line| line.side != side).map(std::ptr::from_ref).collect();
                (rows.iter().filter_map(pick).collect::<Vec<_>>(), expected)
            };
            let (left, expected) = on(Side::Added, |pair| pair.left.map(std::ptr::from_ref));
            proptest::prop_assert_eq!(left, expected);
            let (right, expected) = on(Side::Removed, |pair| pair.right.map(std::ptr::from_ref));
            proptest::prop_assert_eq!(right, expected);
        }
    }
}
