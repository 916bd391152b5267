//! Reads the notes of the vault (`vault.path`) from disk for a prompt (docs/prompts.md, "The vault").
//!
//! It only reads: `symphony-prompt` decides which notes are in a prompt, and how much of them.

use std::path::Path;

use symphony_core::config::{ProjectConfig, Vault};
use symphony_prompt::{VaultNote, Warning};
use symphony_workspace::{ContextFile, ContextFileProblem, load_context_files};

/// The files that are notes. Folders and files whose names start with a dot belong to an editor.
const NOTES: &str = "**/*.md";

/// Reads the notes of a project's vault, ordered by path. Returns what was not read, and why. Missing notes stop no
/// run, since they only help it.
pub(super) fn load_vault(config: &ProjectConfig) -> (Vec<VaultNote>, Option<Warning>) {
    let Some(Vault { path, .. }) = &config.vault else {
        return (Vec::new(), None);
    };
    let (notes, problem) = read_notes(path);
    if let Some(problem) = &problem {
        tracing::warn!(problem, "notes are left out of a prompt");
    }
    (notes, problem.map(|problem| Warning::NotRead { problem }))
}

/// Reads a vault as a run would. Returns how many notes it has, what was not read, and why.
pub fn read_vault(path: &Path) -> (usize, Option<String>) {
    let (notes, problem) = read_notes(path);
    (notes.len(), problem)
}

fn read_notes(path: &Path) -> (Vec<VaultNote>, Option<String>) {
    // The folder itself may be a link, since the user named it.
    let folder = match path.canonicalize() {
        Ok(folder) if folder.is_dir() => folder,
        Ok(_) => return (Vec::new(), Some(nothing_read(path, "it is not a folder"))),
        Err(error) => return (Vec::new(), Some(nothing_read(path, &error.to_string()))),
    };
    let mut notes = Vec::new();
    let mut left_out = Vec::new();
    for ContextFile { path, content } in load_context_files(&folder, &[NOTES.to_owned()]) {
        match content {
            Ok(text) if text.trim().is_empty() => {}
            Ok(text) => notes.push(VaultNote { path, text }),
            Err(problem) => left_out.push((path, problem)),
        }
    }
    let problem = left_out
        .first()
        .map(|(file, problem)| describe(path, left_out.len(), file, problem));
    (notes, problem)
}

fn nothing_read(path: &Path, why: &str) -> String {
    format!(
        "vault.path: no notes are read from {}: {why}",
        path.display()
    )
}

/// Returns what was left out: how much, and the first file.
fn describe(path: &Path, count: usize, file: &str, problem: &ContextFileProblem) -> String {
    let why = match problem {
        ContextFileProblem::NoMatch => return nothing_read(path, "it holds no markdown file"),
        ContextFileProblem::Outside => "it leads out of the folder".to_owned(),
        other => other.to_string(),
    };
    let files = if count == 1 { "file is" } else { "files are" };
    format!(
        "vault.path: {count} {files} left out of {}, the first: {file}: {why}",
        path.display()
    )
}
