//! Files that a prompt shows: named by path or by pattern, read beneath the project (spec: plan).

mod limits;
mod load;
mod matching;
mod pattern;
mod problem;

pub use limits::{CONTEXT_FILE_BYTES_MAX, CONTEXT_FILES_MAX, CONTEXT_TOTAL_BYTES_MAX};
pub use load::{ContextFile, load_context_files};
pub use problem::ContextFileProblem;
