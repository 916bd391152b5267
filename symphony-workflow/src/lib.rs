//! openai/symphony's `WORKFLOW.md`: what its specification decides without a file, a clock or a network.
//!
//! [`source`] splits the file, [`config`] gives its settings types, [`template`] renders its prompt, [`eligible`] decides
//! which tickets an agent works on and when a run ends or is tried again, and [`workspace`] names the folder it works in.
//! Sections are those of the specification's `SPEC.md`; `docs/conformance.md` has a row for each of its requirements.
//!
//! The environment, folders and moments are parameters. Nothing here reads or starts anything, so that a test can hold
//! every rule with a table.

pub mod config;
pub mod eligible;
pub mod error;
pub mod source;
pub mod template;
pub mod ticket;
pub mod workspace;

pub use config::{Config, Place};
pub use error::{TemplateFault, WorkflowError};
pub use source::{Note, Source};
pub use template::Template;
pub use ticket::{Blocker, Ticket};
