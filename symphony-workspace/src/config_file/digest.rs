//! Digests of a project's configuration, without its values: recorded at dispatch, compared at exit.
//!
//! Values are hashed, since `env` and commands may contain credentials. What the database says is not part of it: only
//! a verified person's command and the setup wizard write there.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use symphony_core::config::{Effective, Source};
use symphony_core::config_change::PROMPT_FILE_PREFIX;
use symphony_core::id::ProjectId;
use symphony_core::prompt_trial::{LiveTrial, PromptSet};

use super::load::LoadedConfig;
use crate::hex::hex;
use crate::own_file::read_file;
use crate::setting_digests::{Digests, changed_names};

/// Most prompt files that are read: many times what ships.
const PROMPT_FILES_MAX: usize = 500;
/// Most bytes of a prompt file: more than the library loads of one.
const PROMPT_BYTES_MAX: u64 = 1 << 20;
/// Depth of subfolders of the prompt folder: `profiles` and `phases` are one deep.
const PROMPT_DEPTH_MAX: usize = 2;

/// Name and hashed value of each key that a file sets, and of each prompt file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ConfigDigests(Digests);

impl ConfigDigests {
    /// Names the keys and prompt files that differ from earlier ones, sorted.
    pub fn changes_since(&self, earlier: &Self) -> Vec<String> {
        changed_names(&self.0, &earlier.0)
    }
}

impl LoadedConfig {
    /// Hashes what the files contain for a project and for the installation. A broken file counts as empty: compared
    /// with its earlier content, all of its keys differ.
    pub fn digests(&self, id: &ProjectId, root: &Path) -> ConfigDigests {
        let mut digests = BTreeMap::new();
        push_effective(&self.inspect_installation().effective, &mut digests);
        if let Ok((settings, _)) = self.inspect_project(Some(id), root, None) {
            push_effective(&settings.effective, &mut digests);
            let mut left = PROMPT_FILES_MAX;
            push_prompts(
                &settings.config.prompts_dir,
                PROMPT_FILE_PREFIX,
                PROMPT_DEPTH_MAX,
                &mut left,
                &mut digests,
            );
            let trial = settings.config.prompt_trial.as_ref();
            let sets = PromptSet::ALL.iter();
            for (set, folder) in sets.filter_map(|set| Some((*set, trial?.folder(*set)?))) {
                push_prompts(
                    folder,
                    &format!("{}/", LiveTrial::key(set)),
                    PROMPT_DEPTH_MAX,
                    &mut left,
                    &mut digests,
                );
            }
        }
        ConfigDigests(digests)
    }
}

fn push_effective(effective: &Effective, digests: &mut Digests) {
    for (path, entry) in effective.iter() {
        if matches!(entry.source, Source::File { .. }) {
            digests.insert(path.to_string(), digest(entry.value.to_string().as_bytes()));
        }
    }
}

fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Hashes the prompt files in a folder. Unreadable files are skipped here, and are reported where they are needed.
fn push_prompts(
    folder: &Path,
    prefix: &str,
    depth: usize,
    left: &mut usize,
    digests: &mut Digests,
) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let Ok(metadata) = std::fs::metadata(&path) else {
            continue;
        };
        if metadata.is_dir() && depth > 0 {
            push_prompts(&path, &format!("{name}/"), depth - 1, left, digests);
        } else if is_prompt(&metadata) && *left > 0 {
            *left -= 1;
            if let Ok(bytes) = read_file(&path) {
                digests.insert(name, digest(&bytes));
            }
        }
    }
}

/// Reading anything but a regular file could block.
fn is_prompt(metadata: &Metadata) -> bool {
    metadata.is_file() && metadata.len() <= PROMPT_BYTES_MAX
}
