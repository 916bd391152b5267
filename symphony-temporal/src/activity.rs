//! A run as a standalone activity: how it is handed over, found and forgotten.

use symphony_core::id::RunId;
use symphony_core::placement::Pool;
use temporalio_common::protos::temporal::api::common::v1::ActivityType;
use temporalio_common::protos::temporal::api::enums::v1::{
    ActivityExecutionStatus, ActivityIdConflictPolicy, ActivityIdReusePolicy,
};
use temporalio_common::protos::temporal::api::workflowservice::v1::{
    DescribeActivityExecutionRequest, RequestCancelActivityExecutionRequest,
    StartActivityExecutionRequest,
};
use tonic::{Code, IntoRequest};

use crate::connect::{LIMIT, Line};
use crate::error::TemporalError;
use crate::form::{Standing, Submitted};
use crate::ticket::{LONGEST, NAME, Ticket, Times};
use crate::wire::{attempt_id, duration, input_of, one_attempt, queue};

/// Starts the activity of a run, unless there is one that is open.
pub(crate) async fn start(
    line: &Line,
    run: &RunId,
    pool: &Pool,
    times: Times,
) -> Result<Submitted, TemporalError> {
    let request = StartActivityExecutionRequest {
        namespace: line.namespace.clone(),
        identity: line.identity.clone(),
        request_id: format!("{run}.{}", attempt_id()),
        activity_id: run.to_string(),
        activity_type: Some(ActivityType {
            name: NAME.to_owned(),
        }),
        task_queue: Some(queue(pool)),
        schedule_to_close_timeout: duration(LONGEST),
        start_to_close_timeout: duration(LONGEST),
        heartbeat_timeout: duration(times.dead),
        retry_policy: Some(one_attempt()),
        input: Some(input_of([Ticket { run: run.clone() }.text()])),
        id_reuse_policy: ActivityIdReusePolicy::AllowDuplicate.into(),
        id_conflict_policy: ActivityIdConflictPolicy::Fail.into(),
        ..StartActivityExecutionRequest::default()
    };
    let mut service = line.service();
    let answer = service.start_activity_execution(request.into_request());
    let known = [Code::AlreadyExists, Code::NotFound];
    match line
        .answer("start an activity", LIMIT, answer, &known)
        .await?
    {
        Ok(_started) => Ok(Submitted::Now),
        // An activity that is started cannot be missing itself.
        Err(Code::NotFound) => Err(line.no_namespace()),
        Err(_exists) => Ok(Submitted::Before),
    }
}

/// Returns what the service has of a run.
pub(crate) async fn standing(line: &Line, run: &RunId) -> Result<Standing, TemporalError> {
    let request = DescribeActivityExecutionRequest {
        namespace: line.namespace.clone(),
        activity_id: run.to_string(),
        ..DescribeActivityExecutionRequest::default()
    };
    let mut service = line.service();
    let answer = service.describe_activity_execution(request.into_request());
    let known = [Code::NotFound];
    let answer = line.answer("describe an activity", LIMIT, answer, &known);
    Ok(match answer.await? {
        Err(_not_found) => Standing::Unknown,
        Ok(described) => standing_of(described.info.map(|info| info.status)),
    })
}

/// Ends the activity of a run.
pub(crate) async fn cancel(line: &Line, run: &RunId, why: &str) -> Result<(), TemporalError> {
    let request = RequestCancelActivityExecutionRequest {
        namespace: line.namespace.clone(),
        activity_id: run.to_string(),
        identity: line.identity.clone(),
        request_id: run.to_string(),
        reason: why.to_owned(),
        ..RequestCancelActivityExecutionRequest::default()
    };
    let mut service = line.service();
    let answer = service.request_cancel_activity_execution(request.into_request());
    // It may have ended by itself, or never been there.
    let gone = [Code::NotFound, Code::FailedPrecondition];
    let answer = line.answer("cancel an activity", LIMIT, answer, &gone);
    answer.await?.map(drop).or(Ok(()))
}

/// Unknown states are open: to hand a run over twice costs a call, and to forget one costs the run.
fn standing_of(status: Option<i32>) -> Standing {
    use ActivityExecutionStatus as Status;
    match status.and_then(|status| Status::try_from(status).ok()) {
        Some(
            Status::Completed
            | Status::Failed
            | Status::Canceled
            | Status::Terminated
            | Status::TimedOut,
        ) => Standing::Closed,
        Some(Status::Running | Status::Paused | Status::Unspecified) | None => Standing::Open,
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
            (Some(6), Standing::Closed),
            (Some(7), Standing::Open),
            (Some(99), Standing::Open),
            (None, Standing::Open),
        ] {
            assert_eq!(standing_of(status), expected, "{status:?}");
        }
    }
}
