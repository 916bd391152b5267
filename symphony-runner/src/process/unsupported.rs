//! Systems other than Linux, on which every action is refused.
//!
//! Without a subreaper, pidfds and `/proc`, Symphony cannot guarantee that no process of a run survives it, so it
//! starts none.

use std::io;
use std::os::fd::OwnedFd;

use super::error::ProcessError;
use super::record::ProcessRecord;

#[derive(Debug, Clone, Copy)]
pub(super) enum Signal {
    Terminate,
    Continue,
    Kill,
}

#[derive(Debug)]
pub(super) enum ProcessHandle {}

impl ProcessHandle {
    pub(super) fn open(_pid: i32, _start_time: u64) -> Result<Option<Self>, ProcessError> {
        refused()
    }

    pub(super) fn send(&self, _signal: Signal) -> Result<bool, ProcessError> {
        match *self {}
    }
}

pub(super) fn wait_for_an_end(
    _handles: &[ProcessHandle],
    _milliseconds_max: u32,
) -> Result<(), ProcessError> {
    refused()
}

pub(super) fn kill_group(_group: i32) -> Result<(), ProcessError> {
    refused()
}

pub(super) fn reap(_pid: i32) -> Result<bool, ProcessError> {
    refused()
}

pub(super) fn become_subreaper() -> Result<(), ProcessError> {
    refused()
}

pub(super) fn lead_session() -> Result<(), ProcessError> {
    refused()
}

pub(super) fn die_with_parent() -> Result<(), ProcessError> {
    refused()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LockUse {
    Held,
    NotHeld,
    Unknown,
}

pub(super) fn lock_use(_pid: i32, _file: &std::fs::Metadata) -> LockUse {
    LockUse::Unknown
}

pub(super) fn age(_record: &ProcessRecord) -> Option<std::time::Duration> {
    None
}

pub(super) fn working_directory(_pid: i32) -> Option<std::path::PathBuf> {
    None
}

pub(super) fn open_files(_pid: i32) -> Vec<std::path::PathBuf> {
    Vec::new()
}

pub(super) fn is_in_inner_namespace(_pid: i32) -> bool {
    false
}

pub(super) fn nameless_file(_name: &str) -> io::Result<std::fs::File> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) fn close_memory() -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) fn command_line(_pid: i32) -> Vec<std::ffi::OsString> {
    Vec::new()
}

pub(super) fn awake_ms() -> u64 {
    0
}

pub(super) fn boot_ms() -> u64 {
    0
}

pub(super) fn parent_pid() -> i32 {
    0
}

pub(super) fn own_pid() -> i32 {
    0
}

pub(super) fn own_session() -> Result<i32, ProcessError> {
    refused()
}

pub(super) fn is_main_thread() -> bool {
    true
}

pub(super) fn move_stdin() -> io::Result<OwnedFd> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) fn boot_id() -> Result<&'static str, ProcessError> {
    refused()
}

pub(super) fn read_record(_pid: i32) -> Result<Option<ProcessRecord>, ProcessError> {
    refused()
}

pub(super) fn read_records() -> Result<Vec<ProcessRecord>, ProcessError> {
    refused()
}

pub(super) fn children(_pid: i32) -> Result<Option<Vec<i32>>, ProcessError> {
    refused()
}

pub(super) fn last_pid() -> Result<i32, ProcessError> {
    refused()
}

pub(super) fn real_user(_pid: i32) -> Option<u32> {
    None
}

pub(super) fn belongs_to_user(_pid: i32) -> bool {
    false
}

pub(super) fn has_environment_entry(_pid: i32, _entry: &str) -> bool {
    false
}

pub(super) fn environment_value(_pid: i32, _name: &str) -> Option<String> {
    None
}

pub(super) fn ignored_signals() -> Result<Vec<i32>, ProcessError> {
    refused()
}

fn refused<T>() -> Result<T, ProcessError> {
    Err(ProcessError::Unsupported {
        system: std::env::consts::OS,
    })
}
