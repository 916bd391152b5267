//! The chain of contracts.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::model::{PhaseContract, ValidationMode};
use crate::agent::AgentType;
use crate::id::PhaseName;
use crate::nearest::nearest;

/// The contracts of a project, checked to form chains. Immutable.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pipeline {
    contracts: BTreeMap<PhaseName, PhaseContract>,
}

/// Why contracts form no pipeline.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PipelineProblem {
    /// Two contracts of one layer are for the same phase.
    #[error("two contracts for the phase `{phase}`")]
    Duplicate {
        /// The phase.
        phase: PhaseName,
    },
    /// A `next_phase` has no contract.
    #[error("phase `{phase}`: next_phase `{next}` has no contract{}", hint(nearest.as_deref()))]
    UnknownNext {
        /// The contract's phase.
        phase: PhaseName,
        /// The named phase.
        next: PhaseName,
        /// The nearest phase that exists.
        nearest: Option<String>,
    },
    /// A `dispatch_profile` has no profile.
    #[error("phase `{phase}`: dispatch_profile `{profile}` does not exist{}", hint(nearest.as_deref()))]
    UnknownProfile {
        /// The contract's phase.
        phase: PhaseName,
        /// The named profile.
        profile: AgentType,
        /// The nearest profile that exists.
        nearest: Option<String>,
    },
    /// Following `next_phase` returns to its start.
    #[error("next_phase forms a circle: {}", circle(phases))]
    Cycle {
        /// The phases of the circle, each once, beginning with the first by name.
        phases: Vec<PhaseName>,
    },
}

/// What a delivery with `skip_to` passes over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skip {
    /// The phase that the issue goes to.
    pub to: PhaseName,
    /// The phases between, in their order; empty when `to` is the next phase anyway.
    pub skipped: Vec<PhaseName>,
    /// Whether one of them would have been judged: then a judge decides on the skip.
    pub needs_judge: bool,
}

/// Why a skip is refused. Its `Display` tells the agent what is possible.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SkipError {
    /// `skip_to` does not come after the phase.
    #[error("`{to}` does not come after `{from}`; later phases: {}", names(later))]
    NotLater {
        /// The phase of the delivery.
        from: PhaseName,
        /// The requested phase.
        to: PhaseName,
        /// The phases that do come after.
        later: Vec<PhaseName>,
    },
    /// A phase between may not be skipped.
    #[error("`{phase}` may not be skipped; leave out skip_to, or name a phase up to `{phase}`")]
    NotSkippable {
        /// The phase.
        phase: PhaseName,
    },
}

impl Pipeline {
    /// Creates a pipeline of contracts in layers, later layers winning: compiled-in ones, then a project's.
    ///
    /// `removed` are the phases that a project removes; `profiles` are the types that exist.
    ///
    /// # Errors
    /// Everything that keeps the contracts from being a pipeline.
    pub fn new(
        layers: impl IntoIterator<Item = Vec<PhaseContract>>,
        removed: &[PhaseName],
        profiles: &BTreeSet<AgentType>,
    ) -> Result<Self, Vec<PipelineProblem>> {
        let mut problems = Vec::new();
        let mut contracts = BTreeMap::new();
        for layer in layers {
            let mut seen = BTreeSet::new();
            for contract in layer {
                let phase = contract.phase.clone();
                if !seen.insert(phase.clone()) {
                    problems.push(PipelineProblem::Duplicate { phase });
                    continue;
                }
                contracts.insert(phase, contract);
            }
        }
        for phase in removed {
            contracts.remove(phase);
        }
        let pipeline = Self { contracts };
        pipeline.check_names(profiles, &mut problems);
        pipeline.check_cycles(&mut problems);
        if problems.is_empty() {
            Ok(pipeline)
        } else {
            Err(problems)
        }
    }

    /// Returns the contract of a phase.
    pub fn get(&self, phase: &PhaseName) -> Option<&PhaseContract> {
        self.contracts.get(phase)
    }

    /// Iterates over the contracts by name.
    pub fn iter(&self) -> impl Iterator<Item = &PhaseContract> {
        self.contracts.values()
    }

    /// Returns the phase that follows; `None` at the end of a chain and for a phase without contract.
    pub fn next(&self, phase: &PhaseName) -> Option<&PhaseContract> {
        self.get(self.get(phase)?.next_phase.as_ref()?)
    }

