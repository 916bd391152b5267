//! How many more cases a decision would need: the size of two groups of which the interval of their difference excludes 0 in
//! four of five repetitions, if the difference is as large as it was found. The formula is that of S.-C. Chow, J. Shao and H. Wang, *Sample
//! Size Calculations in Clinical Research* (2003), for a two-sided test of equality, with the variances as they were found: for two shares that
//! of chapter 4, which does not pool the variances, for two means and for pairs (one mean, that of the differences) those of chapter 3. The
//! form with pooled variances (J. L. Fleiss, *Statistical Methods for Rates and Proportions*, 2nd edition, 1981, chapter 3) asks for a few
//! more.

use super::Sample;
use super::cases::as_float;
use super::difference::Difference;
use super::mean::{difference_of_means, estimate_of_mean};
use super::paired::{Pairs, difference_of_pairs};
use super::proportion::{Proportion, difference_of_proportions};

/// More than this is as good as never.
pub const CASES_NEEDED_MAX: u64 = 100_000;

/// The squared sum of the normal quantiles for 5 % on both sides and 80 % of the repetitions: (1.959964 + 0.841621)².
const FACTOR: f64 = 7.848_879_734_349_088;

/// Returns how many more cases each group would need; 0 when the interval excludes 0 already, none when no difference was
/// found, and at most [`CASES_NEEDED_MAX`].
pub fn more_cases_for_proportions(first: Proportion, second: Proportion) -> Option<u64> {
    let found = difference_of_proportions(first, second);
    let variances = first.variance() + second.variance();
    more(&found, variances, first.cases().min(second.cases()))
}

/// As [`more_cases_for_proportions`], for means; none as well when a group has fewer than two numbers.
pub fn more_cases_for_means(first: &Sample, second: &Sample) -> Option<u64> {
    let found = difference_of_means(first, second)?;
    let variances = first.variance()? + second.variance()?;
    more(&found, variances, first.count.min(second.count))
}

/// As [`more_cases_for_proportions`], for pairs.
pub fn more_pairs_for_proportions(pairs: &Pairs) -> Option<u64> {
    let found = difference_of_pairs(pairs)?;
    more(&found, pairs.variance(), pairs.count())
}

/// As [`more_cases_for_means`], for the differences of pairs.
pub fn more_pairs_for_means(differences: &Sample) -> Option<u64> {
    let found = estimate_of_mean(differences)?;
    more(&found, differences.variance()?, differences.count)
}

fn more(found: &Difference, variances: f64, cases: u64) -> Option<u64> {
    if found.estimate == 0.0 {
        return None;
    }
    if !found.holds(0.0) {
        return Some(0);
    }
    let needed = FACTOR * variances / (found.estimate * found.estimate);
    // it is undecided, so that at least one is missing
    let more = (needed - as_float(cases)).ceil().max(1.0);
    Some(whole(more))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is between one and the maximum, which a float holds exactly"
)]
fn whole(number: f64) -> u64 {
    number.min(as_float(CASES_NEEDED_MAX)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(hits: u64, cases: u64) -> Proportion {
        Proportion::new(hits, cases).unwrap()
    }

    /// 60 % against 70 %: the unpooled form, as here, gives 353.2 cases in each group, the pooled one 355.9.
    #[test]
    fn the_number_is_that_of_the_formula() {
        // 0.6 × 0.4 + 0.7 × 0.3 = 0.45, × 7.849 / 0.01 = 353.2; the two added cases move it a little
        let more = more_cases_for_proportions(share(60, 100), share(70, 100)).unwrap();
        assert!((252..=258).contains(&more), "{more}");
        let sample = |shift: f64| -> Sample {
            (0..10)
                .map(|n| shift + if n % 2 == 0 { 1.0 } else { -1.0 })
                .collect()
        };
        // variances of 10/9 each, a difference of 0.5: 7.849 × 2.2222 / 0.25 = 69.8
        assert_eq!(more_cases_for_means(&sample(0.0), &sample(0.5)), Some(60));
        // of pairs: 7.849 × 1.1111 / 0.25 = 34.9
        assert_eq!(more_pairs_for_means(&sample(0.5)), Some(25));
        // half a case is added to each kind: (4.5 + 2.5) / 22 − (2 / 22)² = 0.3099, × 7.849 / 0.01 = 243.3
        let pairs = Pairs {
            both: 10,
            first_only: 4,
            second_only: 2,
            neither: 4,
        };
        assert_eq!(more_pairs_for_proportions(&pairs), Some(224));
    }

    #[test]
    fn what_is_decided_needs_no_more_and_what_is_equal_has_no_number() {
        for (first, second, expected) in [
            ((19, 20), (2, 20), Some(0)),
            ((5, 10), (5, 10), None),
            ((50_000, 100_000), (50_001, 100_000), Some(CASES_NEEDED_MAX)),
        ] {
            let found =
                more_cases_for_proportions(share(first.0, first.1), share(second.0, second.1));
            assert_eq!(found, expected, "{first:?} {second:?}");
        }
        assert_eq!(
            more_cases_for_means(&Sample::from_iter([1.0]), &Sample::from_iter([2.0, 3.0])),
            None
        );
    }

    /// Chow, Shao and Wang: 65 % against 85 % takes 70 cases in each group (example 4.2.4, also in the R package `TrialSize`), and a mean that is
    /// half a standard deviation from 0 takes 32 (the numbers of 1.5 against 2 with a standard deviation of 1). Here they are found
    /// shares and means, so the variances of the shares have the two added cases; a large sample hides them.
    #[test]
    fn the_published_examples_are_met() {
        let needed = |variances: f64, difference: f64| FACTOR * variances / difference.powi(2);
        let unpooled = 0.65 * 0.35 + 0.85 * 0.15;
        assert_eq!(whole(needed(unpooled, 0.2).ceil()), 70);
        assert_eq!(whole(needed(1.0, 0.5).ceil()), 32);
        let large = share(6_500, 10_000).variance() + share(8_500, 10_000).variance();
        assert!((large - unpooled).abs() < 1e-4, "{large}");
    }

    /// With as many cases as it says, four of five repetitions decide.
    #[test]
    fn the_number_is_enough_in_about_four_of_five_repetitions() {
        let (one, two) = (0.5, 0.75);
        let cases: u64 = 55; // 7.849 × (0.25 + 0.1875) / 0.0625
        let mut state = 7_u64;
        let mut draw = |share: f64| {
            (0..cases)
                .filter(|_| {
                    state = state
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1_442_695_040_888_963_407);
                    let high = u32::try_from(state >> 32).unwrap_or(0);
                    f64::from(high) / f64::from(u32::MAX) < share
                })
                .count()
        };
        let decided = (0..2_000)
            .filter(|_| {
                let (a, b) = (draw(one) as u64, draw(two) as u64);
                !difference_of_proportions(share(a, cases), share(b, cases)).holds(0.0)
            })
            .count();
        assert!((1_500..=1_700).contains(&decided), "{decided}");
    }
}
