//! `run --workflow`, `tick --workflow` and their worker: the service for openai/symphony's `WORKFLOW.md`.

mod args;
mod run;
mod tick;
mod worker;

pub(crate) use args::{WorkflowArgs, WorkflowTickArgs};
pub(crate) use tick::tick as tick_workflow;
pub(crate) use worker::ServiceWorkerArgs;
