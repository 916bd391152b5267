//! Files that a prompt shows: named by path or by pattern, read beneath the project (spec: plan).

mod load;
mod matching;
mod pattern;
mod problem;

pub use load::{
    CONTEXT_FILE_BYTES_MAX, CONTEXT_FILES_MAX, CONTEXT_TOTAL_BYTES_MAX, ContextFile,
    load_context_files,
};
pub use problem::ContextFileProblem;
