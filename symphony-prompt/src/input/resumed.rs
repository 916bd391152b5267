//! What a prompt for a resumed session is built from, besides the news.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::report::Report;

/// A session that continues. The lists of a dispatch hold only what is new since its last run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResumedInput {
    /// The fingerprints of what the session was sent before, by the name of the section.
    #[serde(default)]
    pub known: BTreeMap<String, String>,
    /// What was added to the base; none where nothing was, or there is no base.
    #[serde(default)]
    pub base: Option<BaseNews>,
}

/// Commits that were added to the base.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BaseNews {
    /// The base branch.
    pub base: String,
    /// The first lines of the messages, newest first.
    pub subjects: Vec<String>,
    /// How many commits there are, those that are not listed among them.
    pub total: usize,
}

impl ResumedInput {
    /// Makes the input for a session whose last prompt has this report.
    pub fn after(report: &Report, base: Option<BaseNews>) -> Self {
        let sent = report.user.iter();
        let known = sent.filter_map(|part| Some((part.part.clone(), part.hash.clone()?)));
        Self {
            known: known.collect(),
            base,
        }
    }

    /// Returns whether the session has a section with this fingerprint.
    pub(crate) fn knows(&self, part: &str, hash: &str) -> bool {
        self.known.get(part).is_some_and(|known| known == hash)
    }
}
