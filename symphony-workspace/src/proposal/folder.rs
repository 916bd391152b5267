//! One folder of the project.

use serde_json::Value;
use toml::Table;

use super::ci;
use super::files::{ProjectFiles, join};
use super::model::ProposalNote;

/// A folder that may hold packages.
#[derive(Debug, Clone, Copy)]
pub(super) struct Folder<'a> {
    files: &'a ProjectFiles,
    /// Its path, empty for the root.
    pub(super) path: &'a str,
}

impl<'a> Folder<'a> {
    pub(super) const fn new(files: &'a ProjectFiles, path: &'a str) -> Self {
        Self { files, path }
    }

    /// Returns the single commands that the project's workflows run here.
    pub(super) fn ci_commands(&self) -> Vec<String> {
        ci::commands(self.files, self.path)
    }

    /// Returns whether it has a file.
    pub(super) fn has(&self, name: &str) -> bool {
        self.files.has(&join(self.path, name))
    }

    /// Returns whether it has one of these files.
    pub(super) fn has_any(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.has(name))
    }

    /// Returns the first of these files that it has.
    pub(super) fn first(&self, names: &[&'static str]) -> Option<&'static str> {
        names.iter().copied().find(|name| self.has(name))
    }

    /// Returns the text of a file, empty when it is missing.
    pub(super) fn text(&self, name: &str) -> &'a str {
        self.files.text(&join(self.path, name))
    }

    /// Returns the path of a file of it, from the root.
    pub(super) fn file(&self, name: &str) -> String {
        join(self.path, name)
    }

    /// Creates a note on a file of it.
    pub(super) fn note(&self, name: &str, text: impl Into<String>) -> ProposalNote {
        ProposalNote {
            file: self.file(name),
            text: text.into(),
        }
    }

    /// Returns the files in it and below it, relative to it.
    pub(super) fn files(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let (files, path) = (self.files, self.path);
        let start = if path.is_empty() { "" } else { path };
        files.beginning_with(start).filter_map(move |file| {
            if path.is_empty() {
                Some(file)
            } else {
                file.strip_prefix(path)?.strip_prefix('/')
            }
        })
    }

    /// Returns the folders below it that hold this manifest, relative to it.
    pub(super) fn folders_with(&self, manifest: &str) -> Vec<&'a str> {
        let files = self.files().filter_map(|file| file.rsplit_once('/'));
        files
            .filter(|(_, name)| *name == manifest)
            .map(|(folder, _)| folder)
            .collect()
    }

    /// Parses a manifest; `None` if it is missing. A broken one gets a note, and counts as empty.
    pub(super) fn toml(&self, name: &str, notes: &mut Vec<ProposalNote>) -> Option<Table> {
        if !self.has(name) {
            return None;
        }
        Some(toml::from_str(self.text(name)).unwrap_or_else(|_broken| {
            notes.push(self.note(name, "it is not valid TOML, so it was not read"));
            Table::new()
        }))
    }

    /// Parses a manifest; `None` if it is missing. A broken one gets a note, and counts as empty.
    pub(super) fn json(&self, name: &str, notes: &mut Vec<ProposalNote>) -> Option<Value> {
        if !self.has(name) {
            return None;
        }
        let parsed: Result<Value, _> = serde_json::from_str(self.text(name));
        Some(parsed.unwrap_or_else(|_broken| {
            notes.push(self.note(name, "it is not valid JSON, so it was not read"));
            Value::Null
        }))
    }
}
