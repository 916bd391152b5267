//! The folder name of a worktree.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use symphony_core::id::{PlanId, PlanPhaseId};

use crate::hex::hex;

/// The longest name, in bytes.
const KEY_BYTES_MAX: usize = 64;
/// How many hexadecimal digits the suffix has. 64 bits keep names apart.
const SUFFIX_DIGITS: usize = 16;

/// A name of letters, digits, `.`, `_` and `-` of at most 64 bytes, which starts with neither `.` nor `-`. Two
/// different identifiers never have the same key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WorktreeKey(String);

impl WorktreeKey {
    /// Returns the key of an identifier. If a character had to be changed, dropped or cut, a hash of the original
    /// follows it.
    pub fn of(identifier: &str) -> Self {
        let plain: String = identifier
            .chars()
            .map(|c| if is_allowed(c) { c } else { '_' })
            .collect();
        let plain = plain.trim_start_matches(['.', '-']);
        let unchanged = plain == identifier && !plain.is_empty() && plain.len() <= KEY_BYTES_MAX;
        // A name that already looks like one with a suffix could collide with another.
        if unchanged && !ends_like_a_suffix(plain) && !ends_with_lock(plain) {
            return Self(plain.to_owned());
        }
        let room = KEY_BYTES_MAX - SUFFIX_DIGITS - 1;
        let head: String = plain.chars().take(room).collect();
        let head = if head.is_empty() {
            "_".to_owned()
        } else {
            head
        };
        Self(format!("{head}-{}", digest(identifier)))
    }

    /// Returns the key of a plan's phase. Neither id contains a dot, which separates them.
    pub fn of_plan_phase(plan: &PlanId, phase: &PlanPhaseId) -> Self {
        Self::of(&format!("plan-{plan}.{phase}"))
    }

    /// Uses the name of a folder that was made from a key. Any other name is turned into one.
    pub fn from_folder(name: &str) -> Self {
        let is_key = name.chars().all(is_allowed)
            && (1..=KEY_BYTES_MAX).contains(&name.len())
            && !name.starts_with(['.', '-'])
            && !ends_with_lock(name);
        if is_key {
            Self(name.to_owned())
        } else {
            Self::of(name)
        }
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the name as a part of a ref: unchanged, but without `..`.
    pub(crate) fn as_ref_part(&self) -> String {
        let mut part = self.0.clone();
        while part.contains("..") {
            part = part.replace("..", "._");
        }
        part.trim_end_matches('.').to_owned()
    }
}

const fn is_allowed(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')
}

fn ends_like_a_suffix(text: &str) -> bool {
    text.rsplit_once('-').is_some_and(|(_, end)| {
        end.len() == SUFFIX_DIGITS
            && end
                .bytes()
                .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    })
}

/// Git's lock files end like this, and it would take a folder or a ref with such a name for one.
fn ends_with_lock(text: &str) -> bool {
    text.to_ascii_lowercase().ends_with(".lock")
}

fn digest(text: &str) -> String {
    let mut digits = hex(&Sha256::digest(text.as_bytes()));
    digits.truncate(SUFFIX_DIGITS);
    digits
}

impl fmt::Display for WorktreeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_identifiers_stay_and_others_get_a_hash() {
        assert_eq!(WorktreeKey::of("SYM-12").as_str(), "SYM-12");
        assert_eq!(WorktreeKey::of("_scanner-01ab").as_str(), "_scanner-01ab");
        for changed in [
            "",
            ".",
            "..",
            "-x",
            ".git",
            "a/b",
            "../x",
            "ä",
            "a b",
            &"x".repeat(65),
            "a.lock",
        ] {
            let key = WorktreeKey::of(changed);
            assert!(ends_like_a_suffix(key.as_str()), "{changed}: {key}");
            assert!(key.as_str().len() <= KEY_BYTES_MAX, "{key}");
            assert!(!key.as_str().starts_with(['.', '-']), "{key}");
        }
    }

    #[test]
    fn a_name_that_looks_hashed_is_hashed_again() {
        let key = WorktreeKey::of("a/b");
        assert_ne!(WorktreeKey::of(key.as_str()), key);
    }
}
