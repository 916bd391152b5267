//! Prompts: what a dispatch would send, trials of them, and the pure builder on documents: `symphony prompt`.

mod build;
mod lint;
mod record;
mod show;
mod tree;
mod trial;
mod worker;

pub(crate) use lint::lint_here;
pub(crate) use tree::PromptCommand;
