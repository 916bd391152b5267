//! Heights within layers: near the neighbours' heights, in the given order, and apart.

use super::links::{Links, exact, mean};

/// How often each layer is moved towards its neighbours.
const ROUNDS: usize = 8;

/// Returns the middle of each item, and the height of all. Items need the room that `step` gives.
pub(super) fn settled(
    rows: &[Vec<usize>],
    links: &Links,
    step: impl Fn(usize) -> f64,
) -> (Vec<f64>, f64) {
    let count = rows.iter().flatten().max().map_or(0, |last| last + 1);
    let mut middle = vec![0.0; count];
    let offsets: Vec<Vec<f64>> = rows.iter().map(|row| offsets(row, &step)).collect();
    // at first each layer is centred on 0
    for (row, offsets) in rows.iter().zip(&offsets) {
        let half = offsets.last().copied().unwrap_or(0.0) / 2.0;
        for (item, offset) in row.iter().zip(offsets) {
            set(&mut middle, *item, offset - half);
        }
    }
    for round in 0..ROUNDS {
        for at in 0..rows.len() {
            let at = if round % 2 == 0 {
                at
            } else {
                rows.len() - 1 - at
            };
            let (Some(row), Some(offsets)) = (rows.get(at), offsets.get(at)) else {
                continue;
            };
            let height = |item: &usize| middle.get(*item).copied();
            let wanted: Vec<f64> = row
                .iter()
                .zip(offsets)
                .map(|(item, offset)| {
                    let linked = links.before(*item).iter().chain(links.after(*item));
                    let mean = mean(linked.filter_map(height)).or_else(|| height(item));
                    mean.unwrap_or(0.0) - offset
                })
                .collect();
            for ((item, offset), height) in row.iter().zip(offsets).zip(isotonic(&wanted)) {
                set(&mut middle, *item, height + offset);
            }
        }
    }
    let edge = |item: usize, sign: f64| {
        middle
            .get(item)
            .map_or(0.0, |at| at + sign * step(item) / 2.0)
    };
    let items = || rows.iter().flatten().copied();
    let top = items()
        .map(|item| edge(item, -1.0))
        .fold(f64::INFINITY, f64::min);
    let bottom = items()
        .map(|item| edge(item, 1.0))
        .fold(f64::NEG_INFINITY, f64::max);
    if count == 0 {
        return (middle, 0.0);
    }
    for height in &mut middle {
        *height -= top;
    }
    (middle, bottom - top)
}

fn set(middle: &mut [f64], item: usize, height: f64) {
    if let Some(place) = middle.get_mut(item) {
        *place = height;
    }
}

/// Returns how far each item of a row is below the first when they touch.
fn offsets(row: &[usize], step: &impl Fn(usize) -> f64) -> Vec<f64> {
    let mut offsets = Vec::with_capacity(row.len());
    let mut at = 0.0;
    let mut before: Option<usize> = None;
    for item in row {
        if let Some(before) = before {
            at += f64::midpoint(step(before), step(*item));
        }
        offsets.push(at);
        before = Some(*item);
    }
    offsets
}

/// Returns the rising values that are nearest to the wanted ones, by pooling neighbours that are out of order.
fn isotonic(wanted: &[f64]) -> Vec<f64> {
    let mut pools: Vec<(f64, usize)> = Vec::with_capacity(wanted.len());
    for value in wanted {
        let mut pool = (*value, 1);
        while let Some((before, count)) = pools.pop_if(|(before, _)| *before > pool.0) {
            let weight = (exact(count), exact(pool.1));
            let sum = before * weight.0 + pool.0 * weight.1;
            pool = (sum / (weight.0 + weight.1), count + pool.1);
        }
        pools.push(pool);
    }
    let values = pools
        .into_iter()
        .flat_map(|(value, count)| std::iter::repeat_n(value, count));
    values.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_out_of_order_are_pooled() {
        for (wanted, expected) in [
            (&[][..], &[][..]),
            (&[1.0, 2.0], &[1.0, 2.0]),
            (&[2.0, 1.0], &[1.5, 1.5]),
            (&[1.0, 5.0, 3.0, 4.0], &[1.0, 4.0, 4.0, 4.0]),
        ] {
            assert_eq!(isotonic(wanted), expected, "{wanted:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn the_result_rises(wanted in proptest::collection::vec(-1e6..1e6_f64, 0..50)) {
            let found = isotonic(&wanted);
            proptest::prop_assert_eq!(found.len(), wanted.len());
            proptest::prop_assert!(found.is_sorted_by(|left, right| *left <= right + 1e-6));
        }
    }
}
