//! Runs openai/symphony's `WORKFLOW.md` (its `SPEC.md` is what section numbers refer to).
//!
//! [`attempt`] is one session of an agent on one ticket. [`service`] is everything around it: it reads the file, polls the
//! tracker, keeps workspaces, and starts a worker process for each attempt. What is decided is in `symphony-workflow`,
//! which has no I/O; here is only I/O.
//!
//! Nothing depends on a process that stays alive: what is going on is in the database, an attempt is a process of its own,
//! and whoever comes next adopts or ends it.

pub mod attempt;
pub mod service;
