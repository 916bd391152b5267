//! What a tick asks of the service: to hand a run over, and to forget one.

use std::fmt;
use std::time::Duration;

use symphony_core::config::TemporalSettings;
use symphony_core::id::RunId;
use symphony_core::placement::Pool;
use temporalio_client::grpc::WorkflowService;
use temporalio_common::protos::temporal::api::common::v1::{
    ActivityType, Payload, Payloads, RetryPolicy,
};
use temporalio_common::protos::temporal::api::enums::v1::{
    ActivityExecutionStatus, ActivityIdConflictPolicy, ActivityIdReusePolicy, TaskQueueKind,
};
use temporalio_common::protos::temporal::api::taskqueue::v1::TaskQueue;
use temporalio_common::protos::temporal::api::workflowservice::v1::{
    DescribeActivityExecutionRequest, RequestCancelActivityExecutionRequest,
    StartActivityExecutionRequest,
};
use tokio::runtime::Runtime;
use tonic::{Code, IntoRequest};

use crate::connect::{LIMIT, Line};
use crate::error::TemporalError;
use crate::ticket::{ACTIVITY, Ticket, Times, queue_of};

/// What the service has of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Nothing.
    Unknown,
    /// An activity that waits, or that a worker has.
    Open,
    /// An activity that has ended.
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

/// A connection of whoever claims runs. Each call waits for its answer, for a few seconds at most.
pub struct Control {
    runtime: Runtime,
    line: Line,
    service: Box<dyn WorkflowService>,
}

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Control")
            .field("line", &self.line)
            .finish_non_exhaustive()
    }
}

impl Control {
    /// Connects. `identity` names whoever asks, in the service's own pages.
    ///
    /// # Errors
    /// When a file with credentials cannot be read, or the service cannot be reached.
    pub fn connect(service: &TemporalSettings, identity: &str) -> Result<Self, TemporalError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(TemporalError::Start)?;
        let line = runtime.block_on(Line::connect(service, identity))?;
        let service = line.service();
        Ok(Self {
            runtime,
            line,
            service,
        })
    }

    /// Hands a run over to the workers of a pool. One that the service has already is left alone, and one whose activity has ended, although
    /// no worker has begun the run, is handed over again: a worker may have died with it, or a person ended it in the service's own pages.
    ///
    /// # Errors
    /// When the service cannot be reached, or refuses.
    pub fn submit(
        &mut self,
        run: &RunId,
        pool: &Pool,
        times: Times,
    ) -> Result<Submitted, TemporalError> {
        // A look takes a tenth of the time of an attempt to start, and most runs that wait were handed over before.
        if self.standing(run)? == Standing::Open {
            return Ok(Submitted::Before);
        }
        let request = StartActivityExecutionRequest {
            namespace: self.line.namespace.clone(),
            identity: self.line.identity.clone(),
            request_id: format!("{run}.{}", attempt_id()),
            activity_id: run.to_string(),
            activity_type: Some(ActivityType {
                name: ACTIVITY.to_owned(),
            }),
            task_queue: Some(queue(pool)),
            schedule_to_close_timeout: duration(times.longest),
            start_to_close_timeout: duration(times.longest),
            heartbeat_timeout: duration(times.dead),
            // A second attempt would begin a run that has begun.
            retry_policy: Some(RetryPolicy {
                maximum_attempts: 1,
                ..RetryPolicy::default()
            }),
            input: Some(Payloads {
                payloads: vec![Payload {
                    metadata: [("encoding".to_owned(), b"json/plain".to_vec())].into(),
                    data: Ticket { run: run.clone() }.text().into_bytes(),
                    ..Payload::default()
                }],
            }),
            id_reuse_policy: ActivityIdReusePolicy::AllowDuplicate.into(),
            id_conflict_policy: ActivityIdConflictPolicy::Fail.into(),
            ..StartActivityExecutionRequest::default()
        };
        let answer = self
            .service
            .start_activity_execution(request.into_request());
        let known = [Code::AlreadyExists, Code::NotFound];
        let answer = self.line.answer("start an activity", LIMIT, answer, &known);
        match self.runtime.block_on(answer)? {
            Ok(_started) => Ok(Submitted::Now),
            // An activity that is started cannot be missing itself.
            Err(Code::NotFound) => Err(self.line.no_namespace()),
            Err(_exists) => Ok(Submitted::Before),
        }
    }

    /// Checks that the namespace is there and can do what Symphony needs.
    ///
    /// # Errors
    /// When the service cannot be reached, has no such namespace, or is too old.
    pub fn check(&mut self) -> Result<(), TemporalError> {
        self.runtime.block_on(self.line.check())
    }

    /// Returns what the service has of a run.
    ///
    /// # Errors
    /// When the service cannot be reached, or refuses.
    pub fn standing(&mut self, run: &RunId) -> Result<Standing, TemporalError> {
        let request = DescribeActivityExecutionRequest {
            namespace: self.line.namespace.clone(),
            activity_id: run.to_string(),
            ..DescribeActivityExecutionRequest::default()
        };
        let answer = self
            .service
            .describe_activity_execution(request.into_request());
        let answer = self
            .line
            .answer("describe an activity", LIMIT, answer, &[Code::NotFound]);
        Ok(match self.runtime.block_on(answer)? {
            Err(_not_found) => Standing::Unknown,
            Ok(described) => standing_of(described.info.map(|info| info.status)),
        })
    }

    /// Asks the service to forget a run that no worker may begin any more.
    ///
    /// # Errors
    /// When the service cannot be reached, or refuses.
    pub fn cancel(&mut self, run: &RunId, why: &str) -> Result<(), TemporalError> {
        let request = RequestCancelActivityExecutionRequest {
            namespace: self.line.namespace.clone(),
            activity_id: run.to_string(),
            identity: self.line.identity.clone(),
            request_id: run.to_string(),
            reason: why.to_owned(),
            ..RequestCancelActivityExecutionRequest::default()
        };
        let answer = self
            .service
            .request_cancel_activity_execution(request.into_request());
        // It may have ended by itself, or never been there.
        let gone = [Code::NotFound, Code::FailedPrecondition];
        let answer = self.line.answer("cancel an activity", LIMIT, answer, &gone);
        self.runtime.block_on(answer)?.map(drop).or(Ok(()))
    }
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

pub(crate) fn queue(pool: &Pool) -> TaskQueue {
    TaskQueue {
        name: queue_of(pool),
        kind: TaskQueueKind::Normal.into(),
        ..TaskQueue::default()
    }
}

/// The service takes two requests with one id for one, for a while: a run that is handed over again needs another id.
fn attempt_id() -> uuid::Uuid {
    uuid::Uuid::new_v4()
}

fn duration(time: Duration) -> Option<prost_wkt_types::Duration> {
    prost_wkt_types::Duration::try_from(time).ok()
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
