//! Which scenario a run plays, and how often each has been played.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::path::Path;

use crate::error::ScriptError;
use crate::scenario::{Scenario, ScenarioFile};
use crate::unmatched::Unmatched;

/// The file in the state directory that counts uses, and is the lock over them.
const USES_FILE: &str = "uses.json";

/// What a scenario is chosen by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Prompts<'a> {
    pub(crate) system: &'a str,
    pub(crate) user: &'a str,
    pub(crate) model: &'a str,
}

/// Chooses the first scenario that fits and is not used up, and counts the use.
///
/// The count of a scenario with `uses` is kept under a lock in the state directory, so that agents that run at once share
/// it. Without a state directory every process begins at 0.
pub(crate) fn choose(
    file: &ScenarioFile,
    path: &Path,
    prompts: Prompts<'_>,
    state_dir: Option<&Path>,
) -> Result<Scenario, ScriptError> {
    let mut counts = None;
    let mut used_up = Vec::new();
    for (number, scenario) in file.scenarios.iter().enumerate() {
        if !scenario.fits(prompts.system, prompts.user, prompts.model)? {
            continue;
        }
        let Some(uses) = scenario.uses else {
            return Ok(scenario.clone());
        };
        let counts = match &mut counts {
            Some(counts) => counts,
            none => none.insert(Counts::open(state_dir)?),
        };
        let name = scenario
            .name
            .clone()
            .unwrap_or_else(|| format!("scenario-{number}"));
        // Two files may use the same names.
        let place = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let used = counts
            .by_scenario
            .entry(format!("{}#{name}", place.display()))
            .or_default();
        if *used < uses {
            *used += 1;
            counts.save()?;
            return Ok(scenario.clone());
        }
        used_up.push(number);
    }
    let unmatched = Unmatched::new(path, prompts, &file.scenarios, &used_up);
    Err(ScriptError::NoMatch(Box::new(unmatched)))
}

/// The counts, locked for as long as they are held.
struct Counts {
    file: Option<File>,
    by_scenario: BTreeMap<String, u64>,
}

impl Counts {
    fn open(state_dir: Option<&Path>) -> Result<Self, ScriptError> {
        let Some(state_dir) = state_dir else {
            return Ok(Self {
                file: None,
                by_scenario: BTreeMap::new(),
            });
        };
        let path = state_dir.join(USES_FILE);
        let read = || -> io::Result<(File, String)> {
            fs::create_dir_all(state_dir)?;
            let mut file = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .open(&path)?;
            file.lock()?;
            let mut text = String::new();
            file.read_to_string(&mut text)?;
            Ok((file, text))
        };
        let (file, text) = read().map_err(|source| ScriptError::File {
            path: path.clone(),
            source,
        })?;
        let by_scenario = if text.trim().is_empty() {
            BTreeMap::new()
        } else {
            serde_json::from_str(&text).map_err(|error| ScriptError::Scenario {
                path,
                what: error.to_string(),
            })?
        };
        Ok(Self {
            file: Some(file),
            by_scenario,
        })
    }

    fn save(&mut self) -> Result<(), ScriptError> {
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        let text = serde_json::to_string(&self.by_scenario)
            .expect("a map of names and numbers is always JSON");
        file.rewind()?;
        file.write_all(text.as_bytes())?;
        // Counts only grow, so the new text is never shorter than the old one.
        file.flush()?;
        Ok(())
    }
}
