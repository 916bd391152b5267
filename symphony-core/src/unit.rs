//! Newtypes for units: tokens and money.

use std::fmt;
use std::iter::Sum;
use std::ops::Add;

use serde::{Deserialize, Serialize};

/// A number of model tokens.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Tokens(u64);

impl Tokens {
    /// No token.
    pub const ZERO: Self = Self(0);

    /// Wraps a count.
    pub const fn new(count: u64) -> Self {
        Self(count)
    }

    /// Returns the count.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl Add for Tokens {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sum for Tokens {
    fn sum<I: Iterator<Item = Self>>(items: I) -> Self {
        items.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Display for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// An amount of money in millionths of a US dollar.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct UsdMicros(u64);

impl UsdMicros {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// Wraps an amount in millionths.
    pub const fn new(micros: u64) -> Self {
        Self(micros)
    }

    /// Rounds an amount in dollars to millionths; negative amounts and NaN count as nothing.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "`as` saturates, and the amount is not negative"
    )]
    pub fn from_usd(usd: f64) -> Self {
        if usd > 0.0 {
            Self((usd * 1e6).round() as u64)
        } else {
            Self::ZERO
        }
    }

    /// Returns the amount in millionths.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Returns the amount in dollars.
    #[expect(
        clippy::cast_precision_loss,
        reason = "exact below nine billion dollars"
    )]
    pub fn usd(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

impl Add for UsdMicros {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sum for UsdMicros {
    fn sum<I: Iterator<Item = Self>>(items: I) -> Self {
        items.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Display for UsdMicros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "${:.4}", self.usd())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dollars_round_to_micros() {
        assert_eq!(UsdMicros::from_usd(0.022_623_6).get(), 22_624);
        assert_eq!(UsdMicros::from_usd(-1.0), UsdMicros::ZERO);
        assert_eq!(UsdMicros::from_usd(f64::NAN), UsdMicros::ZERO);
        assert_eq!(UsdMicros::new(22_624).to_string(), "$0.0226");
    }
}
