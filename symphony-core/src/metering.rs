//! What a run used, counted in two ways: by the agent's CLI, and at the endpoint that its requests to the model pass
//! through. One function decides which of the two is taken.

use serde::{Deserialize, Serialize};

use crate::run::Usage;
use crate::spending::Spent;
use crate::unit::Tokens;

/// The key of a run's metadata under which the count of its endpoint is kept, if it had one.
pub const METERING: &str = "metering";

/// Most that is believed of a count: no run uses a trillion tokens. An agent's program, and a model's server, may report
/// any number, and sums over all runs must fit into the 63 bits of the database.
pub const BELIEVED_MAX: Tokens = Tokens::new(1_000_000_000_000);

/// What an endpoint counted in the answers of a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Metered {
    /// Input tokens that were neither read from nor written to the cache.
    pub input_tokens: Tokens,
    /// Output tokens.
    pub output_tokens: Tokens,
    /// Input tokens read from the cache.
    pub cache_read_tokens: Tokens,
    /// Input tokens written to the cache.
    pub cache_creation_tokens: Tokens,
    /// Requests to the model.
    pub requests: u64,
    /// Answers that ended without saying how many tokens they used.
    pub uncounted: u64,
    /// Requests that were refused, or whose answer was cut.
    pub failed: u64,
}

/// Who counted what a run used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CountedBy {
    /// The endpoint, in the model's answers.
    Metered,
    /// The agent's CLI.
    Reported,
}

impl CountedBy {
    /// Returns it as a person reads it.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Metered => "metered",
            Self::Reported => "reported by the agent",
        }
    }
}

/// What is recorded of both counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metering {
    /// Whose count the run's usage is.
    pub counted_by: CountedBy,
    /// What the endpoint counted.
    pub metered: Metered,
    /// The tokens that the CLI reported, all together.
    pub reported_tokens: Tokens,
}

impl Metering {
    /// Compares what a CLI reported with what an endpoint counted.
    pub fn new(reported: &Usage, metered: Metered) -> Self {
        Self {
            counted_by: counted_by(reported, &metered),
            metered,
            reported_tokens: Spent::of(reported).tokens,
        }
    }

    /// Reads it from a run's metadata; `None` if the run had no endpoint.
    pub fn of(metadata: &serde_json::Value) -> Option<Self> {
        Self::deserialize(metadata.get(METERING)?).ok()
    }
}

impl Metered {
    fn tokens(&self) -> Tokens {
        self.input_tokens + self.output_tokens + self.cache_read_tokens + self.cache_creation_tokens
    }

    /// Returns the same with counts that can be believed.
    #[must_use]
    pub fn bounded(self) -> Self {
        Self {
            input_tokens: self.input_tokens.min(BELIEVED_MAX),
            output_tokens: self.output_tokens.min(BELIEVED_MAX),
            cache_read_tokens: self.cache_read_tokens.min(BELIEVED_MAX),
            cache_creation_tokens: self.cache_creation_tokens.min(BELIEVED_MAX),
            ..self
        }
    }
}

/// Decides whose count is taken: the endpoint's, which has seen every request, unless it has seen no count at all, or
/// some answers had none and the CLI counted more.
fn counted_by(reported: &Usage, metered: &Metered) -> CountedBy {
    let has_seen_all = metered.uncounted == 0 || metered.tokens() >= Spent::of(reported).tokens;
    if metered.tokens() > Tokens::ZERO && has_seen_all {
        CountedBy::Metered
    } else {
        CountedBy::Reported
    }
}

/// Returns what a run used. Its cost and its turns are always the CLI's: an endpoint knows neither prices nor turns.
pub fn usage_of(reported: &Usage, metered: Option<&Metered>) -> Usage {
    match metered {
        Some(metered) if counted_by(reported, metered) == CountedBy::Metered => {
            let metered = metered.bounded();
            Usage {
                input_tokens: metered.input_tokens,
                output_tokens: metered.output_tokens,
                cache_read_tokens: metered.cache_read_tokens,
                cache_creation_tokens: metered.cache_creation_tokens,
                ..*reported
            }
        }
        _ => *reported,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::unit::UsdMicros;

    fn reported(tokens: u64) -> Usage {
        Usage {
            input_tokens: Tokens::new(tokens),
            cost: Some(UsdMicros::new(5)),
            turns: 3,
            ..Usage::default()
        }
    }

    fn metered(tokens: u64, uncounted: u64) -> Metered {
        Metered {
            output_tokens: Tokens::new(tokens),
            requests: 9,
            uncounted,
            ..Metered::default()
        }
    }

    #[test]
    fn the_endpoint_counts_where_it_has_seen_the_answers() {
        use CountedBy::{Metered, Reported};
        for (from_cli, from_endpoint, uncounted, expected) in [
            (0, 0, 0, Reported),
            (100, 0, 0, Reported),
            // side calls, requests of a turn that the CLI leaves out
            (100, 300, 0, Metered),
            // a CLI that counts something twice, or invents it
            (300, 100, 0, Metered),
            (0, 100, 0, Metered),
            // some answers said nothing: whoever counted more has seen more
            (100, 300, 1, Metered),
            (300, 300, 1, Metered),
            (300, 100, 1, Reported),
            (300, 0, 1, Reported),
        ] {
            let (cli, endpoint) = (reported(from_cli), metered(from_endpoint, uncounted));
            let name = format!("{from_cli} {from_endpoint} {uncounted}");
            assert_eq!(Metering::new(&cli, endpoint).counted_by, expected, "{name}");
            let usage = usage_of(&cli, Some(&endpoint));
            let tokens = match expected {
                Metered => (0, from_endpoint),
                Reported => (from_cli, 0),
            };
            let found = (usage.input_tokens.get(), usage.output_tokens.get());
            assert_eq!(found, tokens, "{name}");
            assert_eq!((usage.cost, usage.turns), (cli.cost, 3), "{name}");
        }
        assert_eq!(usage_of(&reported(7), None), reported(7));
    }

    #[test]
    fn counts_are_bounded() {
        let usage = usage_of(&reported(1), Some(&metered(u64::MAX, 0)));
        assert_eq!(usage.output_tokens, BELIEVED_MAX);
    }

    #[test]
    fn what_is_recorded_is_read() {
        let metering = Metering::new(&reported(1), metered(2, 0));
        let metadata = json!({ METERING: metering });
        assert_eq!(Metering::of(&metadata), Some(metering));
        assert_eq!(metadata[METERING]["counted_by"], "metered");
        assert_eq!(Metering::of(&json!({})), None);
    }
}
