//! What must always hold (reliability, "Invariants"): the one list that tests, harnesses and `symphony doctor --audit`
//! read. The statements are here; `symphony-store` checks those about the database, `symphony-runner` those about
//! repositories and processes.

use serde::{Deserialize, Serialize};

use crate::closed_set::closed_set;

closed_set!(
    /// An invariant, by its name in the specification; `F1` is the rule of fencing (reliability, decision 3), `F2` the
    /// one on the files of a run (lifecycle, "Files of a run").
    Invariant, "invariant", {
        /// One live run per issue.
        I1 = "I1",
        /// A live run's lock is held, or it is within its start grace.
        I2 = "I2",
        /// Lock free: no process of that run.
        I3 = "I3",
        /// Counts rise by one per run that counts, and fall only by a success, a phase or a human.
        I4 = "I4",
        /// Global conditions change no attempt and no issue.
        I5 = "I5",
        /// Due times are within the longest wait.
        I6 = "I6",
        /// The breaker opens at its limit, with one notice.
        I7 = "I7",
        /// A finished phase never runs again.
        I8 = "I8",
        /// Who may give a verdict, and on what.
        I9 = "I9",
        /// The merged tree is the gated tree, and its source the approved head.
        I10 = "I10",
        /// Every transition is in the table.
        I11 = "I11",
        /// The log folds to the rows.
        I12 = "I12",
        /// Worktrees are where they belong.
        I13 = "I13",
        /// Nothing else changes.
        I14 = "I14",
        /// Secrets stay where they are.
        I15 = "I15",
        /// Limits of concurrency.
        I16 = "I16",
        /// Effects happen once.
        I17 = "I17",
        /// The file is sound.
        I18 = "I18",
        /// A run that is over writes nothing.
        F1 = "F1",
        /// Files of runs are someone's.
        F2 = "F2",
        /// No issue is lost.
        L1 = "L1",
        /// Everything ends.
        L2 = "L2",
        /// A tick after a crash repairs.
        L3 = "L3",
        /// A provider that is back is used.
        L4 = "L4",
        /// A tick is never silent.
        L5 = "L5",
    }
);

impl Invariant {
    /// Returns what must hold, in a sentence.
    pub const fn statement(self) -> &'static str {
        match self {
            Self::I1 => "at most one live run works on an issue",
            Self::I2 => "the lock of a live run is held, or the run is within its start grace",
            Self::I3 => "a run whose lock is free has no process",
            Self::I4 => {
                "an issue's counts rise by at most one per run that counts, and fall only by a success, an advanced phase or a human's reset"
            }
            Self::I5 => "a global condition changes no count and no issue",
            Self::I6 => "no retry is due later than the longest wait",
            Self::I7 => "the circuit breaker opens at max_retries, with one notice",
            Self::I8 => {
                "a finished phase never runs again and is left at once, by one delivery, and a phase runs only when its dependencies are done"
            }
            Self::I9 => {
                "an agent's verdict comes from a judge's run on that review, names its head commit (of a proposal that nothing is left to do: its recorded base), and is not the author's"
            }
            Self::I10 => {
                "the merged tree is the gated tree, its source is the approved head, and it is merged once"
            }
            Self::I11 => {
                "every transition is in the table, and a live run of an issue that has ended was asked to end"
            }
            Self::I12 => "the log folds to the rows, and derived values agree with their sources",
            Self::I13 => {
                "a worktree is a direct child of its folder, and belongs to exactly one issue"
            }
            Self::I14 => "nothing changes outside the folder of worktrees, the state and own refs",
            Self::I15 => {
                "no secret value of a copied file is in the database, logs, prompts or commits"
            }
            Self::I16 => "concurrency stays within every limit",
            Self::I17 => "an effect happens at most once per intent",
            Self::I18 => "the database is whole, its references exist, its schema is known",
            Self::F1 => "nothing is written in the name of a run that is over",
            Self::F2 => "a run's folder belongs to a run, and its prompts go when it ends",
            Self::L1 => {
                "every issue, pull request, plan and publication that has not ended can continue, or waits for \
                 something named that is not stuck itself"
            }
            Self::L2 => "when faults are over, every issue ends within a bounded number of ticks",
            Self::L3 => "one tick after a crash, I1 to I3 hold",
            Self::L4 => "when a provider is back, it is used within one probe",
            Self::L5 => "a tick changes something or gives a reason",
        }
    }
}

/// Something that breaks an invariant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Violation {
    /// The invariant.
    pub invariant: Invariant,
    /// The row, file or process.
    pub subject: String,
    /// What is wrong with it.
    pub detail: String,
}

impl Violation {
    /// Names a row, file or process and what is wrong with it.
    pub fn new(
        invariant: Invariant,
        subject: impl Into<String>,
        detail: impl Into<String>,
    ) -> Self {
        Self {
            invariant,
            subject: subject.into(),
            detail: detail.into(),
        }
    }
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}: {}", self.invariant, self.subject, self.detail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_invariant_is_stated_and_checked_somewhere() {
        let mut seen = std::collections::BTreeSet::new();
        for invariant in Invariant::ALL {
            assert!(seen.insert(invariant.statement()), "{invariant} repeats");
        }
    }
}
