//! Prompts: what a dispatch would send, and the pure builder on documents: `symphony prompt`.

mod build;
mod lint;
mod show;
mod tree;
mod worker;

pub(crate) use lint::lint_here;
pub(crate) use tree::PromptCommand;
