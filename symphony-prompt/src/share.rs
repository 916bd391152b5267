//! Sharing a budget out evenly: what one part leaves over goes to the others.

/// Returns what each part gets: its size, or an even share of what the smaller ones leave. The sum is at most `budget`.
pub(crate) fn even_shares(sizes: &[u64], budget: u64) -> Vec<u64> {
    let mut order: Vec<(usize, u64)> = sizes.iter().copied().enumerate().collect();
    order.sort_by_key(|(index, size)| (*size, *index));
    let mut shares: Vec<(usize, u64)> = Vec::with_capacity(sizes.len());
    let mut left = budget;
    let mut parts = sizes.len() as u64;
    for (index, size) in order {
        let share = size.min(left / parts.max(1));
        left -= share;
        parts -= 1;
        shares.push((index, share));
    }
    shares.sort_unstable_by_key(|(index, _)| *index);
    shares.into_iter().map(|(_, share)| share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_parts_are_whole_and_large_ones_even() {
        for (sizes, budget, expected) in [
            (vec![], 10, vec![]),
            (vec![5, 5], 10, vec![5, 5]),
            (vec![100, 2, 100], 20, vec![9, 2, 9]),
            (vec![100, 100, 100], 10, vec![3, 3, 4]),
            (vec![3, 2, 1], 0, vec![0, 0, 0]),
        ] {
            assert_eq!(
                even_shares(&sizes, budget),
                expected,
                "{sizes:?} in {budget}"
            );
        }
    }
}
