//! The 97.5 % quantile of Student's t, for any number of degrees of freedom from 1 on.
//!
//! The tail is a regularised incomplete beta function, computed by its continued fraction (Abramowitz and Stegun, 26.5.8,
//! by Lentz's method); the quantile is found by halving, so that every input ends after a known number of steps.

/// Both tails together.
const TAILS: f64 = 0.05;

/// The 97.5 % quantile of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// From how many degrees of freedom on two terms of the expansion in 1/ν (26.7.5) are exact to eight digits.
const FREEDOM_LARGE: f64 = 2_000.0;

/// Above the quantile of one degree of freedom, 12.71.
const QUANTILE_MAX: f64 = 13.0;

/// Halvings: 13 / 2^50 is below the last digit of the result.
const HALVINGS: u32 = 50;

/// Terms of the continued fraction: it needs some multiple of the root of its larger parameter, which is at most 1,000.
const TERMS_MAX: u32 = 400;

/// Returns the quantile. Fewer than one degree of freedom count as one.
pub(super) fn quantile(freedom: f64) -> f64 {
    if freedom >= FREEDOM_LARGE {
        let cube = Z.powi(3);
        let fifth = Z.powi(5);
        let second = (5.0 * fifth + 16.0 * cube + 3.0 * Z) / (96.0 * freedom * freedom);
        return Z + (cube + Z) / (4.0 * freedom) + second;
    }
    let freedom = freedom.max(1.0);
    let (mut low, mut high) = (0.0, QUANTILE_MAX);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if tails(middle, freedom) > TAILS {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// Returns the probability of a value at least as far from 0, on either side.
fn tails(t: f64, freedom: f64) -> f64 {
    incomplete_beta(freedom / (freedom + t * t), freedom / 2.0, 0.5)
}

/// The regularised incomplete beta function.
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    let front =
        (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln()).exp();
    // the fraction converges fast on one side only
    if x < (a + 1.0) / (a + b + 2.0) {
        front * fraction(x, a, b) / a
    } else {
        1.0 - front * fraction(1.0 - x, b, a) / b
    }
}

/// The continued fraction of the incomplete beta function.
fn fraction(x: f64, a: f64, b: f64) -> f64 {
    let tiny = f64::MIN_POSITIVE / f64::EPSILON;
    let apart = |value: f64| if value.abs() < tiny { tiny } else { value };
    let mut above = 1.0;
    let mut below = 1.0 / apart(1.0 - (a + b) * x / (a + 1.0));
    let mut value = below;
    for term in 1..=TERMS_MAX {
        let number = f64::from(term);
        let even = number * (b - number) * x / ((a + 2.0 * number - 1.0) * (a + 2.0 * number));
        below = 1.0 / apart(1.0 + even * below);
        above = apart(1.0 + even / above);
        value *= below * above;
        let odd =
            -(a + number) * (a + b + number) * x / ((a + 2.0 * number) * (a + 2.0 * number + 1.0));
        below = 1.0 / apart(1.0 + odd * below);
        above = apart(1.0 + odd / above);
        let step = below * above;
        value *= step;
        if (step - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    value
}

/// The logarithm of the gamma function of a positive number: Stirling's series (6.1.41), moved to where it is exact.
fn ln_gamma(mut x: f64) -> f64 {
    let mut shift = 0.0;
    while x < 10.0 {
        shift += x.ln();
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    let series = (1.0 / 12.0
        - square * (1.0 / 360.0 - square * (1.0 / 1_260.0 - square * (1.0 / 1_680.0))))
        / x;
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + series - shift
}

#[cfg(test)]
mod tests {
    use super::*;

    /// NIST/SEMATECH e-Handbook, table 1.3.6.7.2, column 0.975.
    #[test]
    fn quantiles_are_those_of_the_published_table() {
        for (freedom, expected) in [
            (1.0, 12.706),
            (2.0, 4.303),
            (3.0, 3.182),
            (5.0, 2.571),
            (10.0, 2.228),
            (20.0, 2.086),
            (30.0, 2.042),
            (60.0, 2.000),
            (100.0, 1.984),
        ] {
            let found = quantile(freedom);
            assert!((found - expected).abs() < 0.000_51, "{freedom}: {found}");
        }
    }

    #[test]
    fn one_and_two_degrees_of_freedom_have_a_formula() {
        let tangent = (std::f64::consts::PI * 0.475).tan();
        assert!((quantile(1.0) - tangent).abs() < 1e-9);
        let two = 0.95 * (2.0 / (1.0 - 0.95_f64.powi(2))).sqrt();
        assert!(
            (quantile(2.0) - two).abs() < 1e-9,
            "{} {two}",
            quantile(2.0)
        );
    }

    #[test]
    fn it_falls_towards_the_normal_quantile_without_a_jump() {
        let mut freedom = 1.0;
        let mut before = f64::INFINITY;
        while freedom < 1e12 {
            let found = quantile(freedom);
            assert!(found < before && found > Z - 1e-9, "{freedom}: {found}");
            before = found + 1e-12;
            freedom *= 1.07;
        }
        let (below, above) = (quantile(FREEDOM_LARGE - 1e-6), quantile(FREEDOM_LARGE));
        assert!((below - above).abs() < 1e-8, "{below} {above}");
        assert!((quantile(0.0) - quantile(1.0)).abs() < 1e-12);
        assert!((quantile(f64::INFINITY) - Z).abs() < 1e-12);
    }
}
