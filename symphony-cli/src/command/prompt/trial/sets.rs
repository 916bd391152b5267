//! The two sets of prompts: named on the command line, checked before anything runs, and copied into the trial's folder.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use sha2::{Digest as _, Sha256};
use symphony_core::prompt_trial::PromptSet;
use symphony_runner::prompts::lint::lint_project;
use symphony_runner::session::Session;
use symphony_view::errors;
use symphony_view::text::plural;

use crate::failure::{Context as _, Exit, Stop};

/// Most files of a set: far more than there are prompts.
const FILES_MAX: usize = 1_000;
/// Folders of a set, into each other.
const DEPTH_MAX: usize = 4;
/// Largest file of a set.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// A set as it is typed: `A=DIR`.
#[derive(Debug, Clone)]
pub(super) struct NamedSet {
    pub(super) set: PromptSet,
    pub(super) folder: PathBuf,
}

impl FromStr for NamedSet {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let form = || format!("`{text}` is not a set: `A=DIR` or `B=DIR` is expected");
        let (name, folder) = text.split_once('=').ok_or_else(form)?;
        let set = PromptSet::parse(&name.to_uppercase()).map_err(|_unknown| form())?;
        if folder.is_empty() {
            return Err(form());
        }
        Ok(Self {
            set,
            folder: PathBuf::from(folder),
        })
    }
}

/// The files of a set, by their path below it.
pub(super) type SetFiles = BTreeMap<PathBuf, Vec<u8>>;

/// Puts the two sets in order; the paths become absolute.
///
/// # Errors
/// When one is missing, named twice, or no folder.
pub(super) fn both(
    named: &[NamedSet],
    current: &Path,
) -> anyhow::Result<BTreeMap<PromptSet, PathBuf>> {
    let mut sets = BTreeMap::new();
    for NamedSet { set, folder } in named {
        let folder = current.join(folder);
        // without `..`, as a person would write it
        let folder = folder.canonicalize().unwrap_or(folder);
        if !folder.is_dir() {
            let message = format!("there is no folder {} for the set {set}", folder.display());
            return Err(Stop::new(Exit::NotFound, message)
                .hint("a set is a folder of prompts, like `.symphony/prompts`; for the shipped prompts, name an empty folder")
                .into());
        }
        if sets.insert(*set, folder).is_some() {
            let message = format!("the set {set} is named twice");
            return Err(Stop::new(Exit::Usage, message)
                .hint("name both: `--set A=DIR --set B=DIR`")
                .into());
        }
    }
    Ok(sets)
}

/// Checks the prompts of a set as those of the project are checked, and returns what is odd about its files: a set with a file that
/// nothing reads differs less from the other than it seems to.
///
/// # Errors
/// When a file is wrong: all of them, each with its line.
pub(super) fn check(
    session: &Session,
    set: PromptSet,
    folder: &Path,
) -> anyhow::Result<Vec<String>> {
    let mut config = session.config()?;
    folder.clone_into(&mut config.prompts_dir);
    // each set is looked at by itself
    config.prompt_trial = None;
    let root = &session.project.root;
    let recorded = Some((&session.store, &session.project));
    let findings = lint_project(&session.installation, &config, root, recorded)?;
    let wrong: Vec<String> = errors(&findings).map(ToString::to_string).collect();
    if wrong.is_empty() {
        let of_set = findings
            .iter()
            .filter(|finding| root.join(&finding.file).starts_with(folder));
        return Ok(of_set
            .map(|finding| format!("Set {set}: {finding}\n{}", finding.advice))
            .collect());
    }
    let count = plural(wrong.len(), "error");
    let message = format!(
        "the prompts of the set {set} have {count}:\n{}",
        wrong.join("\n")
    );
    Err(Stop::new(Exit::Failed, message)
        .hint("correct the files, then run the command again; no agent was started")
        .into())
}

/// Reads the files of a set. Links are followed, as they are when a run reads its prompts.
///
/// # Errors
/// When one cannot be read, or there are too many.
pub(super) fn read(folder: &Path) -> anyhow::Result<SetFiles> {
    let mut files = SetFiles::new();
    let mut folders = vec![(folder.to_path_buf(), 0)];
    while let Some((below, depth)) = folders.pop() {
        let what = || format!("read the folder {}", below.display());
        for entry in fs::read_dir(&below).with_context(what)? {
            let entry = entry.with_context(what)?;
            let path = entry.path();
            // a link that leads nowhere is no prompt
            let Ok(kind) = fs::metadata(&path) else {
                continue;
            };
            if kind.is_dir() && depth < DEPTH_MAX {
                folders.push((path, depth + 1));
            } else if kind.is_file() {
                let name = path.strip_prefix(folder).unwrap_or(&path).to_path_buf();
                files.insert(name, read_file(&path)?);
            }
            if files.len() > FILES_MAX {
                anyhow::bail!("{} has more than {FILES_MAX} files", folder.display());
            }
        }
    }
    Ok(files)
}

/// Returns a digest of the files of a set, by which a change is noticed.
pub(super) fn digest(files: &SetFiles) -> String {
    let mut hash = Sha256::new();
    for (name, bytes) in files {
        for part in [name.as_os_str().as_bytes(), bytes] {
            hash.update(part.len().to_string());
            hash.update([0]);
            hash.update(part);
        }
    }
    format!("{:x}", hash.finalize())
}

fn read_file(path: &Path) -> anyhow::Result<Vec<u8>> {
    let what = || format!("read {}", path.display());
    let bytes = fs::metadata(path).with_context(what)?.len();
    if bytes > FILE_BYTES_MAX {
        anyhow::bail!("{} is larger than {FILE_BYTES_MAX} bytes", path.display());
    }
    symphony_workspace::read_file(path).with_context(what)
}

/// Writes the files of a set into a folder, which is made.
///
/// # Errors
/// When one cannot be written.
pub(super) fn write(folder: &Path, files: &SetFiles) -> anyhow::Result<()> {
    let what = || format!("write into {}", folder.display());
    fs::create_dir_all(folder).with_context(what)?;
    for (name, bytes) in files {
        let path = folder.join(name);
        if let Some(above) = path.parent() {
            fs::create_dir_all(above).with_context(what)?;
        }
        fs::write(path, bytes).with_context(what)?;
    }
    Ok(())
}
