//! Linux: `/proc`, pidfds, sessions, the subreaper. A port to another system replaces this module.
//!
//! This module has only facts and single actions; its parent decides what to do with them. A signal reaches a process
//! through a pidfd whose identity was checked, so that a pid that was given to another process meanwhile is never hit.
//! system gave to another process meanwhile is never hit.

mod control;
mod stat;
mod table;

pub(super) use control::{ProcessHandle, Signal};
pub(super) use control::{
    awake_ms, become_subreaper, boot_ms, close_memory, die_with_parent, is_main_thread, kill_group,
    lead_session, move_stdin, nameless_file, own_pid, own_session, parent_pid, reap,
    wait_for_an_end,
};
pub(super) use table::{
    LockUse, age, belongs_to_user, boot_id, children, command_line, environment_value,
    has_environment_entry, ignored_signals, is_in_inner_namespace, last_pid, lock_use, open_files,
    read_record, read_records, real_user, working_directory,
};
