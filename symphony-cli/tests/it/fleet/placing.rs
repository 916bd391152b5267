//! What gives runs out to the hosts: the database itself, or a service beside it, which can break.

use std::fmt::Debug;

use serde_json::{Value, json};

use super::plan::ServiceFault;

/// What gives runs out.
pub(super) trait Placing: Debug + Sync {
    /// Returns what names it in the configuration of the control and of each host.
    fn keys(&self) -> Value;

    /// Breaks it, and returns when it is whole again.
    fn suffer(&self, fault: &ServiceFault);

    /// Returns what it still has of runs that have ended, a line each.
    fn left_of(&self, runs: &[String]) -> Vec<String>;
}

/// Returns the configuration of a host, or of the control.
pub(super) fn config(placing: &dyn Placing, database: &str) -> Value {
    let mut config = placing.keys();
    config["sandbox"] = json!("off");
    config["database"] = json!(database);
    config
}

/// The database itself, which the other faults break.
#[derive(Debug)]
pub(super) struct Queue;

impl Queue {
    pub(super) fn start() -> Box<dyn Placing> {
        Box::new(Self)
    }
}

impl Placing for Queue {
    fn keys(&self) -> Value {
        json!({ "placement": "queue" })
    }

    fn suffer(&self, fault: &ServiceFault) {
        unreachable!("no service is there for {fault:?}");
    }

    fn left_of(&self, _runs: &[String]) -> Vec<String> {
        Vec::new()
    }
}
