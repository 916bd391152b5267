//! Ended issues as cases, and the results of a group of them.

use serde::Serialize;

/// An issue that is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Case {
    /// Whether its first pull request was merged.
    pub merged_first_time: bool,
    /// Runs of workers that it took.
    pub attempts: u32,
    /// Tokens of all its runs.
    pub tokens: u64,
}

/// Mean and spread of some numbers.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Sample {
    /// How many.
    pub count: u64,
    /// Their mean; 0 for none.
    pub mean: f64,
    /// The sum of the squared distances from the mean.
    #[serde(skip)]
    squares: f64,
}

impl Sample {
    /// Adds a number (Welford's method: no large sums whose difference loses all digits).
    pub fn add(&mut self, value: f64) {
        self.count += 1;
        let before = value - self.mean;
        self.mean += before / as_float(self.count);
        self.squares += before * (value - self.mean);
    }

    /// Returns the sample variance; none for fewer than two numbers.
    pub fn variance(&self) -> Option<f64> {
        (self.count > 1).then(|| self.squares / as_float(self.count - 1))
    }
}

impl FromIterator<f64> for Sample {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let mut sample = Self::default();
        for value in values {
            sample.add(value);
        }
        sample
    }
}

/// What a group of cases came to.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Group {
    /// How many cases.
    pub count: u64,
    /// Those whose first pull request was merged.
    pub merged_first_time: u64,
    /// Their attempts.
    pub attempts: Sample,
    /// Their tokens.
    pub tokens: Sample,
}

impl Group {
    /// Adds a case.
    pub fn add(&mut self, case: &Case) {
        self.count += 1;
        self.merged_first_time += u64::from(case.merged_first_time);
        self.attempts.add(f64::from(case.attempts));
        self.tokens.add(as_float(case.tokens));
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of issues and tokens are far below 2^53"
)]
pub(crate) fn as_float(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_variance_keep_their_digits_far_from_zero() {
        for shift in [0.0, 1e9] {
            let sample: Sample = [4.0, 7.0, 13.0, 16.0]
                .map(|v| v + shift)
                .into_iter()
                .collect();
            assert_eq!((sample.count, sample.mean), (4, 10.0 + shift));
            assert_eq!(sample.variance(), Some(30.0));
        }
        assert_eq!(Sample::default().variance(), None);
        assert_eq!(Sample::from_iter([3.0]).variance(), None);
    }
}