    /// Returns the phases that come after one, in their order.
    pub fn later(&self, phase: &PhaseName) -> Vec<&PhaseContract> {
        std::iter::successors(self.next(phase), |contract| self.next(&contract.phase)).collect()
    }

    /// Returns whether `other` comes after `phase`.
    pub fn is_later(&self, phase: &PhaseName, other: &PhaseName) -> bool {
        self.later(phase)
            .iter()
            .any(|contract| contract.phase == *other)
    }

    /// Returns the first phase of the longest chain: `research`, as shipped. Of chains of the same length it takes the one
    /// whose first phase comes first by name.
    pub fn first(&self) -> Option<&PhaseContract> {
        let followed: BTreeSet<&PhaseName> = self
            .iter()
            .filter_map(|contract| contract.next_phase.as_ref())
            .collect();
        let mut best: Option<(usize, &PhaseContract)> = None;
        for contract in self.iter().filter(|c| !followed.contains(&c.phase)) {
            let length = self.later(&contract.phase).len();
            if best.is_none_or(|(most, _)| length > most) {
                best = Some((length, contract));
            }
        }
        best.map(|(_, contract)| contract)
    }

    /// Plans a delivery of `from` that asks to skip to `to`.
    ///
    /// # Errors
    /// When `to` does not come after `from`, or a phase between may not be skipped.
    pub fn skip(&self, from: &PhaseName, to: &PhaseName) -> Result<Skip, SkipError> {
        let later = self.later(from);
        if !later.iter().any(|contract| contract.phase == *to) {
            return Err(SkipError::NotLater {
                from: from.clone(),
                to: to.clone(),
                later: later.iter().map(|c| c.phase.clone()).collect(),
            });
        }
        let between: Vec<&PhaseContract> = later
            .into_iter()
            .take_while(|contract| contract.phase != *to)
            .collect();
        if let Some(firm) = between.iter().find(|contract| !contract.skippable) {
            return Err(SkipError::NotSkippable {
                phase: firm.phase.clone(),
            });
        }
        Ok(Skip {
            to: to.clone(),
            needs_judge: between.iter().any(|c| c.mode() == ValidationMode::Judge),
            skipped: between.iter().map(|c| c.phase.clone()).collect(),
        })
    }

    fn check_names(&self, profiles: &BTreeSet<AgentType>, problems: &mut Vec<PipelineProblem>) {
        for contract in self.iter() {
            if let Some(next) = &contract.next_phase
                && !self.contracts.contains_key(next)
            {
                let known = self.contracts.keys().map(PhaseName::as_str);
                problems.push(PipelineProblem::UnknownNext {
                    phase: contract.phase.clone(),
                    next: next.clone(),
                    nearest: nearest(next.as_str(), known).map(str::to_owned),
                });
            }
            let profile = &contract.dispatch_profile;
            if !profiles.contains(profile) {
                let known = profiles.iter().map(AgentType::name);
                problems.push(PipelineProblem::UnknownProfile {
                    phase: contract.phase.clone(),
                    profile: profile.clone(),
                    nearest: nearest(profile.name(), known).map(str::to_owned),
                });
            }
        }
    }

    /// Finds each circle once. A phase has one successor, so a walk that meets a phase of an earlier walk can stop:
    /// what is behind it is checked.
    fn check_cycles(&self, problems: &mut Vec<PipelineProblem>) {
        let mut walked: BTreeSet<&PhaseName> = BTreeSet::new();
        for start in self.contracts.keys() {
            let mut path: Vec<&PhaseName> = Vec::new();
            let mut phase = Some(start);
            while let Some(name) = phase {
                if let Some(begin) = path.iter().position(|passed| *passed == name) {
                    let phases = path.iter().skip(begin).map(|p| (*p).clone()).collect();
                    problems.push(PipelineProblem::Cycle { phases });
                    break;
                }
                if !walked.insert(name) {
                    break;
                }
                path.push(name);
                phase = self.get(name).and_then(|c| c.next_phase.as_ref());
            }
        }
    }
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

fn names(phases: &[PhaseName]) -> String {
    if phases.is_empty() {
        return "none".to_owned();
    }
    let names: Vec<&str> = phases.iter().map(PhaseName::as_str).collect();
    names.join(", ")
}

fn circle(phases: &[PhaseName]) -> String {
    let mut names: Vec<&str> = phases.iter().map(PhaseName::as_str).collect();
    names.extend(phases.first().map(PhaseName::as_str));
    names.join(" -> ")
}
