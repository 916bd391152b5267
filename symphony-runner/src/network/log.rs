//! What the networks of a run's parts carried and refused: those of its agent, its set-up, its gates and its checks.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value, json};
use symphony_core::run_network::{RUN_NETWORK, RunNetworkUse};

/// What was carried and refused so far. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct NetworkLog(Arc<Mutex<RunNetworkUse>>);

impl NetworkLog {
    /// Adds what a part of the run used.
    pub(crate) fn add(&self, used: RunNetworkUse) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .add(used);
    }

    /// Returns what was carried and refused.
    pub fn used(&self) -> RunNetworkUse {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Adds it to what is recorded with the run. A part that reached for nothing is not worth a record.
    pub(crate) fn record(&self, metadata: &mut Map<String, Value>) {
        let used = self.used();
        if used.is_idle() {
            return;
        }
        let mut whole = metadata
            .get(RUN_NETWORK)
            .and_then(|own| serde_json::from_value::<RunNetworkUse>(own.clone()).ok())
            .unwrap_or_default();
        whole.add(used);
        metadata.insert(RUN_NETWORK.to_owned(), json!(whole));
    }
}
