//! The pure prompt builder on documents: `symphony prompt`.

mod build;
mod tree;
mod worker;

pub(crate) use tree::PromptCommand;
