//! A live trial: its configuration, and what its two sets must have in common.

use std::path::{Path, PathBuf};

use super::assignment::{Assignment, PromptSet, Share, TrialName, assign};
use crate::contract::{PhaseContract, Pipeline};
use crate::id::IssueId;
use crate::profile::ProfileSet;

/// A trial of prompts in real work, as the key `prompts.trial` describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct LiveTrial {
    /// Its name.
    pub name: TrialName,
    /// The folder of the set A; `None` for the folder of prompts that is used without a trial.
    pub a: Option<PathBuf>,
    /// The folder of the set B.
    pub b: PathBuf,
    /// The part of the issues that gets B.
    pub share: Share,
}

impl LiveTrial {
    /// Returns the folder of a set; `None` for A if that is the folder of prompts that is used without a trial.
    pub fn folder(&self, set: PromptSet) -> Option<&Path> {
        match set {
            PromptSet::A => self.a.as_deref(),
            PromptSet::B => Some(&self.b),
        }
    }

    /// Returns the set of an issue without a parent, and of everything below it, if none is recorded for it.
    pub fn assign(&self, issue: &IssueId) -> Assignment {
        Assignment {
            trial: self.name.clone(),
            set: assign(&self.name, issue, self.share),
            issue: issue.clone(),
        }
    }

    /// Returns the key of the configuration that names the folder of a set.
    pub const fn key(set: PromptSet) -> &'static str {
        match set {
            PromptSet::A => "prompts.trial.a",
            PromptSet::B => "prompts.trial.b",
        }
    }
}

/// Lists what two sets dispatch differently; empty if they differ only in what agents read.
///
/// The tick chooses phases, profiles and models before it knows which set an issue has, so these must be the same.
pub fn dispatch_differences(
    (profiles, pipeline): (&ProfileSet, &Pipeline),
    (other_profiles, other_pipeline): (&ProfileSet, &Pipeline),
) -> Vec<String> {
    let mut found = Vec::new();
    let mut phases: Vec<_> = pipeline.iter().chain(other_pipeline.iter()).collect();
    phases.sort_by(|one, other| one.phase.cmp(&other.phase));
    phases.dedup_by(|one, other| one.phase == other.phase);
    for phase in phases.into_iter().map(|contract| &contract.phase) {
        match (pipeline.get(phase), other_pipeline.get(phase)) {
            (Some(one), Some(other)) if without_texts(one) == without_texts(other) => {}
            (Some(_), Some(_)) => found.push(format!(
                "the contract of the phase `{phase}` differs in more than its text"
            )),
            _ => found.push(format!("only one of them has the phase `{phase}`")),
        }
    }
    for agent in profiles.types().union(&other_profiles.types()) {
        match (profiles.get(agent), other_profiles.get(agent)) {
            (Some(one), Some(other)) if one.model == other.model => {}
            (Some(_), Some(_)) => found.push(format!(
                "the profile of the {agent} asks for different models"
            )),
            _ => found.push(format!("only one of them has a profile of the {agent}")),
        }
    }
    found
}

/// Returns a contract without the parts that only agents read.
fn without_texts(contract: &PhaseContract) -> PhaseContract {
    PhaseContract {
        required_sections: Vec::new(),
        done_when: Vec::new(),
        escalate_if: Vec::new(),
        body: String::new(),
        ..contract.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::parse_contract;
    use crate::profile::{AgentProfile, parse_profile};

    fn profile(front: &str, body: &str) -> AgentProfile {
        let text =
            format!("---\nname: Worker\ntype: worker\ndescription: Works.\n{front}---\n{body}\n");
        parse_profile("worker.md", &text).unwrap()
    }

    fn contract(front: &str, body: &str) -> PhaseContract {
        let text = format!(
            "---\nphase: ready\ncontract_version: 1\ndispatch_profile: worker\nartifact_type: code\n{front}---\n{body}\n"
        );
        parse_contract("ready.md", &text).unwrap()
    }

    fn library(profile: AgentProfile, contract: PhaseContract) -> (ProfileSet, Pipeline) {
        let profiles = ProfileSet::new([vec![profile]]).unwrap();
        let pipeline = Pipeline::new([vec![contract]], &[], &profiles.types()).unwrap();
        (profiles, pipeline)
    }

    #[test]
    fn sets_may_differ_in_what_agents_read_and_in_nothing_that_a_tick_decides_by() {
        let plain = library(profile("", "Work."), contract("", "Do it."));
        for ((other_profile, other_contract), expected) in [
            (
                (
                    profile("", "Work well."),
                    contract("done_when:\n  - It works.\n", "Do it now."),
                ),
                vec![],
            ),
            (
                (profile("model: haiku\n", "Work."), contract("", "Do it.")),
                vec!["the profile of the worker asks for different models"],
            ),
            (
                (profile("", "Work."), contract("model: haiku\n", "Do it.")),
                vec!["the contract of the phase `ready` differs in more than its text"],
            ),
        ] {
            let other = library(other_profile, other_contract);
            let found = dispatch_differences((&plain.0, &plain.1), (&other.0, &other.1));
            assert_eq!(found, expected);
        }
        let without = Pipeline::default();
        let found = dispatch_differences((&plain.0, &plain.1), (&ProfileSet::default(), &without));
        assert_eq!(
            found,
            [
                "only one of them has the phase `ready`",
                "only one of them has a profile of the worker"
            ]
        );
    }
}
