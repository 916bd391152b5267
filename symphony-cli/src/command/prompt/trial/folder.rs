//! The folder of a trial: what it was begun with, a file for each case that has ended, and one for what each case has spent. It is all
//! that a trial keeps.
//!
//! `trial.json` is written last: without it nothing was begun. A case is written as a whole when it has ended. What it spent is written
//! before that, and before what a try that was cut off left is removed.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use symphony_core::config::NamedProvider;
use symphony_core::prompt_trial::{
    CaseOutcome, Pairing, PlannedCase, PromptSet, RecordedIssues, TrialName, plan_cases,
    recorded_text,
};
use symphony_store::{RunFilter, Store};
use symphony_workspace::write_whole;

use super::issues::read_issues;
use super::sets::{self, SetFiles};
use super::spent::{CaseSpending, TrialSpending};
use crate::failure::{Context as _, Exit, Stop};
use crate::json::from_json;

/// The version of the folder.
const VERSION: u32 = 1;
const TRIAL: &str = "trial.json";
const ISSUES: &str = "issues.json";
/// The folder of what cases have spent.
const SPENT: &str = "spent";

/// A later version may have fields that this one does not know: its number is read first.
#[derive(Deserialize)]
#[serde(expecting = "an object with `version`")]
struct Head {
    version: u32,
}

/// What a trial was begun with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    version: u32,
    pub(super) name: TrialName,
    /// Where the sets came from; what counts is their copy.
    pub(super) sets: BTreeMap<PromptSet, PathBuf>,
    pub(super) provider: NamedProvider,
    pub(super) pairing: Pairing,
    /// A digest of each copy, so that one that changes is noticed; an earlier Symphony noted none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    copies: BTreeMap<PromptSet, String>,
}

/// What a trial is to be begun with.
#[derive(Debug)]
pub(super) struct Beginning {
    pub(super) name: TrialName,
    pub(super) sets: BTreeMap<PromptSet, PathBuf>,
    pub(super) provider: NamedProvider,
    pub(super) pairing: Pairing,
    pub(super) issues: RecordedIssues,
}

/// A trial that was begun.
#[derive(Debug)]
pub(super) struct TrialFolder {
    path: PathBuf,
    pub(super) manifest: Manifest,
    pub(super) issues: RecordedIssues,
}

impl TrialFolder {
    /// Returns where a trial of a project is.
    pub(super) fn place(root: &Path, name: &TrialName) -> PathBuf {
        root.join(".symphony/trials").join(name.as_str())
    }

    /// Says whether a trial was begun there.
    pub(super) fn is_begun(path: &Path) -> bool {
        path.join(TRIAL).exists()
    }

    /// Opens a trial; none where none was begun.
    ///
    /// # Errors
    /// When its files cannot be read.
    pub(super) fn open(path: PathBuf) -> anyhow::Result<Option<Self>> {
        let file = path.join(TRIAL);
        let over = format!(
            "the trial cannot continue without this file; remove the folder {} to start over",
            path.display()
        );
        let Some(head) = read_json::<Head>(&file, &over)? else {
            return Ok(None);
        };
        if head.version != VERSION {
            let (found, file) = (head.version, file.display());
            let message = format!("{file} has version {found}; this Symphony reads {VERSION}");
            return Err(Stop::new(Exit::Failed, message)
                .hint("continue the trial with the Symphony that started it")
                .into());
        }
        let Some(manifest) = read_json(&file, &over)? else {
            return Ok(None);
        };
        let file = path.join(ISSUES);
        let text = fs::read_to_string(&file).map_err(|error| damaged(&file, &error, &over))?;
        let issues = read_issues(&file.display().to_string(), &text)
            .map_err(|problem| Stop::new(Exit::Failed, problem.to_string()).hint(over))?;
        Ok(Some(Self {
            path,
            manifest,
            issues,
        }))
    }

