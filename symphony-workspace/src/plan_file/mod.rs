//! Plan files on disk: finding and reading them (spec: plan). What they say is `symphony-core`'s matter.

mod find;
mod read;

pub use find::{PLAN_FILE, PLANS_FOLDER, find_plan_file};
pub use read::{PLAN_BYTES_MAX, read_plan_file};
