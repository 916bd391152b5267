//! Profiles and contracts: those that ship, and what a project puts over them.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use symphony_core::contract::Pipeline;
use symphony_core::profile::{AgentProfile, ProfileSet};
use symphony_prompt::lint::{Finding, Library, PromptText as LintText, TextKind, read_library};

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
    /// The folder whose texts lie over the shipped ones.
    pub(crate) folder: PathBuf,
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

impl ShippedPrompts {
    /// Returns the profiles and contracts as a layer of a library.
    pub(crate) fn layer(&self) -> Vec<LintText<'static>> {
        let kinds = [
            (self.profiles, TextKind::Profile),
            (self.contracts, TextKind::Contract),
        ];
        let texts = kinds.into_iter().flat_map(|(prompts, kind)| {
            prompts.iter().map(move |prompt| LintText {
                file: prompt.file,
                kind: kind.clone(),
                text: prompt.text,
            })
        });
        texts.collect()
    }
}

impl PromptLibrary {
    /// Loads the shipped prompts; files of the same name in `folder` replace them. The folder need not exist.
    ///
    /// # Errors
    /// All problems of all files at once.
    pub fn load(shipped: &ShippedPrompts, folder: &Path) -> Result<Self, RunnerError> {
        let own = OwnText::read_all(folder)?;
        let own: Vec<LintText<'_>> = own.iter().map(OwnText::borrowed).collect();
        let read = read_library(&[&shipped.layer(), &own]);
        let Library { profiles, pipeline } = read.map_err(|found| RunnerError::PromptFiles {
            problems: found.iter().map(ToString::to_string).collect(),
        })?;
        Ok(Self {
            profiles,
            pipeline,
            standalone: StandalonePrompts::load(shipped, folder)?,
            folder: folder.to_owned(),
        })
    }

    /// Returns whether agents on issues read the same with another library: the same profiles, contracts and overrides,
    /// wherever they are.
    ///
    /// # Errors
    /// When the overrides of a folder cannot be read.
    pub fn reads_like(&self, other: &Self) -> Result<bool, RunnerError> {
        Ok(self.profiles == other.profiles
            && self.pipeline == other.pipeline
            && self.overrides()? == other.overrides()?)
    }

    /// Reads the overrides of its folder, by name.
    fn overrides(&self) -> Result<Vec<(Option<OsString>, String)>, RunnerError> {
        let texts = read_folder(&self.folder.join("overrides"), &TextKind::Contract)?;
        let named = texts.into_iter().map(|own| {
            let name = Path::new(&own.file).file_name();
            (name.map(OsStr::to_owned), own.text)
        });
        Ok(named.collect())
    }

    /// Returns the profile of an agent type; types without one of their own use the researcher's.
    pub fn profile(&self, agent: &symphony_core::agent::AgentType) -> Option<&AgentProfile> {
        self.profiles.get(agent)
    }
}

/// Checks the chains that the contracts of a prompts folder form once a contract takes the place of the one of its
/// phase, which `stem` names. What the folder has for this phase is what the contract is to replace, right or not.
///
/// # Errors
/// When the folder cannot be read.
pub fn check_chain(
    shipped: &ShippedPrompts,
    folder: &Path,
    file: &str,
    text: &str,
    stem: &str,
) -> Result<Vec<Finding>, RunnerError> {
    let own = OwnText::read_all(folder)?;
    let is_replaced = |own: &&OwnText| {
        own.kind == TextKind::Contract
            && Path::new(&own.file)
                .file_stem()
                .is_some_and(|name| name == stem)
    };
    let others = own.iter().filter(|own| !is_replaced(own));
    let mut own: Vec<LintText<'_>> = others.map(OwnText::borrowed).collect();
    own.push(LintText {
        file,
        kind: TextKind::Contract,
        text,
    });
    let read = read_library(&[&shipped.layer(), &own]);
    Ok(read.err().unwrap_or_default())
}

/// A text of a project's prompts folder.
#[derive(Debug)]
pub(crate) struct OwnText {
    /// Its path.
    pub(crate) file: String,
    /// What it is for.
    pub(crate) kind: TextKind,
    pub(crate) text: String,
}

impl OwnText {
    /// Reads the profiles and contracts of a folder, which need not exist.
    pub(crate) fn read_all(folder: &Path) -> Result<Vec<Self>, RunnerError> {
        let mut texts = read_folder(&folder.join("profiles"), &TextKind::Profile)?;
        texts.extend(read_folder(&folder.join("phases"), &TextKind::Contract)?);
        Ok(texts)
    }

    pub(crate) fn borrowed(&self) -> LintText<'_> {
        LintText {
            file: &self.file,
            kind: self.kind.clone(),
            text: &self.text,
        }
    }
}

/// Reads the markdown files of a folder, by name.
fn read_folder(folder: &Path, kind: &TextKind) -> Result<Vec<OwnText>, RunnerError> {
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
            let text = symphony_workspace::read_text(&path)
                .map_err(|error| RunnerError::io("read the prompt", &path, error))?;
            files.push(OwnText {
                file: path.display().to_string(),
                kind: kind.clone(),
                text,
            });
        }
    }
    files.sort_by(|one, other| one.file.cmp(&other.file));
    Ok(files)
}
