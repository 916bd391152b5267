//! The limits of a trial on the command line: how much all of its cases may spend before no further one starts.

use clap::Args;
use symphony_core::prompt_trial::TrialName;
use symphony_core::unit::{Tokens, UsdMicros};

use super::spent::TrialSpending;

/// What a trial may spend.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct Limits {
    /// Start no further case once the whole trial has cost this many US dollars, as far as the provider reports costs
    #[arg(long, value_name = "USD", value_parser = dollars, conflicts_with = "report")]
    max_cost: Option<UsdMicros>,
    /// Start no further case once the whole trial has used this many tokens
    #[arg(long, value_name = "TOKENS", value_parser = tokens, conflicts_with = "report")]
    max_tokens: Option<Tokens>,
}

fn dollars(text: &str) -> Result<UsdMicros, String> {
    let amount = text.parse::<f64>().map_or(UsdMicros::ZERO, |usd| {
        if usd.is_finite() {
            UsdMicros::from_usd(usd)
        } else {
            UsdMicros::ZERO
        }
    });
    if amount == UsdMicros::ZERO {
        return Err("an amount in US dollars above 0 is expected, such as 2.50".to_owned());
    }
    Ok(amount)
}

fn tokens(text: &str) -> Result<Tokens, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("a whole number above 0 is expected".to_owned()),
        Ok(count) => Ok(Tokens::new(count)),
    }
}

impl Limits {
    /// Says which limit is reached, if one is.
    pub(super) fn reached(self, spent: &TrialSpending) -> Option<String> {
        let tokens = spent.tokens;
        if let Some(limit) = self.max_tokens
            && tokens >= limit
        {
            return Some(format!(
                "it has used {tokens} tokens, and --max-tokens is {limit}"
            ));
        }
        let limit = self.max_cost.filter(|limit| spent.cost >= *limit)?;
        let cost = spent.cost;
        Some(format!("it has cost {cost}, and --max-cost is {limit}"))
    }

    /// Says what --max-cost does not see: the tokens of runs whose cost the provider did not report.
    pub(super) fn unseen(self, spent: &TrialSpending) -> Option<String> {
        let tokens = spent.tokens_without_cost;
        (self.max_cost.is_some() && tokens > Tokens::ZERO).then(|| {
            format!(
                "The provider reported no cost for {tokens} of the tokens that this trial has used, so --max-cost does not count them; \
                 --max-tokens does."
            )
        })
    }

    /// Returns the command that continues a trial under the same limits.
    pub(super) fn command(self, name: &TrialName) -> String {
        let mut command = format!("symphony prompt trial --name {name}");
        if let Some(limit) = self.max_cost {
            command.push_str(&format!(" --max-cost {}", limit.usd()));
        }
        if let Some(limit) = self.max_tokens {
            command.push_str(&format!(" --max-tokens {limit}"));
        }
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_amount_above_nothing_is_a_limit() {
        for wrong in ["0", "-1", "NaN", "inf", "1e-9", "two", ""] {
            assert!(dollars(wrong).is_err(), "{wrong}");
        }
        assert_eq!(dollars("2.5"), Ok(UsdMicros::new(2_500_000)));
        for wrong in ["0", "-1", "1.5", "many", ""] {
            assert!(tokens(wrong).is_err(), "{wrong}");
        }
        assert_eq!(tokens("7"), Ok(Tokens::new(7)));
    }

    #[test]
    fn a_trial_is_continued_under_its_limits() {
        let name = TrialName::parse("shorter").unwrap();
        let limits = Limits {
            max_cost: Some(UsdMicros::new(2_500_000)),
            max_tokens: Some(Tokens::new(7)),
        };
        assert_eq!(
            limits.command(&name),
            "symphony prompt trial --name shorter --max-cost 2.5 --max-tokens 7"
        );
    }
}
