//! Profiles and contracts: those that ship, and what a project puts over them.

use std::path::Path;

use symphony_core::contract::{PhaseContract, Pipeline, PipelineProblem, parse_contract};
use symphony_core::id::PhaseName;
use symphony_core::profile::{AgentProfile, ProfileSet, parse_profile};

use crate::error::RunnerError;
use crate::supervise::read_own;

/// A text with the name it is reported under.
#[derive(Debug, Clone, Copy)]
pub struct PromptText {
    /// Its path below the prompts folder.
    pub file: &'static str,
    /// The text.
    pub text: &'static str,
}

/// The prompts that ship with Symphony, compiled into its executable.
#[derive(Debug, Clone, Copy)]
pub struct ShippedPrompts {
    /// Agent profiles.
    pub profiles: &'static [PromptText],
    /// Phase contracts.
    pub contracts: &'static [PromptText],
    /// The setup wizard's prompt.
    pub wizard: PromptText,
    /// The instruction of a background researcher.
    pub background_research: PromptText,
    /// The instruction of a scanner.
    pub background_scan: PromptText,
    /// The system prompt of a plan phase.
    pub plan_worker: PromptText,
}

/// The profiles, contracts and other prompts of a project. Immutable.
#[derive(Debug, Clone)]
pub struct PromptLibrary {
    /// The profiles, by type.
    pub profiles: ProfileSet,
    /// The contracts.
    pub pipeline: Pipeline,
    /// What belongs to neither.
    pub standalone: StandalonePrompts,
}

/// Prompts that are whole texts.
#[derive(Debug, Clone)]
pub struct StandalonePrompts {
    /// The setup wizard's prompt.
    pub wizard: String,
    /// The instruction of a background researcher.
    pub background_research: String,
    /// The instruction of a scanner.
    pub background_scan: String,
    /// The system prompt of a plan phase.
    pub plan_worker: String,
}

impl StandalonePrompts {
    /// Takes each from a folder when it is there, else as it ships.
    fn load(shipped: &ShippedPrompts, folder: &Path) -> Result<Self, RunnerError> {
        let text = |shipped: &PromptText| -> Result<String, RunnerError> {
            let own = read_own(&folder.join(shipped.file))?;
            Ok(own.unwrap_or_else(|| shipped.text.to_owned()))
        };
        Ok(Self {
            wizard: text(&shipped.wizard)?,
            background_research: text(&shipped.background_research)?,
            background_scan: text(&shipped.background_scan)?,
            plan_worker: text(&shipped.plan_worker)?,
        })
    }
}

impl PromptLibrary {
    /// Loads the shipped prompts and those of a folder over them, which need not exist.
    ///
    /// # Errors
    /// All problems of all files at once.
    pub fn load(shipped: &ShippedPrompts, folder: &Path) -> Result<Self, RunnerError> {
        let mut problems = Vec::new();
        let own_profiles = read_folder(&folder.join("profiles"))?;
        let own_contracts = read_folder(&folder.join("phases"))?;
        let base = parse_all(
            shipped.profiles.iter().map(|p| (p.file, p.text)),
            parse_profile,
            &mut problems,
        );
        let own = parse_all(borrowed(&own_profiles), parse_profile, &mut problems);
        let profiles = collected(ProfileSet::new([base, own]), &mut problems).unwrap_or_default();
        let base: Vec<PhaseContract> = parse_all(
            shipped.contracts.iter().map(|p| (p.file, p.text)),
            parse_contract,
            &mut problems,
        );
        let (emptied, own_contracts): (Vec<_>, Vec<_>) = own_contracts
            .into_iter()
            .partition(|(_, text)| text.trim().is_empty());
        let removed = removed_phases(&emptied, &base, &mut problems);
        let own = parse_all(borrowed(&own_contracts), parse_contract, &mut problems);
        let pipeline = collected(
            Pipeline::new([base, own], &removed, &profiles.types()),
            &mut problems,
        )
        .unwrap_or_default();
        if problems.is_empty() {
            Ok(Self {
                profiles,
                pipeline,
                standalone: StandalonePrompts::load(shipped, folder)?,
            })
        } else {
            Err(RunnerError::PromptFiles { problems })
        }
    }

    /// Returns the profile of an agent type; types without one of their own use the researcher's.
    pub fn profile(&self, agent: &symphony_core::agent::AgentType) -> Option<&AgentProfile> {
        self.profiles.get(agent)
    }
}

