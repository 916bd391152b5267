//! A run as a workflow with one activity, for a service without standalone activities: how it is handed over, found and forgotten.
//!
//! What happens in such a workflow is decided by whichever worker of the pool asks for its tasks (`decision`).

use std::time::Duration;

use symphony_core::id::RunId;
use symphony_core::placement::Pool;
use temporalio_common::protos::temporal::api::common::v1::{WorkflowExecution, WorkflowType};
use temporalio_common::protos::temporal::api::enums::v1::{
    WorkflowExecutionStatus, WorkflowIdConflictPolicy, WorkflowIdReusePolicy,
};
use temporalio_common::protos::temporal::api::workflowservice::v1::{
    DescribeWorkflowExecutionRequest, StartWorkflowExecutionRequest,
    TerminateWorkflowExecutionRequest,
};
use tonic::{Code, IntoRequest};

use crate::connect::{LIMIT, Line};
use crate::error::TemporalError;
use crate::form::{Standing, Submitted};
use crate::ticket::{LONGEST, NAME, Terms, Ticket, Times};
use crate::wire::{attempt_id, duration, input_of, queue};

/// How long a worker may take for a task of a workflow, which it answers at once. Then the service gives the task to another worker.
const TASK_LIMIT: Duration = Duration::from_secs(10);

/// Starts the workflow of a run, unless there is one that is open.
pub(crate) async fn start(
    line: &Line,
    run: &RunId,
    pool: &Pool,
    times: Times,
) -> Result<Submitted, TemporalError> {
    let ticket = Ticket { run: run.clone() };
    let request = StartWorkflowExecutionRequest {
        namespace: line.namespace.clone(),
        identity: line.identity.clone(),
        request_id: format!("{run}.{}", attempt_id()),
        workflow_id: run.to_string(),
        workflow_type: Some(WorkflowType {
            name: NAME.to_owned(),
        }),
        task_queue: Some(queue(pool)),
        workflow_execution_timeout: duration(LONGEST),
        workflow_run_timeout: duration(LONGEST),
        workflow_task_timeout: duration(TASK_LIMIT),
        input: Some(input_of([ticket.text(), Terms::from(times).text()])),
        workflow_id_reuse_policy: WorkflowIdReusePolicy::AllowDuplicate.into(),
        workflow_id_conflict_policy: WorkflowIdConflictPolicy::Fail.into(),
        ..StartWorkflowExecutionRequest::default()
    };
    let mut service = line.service();
    let answer = service.start_workflow_execution(request.into_request());
    let known = [Code::AlreadyExists, Code::NotFound];
    match line
        .answer("start a workflow", LIMIT, answer, &known)
        .await?
    {
        Ok(_started) => Ok(Submitted::Now),
        // A workflow that is started cannot be missing itself.
        Err(Code::NotFound) => Err(line.no_namespace()),
        Err(_exists) => Ok(Submitted::Before),
    }
}

/// Returns what the service has of a run.
pub(crate) async fn standing(line: &Line, run: &RunId) -> Result<Standing, TemporalError> {
    let request = DescribeWorkflowExecutionRequest {
        namespace: line.namespace.clone(),
        execution: Some(latest(run)),
    };
    let mut service = line.service();
    let answer = service.describe_workflow_execution(request.into_request());
    let known = [Code::NotFound];
    let answer = line.answer("describe a workflow", LIMIT, answer, &known);
    Ok(match answer.await? {
        Err(_not_found) => Standing::Unknown,
        Ok(described) => standing_of(described.workflow_execution_info.map(|info| info.status)),
    })
}

/// Ends the workflow of a run. Were its cancellation requested, a worker would have to answer, and a pool may have none.
pub(crate) async fn terminate(line: &Line, run: &RunId, why: &str) -> Result<(), TemporalError> {
    let request = TerminateWorkflowExecutionRequest {
        namespace: line.namespace.clone(),
        workflow_execution: Some(latest(run)),
        identity: line.identity.clone(),
        reason: why.to_owned(),
        ..TerminateWorkflowExecutionRequest::default()
    };
    let mut service = line.service();
    let answer = service.terminate_workflow_execution(request.into_request());
    // It may have ended by itself, or never been there.
    let gone = [Code::NotFound, Code::FailedPrecondition];
    let answer = line.answer("end a workflow", LIMIT, answer, &gone);
    answer.await?.map(drop).or(Ok(()))
}

fn latest(run: &RunId) -> WorkflowExecution {
    WorkflowExecution {
        workflow_id: run.to_string(),
        run_id: String::new(),
    }
}

/// Unknown states are open: to hand a run over twice costs a call, and to forget one costs the run.
fn standing_of(status: Option<i32>) -> Standing {
    use WorkflowExecutionStatus as Status;
    match status.and_then(|status| Status::try_from(status).ok()) {
        Some(
            Status::Completed
            | Status::Failed
            | Status::Canceled
            | Status::Terminated
            | Status::TimedOut,
        ) => Standing::Closed,
        _ => Standing::Open,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_has_ended_is_handed_over_again() {
        for (status, expected) in [
            (Some(0), Standing::Open),
            (Some(1), Standing::Open),
            (Some(2), Standing::Closed),
            (Some(3), Standing::Closed),
            (Some(4), Standing::Closed),
            (Some(5), Standing::Closed),
            // continued as a new one, which no workflow of Symphony does
            (Some(6), Standing::Open),
            (Some(7), Standing::Closed),
            (Some(8), Standing::Open),
            (Some(99), Standing::Open),
            (None, Standing::Open),
        ] {
            assert_eq!(standing_of(status), expected, "{status:?}");
        }
    }
}
