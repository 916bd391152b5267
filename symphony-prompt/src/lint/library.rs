//! Profiles and contracts of a project from their texts: the shipped layer, and the project's own over it.

use std::collections::BTreeMap;

use symphony_core::agent::AgentType;
use symphony_core::contract::{PhaseContract, Pipeline, PipelineProblem, parse_contract};
use symphony_core::front_matter::Problem;
use symphony_core::id::PhaseName;
use symphony_core::profile::{AgentProfile, ProfileProblem, ProfileSet, parse_profile};

use super::finding::{Finding, LintRule, Severity};
use super::text::{PromptText, TextKind};

/// What to do about a file that cannot be read as a profile or a contract.
const CORRECT: &str = "fix the file, or remove it to use the shipped one";

/// The profiles and contracts of a project. Immutable.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Library {
    /// The profiles, by type.
    pub profiles: ProfileSet,
    /// The contracts.
    pub pipeline: Pipeline,
}

/// Reads the profiles and contracts of layers of texts, later layers winning; texts of other kinds are passed over.
///
/// # Errors
/// Everything that keeps them from being a library: all problems of all files at once.
pub fn read_library(layers: &[&[PromptText<'_>]]) -> Result<Library, Vec<Finding>> {
    let parsed = Parsed::of(layers);
    if parsed.findings.is_empty() {
        Ok(parsed.library)
    } else {
        Err(parsed.findings)
    }
}

/// What could be read of layers of texts.
#[derive(Debug, Default)]
pub(super) struct Parsed<'a> {
    /// Empty as soon as one file is wrong.
    library: Library,
    /// The last layer.
    last: &'a [PromptText<'a>],
    /// What keeps the texts from being a library.
    pub(super) findings: Vec<Finding>,
    /// The profile that applies to each type, with its file.
    pub(super) profiles: BTreeMap<AgentType, (&'a PromptText<'a>, AgentProfile)>,
    /// The contract that applies to each phase, with its file.
    pub(super) contracts: BTreeMap<PhaseName, (&'a PromptText<'a>, PhaseContract)>,
}

