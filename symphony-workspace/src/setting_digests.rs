//! What a git configuration says, without saying it: values are hashed, since they may contain credentials.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};

use crate::git::fields;
use crate::hex::hex;

/// Name and hash.
pub(crate) type Digests = BTreeMap<String, String>;

/// Hashes the values of the settings that git lists (`config --list -z`); `key_of` names those that count.
pub(crate) fn setting_digests(list: &[u8], key_of: impl Fn(&str) -> Option<String>) -> Digests {
    let mut settings: BTreeMap<String, Sha256> = BTreeMap::new();
    for field in fields(list) {
        let text = String::from_utf8_lossy(field);
        let (name, value) = text.split_once('\n').unwrap_or((&text, ""));
        if let Some(key) = key_of(name) {
            let hash = settings.entry(key).or_default();
            hash.update(value.as_bytes());
            hash.update([0]);
        }
    }
    settings
        .into_iter()
        .map(|(key, hash)| (key, hex(&hash.finalize())))
        .collect()
}

/// Names what differs between two of them, sorted.
pub(crate) fn changed_names(now: &Digests, earlier: &Digests) -> Vec<String> {
    let names: BTreeSet<&String> = now.keys().chain(earlier.keys()).collect();
    names
        .into_iter()
        .filter(|name| now.get(*name) != earlier.get(*name))
        .cloned()
        .collect()
}
