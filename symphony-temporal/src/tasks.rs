//! The tasks of workflows, for a service without standalone activities: a worker of the pool says what happens next in each.

use symphony_core::placement::Pool;
use temporalio_client::grpc::WorkflowService;
use temporalio_common::protos::temporal::api::command::v1::Command;
use temporalio_common::protos::temporal::api::enums::v1::QueryResultType;
use temporalio_common::protos::temporal::api::workflowservice::v1::{
    PollWorkflowTaskQueueRequest, PollWorkflowTaskQueueResponse, RespondQueryTaskCompletedRequest,
    RespondWorkflowTaskCompletedRequest,
};
use tonic::{Code, IntoRequest, Response, Status};

use crate::connect::{LIMIT, Line, POLL_LIMIT};
use crate::decision::command_after;
use crate::error::TemporalError;
use crate::wire::queue;

/// Returns the question for the next task in a pool.
pub(crate) fn question(line: &Line, pool: &Pool) -> PollWorkflowTaskQueueRequest {
    PollWorkflowTaskQueueRequest {
        namespace: line.namespace.clone(),
        task_queue: Some(queue(pool)),
        identity: line.identity.clone(),
        ..PollWorkflowTaskQueueRequest::default()
    }
}

/// Asks a question, and waits for up to a minute until there is a task.
pub(crate) async fn poll(
    mut service: Box<dyn WorkflowService>,
    question: PollWorkflowTaskQueueRequest,
) -> Result<PollWorkflowTaskQueueResponse, Status> {
    let answer = service.poll_workflow_task_queue(question.into_request());
    match tokio::time::timeout(POLL_LIMIT, answer).await {
        Ok(answer) => answer.map(Response::into_inner),
        Err(_elapsed) => Err(Status::unavailable("no answer to a question for workflows")),
    }
}

/// Says what happens next in a workflow, if the service had a task.
pub(crate) async fn decide(
    line: &Line,
    answer: Result<PollWorkflowTaskQueueResponse, Status>,
) -> Result<(), TemporalError> {
    let answer = std::future::ready(answer.map(Response::new));
    let known = [Code::DeadlineExceeded, Code::NotFound];
    let task = match line
        .answer("poll for workflows", LIMIT, answer, &known)
        .await?
    {
        Ok(task) => task,
        Err(Code::NotFound) => return Err(line.no_namespace()),
        // The service ends a question that has waited for long enough.
        Err(_waited) => return Ok(()),
    };
    if task.task_token.is_empty() {
        return Ok(());
    }
    if task.query.is_some() {
        return refuse_query(line, task.task_token).await;
    }
    let workflow = task.workflow_execution.unwrap_or_default().workflow_id;
    let history = task.history.unwrap_or_default().events;
    let command = command_after(&workflow, &history);
    complete(line, task.task_token, command).await
}

async fn complete(
    line: &Line,
    task_token: Vec<u8>,
    command: Option<Command>,
) -> Result<(), TemporalError> {
    let request = RespondWorkflowTaskCompletedRequest {
        task_token,
        commands: command.into_iter().collect(),
        identity: line.identity.clone(),
        namespace: line.namespace.clone(),
        ..RespondWorkflowTaskCompletedRequest::default()
    };
    let mut service = line.service();
    let answer = service.respond_workflow_task_completed(request.into_request());
    // The workflow has ended, another worker was faster, or something has happened since: then the service gives the task out again.
    let outdated = [Code::NotFound, Code::InvalidArgument];
    let answered = line
        .answer("decide about a workflow", LIMIT, answer, &outdated)
        .await?;
    if let Err(code) = answered {
        tracing::debug!(
            ?code,
            "the service did not take a decision about a workflow"
        );
    }
    Ok(())
}

/// Answers a person who asks a workflow for its state: there is none beside its history.
async fn refuse_query(line: &Line, task_token: Vec<u8>) -> Result<(), TemporalError> {
    let request = RespondQueryTaskCompletedRequest {
        task_token,
        completed_type: QueryResultType::Failed.into(),
        error_message: "a workflow of Symphony answers no queries".to_owned(),
        namespace: line.namespace.clone(),
        ..RespondQueryTaskCompletedRequest::default()
    };
    let mut service = line.service();
    let answer = service.respond_query_task_completed(request.into_request());
    let gone = [Code::NotFound, Code::InvalidArgument];
    let answer = line.answer("answer a query", LIMIT, answer, &gone);
    answer.await?.map(drop).or(Ok(()))
}
