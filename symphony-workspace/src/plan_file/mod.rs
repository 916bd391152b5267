//! Plan files and state files on disk: finding, reading, locking, replacing (spec: plan). What they say is
//! `symphony-core`'s matter.

mod find;
mod read;
mod state;

pub use find::{PLAN_FILE, PLANS_FOLDER, find_plan_file};
pub(crate) use read::read_text_file;
pub use read::{PLAN_BYTES_MAX, read_plan_file};
pub use state::{
    LockedStateFile, STATE_LOCK_WAIT_MAX, create_state_file, read_state_file, write_state_file,
};
