//! Prompt lint: what is wrong with the texts that a project's agents get, found before an agent is paid to read them.
//!
//! Texts go in, [`Finding`]s come out; nothing is read or written here. Start at [`lint`]. Rules that look at sentences are few
//! and conservative: a false alarm costs more than a miss, because whoever gets one stops reading the others.

mod budget;
mod check;
mod contradiction;
mod dead_text;
mod finding;
mod input;
mod library;
mod near_heading;
mod order;
mod placeholder;
mod prose;
mod text;
mod tool_names;

pub use check::lint;
pub use finding::{Finding, LintRule, Severity};
pub use input::{LintInput, Switch};
pub use library::{Library, read_library};
pub use text::{PromptText, TextKind};

#[cfg(test)]
mod tests;