/// What keeps the contracts of a project from forming chains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChainProblem {
    /// The contracts do not fit together.
    Contracts(PipelineProblem),
    /// Another file cannot be read as what it is.
    File(String),
}

/// Checks the chains that the contracts of a prompts folder form once a contract takes the place of the one of its phase.
///
/// # Errors
/// When the folder cannot be read.
pub fn check_chain(
    shipped: &ShippedPrompts,
    folder: &Path,
    contract: PhaseContract,
) -> Result<Vec<ChainProblem>, RunnerError> {
    let mut broken = Vec::new();
    let own_profiles = read_folder(&folder.join("profiles"))?;
    let own_contracts = read_folder(&folder.join("phases"))?;
    let shipped_profiles = shipped.profiles.iter().map(|p| (p.file, p.text));
    let profiles = [
        parse_all(shipped_profiles, parse_profile, &mut broken),
        parse_all(borrowed(&own_profiles), parse_profile, &mut broken),
    ];
    let profiles = collected(ProfileSet::new(profiles), &mut broken).unwrap_or_default();
    let shipped_contracts = shipped.contracts.iter().map(|p| (p.file, p.text));
    let base: Vec<PhaseContract> = parse_all(shipped_contracts, parse_contract, &mut broken);
    // what the folder has for this phase is what the contract is to replace, right or not
    let is_other = |(file, _): &(String, String)| {
        Path::new(file).file_stem().unwrap_or_default() != contract.phase.as_str()
    };
    let others = own_contracts.into_iter().filter(is_other);
    let (emptied, others): (Vec<_>, Vec<_>) = others.partition(|(_, text)| text.trim().is_empty());
    let removed = removed_phases(&emptied, &base, &mut broken);
    let own = parse_all(borrowed(&others), parse_contract, &mut broken);
    let layers = [base, own, vec![contract]];
    let chain = Pipeline::new(layers, &removed, &profiles.types());
    let problems = chain.err().unwrap_or_default().into_iter();
    let files = broken.into_iter().map(ChainProblem::File);
    Ok(problems.map(ChainProblem::Contracts).chain(files).collect())
}

/// Names the phases that a project takes out: those it has an empty file for.
fn removed_phases(
    emptied: &[(String, String)],
    shipped: &[PhaseContract],
    problems: &mut Vec<String>,
) -> Vec<PhaseName> {
    let mut removed = Vec::new();
    for (file, _) in emptied {
        let name = Path::new(file).file_stem().unwrap_or_default();
        match shipped.iter().find(|contract| name == contract.phase.as_str()) {
            Some(contract) => removed.push(contract.phase.clone()),
            None => problems.push(format!(
                "{file}: is empty, which takes a phase out, but no phase of this name ships: write a contract, or delete the file"
            )),
        }
    }
    removed
}

fn borrowed(files: &[(String, String)]) -> impl Iterator<Item = (&str, &str)> {
    files
        .iter()
        .map(|(file, text)| (file.as_str(), text.as_str()))
}

fn parse_all<'a, T, P: ToString>(
    texts: impl Iterator<Item = (&'a str, &'a str)>,
    parse: fn(&str, &str) -> Result<T, Vec<P>>,
    problems: &mut Vec<String>,
) -> Vec<T> {
    let mut parsed = Vec::new();
    for (file, text) in texts {
        match parse(file, text) {
            Ok(value) => parsed.push(value),
            Err(found) => problems.extend(found.iter().map(ToString::to_string)),
        }
    }
    parsed
}

fn collected<T, P: ToString>(result: Result<T, Vec<P>>, problems: &mut Vec<String>) -> Option<T> {
    result
        .map_err(|found| problems.extend(found.iter().map(ToString::to_string)))
        .ok()
}

/// Reads the markdown files of a folder, by name.
fn read_folder(folder: &Path) -> Result<Vec<(String, String)>, RunnerError> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(RunnerError::io("read the folder", folder, error)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry
            .map_err(|error| RunnerError::io("read the folder", folder, error))?
            .path();
        if path.extension().is_some_and(|extension| extension == "md") {
            let text = std::fs::read_to_string(&path)
                .map_err(|error| RunnerError::io("read the prompt", &path, error))?;
            files.push((path.display().to_string(), text));
        }
    }
    files.sort();
    Ok(files)
}
