//! A trial of prompts in real work, in a line.

use serde::Serialize;
use symphony_core::prompt_trial::{LiveTrial, Share, TrialName};
use symphony_store::{Project, Store, StoreError};

/// A trial of prompts that is configured, and the issues that were given its sets so far.
#[derive(Debug, Clone, Serialize)]
pub struct LiveTrialLine {
    name: TrialName,
    /// The part of the issues that gets B.
    share: Share,
    issues_a: u32,
    issues_b: u32,
}

impl LiveTrialLine {
    /// Reads how many issues of a project were given each set.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn load(store: &Store, project: &Project, trial: &LiveTrial) -> Result<Self, StoreError> {
        let mut known = store.known_trials(&project.id)?.into_iter();
        let found = known.find(|known| known.name == trial.name);
        let (issues_a, issues_b) = found.map_or((0, 0), |found| (found.issues_a, found.issues_b));
        Ok(Self {
            name: trial.name.clone(),
            share: trial.share,
            issues_a,
            issues_b,
        })
    }

    /// Returns it as a sentence, without a full stop.
    pub fn text(&self) -> String {
        format!(
            "the trial {} is live: {} of the issues get B (so far {} had A, and {} had B)",
            self.name,
            percent(self.share),
            self.issues_a,
            self.issues_b
        )
    }
}

/// Shows a share in percent.
pub fn percent(share: Share) -> String {
    let percent = (share.get() * 1_000.0).round() / 10.0;
    format!("{percent}%")
}
