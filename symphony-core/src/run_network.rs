//! What the way out of a run's sandbox carried and refused, as it is recorded with the run.

use serde::{Deserialize, Serialize};

/// The key of a run's metadata under which this is kept, if the run had a network of its own.
pub const RUN_NETWORK: &str = "network";

/// The most hosts that are listed one by one.
const REFUSED_MAX: usize = 100;

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

    /// Adds what another part of the same run used, such as its gates or its set-up.
    pub fn add(&mut self, other: Self) {
        self.allowed.extend(other.allowed);
        self.allowed.sort_unstable();
        self.allowed.dedup();
        for host in other.refused {
            let is_same =
                |known: &&mut RefusedHost| (&known.host, known.port) == (&host.host, host.port);
            if let Some(known) = self.refused.iter_mut().find(is_same) {
                known.count = known.count.saturating_add(host.count);
            } else if self.refused.len() < REFUSED_MAX {
                self.refused.push(host);
            } else {
                self.refused_others = self.refused_others.saturating_add(host.count);
            }
        }
        for (own, more) in [
            (&mut self.refused_others, other.refused_others),
            (&mut self.malformed, other.malformed),
            (&mut self.turned_away, other.turned_away),
            (&mut self.connections, other.connections),
            (&mut self.bytes_in, other.bytes_in),
            (&mut self.bytes_out, other.bytes_out),
        ] {
            *own = own.saturating_add(more);
        }
    }

    /// Returns whether nothing was carried, refused or turned away.
    pub fn is_idle(&self) -> bool {
        let nothing = Self {
            allowed: self.allowed.clone(),
            ..Self::default()
        };
        *self == nothing
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
    fn parts_of_a_run_are_counted_together() {
        let host = |name: &str, count| RefusedHost {
            host: name.to_owned(),
            port: 443,
            count,
            ..RefusedHost::default()
        };
        let mut one = RunNetworkUse {
            allowed: vec!["b".to_owned(), "d".to_owned()],
            refused: vec![host("x", 2)],
            bytes_in: 1,
            ..RunNetworkUse::default()
        };
        one.add(RunNetworkUse {
            allowed: vec!["a".to_owned(), "b".to_owned()],
            refused: vec![host("x", 3), host("y", 1)],
            bytes_in: 4,
            ..RunNetworkUse::default()
        });
        assert_eq!(one.allowed, ["a", "b", "d"]);
        assert_eq!(one.refused, [host("x", 5), host("y", 1)]);
        assert_eq!(one.bytes_in, 5);
        one.add(RunNetworkUse {
            refused: (0..200)
                .map(|number| host(&number.to_string(), 1))
                .collect(),
            ..RunNetworkUse::default()
        });
        assert_eq!((one.refused.len(), one.refused_others), (100, 102));
        let allowed = vec!["a".to_owned()];
        let idle = RunNetworkUse {
            allowed,
            ..RunNetworkUse::default()
        };
        assert!(idle.is_idle() && !one.is_idle());
    }

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
