//! How much of a project's files one prompt takes.

/// Most files of one prompt: a tenth would fill it.
pub const CONTEXT_FILES_MAX: usize = 1_000;

/// Largest file: 200 lines of it are shown.
pub const CONTEXT_FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Most bytes of all files together: a prompt is cut to a hundredth of it.
pub const CONTEXT_TOTAL_BYTES_MAX: u64 = 32 * 1024 * 1024;
