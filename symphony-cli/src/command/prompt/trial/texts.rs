//! Texts of a set that changed during a trial in real work: its numbers then mix what was read.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use symphony_core::agent::AgentType;
use symphony_core::id::PhaseName;
use symphony_core::prompt_trial::PromptSet;
use symphony_core::run::Run;
use symphony_prompt::{LayerName, Report};
use symphony_runner::prompts::sent::PROMPT_REPORT;

/// The layers of a system prompt that come from a set.
const OF_A_SET: [LayerName; 3] = [LayerName::Profile, LayerName::Contract, LayerName::Override];

/// A text of a set that was read in several versions.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) struct ChangedText {
    set: PromptSet,
    profile: AgentType,
    #[serde(skip_serializing_if = "Option::is_none")]
    phase: Option<PhaseName>,
    /// Which text: the profile, the contract of a phase, or an override.
    text: &'static str,
    /// How many versions agents have read.
    versions: usize,
}

impl ChangedText {
    /// Returns it as a sentence.
    pub(super) fn sentence(&self) -> String {
        let phase = self.phase.as_ref();
        let phase = phase.map_or_else(String::new, |phase| format!(" in the phase {phase}"));
        format!(
            "Set {}: the {} of the {}{phase} had {} versions.",
            self.set, self.text, self.profile, self.versions
        )
    }
}

/// Finds the texts that runs of one set were built with in several versions: someone edited them, or a new Symphony ships others.
pub(super) fn changed_texts(runs: &[Run]) -> Vec<ChangedText> {
    let mut hashes: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
    for run in runs {
        let report = run.metadata.get(PROMPT_REPORT).cloned();
        let report: Option<Report> = report.and_then(|report| serde_json::from_value(report).ok());
        // a run that failed before its prompts were built has none
        let (Some(report), Some(given)) = (report, &run.prompt_set) else {
            continue;
        };
        for part in report.system {
            let layer = OF_A_SET.into_iter().find(|layer| layer.name() == part.part);
            if let (Some(layer), Some(hash)) = (layer, part.hash) {
                let place = (
                    given.set,
                    run.agent.clone(),
                    run.phase.clone(),
                    layer.name(),
                );
                hashes.entry(place).or_default().insert(hash);
            }
        }
    }
    let changed = hashes.into_iter().filter(|(_, hashes)| hashes.len() > 1);
    changed
        .map(|((set, profile, phase, text), hashes)| ChangedText {
            set,
            profile,
            phase,
            text,
            versions: hashes.len(),
        })
        .collect()
}
