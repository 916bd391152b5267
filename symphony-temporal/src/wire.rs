//! What requests are made of, whatever a run is at the service.

use std::time::Duration;

use symphony_core::placement::Pool;
use temporalio_common::protos::temporal::api::common::v1::{Payload, Payloads, RetryPolicy};
use temporalio_common::protos::temporal::api::enums::v1::TaskQueueKind;
use temporalio_common::protos::temporal::api::failure::v1::failure::FailureInfo;
use temporalio_common::protos::temporal::api::failure::v1::{ApplicationFailureInfo, Failure};
use temporalio_common::protos::temporal::api::taskqueue::v1::TaskQueue;

use crate::ticket::queue_of;

/// Returns the queue in which the runs of a pool wait.
pub(crate) fn queue(pool: &Pool) -> TaskQueue {
    TaskQueue {
        name: queue_of(pool),
        kind: TaskQueueKind::Normal.into(),
        ..TaskQueue::default()
    }
}

/// Returns an input of texts, each of which is JSON.
pub(crate) fn input_of<const N: usize>(texts: [String; N]) -> Payloads {
    let payload = |text: String| Payload {
        metadata: [("encoding".to_owned(), b"json/plain".to_vec())].into(),
        data: text.into_bytes(),
        ..Payload::default()
    };
    Payloads {
        payloads: texts.map(payload).into(),
    }
}

/// Returns one part of an input; empty where there is none.
pub(crate) fn part(input: Option<&Payloads>, at: usize) -> &[u8] {
    input
        .and_then(|input| input.payloads.get(at))
        .map_or(&[], |payload| &payload.data)
}

/// Returns a failure after which the service tries nothing again: only a tick hands a run over again, since only it knows whether the run
/// still waits.
pub(crate) fn final_failure(why: String) -> Failure {
    Failure {
        message: why,
        failure_info: Some(FailureInfo::ApplicationFailureInfo(
            ApplicationFailureInfo {
                r#type: "returned".to_owned(),
                non_retryable: true,
                ..ApplicationFailureInfo::default()
            },
        )),
        ..Failure::default()
    }
}

/// A second attempt would begin a run that has begun.
pub(crate) fn one_attempt() -> RetryPolicy {
    RetryPolicy {
        maximum_attempts: 1,
        ..RetryPolicy::default()
    }
}

/// The service takes two requests with one id for one, for a while: a run that is handed over again needs another id.
pub(crate) fn attempt_id() -> uuid::Uuid {
    uuid::Uuid::new_v4()
}

/// Returns a time as requests have it.
pub(crate) fn duration(time: Duration) -> Option<prost_wkt_types::Duration> {
    prost_wkt_types::Duration::try_from(time).ok()
}
