//! The difference of two means: Welch's t interval, with the degrees of freedom of Welch and Satterthwaite.

use super::Sample;
use super::cases::as_float;
use super::difference::Difference;
use super::student::quantile;

/// Returns by how much the first mean is larger than the second, with the 95 % interval; none when a group has fewer than
/// two numbers, which say nothing about their spread.
pub fn difference_of_means(first: &Sample, second: &Sample) -> Option<Difference> {
    let (one, two) = (error(first)?, error(second)?);
    let estimate = first.mean - second.mean;
    let squared = one + two;
    let freedom = squared * squared
        / (one * one / as_float(first.count - 1) + two * two / as_float(second.count - 1));
    // without any spread there is nothing to be uncertain about
    let reach = if squared > 0.0 {
        quantile(freedom) * squared.sqrt()
    } else {
        0.0
    };
    Some(Difference {
        estimate,
        low: estimate - reach,
        high: estimate + reach,
    })
}

/// Returns a mean with its 95 % interval (Student's); none for fewer than two numbers.
pub fn estimate_of_mean(sample: &Sample) -> Option<Difference> {
    let squared = error(sample)?;
    let reach = quantile(as_float(sample.count - 1)) * squared.sqrt();
    Some(Difference {
        estimate: sample.mean,
        low: sample.mean - reach,
        high: sample.mean + reach,
    })
}

/// The squared standard error of a mean.
fn error(sample: &Sample) -> Option<f64> {
    sample
        .variance()
        .map(|variance| variance / as_float(sample.count))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Student's sleep data (1908) as R's manual tests them (`?t.test`, `extra ~ group`): t = -1.8608, df = 17.776.
    #[test]
    fn the_published_example_is_met() {
        let first: Sample = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
            .into_iter()
            .collect();
        let second: Sample = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
            .into_iter()
            .collect();
        let found = difference_of_means(&first, &second).unwrap();
        let near = |a: f64, b: f64| (a - b).abs() < 5e-7;
        assert!(
            near(found.estimate, -1.58)
                && near(found.low, -3.365_483_2)
                && near(found.high, 0.205_483_2),
            "{found:?}"
        );
    }

    /// NIST/SEMATECH e-Handbook, 1.3.5.2: 195 measurements, mean 9.261460, standard deviation 0.022789, 95 % interval
    /// 9.258242 to 9.264679.
    #[test]
    fn the_published_interval_of_one_mean_is_met() {
        // numbers of this count, mean and standard deviation
        let spread = 0.022_789;
        let sample: Sample = (0..195)
            .map(|number| match number {
                0 => 9.261_460,
                odd if odd % 2 == 1 => 9.261_460 + spread,
                _ => 9.261_460 - spread,
            })
            .collect();
        let found = estimate_of_mean(&sample).unwrap();
        let near = |a: f64, b: f64| (a - b).abs() < 1e-6;
        assert!(
            near(found.low, 9.258_242) && near(found.high, 9.264_679),
            "{found:?}"
        );
        assert_eq!(estimate_of_mean(&Sample::from_iter([1.0])), None);
    }

    /// The same sleep data as pairs (`?t.test`, `Pair(extra.1, extra.2) ~ 1`): t = -4.0621, df = 9.
    #[test]
    fn the_published_interval_of_paired_differences_is_met() {
        let first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
        let second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
        let differences: Sample = first.iter().zip(second).map(|(a, b)| a - b).collect();
        let found = estimate_of_mean(&differences).unwrap();
        let near = |a: f64, b: f64| (a - b).abs() < 5e-7;
        assert!(
            near(found.low, -2.459_885_8) && near(found.high, -0.700_114_2),
            "{found:?}"
        );
    }

    #[test]
    fn one_number_has_no_spread_and_equal_numbers_have_none() {
        let sample = |values: &[f64]| values.iter().copied().collect::<Sample>();
        assert_eq!(
            difference_of_means(&sample(&[1.0]), &sample(&[1.0, 2.0])),
            None
        );
        let found = difference_of_means(&sample(&[2.0, 2.0]), &sample(&[1.0, 1.0])).unwrap();
        assert_eq!((found.low, found.estimate, found.high), (1.0, 1.0, 1.0));
    }
}
