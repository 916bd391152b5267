//! The difference of two proportions: Newcombe's hybrid score interval (1998, method 10).

use super::cases::as_float;
use super::difference::Difference;

/// The 97.5 % quantile of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// Some of a number of cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Proportion {
    hits: u64,
    cases: u64,
}

impl Proportion {
    /// Makes a proportion; none without cases, or with more hits than cases.
    pub fn new(hits: u64, cases: u64) -> Option<Self> {
        (cases > 0 && hits <= cases).then_some(Self { hits, cases })
    }

    pub(super) const fn cases(self) -> u64 {
        self.cases
    }

    fn value(self) -> f64 {
        as_float(self.hits) / as_float(self.cases)
    }

    /// Returns the share with its 95 % interval: Wilson's, which has a width even when all or none are hits.
    pub fn estimate(self) -> Difference {
        let (low, high) = self.wilson();
        Difference {
            estimate: self.value(),
            low,
            high,
        }
    }

    /// Returns the variance of one case. Two cases are added, a hit and none: what never happened in a few cases is not
    /// certain never to happen.
    pub(super) fn variance(self) -> f64 {
        let share = (as_float(self.hits) + 1.0) / (as_float(self.cases) + 2.0);
        share * (1.0 - share)
    }

    /// Returns the limits of Wilson's score interval without continuity correction.
    fn wilson(self) -> (f64, f64) {
        let (share, count) = (self.value(), as_float(self.cases));
        let middle = 2.0 * count * share + Z * Z;
        let reach = Z * (Z * Z + 4.0 * count * share * (1.0 - share)).sqrt();
        let whole = 2.0 * (count + Z * Z);
        (
            ((middle - reach) / whole).max(0.0),
            ((middle + reach) / whole).min(1.0),
        )
    }
}

/// Returns by how much the first proportion is larger than the second, with the 95 % interval.
///
/// The interval is inside −1..=1 and has a width even when all or none of a group are hits, where the textbook formula
/// has none.
pub fn difference_of_proportions(first: Proportion, second: Proportion) -> Difference {
    let (one, two) = (first.value(), second.value());
    let (low_one, high_one) = first.wilson();
    let (low_two, high_two) = second.wilson();
    let estimate = one - two;
    Difference {
        estimate,
        low: estimate - (one - low_one).hypot(high_two - two),
        high: estimate + (high_one - one).hypot(two - low_two),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Newcombe (1998), table II, row "10. Score", examples (a) to (h).
    #[test]
    fn the_published_examples_are_met_to_all_their_digits() {
        for (first, second, low, high) in [
            ((56, 70), (48, 80), 0.0524, 0.3339),
            ((9, 10), (3, 10), 0.1705, 0.8090),
            ((6, 7), (2, 7), 0.0582, 0.8062),
            ((5, 56), (0, 29), -0.0381, 0.1926),
            ((0, 10), (0, 20), -0.1611, 0.2775),
            ((0, 10), (0, 10), -0.2775, 0.2775),
            ((10, 10), (0, 20), 0.6791, 1.0),
            ((10, 10), (0, 10), 0.6075, 1.0),
        ] {
            let proportion = |(hits, cases)| Proportion::new(hits, cases).unwrap();
            let found = difference_of_proportions(proportion(first), proportion(second));
            let near = |a: f64, b: f64| (a - b).abs() < 0.000_051;
            assert!(
                near(found.low, low) && near(found.high, high),
                "{first:?} {second:?}: {found:?}"
            );
        }
    }

    /// Newcombe, *Two-sided confidence intervals for the single proportion*, Statistics in Medicine 17 (1998), table I,
    /// row "3. Score".
    #[test]
    fn the_published_intervals_of_one_proportion_are_met() {
        for ((hits, cases), low, high) in [
            ((81, 263), 0.2553, 0.3662),
            ((15, 148), 0.0624, 0.1605),
            ((0, 20), 0.0, 0.1611),
            ((1, 29), 0.0061, 0.1718),
        ] {
            let found = Proportion::new(hits, cases).unwrap().estimate();
            let near = |a: f64, b: f64| (a - b).abs() < 0.000_051;
            assert!(
                near(found.low, low) && near(found.high, high),
                "{hits} of {cases}: {found:?}"
            );
        }
    }

    #[test]
    fn there_is_no_proportion_of_nothing() {
        assert_eq!(Proportion::new(0, 0), None);
        assert_eq!(Proportion::new(2, 1), None);
    }
}
