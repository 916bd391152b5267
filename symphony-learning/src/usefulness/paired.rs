//! The difference of two proportions that were found on the same cases: Newcombe's square-and-add interval for paired data (R. G.
//! Newcombe, *Improved confidence intervals for the difference between binomial proportions based on paired data*, Statistics in
//! Medicine 17 (1998), 2635–2650, method 10). For means it is Student's interval of the differences, [`estimate_of_mean`].
//!
//! [`estimate_of_mean`]: super::estimate_of_mean

use super::Proportion;
use super::cases::as_float;
use super::difference::Difference;

/// Cases of which each was looked at twice, by what the two looks found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pairs {
    /// Hits both times.
    pub both: u64,
    /// Hits only the first time.
    pub first_only: u64,
    /// Hits only the second time.
    pub second_only: u64,
    /// No hit at all.
    pub neither: u64,
}

impl Pairs {
    /// Adds a case by what was found of it, first and second.
    pub fn add(&mut self, first: bool, second: bool) {
        let count = match (first, second) {
            (true, true) => &mut self.both,
            (true, false) => &mut self.first_only,
            (false, true) => &mut self.second_only,
            (false, false) => &mut self.neither,
        };
        *count += 1;
    }

    /// Returns how many cases there are.
    pub const fn count(&self) -> u64 {
        self.both + self.first_only + self.second_only + self.neither
    }

    /// Returns the variance of one pair's difference. Half a case is added to each of the four kinds, as A. Agresti and Y. Min do
    /// (Statistics in Medicine 24 (2005), 729–740): what never happened in a few cases is not certain never to happen.
    pub(super) fn variance(&self) -> f64 {
        let count = as_float(self.count()) + 2.0;
        let first = (as_float(self.first_only) + 0.5) / count;
        let second = (as_float(self.second_only) + 0.5) / count;
        first + second - (first - second) * (first - second)
    }

    /// The correlation of the two proportions as the method corrects it: a positive one is taken down by half a case, so that a few
    /// cases do not make the interval too narrow.
    fn correlation(&self) -> f64 {
        let [both, first, second, neither] =
            [self.both, self.first_only, self.second_only, self.neither].map(as_float);
        let margins = (both + first) * (second + neither) * (both + second) * (first + neither);
        if margins <= 0.0 {
            return 0.0;
        }
        let agreement = both * neither - first * second;
        let half = as_float(self.count()) / 2.0;
        let corrected = if agreement > 0.0 {
            (agreement - half).max(0.0)
        } else {
            agreement
        };
        corrected / margins.sqrt()
    }
}

/// Returns by how much the first proportion of the pairs is larger than the second, with the 95 % interval; none without a pair.
pub fn difference_of_pairs(pairs: &Pairs) -> Option<Difference> {
    let share = |hits| Proportion::new(hits, pairs.count()).map(Proportion::estimate);
    let one = share(pairs.both + pairs.first_only)?;
    let two = share(pairs.both + pairs.second_only)?;
    let correlation = pairs.correlation();
    // never below 0: the correlation is at most 1
    let reach = |near: f64, far: f64| {
        let squares = near * near - 2.0 * correlation * near * far + far * far;
        squares.max(0.0).sqrt()
    };
    let estimate = one.estimate - two.estimate;
    Some(Difference {
        estimate,
        low: estimate - reach(one.estimate - one.low, two.high - two.estimate),
        high: estimate + reach(one.high - one.estimate, two.estimate - two.low),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs([both, first_only, second_only, neither]: [u64; 4]) -> Pairs {
        Pairs {
            both,
            first_only,
            second_only,
            neither,
        }
    }

    /// The first from D. G. Altman and others, *Statistics with Confidence* (2nd edition, 2000), table 6.2, the second from M. W.
    /// Fagerland, S. Lydersen and P. Laake, Statistics in Medicine 33 (2014), 2850–2875 (Bentur's data); the digits of all were computed
    /// apart from this code, with the Wilson limits of `statsmodels`.
    #[test]
    fn the_published_examples_are_met() {
        for (found, estimate, low, high) in [
            ([14, 5, 0, 22], 0.1220, 0.0115, 0.2265),
            ([1, 1, 7, 12], -0.2857, -0.5069, -0.0256),
            ([12, 9, 2, 21], 0.1591, 0.0112, 0.2954),
            ([20, 12, 2, 16], 0.2, 0.0562, 0.3292),
            ([3, 4, 0, 3], 0.4, 0.0142, 0.6446),
            // more of them agree by chance, and less
            ([53, 8, 8, 1], 0.0, -0.1157, 0.1157),
            ([0, 3, 3, 0], 0.0, -0.6248, 0.6248),
            // margins of nothing have no correlation
            ([0, 5, 0, 0], 1.0, 0.3855, 1.0),
            ([10, 0, 0, 0], 0.0, -0.2775, 0.2775),
        ] {
            let difference = difference_of_pairs(&pairs(found)).unwrap();
            let near = |a: f64, b: f64| (a - b).abs() < 0.000_051;
            assert!(
                near(difference.estimate, estimate)
                    && near(difference.low, low)
                    && near(difference.high, high),
                "{found:?}: {difference:?}"
            );
        }
        assert_eq!(difference_of_pairs(&Pairs::default()), None);
    }

    #[test]
    fn the_other_way_round_it_is_the_same_with_the_other_sign() {
        for found in [[14, 5, 0, 22], [1, 1, 7, 12], [3, 4, 0, 3], [0, 5, 0, 0]] {
            let [both, first, second, neither] = found;
            let one = difference_of_pairs(&pairs(found)).unwrap();
            let two = difference_of_pairs(&pairs([both, second, first, neither])).unwrap();
            assert!((one.low + two.high).abs() < 1e-12 && (one.high + two.low).abs() < 1e-12);
            // counting misses in place of hits changes the sign, too
            let three = difference_of_pairs(&pairs([neither, second, first, both])).unwrap();
            assert!((two.low - three.low).abs() < 1e-12 && (two.high - three.high).abs() < 1e-12);
        }
    }
}
