//! Which processes carry the marker of which run. This module only reads, and ends nothing.

use std::collections::BTreeMap;

use super::error::ProcessError;
use super::record::ProcessRecord;
use super::system;
use crate::environment::RUN_MARKER;

/// Lists this user's living processes that carry a marker, by the id of the run.
///
/// # Errors
/// When the table of processes cannot be read.
pub fn marked_processes() -> Result<BTreeMap<String, Vec<ProcessRecord>>, ProcessError> {
    let mut found: BTreeMap<String, Vec<ProcessRecord>> = BTreeMap::new();
    for record in system::read_records()? {
        if record.is_alive
            && system::belongs_to_user(record.pid)
            && let Some(run) = system::environment_value(record.pid, RUN_MARKER)
        {
            found.entry(run).or_default().push(record);
        }
    }
    Ok(found)
}

/// Returns whether a process that was found earlier still exists.
///
/// # Errors
/// When the table of processes cannot be read.
pub fn is_still_there(seen: &ProcessRecord) -> Result<bool, ProcessError> {
    let now = system::read_record(seen.pid)?;
    Ok(now.is_some_and(|now| now.is_alive && now.start_time == seen.start_time))
}
