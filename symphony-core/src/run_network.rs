//! What the way out of a run's sandbox carried and refused, as it is recorded with the run.

use serde::{Deserialize, Serialize};

/// The key of a run's metadata under which this is kept, if the run had a network of its own.
pub const RUN_NETWORK: &str = "network";

/// What a run reached and tried to reach.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunNetworkUse {
    /// The entries of the list of allowed hosts, in their order.
    pub allowed: Vec<String>,
    /// The hosts that were refused, a bounded number of them.
    pub refused: Vec<RefusedHost>,
    /// How often hosts were refused that are not listed one by one.
    pub refused_others: u64,
    /// Requests that could not be read.
    pub malformed: u64,
    /// Connections that were turned away because too many were open.
    pub turned_away: u64,
    /// Connections and requests that reached their host.
    pub connections: u64,
    /// Bytes that the run received.
    pub bytes_in: u64,
    /// Bytes that the run sent.
    pub bytes_out: u64,
}

/// A host that was refused.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RefusedHost {
    /// The name, or the address.
    pub host: String,
    /// The port.
    pub port: u16,
    /// How often it was refused.
    pub count: u64,
    /// Why, as the part of a sentence after the host.
    pub why: String,
    /// The entry for `sandbox.hosts` that would allow it; `None` if none can.
    pub entry: Option<String>,
}

impl RunNetworkUse {
    /// Reads it from a run's metadata; `None` if the run had none.
    pub fn of(metadata: &serde_json::Value) -> Option<Self> {
        Self::deserialize(metadata.get(RUN_NETWORK)?).ok()
    }

    /// Returns the entries that would allow what was refused, each once.
    pub fn missing_entries(&self) -> Vec<&str> {
        let mut entries: Vec<_> = self
            .refused
            .iter()
            .filter_map(|host| host.entry.as_deref())
            .collect();
        entries.sort_unstable();
        entries.dedup();
        entries
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_recorded_is_read_again_and_what_is_missing_is_empty() {
        let network = RunNetworkUse {
            allowed: vec!["api.anthropic.com".to_owned()],
            refused: vec![RefusedHost {
                host: "example.com".to_owned(),
                port: 443,
                count: 2,
                why: "the host is not on the list of allowed hosts".to_owned(),
                entry: Some("example.com".to_owned()),
            }],
            ..RunNetworkUse::default()
        };
        let metadata = json!({ RUN_NETWORK: network });
        assert_eq!(RunNetworkUse::of(&metadata), Some(network.clone()));
        assert_eq!(network.missing_entries(), ["example.com"]);
        assert_eq!(RunNetworkUse::of(&json!({})), None);
        let older = json!({ RUN_NETWORK: { "bytes_in": 3 } });
        assert_eq!(RunNetworkUse::of(&older).unwrap().bytes_in, 3);
    }
}
