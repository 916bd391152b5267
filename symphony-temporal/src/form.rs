//! What a run is at a service, and what the service has of it.

/// What a run is at a service. It depends on what the service can do, and each connection asks it once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A standalone activity.
    Activity,
    /// A workflow with one activity, at a service without standalone activities.
    Workflow,
}

/// What the service has of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Nothing.
    Unknown,
    /// An activity that waits, or that a worker has, or the workflow of one.
    Open,
    /// An activity or a workflow that has ended.
    Closed,
}

/// What happened to a run that was handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Submitted {
    /// The service has it now.
    Now,
    /// The service had it before.
    Before,
}
