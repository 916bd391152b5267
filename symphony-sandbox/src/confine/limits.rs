//! Resource limits of a confined process, which its children inherit and cannot raise.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::ConfineError;

/// Writes no core dumps, which would hold an agent's memory, and limits the number of processes.
pub(super) fn set(processes: Option<u64>) -> Result<(), ConfineError> {
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    set_one(Resource::Core, none, "forbid core dumps")?;
    if let Some(most) = processes {
        let most = lower(most, getrlimit(Resource::Nproc).maximum);
        let limit = Rlimit {
            current: Some(most),
            maximum: Some(most),
        };
        set_one(Resource::Nproc, limit, "limit the number of processes")?;
    }
    Ok(())
}

/// An ordinary user cannot raise a limit. `None` is no limit.
fn lower(wanted: u64, limit: Option<u64>) -> u64 {
    limit.map_or(wanted, |limit| limit.min(wanted))
}

fn set_one(resource: Resource, limit: Rlimit, action: &'static str) -> Result<(), ConfineError> {
    setrlimit(resource, limit).map_err(|error| ConfineError::System {
        action,
        source: io::Error::from(error),
    })
}