impl<'a> Parsed<'a> {
    /// Reads layers of texts as far as they can be read.
    pub(super) fn of(layers: &[&'a [PromptText<'a>]]) -> Self {
        let mut parsed = Self {
            last: layers.last().copied().unwrap_or_default(),
            ..Self::default()
        };
        let mut profiles = Vec::new();
        let mut contracts = Vec::new();
        let mut removed = Vec::new();
        for layer in layers {
            profiles.push(parsed.read_profiles(layer));
            contracts.push(parsed.read_contracts(layer, &mut removed));
        }
        for phase in &removed {
            parsed.contracts.remove(phase);
        }
        let set = ProfileSet::new(profiles).unwrap_or_else(|problems| {
            let layers = layers.iter().copied().flatten();
            let found = problems
                .iter()
                .map(|problem| duplicate(problem, layers.clone()));
            parsed.findings.extend(found);
            ProfileSet::default()
        });
        let types = parsed.profiles.keys().cloned().collect();
        let pipeline = Pipeline::new(contracts, &removed, &types).unwrap_or_else(|problems| {
            let found = problems.iter().map(|problem| parsed.chain_finding(problem));
            let found: Vec<Finding> = found.collect();
            parsed.findings.extend(found);
            Pipeline::default()
        });
        parsed.library = Library {
            profiles: set,
            pipeline,
        };
        parsed
    }

    fn read_profiles(&mut self, layer: &'a [PromptText<'a>]) -> Vec<AgentProfile> {
        let mut read = Vec::new();
        for text in layer.iter().filter(|text| text.kind == TextKind::Profile) {
            match parse_profile(text.file, text.text) {
                Ok(profile) => {
                    let agent = profile.agent.clone();
                    self.profiles.insert(agent, (text, profile.clone()));
                    read.push(profile);
                }
                Err(problems) => self.findings.extend(problems.iter().map(front_matter)),
            }
        }
        read
    }

    /// Reads the contracts of a layer, and notes which phases of the layers before it a blank one takes out.
    fn read_contracts(
        &mut self,
        layer: &'a [PromptText<'a>],
        removed: &mut Vec<PhaseName>,
    ) -> Vec<PhaseContract> {
        let mut read = Vec::new();
        let before: Vec<PhaseName> = self.contracts.keys().cloned().collect();
        for text in layer.iter().filter(|text| text.kind == TextKind::Contract) {
            if text.text.trim().is_empty() {
                match before.iter().find(|phase| phase.as_str() == text.stem()) {
                    Some(phase) => removed.push(phase.clone()),
                    None => self.findings.push(takes_nothing_out(text)),
                }
                continue;
            }
            match parse_contract(text.file, text.text) {
                Ok(contract) => {
                    let phase = contract.phase.clone();
                    self.contracts.insert(phase, (text, contract.clone()));
                    read.push(contract);
                }
                Err(problems) => self.findings.extend(problems.iter().map(front_matter)),
            }
        }
        read
    }

    fn chain_finding(&self, problem: &PipelineProblem) -> Finding {
        let (phase, field) = match problem {
            PipelineProblem::UnknownNext { phase, .. } => (Some(phase), "next_phase:"),
            PipelineProblem::UnknownProfile { phase, .. } => (Some(phase), "dispatch_profile:"),
            PipelineProblem::Duplicate { phase } => (Some(phase), "phase:"),
            PipelineProblem::Cycle { phases } => (self.own_of(phases), "next_phase:"),
            _ => (None, ""),
        };
        let text = phase.and_then(|phase| self.contracts.get(phase));
        let (what, known): (_, Vec<&str>) =
            if matches!(problem, PipelineProblem::UnknownProfile { .. }) {
                let known = self.profiles.keys().map(AgentType::name);
                ("a profile", known.collect())
            } else {
                let known = self.contracts.keys().map(PhaseName::as_str);
                ("another phase", known.collect())
            };
        let advice = format!("name {what}: {}", known.join(", "));
        Finding {
            file: text.map_or_else(String::new, |(text, _)| text.file.to_owned()),
            line: text.map_or(1, |(text, _)| line_of(text.text, field)),
            column: None,
            severity: Severity::Error,
            rule: LintRule::Chain,
            found: problem.to_string(),
            advice,
        }
    }

    /// Of the phases of a circle the first that the last layer has a contract for: the project's own, where it has one.
    fn own_of<'p>(&self, phases: &'p [PhaseName]) -> Option<&'p PhaseName> {
        let is_own = |phase: &&PhaseName| {
            let held = self.contracts.get(*phase).map(|(text, _)| text.file);
            self.last.iter().any(|text| held == Some(text.file))
        };
        phases.iter().find(is_own).or(phases.first())
    }
}

/// Returns the line on which a field of the front matter begins.
pub(super) fn line_of(text: &str, field: &str) -> usize {
    let at = text.lines().position(|line| line.starts_with(field));
    at.map_or(1, |at| at + 1)
}

fn front_matter(problem: &Problem) -> Finding {
    Finding {
        file: problem.file.clone(),
        line: problem.position.line,
        column: Some(problem.position.column),
        severity: Severity::Error,
        rule: LintRule::FrontMatter,
        found: problem.message(),
        advice: CORRECT.to_owned(),
    }
}

fn takes_nothing_out(text: &PromptText<'_>) -> Finding {
    Finding {
        file: text.file.to_owned(),
        line: 1,
        column: None,
        severity: Severity::Error,
        rule: LintRule::Chain,
        found: "is empty, which removes a phase, but there is no shipped phase of this name"
            .to_owned(),
        advice: "write a contract, or delete the file".to_owned(),
    }
}

fn duplicate<'a>(
    problem: &ProfileProblem,
    mut texts: impl Iterator<Item = &'a PromptText<'a>>,
) -> Finding {
    let second = match problem {
        ProfileProblem::Duplicate { second, .. } => Some(second.as_str()),
        _ => None,
    };
    let named = |text: &&PromptText<'_>| {
        let read = parse_profile(text.file, text.text).ok();
        text.kind == TextKind::Profile
            && read.is_some_and(|read| Some(read.name.as_str()) == second)
    };
    let text = texts.find(named);
    Finding {
        file: text.map_or_else(String::new, |text| text.file.to_owned()),
        line: text.map_or(1, |text| line_of(text.text, "type:")),
        column: None,
        severity: Severity::Error,
        rule: LintRule::Chain,
        found: problem.to_string(),
        advice: "remove one of the two, or give it another `type`".to_owned(),
    }
}