    /// Begins a trial, or continues one that was begun with the same sets, issues and provider.
    ///
    /// # Errors
    /// When it was begun with others, or cannot be written.
    pub(super) fn begin(path: PathBuf, beginning: Beginning) -> anyhow::Result<Self> {
        let mut contents = BTreeMap::new();
        for (set, folder) in &beginning.sets {
            contents.insert(*set, sets::read(folder)?);
        }
        if let Some(begun) = Self::open(path.clone())? {
            begun.require_same(&beginning, &contents)?;
            return Ok(begun);
        }
        for (set, files) in &contents {
            let copy = path.join("sets").join(set.name());
            remove(&copy)?;
            sets::write(&copy, files)?;
        }
        let copies = contents
            .iter()
            .map(|(set, files)| (*set, sets::digest(files)));
        let begun = Self {
            manifest: Manifest {
                version: VERSION,
                copies: copies.collect(),
                name: beginning.name,
                sets: beginning.sets,
                provider: beginning.provider,
                pairing: beginning.pairing,
            },
            issues: beginning.issues,
            path,
        };
        begun.write(ISSUES, &recorded_text(&begun.issues)?)?;
        let manifest = serde_json::to_string_pretty(&begun.manifest)? + "\n";
        begun.write(TRIAL, &manifest)?;
        Ok(begun)
    }

    fn require_same(
        &self,
        beginning: &Beginning,
        contents: &BTreeMap<PromptSet, SetFiles>,
    ) -> anyhow::Result<()> {
        let mut other = Vec::new();
        for (set, files) in contents {
            let is_same = match self.manifest.copies.get(set) {
                Some(digest) => *digest == sets::digest(files),
                None => sets::read(&self.set(*set))? == *files,
            };
            if !is_same {
                other.push(format!("other files in the set {set}"));
            }
        }
        if self.issues != beginning.issues {
            other.push("other issues".to_owned());
        }
        let manifest = &self.manifest;
        if manifest.provider != beginning.provider {
            other.push(format!("the provider {}", manifest.provider));
        }
        if manifest.pairing != beginning.pairing {
            let both = manifest.pairing == Pairing::Both;
            other.push(if both { "--both" } else { "no --both" }.to_owned());
        }
        if other.is_empty() {
            return Ok(());
        }
        let (name, other) = (&manifest.name, other.join(", "));
        let message = format!("the trial {name} was started with {other}");
        let hint = format!(
            "`symphony prompt trial --name {name}` continues it as it was started; another --name starts a new one"
        );
        Err(Stop::new(Exit::Refused, message).hint(hint).into())
    }

    /// Requires that the copies of the sets are what the trial was begun with: the shipped prompts would silently take the place of a copy
    /// that is gone, and a changed one would mix two texts.
    ///
    /// # Errors
    /// When one is not.
    pub(super) fn require_copies(&self) -> anyhow::Result<()> {
        for (set, origin) in &self.manifest.sets {
            let copy = self.set(*set);
            let problem = if !copy.is_dir() {
                "is gone"
            } else if let Some(digest) = self.manifest.copies.get(set)
                && sets::digest(&sets::read(&copy)?) != *digest
            {
                "has changed since the trial was started"
            } else {
                continue;
            };
            let message = format!("the copy {} of the set {set} {problem}", copy.display());
            return Err(Stop::new(Exit::Refused, message)
                .hint(format!(
                    "restore it (it was copied from {}), or start another trial with another --name",
                    origin.display()
                ))
                .into());
        }
        Ok(())
    }

    /// Returns the copy of a set.
    pub(super) fn set(&self, set: PromptSet) -> PathBuf {
        self.path.join("sets").join(set.name())
    }

    /// Returns where a case runs.
    pub(super) fn work(&self, case: &PlannedCase) -> PathBuf {
        self.path.join("work").join(name_of(case))
    }

    /// Returns all cases, in the order in which they run.
    pub(super) fn cases(&self) -> Vec<PlannedCase> {
        let issues: Vec<_> = self.issues.issues.iter().map(|i| i.id.clone()).collect();
        plan_cases(&self.manifest.name, &issues, self.manifest.pairing)
    }

