//! The worker template of plan files: from a phase, a project, loaded files and artifacts to one prompt.
//!
//! It is not fenced: its form is fixed by golden files. Loading files and detecting the project is for the caller.

mod files;
mod language;
mod task;
mod template;
mod truncate;

pub use files::FileEntry;
pub use task::build_task_prompt;
pub use template::{
    DEFAULT_GLOBAL_CONSTRAINTS, WorkerInput, WorkerPrompt, build_simple_prompt, build_worker_prompt,
};
pub use truncate::{
    CONTENT_TRUNCATED, PROMPT_TOKENS_MAX, estimate_token_count, truncate_prompt_if_needed,
};
