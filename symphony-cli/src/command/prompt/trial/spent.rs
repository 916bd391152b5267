//! What the runs of a case have spent, those of tries that were cut off included: the caps of a trial are about all that was paid, the
//! measures only about the try that came to an end.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use symphony_core::id::RunId;
use symphony_core::prompt_trial::CaseOutcome;
use symphony_core::run::Run;
use symphony_core::spending::Spent;
use symphony_core::unit::{Tokens, UsdMicros};

/// The runs of a case. Each is noted by its id, so that one that is noted again, after a crash, counts once.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct CaseSpending {
    runs: BTreeMap<RunId, RunSpending>,
}

/// What a run spent.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct RunSpending {
    tokens: Tokens,
    /// None where the provider did not tell it.
    cost: Option<UsdMicros>,
}

impl CaseSpending {
    /// Adds runs.
    pub(super) fn note(&mut self, runs: &[Run]) {
        for run in runs {
            let spent = RunSpending {
                tokens: Spent::of(&run.usage).tokens,
                cost: run.usage.cost,
            };
            self.runs.insert(run.id.clone(), spent);
        }
    }
}

/// What a trial has spent.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(super) struct TrialSpending {
    /// Tokens of all tries.
    pub(super) tokens: Tokens,
    /// Costs, as far as the provider reported them.
    pub(super) cost: UsdMicros,
    /// Tokens of runs whose cost is not known.
    pub(super) tokens_without_cost: Tokens,
    /// Tokens of tries that were cut off: no measure has them.
    pub(super) tokens_cut_off: Tokens,
}

impl TrialSpending {
    /// Adds a case: all its runs, and its result if it has ended.
    pub(super) fn add(&mut self, runs: &CaseSpending, outcome: Option<&CaseOutcome>) {
        let counted = outcome.map_or(Tokens::ZERO, |outcome| outcome.tokens);
        let mut tokens = Tokens::ZERO;
        for run in runs.runs.values() {
            tokens = tokens + run.tokens;
            self.add_run(run.tokens, run.cost);
        }
        match outcome {
            // a case that ended before runs were noted
            Some(outcome) if runs.runs.is_empty() => self.add_run(outcome.tokens, outcome.cost),
            _ => {
                let more = tokens.get().saturating_sub(counted.get());
                self.tokens_cut_off = self.tokens_cut_off + Tokens::new(more);
            }
        }
    }

    /// Returns it for a person; nothing where nothing was spent.
    pub(super) fn words(&self) -> String {
        if self.tokens == Tokens::ZERO {
            return String::new();
        }
        let mut text = format!("{} tokens", self.tokens);
        if self.cost > UsdMicros::ZERO {
            text.push_str(&format!(", {}", self.cost));
        }
        if self.tokens_cut_off > Tokens::ZERO {
            let lost = self.tokens_cut_off;
            text.push_str(&format!(
                "; {lost} of the tokens went into cases that were cut off, and no measure counts them"
            ));
        }
        text
    }

    fn add_run(&mut self, tokens: Tokens, cost: Option<UsdMicros>) {
        self.tokens = self.tokens + tokens;
        match cost {
            Some(cost) => self.cost = self.cost + cost,
            None => self.tokens_without_cost = self.tokens_without_cost + tokens,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_is_noted_twice_counts_once_and_what_no_case_came_to_is_cut_off() {
        let noted = |runs: &[(&str, u64, Option<u64>)]| CaseSpending {
            runs: runs
                .iter()
                .map(|(id, tokens, cost)| {
                    let tokens = Tokens::new(*tokens);
                    let cost = cost.map(UsdMicros::new);
                    (RunId::parse(*id).unwrap(), RunSpending { tokens, cost })
                })
                .collect(),
        };
        let mut all = TrialSpending::default();
        all.add(
            &noted(&[
                ("a", 100, None),
                ("b", 10, Some(500_000)),
                ("b", 10, Some(500_000)),
            ]),
            None,
        );
        assert_eq!(
            (all.tokens, all.cost),
            (Tokens::new(110), UsdMicros::new(500_000))
        );
        assert_eq!(all.tokens_without_cost, Tokens::new(100));
        assert_eq!(all.tokens_cut_off, Tokens::new(110));
    }
}