    /// Returns the result of a case; none while it has not ended.
    ///
    /// # Errors
    /// When its file cannot be read.
    pub(super) fn outcome(&self, case: &PlannedCase) -> anyhow::Result<Option<CaseOutcome>> {
        let path = self.path.join(file_of(case));
        let again = "remove the file, and the trial runs its case again";
        let outcome: Option<CaseOutcome> = read_json(&path, again)?;
        if let Some(other) = &outcome
            && (&other.issue, other.set) != (&case.issue, case.set)
        {
            let problem = format!("it is about {} with {}", other.issue, other.set);
            return Err(damaged(&path, &problem, again).into());
        }
        Ok(outcome)
    }

    /// Returns the cases that have ended, in the order in which they ran.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub(super) fn ended(&self) -> anyhow::Result<Vec<CaseOutcome>> {
        let cases = self.cases();
        let outcomes = cases
            .iter()
            .filter_map(|case| self.outcome(case).transpose());
        outcomes.collect()
    }

    /// Notes what all runs in the database of a case have spent.
    ///
    /// # Errors
    /// When the database cannot be read, or the note not be written.
    pub(super) fn note_spending(&self, case: &PlannedCase, store: &Store) -> anyhow::Result<()> {
        let file = spending_file_of(case);
        let mut spent = self.noted(case)?;
        spent.note(&store.runs(&RunFilter {
            agents_only: true,
            ..RunFilter::default()
        })?);
        self.write(&file, &(serde_json::to_string_pretty(&spent)? + "\n"))
    }

    /// Returns what all cases have spent, those included that were cut off.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub(super) fn spending(&self) -> anyhow::Result<TrialSpending> {
        let mut spent = TrialSpending::default();
        for case in self.cases() {
            spent.add(&self.noted(&case)?, self.outcome(&case)?.as_ref());
        }
        Ok(spent)
    }

    /// Records the result of a case.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn record(&self, case: &PlannedCase, outcome: &CaseOutcome) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(outcome)? + "\n";
        self.write(&file_of(case), &text)
    }

    /// Reads what the runs of a case were noted to have spent.
    fn noted(&self, case: &PlannedCase) -> anyhow::Result<CaseSpending> {
        let path = self.path.join(spending_file_of(case));
        let uncounted = "remove the file; what it noted is then not counted as spent";
        Ok(read_json(&path, uncounted)?.unwrap_or_default())
    }

    fn write(&self, name: &str, text: &str) -> anyhow::Result<()> {
        let path = self.path.join(name);
        if let Some(above) = path.parent() {
            fs::create_dir_all(above).with_context(|| format!("make {}", above.display()))?;
        }
        write_whole(&path, text).with_context(|| format!("write {}", path.display()))
    }
}

/// Reads a JSON file; none where it is not there. `advice` says what a person can do about one that cannot be read.
fn read_json<T: DeserializeOwned>(path: &Path, advice: &str) -> anyhow::Result<Option<T>> {
    match fs::read(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(damaged(path, &error, advice).into()),
        Ok(bytes) => match from_json(&bytes) {
            Err(problem) => Err(damaged(path, &problem, advice).into()),
            Ok(value) => Ok(Some(value)),
        },
    }
}

fn damaged(path: &Path, problem: &impl fmt::Display, advice: &str) -> Stop {
    let message = format!("{} cannot be read: {problem}", path.display());
    Stop::new(Exit::Failed, message).hint(advice)
}

fn name_of(case: &PlannedCase) -> String {
    format!("{}-{}", case.issue, case.set)
}

fn file_of(case: &PlannedCase) -> String {
    format!("cases/{}.json", name_of(case))
}

fn spending_file_of(case: &PlannedCase) -> String {
    format!("{SPENT}/{}.json", name_of(case))
}

/// Removes a folder that may not be there.
///
/// # Errors
/// When it is there and cannot be removed.
pub(super) fn remove(folder: &Path) -> anyhow::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("remove {}", folder.display()))
        }
        _ => Ok(()),
    }
}
