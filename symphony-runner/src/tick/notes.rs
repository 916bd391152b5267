//! What a tick writes into its lock file.

use std::fs::File;
use std::io::{self, Read as _};

use symphony_core::watchdog::StepRecord;

use crate::watchdog::parse_record;

/// The contents of the lock file.
#[derive(Debug, Default)]
pub(super) struct TurnRecord {
    /// When the last tick began.
    pub(super) last: String,
    /// The current step of the tick that has the turn.
    pub(super) record: Option<StepRecord>,
    /// The problems that the last tick reported.
    pub(super) told: Vec<String>,
}

/// How much of the lock file is read. A hundred problems are shorter.
const NOTES_BYTES_MAX: u64 = 1024 * 1024;

pub(super) fn read_notes(file: &File) -> io::Result<TurnRecord> {
    let mut bytes = Vec::new();
    file.take(NOTES_BYTES_MAX).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let mut lines = text.lines();
    let last = lines.next().unwrap_or_default().to_owned();
    let second = lines.next();
    let record = second.and_then(parse_record);
    // Earlier versions wrote their problems from the second line on.
    let is_problem = |line: &&str| record.is_none() && !line.is_empty();
    let told = second.filter(is_problem).into_iter().chain(lines);
    let told = told.map(str::to_owned).collect();
    Ok(TurnRecord { last, record, told })
}
