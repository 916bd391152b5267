//! Values of copied configuration files that must not leave the machine in a commit.
//!
//! A pathspec keeps the files themselves out of commits; this finds their *values*, plain or
//! encoded, in everything that a branch adds (reliability.md, "Git on a tree that an agent touched").

mod copied;
mod finder;
mod lines;
mod needles;
mod patterns;
mod redact;
mod reserved;
mod scan;
mod tokens;
mod values;
mod wrapped;

pub use finder::{SecretFinder, SecretName};
pub use lines::LineRedactor;
pub use redact::{Redactor, is_secret_name, secret_of_variable};
pub use scan::{CopiedLeak, SecretLeak, SecretScan};
pub use tokens::tokens_in;
