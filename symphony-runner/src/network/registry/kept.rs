//! Earlier answers of package managers, so that a start asks nothing while the settings are unchanged.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use symphony_core::Timestamp;

use super::Registries;
use super::tool::Tool;

/// The name of the file in the folder of Symphony's own files.
const FILE: &str = "registries.json";
/// How long an answer holds. A tool may read files that are not in the digest.
const KEPT_SECONDS: i64 = 24 * 60 * 60;
/// Most answers that are kept: twelve tools, with some changes of settings.
const KEPT_MAX: usize = 64;
/// Most bytes of the file that are read.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// What an answer depends on, as a digest: files may hold tokens.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Key(String);

impl Key {
    /// Makes the key of a tool from all that its answer depends on.
    pub(super) fn new(
        tool: Tool,
        program: Option<&Path>,
        files: &[(PathBuf, String)],
        variables: &BTreeMap<String, String>,
    ) -> Self {
        let mut digest = Sha256::new();
        let mut add = |text: &[u8]| {
            digest.update(text.len().to_le_bytes());
            digest.update(text);
        };
        add(program.map_or(&b""[..], |path| path.as_os_str().as_encoded_bytes()));
        for (path, text) in files {
            add(path.as_os_str().as_encoded_bytes());
            add(text.as_bytes());
        }
        for (name, value) in variables {
            add(name.as_bytes());
            add(value.as_bytes());
        }
        let mut key = format!("{}-", tool.name());
        for byte in digest.finalize() {
            // writing to a string cannot fail
            let _written = write!(key, "{byte:02x}");
        }
        Self(key)
    }
}

/// The answers that are kept.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Kept(BTreeMap<String, Answer>);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Answer {
    at: i64,
    registries: Registries,
}

impl Kept {
    /// Reads the file. One that cannot be read is none: the tools are asked again.
    pub(super) fn load(folder: &Path) -> Self {
        let path = folder.join(FILE);
        let is_small = path.metadata().is_ok_and(|it| it.len() <= FILE_BYTES_MAX);
        if !is_small {
            return Self::default();
        }
        let text = std::fs::read_to_string(path).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Writes the file. Without it, the tools are asked again.
    pub(super) fn save(&self, folder: &Path) {
        let Ok(text) = serde_json::to_string(self) else {
            return;
        };
        if let Err(error) = symphony_workspace::write_private(&folder.join(FILE), &text) {
            tracing::warn!(%error, "cannot keep the answers of package managers");
        }
    }

    /// Returns an answer that still holds.
    pub(super) fn get(&self, key: &Key, now: Timestamp) -> Option<Registries> {
        let answer = self.0.get(&key.0)?;
        let age = now.as_second() - answer.at;
        (0..KEPT_SECONDS)
            .contains(&age)
            .then(|| answer.registries.clone())
    }

    /// Keeps an answer, and drops those that do not hold any more; the oldest, if there are too many.
    pub(super) fn put(&mut self, key: &Key, registries: Registries, now: Timestamp) {
        let at = now.as_second();
        self.0
            .retain(|_, answer| (0..KEPT_SECONDS).contains(&(at - answer.at)));
        while self.0.len() >= KEPT_MAX {
            let oldest = self.0.iter().min_by_key(|(_, answer)| answer.at);
            let Some(oldest) = oldest.map(|(key, _)| key.clone()) else {
                break;
            };
            self.0.remove(&oldest);
        }
        self.0.insert(key.0.clone(), Answer { at, registries });
    }
}
