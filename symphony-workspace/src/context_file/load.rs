//! Loading the files that a plan names.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::Path;

use super::limits::{CONTEXT_FILE_BYTES_MAX, CONTEXT_FILES_MAX, CONTEXT_TOTAL_BYTES_MAX};
use super::matching::matching;
use super::pattern::Pattern;
use super::problem::ContextFileProblem;
use crate::artifact::read_beneath;
use crate::error::WorkspaceError;

/// A file that a plan names, or matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextFile {
    /// Its path, relative to the project; a path or pattern without text as the plan has it.
    pub path: String,
    /// Its text, or why it has none.
    pub content: Result<String, ContextFileProblem>,
}

/// Loads files in the order they are named; the matches of a pattern in the order of their paths; each path once.
///
/// Nothing outside the project is read: a link counts as its target if that is inside. A file whose name looks like a
/// pattern, such as `app/[id]/page.tsx`, is matched by its name.
pub fn load_context_files(root: &Path, patterns: &[String]) -> Vec<ContextFile> {
    let mut loading = Loading {
        root,
        files: Vec::new(),
        seen: BTreeSet::new(),
        loaded: 0,
        bytes: 0,
    };
    for text in patterns {
        match Pattern::parse(text) {
            Err(problem) => loading.add(text.trim(), Err(problem)),
            Ok(pattern) => loading.take(text.trim(), &pattern),
        }
    }
    loading.files
}

struct Loading<'a> {
    root: &'a Path,
    files: Vec<ContextFile>,
    seen: BTreeSet<String>,
    loaded: usize,
    bytes: u64,
}

impl Loading<'_> {
    fn take(&mut self, text: &str, pattern: &Pattern) {
        if !pattern.is_glob() || self.root.join(&pattern.whole).is_file() {
            return self.load(&pattern.whole);
        }
        match matching(self.root, pattern) {
            Err(problem) => self.add(text, Err(problem)),
            Ok(paths) if paths.is_empty() => self.add(text, Err(ContextFileProblem::NoMatch)),
            Ok(paths) => {
                for path in paths {
                    if self.is_full() {
                        // one word for all the rest of the pattern
                        return self.add(text, Err(ContextFileProblem::LeftOut));
                    }
                    self.load(&path);
                }
            }
        }
    }

    const fn is_full(&self) -> bool {
        self.loaded >= CONTEXT_FILES_MAX || self.bytes >= CONTEXT_TOTAL_BYTES_MAX
    }

    fn load(&mut self, path: &str) {
        if self.seen.contains(path) {
            return;
        }
        let content = if self.is_full() {
            Err(ContextFileProblem::LeftOut)
        } else {
            read(self.root, path)
        };
        if let Ok(text) = &content {
            self.loaded += 1;
            self.bytes += u64::try_from(text.len()).unwrap_or(u64::MAX);
        }
        self.add(path, content);
    }

    fn add(&mut self, path: &str, content: Result<String, ContextFileProblem>) {
        if self.seen.insert(path.to_owned()) {
            self.files.push(ContextFile {
                path: path.to_owned(),
                content,
            });
        }
    }
}

fn read(root: &Path, path: &str) -> Result<String, ContextFileProblem> {
    let bytes = match read_beneath(root, path, CONTEXT_FILE_BYTES_MAX) {
        Err(WorkspaceError::Link { .. }) => {
            let real = inside(root, path)?;
            read_beneath(root, &real, CONTEXT_FILE_BYTES_MAX)
        }
        other => other,
    };
    let bytes = bytes
        .map_err(|error| problem(&error))?
        .ok_or(ContextFileProblem::NotFound)?;
    let text = String::from_utf8(bytes).map_err(|_binary| ContextFileProblem::NotText)?;
    if text.contains('\0') {
        return Err(ContextFileProblem::NotText);
    }
    Ok(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    })
}

/// Returns the relative path of a link's target. It is opened like any other file: if the link is changed meanwhile,
/// nothing outside is read.
fn inside(root: &Path, path: &str) -> Result<String, ContextFileProblem> {
    let unreadable = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => ContextFileProblem::NotFound,
        _ => ContextFileProblem::Unreadable {
            reason: error.to_string(),
        },
    };
    let real_root = root.canonicalize().map_err(unreadable)?;
    let real = root.join(path).canonicalize().map_err(unreadable)?;
    let relative = real
        .strip_prefix(&real_root)
        .map_err(|_outside| ContextFileProblem::Outside)?;
    let relative = relative.to_str().ok_or(ContextFileProblem::NotText)?;
    Ok(relative.to_owned())
}

fn problem(error: &WorkspaceError) -> ContextFileProblem {
    match error {
        WorkspaceError::Link { .. } => ContextFileProblem::Outside,
        WorkspaceError::NotAFile { .. } => ContextFileProblem::NotText,
        WorkspaceError::TooLarge { .. } => ContextFileProblem::TooLarge,
        WorkspaceError::Io { source, .. } => ContextFileProblem::Unreadable {
            reason: source.to_string(),
        },
        other => ContextFileProblem::Unreadable {
            reason: other.to_string(),
        },
    }
}
