//! What the scripted agent pretends to cost.

use serde_json::{Value, json};

use crate::scenario::TurnUsage;

/// US dollars for a million tokens: of input, output, cache read, cache creation. A fixed list, so that the same scenario
/// costs the same everywhere.
const USD_PER_MILLION: [f64; 4] = [4.0, 20.0, 0.2, 5.0];

/// Tokens of a turn where neither turn nor scenario say: input and output.
const INPUT_DEFAULT: u64 = 100;
const OUTPUT_DEFAULT: u64 = 20;

/// Tokens that were used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Spent {
    pub(crate) input: u64,
    pub(crate) output: u64,
    pub(crate) cache_read: u64,
    pub(crate) cache_creation: u64,
}

impl Spent {
    /// Returns what a turn uses.
    pub(crate) fn of_turn(turn: TurnUsage, scenario: TurnUsage) -> Self {
        let pick = |turn: Option<u64>, scenario: Option<u64>, default| {
            turn.or(scenario).unwrap_or(default)
        };
        Self {
            input: pick(turn.input, scenario.input, INPUT_DEFAULT),
            output: pick(turn.output, scenario.output, OUTPUT_DEFAULT),
            cache_read: pick(turn.cache_read, scenario.cache_read, 0),
            cache_creation: pick(turn.cache_creation, scenario.cache_creation, 0),
        }
    }

    /// Adds what another turn used.
    pub(crate) fn add(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_creation = self.cache_creation.saturating_add(other.cache_creation);
    }

    /// Returns the cost in US dollars.
    #[expect(
        clippy::cast_precision_loss,
        reason = "counts of tokens are far below the limit"
    )]
    pub(crate) fn usd(self) -> f64 {
        [
            self.input,
            self.output,
            self.cache_read,
            self.cache_creation,
        ]
        .into_iter()
        .zip(USD_PER_MILLION)
        .map(|(tokens, price)| tokens as f64 * price)
        .sum::<f64>()
            / 1e6
    }

    /// Returns the API's usage object.
    pub(crate) fn api(self) -> Value {
        json!({
            "input_tokens": self.input,
            "output_tokens": self.output,
            "cache_read_input_tokens": self.cache_read,
            "cache_creation_input_tokens": self.cache_creation,
        })
    }

    /// Returns the CLI's usage by model.
    pub(crate) fn by_model(self, model: &str) -> Value {
        if self == Self::default() {
            return json!({});
        }
        json!({ model: {
            "inputTokens": self.input,
            "outputTokens": self.output,
            "cacheReadInputTokens": self.cache_read,
            "cacheCreationInputTokens": self.cache_creation,
            "costUSD": self.usd(),
        }})
    }
}
