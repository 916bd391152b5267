//! Caps and weights.

use serde::{Deserialize, Serialize};

use crate::error::OptionsError;

/// Characters that conventions may take in the system prompt, markers and line ends included (`learnings.md`, step 6).
pub const CONVENTION_CHAR_CAP: usize = 1_500;

/// Tactical learnings that a user prompt gets at most (`learnings.md`, step 6).
pub const DEFAULT_MAX_RESULTS: usize = 25;

/// Learnings of other projects that a prompt gets at most (`learnings.md`, "Cross-project learnings").
pub const CROSS_PROJECT_MAX: usize = 10;

/// How much each part counts. A score is the sum of weight × part.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Weights {
    /// Similarity of the labels.
    pub labels: f64,
    /// Paths that the issue names.
    pub paths: f64,
    /// Similarity of the words.
    pub keywords: f64,
    /// Age.
    pub recency: f64,
    /// What is known of its use. Small: what a learning is about says more.
    pub usefulness: f64,
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            labels: 0.35,
            paths: 0.30,
            keywords: 0.20,
            recency: 0.15,
            usefulness: 0.10,
        }
    }
}

/// What a caller may set; the defaults are those of `learnings.md`.
///
/// The fields are checked where they are used: by [`Options::validate`], which every entry into ranking calls.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// How much each part of a score counts.
    pub weights: Weights,
    /// Characters (Unicode scalar values) that rendered conventions may have in total.
    pub convention_char_cap: usize,
    /// Number of tactical learnings at most.
    pub max_results: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            weights: Weights::default(),
            convention_char_cap: CONVENTION_CHAR_CAP,
            max_results: DEFAULT_MAX_RESULTS,
        }
    }
}

impl Options {
    /// Returns options that leave nothing out, for listings.
    pub fn uncapped() -> Self {
        Self {
            convention_char_cap: usize::MAX,
            max_results: usize::MAX,
            ..Self::default()
        }
    }

    /// Checks the weights: each finite and not negative, not all zero, their sum finite.
    ///
    /// # Errors
    /// Names the first weight that is wrong, and its value.
    pub fn validate(&self) -> Result<(), OptionsError> {
        let Weights {
            labels,
            paths,
            keywords,
            recency,
            usefulness,
        } = self.weights;
        let named = [
            ("labels", labels),
            ("paths", paths),
            ("keywords", keywords),
            ("recency", recency),
            ("usefulness", usefulness),
        ];
        for (name, found) in named {
            if !found.is_finite() || found < 0.0 {
                return Err(OptionsError::Weight { name, found });
            }
        }
        if named.iter().all(|(_, weight)| *weight == 0.0) {
            return Err(OptionsError::AllWeightsZero);
        }
        if !named
            .iter()
            .map(|(_, weight)| weight)
            .sum::<f64>()
            .is_finite()
        {
            return Err(OptionsError::WeightsTooLarge);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caps_are_those_of_the_specification() {
        let caps = (CONVENTION_CHAR_CAP, DEFAULT_MAX_RESULTS, CROSS_PROJECT_MAX);
        assert_eq!(caps, (1_500, 25, 10));
    }

    #[test]
    fn weights_are_finite_not_negative_and_not_all_zero() {
        let with = |labels, paths, keywords, recency| Options {
            weights: Weights {
                labels,
                paths,
                keywords,
                recency,
                usefulness: 0.0,
            },
            ..Options::default()
        };
        for (options, expected) in [
            (Options::default(), "ok"),
            (Options::uncapped(), "ok"),
            (with(0.0, 0.0, 0.0, 5.0), "ok"),
            (
                with(0.0, 0.0, 0.0, 0.0),
                "all weights are zero; expected at least one above zero",
            ),
            (
                with(1.0, -0.5, 0.0, 0.0),
                "weight `paths` is -0.5; expected a finite number that is not negative",
            ),
            (
                with(1.0, 0.0, f64::NAN, 0.0),
                "weight `keywords` is NaN; expected a finite number that is not negative",
            ),
            (
                with(1.0, 0.0, 0.0, f64::INFINITY),
                "weight `recency` is inf; expected a finite number that is not negative",
            ),
            (
                with(f64::MAX, f64::MAX, 0.0, 0.0),
                "the weights add up to more than a number can hold; expected a finite sum",
            ),
        ] {
            let found = options
                .validate()
                .map_or_else(|e| e.to_string(), |()| "ok".to_owned());
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn missing_fields_have_their_defaults_and_unknown_ones_are_refused() {
        let options: Options =
            serde_json::from_str(r#"{"weights":{"labels":1},"max_results":3}"#).unwrap();
        assert_eq!(
            options,
            Options {
                weights: Weights {
                    labels: 1.0,
                    ..Weights::default()
                },
                max_results: 3,
                ..Options::default()
            }
        );
        let error = serde_json::from_str::<Options>(r#"{"max_result":3}"#).unwrap_err();
        assert!(
            error.to_string().contains("unknown field `max_result`"),
            "{error}"
        );
    }
}
