//! Markdown files with YAML front matter: one parser for phase contracts and agent profiles.
//!
//! A file opens with a line `---`, holds a YAML mapping, a closing line `---`, and then the body, which is a prompt.
//! The parser catches what its libraries accept (a fence that never closes, a byte order mark, deep nesting, alias
//! bombs), gives the position of each problem, and reports all of a file's problems at once.
//!
//! Documented normalisations of the body: a byte order mark is gone, `\r\n` is `\n`, blank lines at its beginning
//! and one final line end are dropped. Everything else is kept byte for byte, a `---` in the body included.

mod document;
mod fence;
mod locate;
mod node;
mod problem;
mod reader;
mod snippet;

pub use document::{Field, FrontMatter};
pub use fence::{FILE_BYTES_MAX, MATTER_BYTES_MAX};
pub use locate::{Position, Step};
pub use node::{DEPTH_MAX, NODES_MAX, Node};
pub use problem::{Problem, ProblemKind};
pub use reader::Reader;
