//! What happens next in the workflow of a run: a function of its history.
//!
//! A workflow has one activity, which is the run as a worker is offered it, and ends as that does. Any worker of the pool decides, and the same
//! task may be given to two of them: the service takes the first answer, and both are the same.

use temporalio_common::protos::temporal::api::command::v1::command::Attributes as Does;
use temporalio_common::protos::temporal::api::command::v1::{
    CancelWorkflowExecutionCommandAttributes, Command, CompleteWorkflowExecutionCommandAttributes,
    FailWorkflowExecutionCommandAttributes, RequestCancelActivityTaskCommandAttributes,
    ScheduleActivityTaskCommandAttributes,
};
use temporalio_common::protos::temporal::api::common::v1::ActivityType;
use temporalio_common::protos::temporal::api::enums::v1::CommandType;
use temporalio_common::protos::temporal::api::failure::v1::Failure;
use temporalio_common::protos::temporal::api::history::v1::history_event::Attributes as Happened;
use temporalio_common::protos::temporal::api::history::v1::{
    HistoryEvent, WorkflowExecutionStartedEventAttributes,
};

use crate::ticket::{LONGEST, NAME, Terms, Ticket};
use crate::wire::{duration, final_failure, input_of, one_attempt, part};

/// What a history says of a workflow and its activity.
#[derive(Default)]
struct Seen<'h> {
    start: Option<&'h WorkflowExecutionStartedEventAttributes>,
    /// Someone wants the workflow to end.
    is_cancelled: bool,
    /// The event that scheduled the activity.
    activity: Option<i64>,
    /// The activity was asked to end.
    is_cancel_passed_on: bool,
    end: Option<End<'h>>,
}

/// How the activity ended.
enum End<'h> {
    Done,
    Failed(Option<&'h Failure>),
    Lost,
    Cancelled,
}

impl<'h> Seen<'h> {
    fn of(history: &'h [HistoryEvent]) -> Self {
        let mut seen = Self::default();
        for event in history {
            match &event.attributes {
                Some(Happened::WorkflowExecutionStartedEventAttributes(start)) => {
                    seen.start = Some(start);
                }
                Some(Happened::WorkflowExecutionCancelRequestedEventAttributes(_)) => {
                    seen.is_cancelled = true;
                }
                Some(Happened::ActivityTaskScheduledEventAttributes(_)) => {
                    seen.activity = Some(event.event_id);
                }
                Some(Happened::ActivityTaskCancelRequestedEventAttributes(_)) => {
                    seen.is_cancel_passed_on = true;
                }
                Some(Happened::ActivityTaskCompletedEventAttributes(_)) => {
                    seen.end = Some(End::Done);
                }
                Some(Happened::ActivityTaskFailedEventAttributes(failed)) => {
                    seen.end = Some(End::Failed(failed.failure.as_ref()));
                }
                Some(Happened::ActivityTaskTimedOutEventAttributes(_)) => {
                    seen.end = Some(End::Lost);
                }
                Some(Happened::ActivityTaskCanceledEventAttributes(_)) => {
                    seen.end = Some(End::Cancelled);
                }
                _ => {}
            }
        }
        seen
    }
}

/// Returns what the workflow of this id does after what has happened; `None` while it waits for its activity.
pub(crate) fn command_after(workflow: &str, history: &[HistoryEvent]) -> Option<Command> {
    let seen = Seen::of(history);
    match (seen.end, seen.activity) {
        (Some(End::Done), _) => Some(complete()),
        (Some(End::Failed(failure)), _) => {
            let why = failure.map_or("no reason was given", |failure| failure.message.as_str());
            Some(fail(format!("the run was returned: {why}")))
        }
        (Some(End::Lost), _) => Some(fail("the worker that had the run fell silent".to_owned())),
        (Some(End::Cancelled), _) => Some(cancel()),
        (None, Some(activity)) if seen.is_cancelled && !seen.is_cancel_passed_on => {
            Some(cancel_activity(activity))
        }
        (None, Some(_)) => None,
        (None, None) if seen.is_cancelled => Some(cancel()),
        (None, None) => Some(schedule(workflow, seen.start).unwrap_or_else(fail)),
    }
}

const UNREADABLE: &str = "the workflow is not of Symphony, or of another version";

/// Schedules the activity; says why not, for a workflow that is none of a run.
fn schedule(
    workflow: &str,
    start: Option<&WorkflowExecutionStartedEventAttributes>,
) -> Result<Command, String> {
    let start = start.ok_or(UNREADABLE)?;
    let named = start.workflow_type.as_ref().map(|named| &named.name);
    if named.is_none_or(|name| name != NAME) {
        return Err(UNREADABLE.to_owned());
    }
    let input = start.input.as_ref();
    let ticket = Ticket::read(workflow, part(input, 0)).map_err(|problem| problem.to_string())?;
    let terms = Terms::read(part(input, 1)).ok_or(UNREADABLE)?;
    Ok(command(
        CommandType::ScheduleActivityTask,
        Does::ScheduleActivityTaskCommandAttributes(ScheduleActivityTaskCommandAttributes {
            activity_id: workflow.to_owned(),
            activity_type: Some(ActivityType {
                name: NAME.to_owned(),
            }),
            task_queue: start.task_queue.clone(),
            input: Some(input_of([ticket.text()])),
            schedule_to_close_timeout: duration(LONGEST),
            start_to_close_timeout: duration(LONGEST),
            heartbeat_timeout: duration(terms.dead),
            retry_policy: Some(one_attempt()),
            ..ScheduleActivityTaskCommandAttributes::default()
        }),
    ))
}

fn cancel_activity(scheduled_event_id: i64) -> Command {
    command(
        CommandType::RequestCancelActivityTask,
        Does::RequestCancelActivityTaskCommandAttributes(
            RequestCancelActivityTaskCommandAttributes { scheduled_event_id },
        ),
    )
}

fn complete() -> Command {
    command(
        CommandType::CompleteWorkflowExecution,
        Does::CompleteWorkflowExecutionCommandAttributes(
            CompleteWorkflowExecutionCommandAttributes::default(),
        ),
    )
}

fn fail(why: String) -> Command {
    command(
        CommandType::FailWorkflowExecution,
        Does::FailWorkflowExecutionCommandAttributes(FailWorkflowExecutionCommandAttributes {
            failure: Some(final_failure(why)),
        }),
    )
}

fn cancel() -> Command {
    command(
        CommandType::CancelWorkflowExecution,
        Does::CancelWorkflowExecutionCommandAttributes(
            CancelWorkflowExecutionCommandAttributes::default(),
        ),
    )
}

fn command(kind: CommandType, does: Does) -> Command {
    Command {
        command_type: kind.into(),
        attributes: Some(does),
        ..Command::default()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use symphony_core::placement::Pool;
    use temporalio_common::protos::temporal::api::common::v1::{Payloads, WorkflowType};
    use temporalio_common::protos::temporal::api::history::v1::{
        ActivityTaskCancelRequestedEventAttributes, ActivityTaskCanceledEventAttributes,
        ActivityTaskCompletedEventAttributes, ActivityTaskFailedEventAttributes,
        ActivityTaskScheduledEventAttributes, ActivityTaskStartedEventAttributes,
        ActivityTaskTimedOutEventAttributes, WorkflowExecutionCancelRequestedEventAttributes,
        WorkflowTaskCompletedEventAttributes, WorkflowTaskScheduledEventAttributes,
        WorkflowTaskStartedEventAttributes,
    };

    use super::*;
    use crate::wire::queue;

    const RUN: &str = "018f4b7a-4f00-7000-8000-000000000001";
    const TICKET: &str = r#"{"protocol":1,"run":"018f4b7a-4f00-7000-8000-000000000001"}"#;
    const TERMS: &str = r#"{"dead_ms":90000}"#;

    /// Parts of a history, which has the tasks of the workflow between them.
    #[derive(Debug, Clone, Copy)]
    enum Part {
        Start,
        /// A start with another type, another ticket or other terms.
        StartOf(&'static str, &'static str, &'static str),
        Scheduled,
        Begun,
        Cancel,
        CancelPassedOn,
        Done,
        Returned,
        Lost,
        Cancelled,
    }

    fn started(name: &str, input: Payloads) -> Happened {
        Happened::WorkflowExecutionStartedEventAttributes(WorkflowExecutionStartedEventAttributes {
            workflow_type: Some(WorkflowType {
                name: name.to_owned(),
            }),
            task_queue: Some(queue(&Pool::parse("linux").unwrap())),
            input: Some(input),
            ..WorkflowExecutionStartedEventAttributes::default()
        })
    }

    fn happened(part: Part) -> Happened {
        match part {
            Part::Start => happened(Part::StartOf(NAME, TICKET, TERMS)),
            Part::StartOf(name, ticket, terms) => {
                started(name, input_of([ticket.to_owned(), terms.to_owned()]))
            }
            Part::Scheduled => Happened::ActivityTaskScheduledEventAttributes(
                ActivityTaskScheduledEventAttributes::default(),
            ),
            Part::Begun => Happened::ActivityTaskStartedEventAttributes(
                ActivityTaskStartedEventAttributes::default(),
            ),
            Part::Cancel => Happened::WorkflowExecutionCancelRequestedEventAttributes(
                WorkflowExecutionCancelRequestedEventAttributes::default(),
            ),
            Part::CancelPassedOn => Happened::ActivityTaskCancelRequestedEventAttributes(
                ActivityTaskCancelRequestedEventAttributes::default(),
            ),
            Part::Done => Happened::ActivityTaskCompletedEventAttributes(
                ActivityTaskCompletedEventAttributes::default(),
            ),
            Part::Returned => {
                Happened::ActivityTaskFailedEventAttributes(ActivityTaskFailedEventAttributes {
                    failure: Some(final_failure("the host has no free slot".to_owned())),
                    ..ActivityTaskFailedEventAttributes::default()
                })
            }
            Part::Lost => Happened::ActivityTaskTimedOutEventAttributes(
                ActivityTaskTimedOutEventAttributes::default(),
            ),
            Part::Cancelled => Happened::ActivityTaskCanceledEventAttributes(
                ActivityTaskCanceledEventAttributes::default(),
            ),
        }
    }

    /// Returns a history with these parts, each of which is followed by a task of the workflow.
    fn history(parts: &[Part]) -> Vec<HistoryEvent> {
        let task = || {
            [
                Happened::WorkflowTaskScheduledEventAttributes(
                    WorkflowTaskScheduledEventAttributes::default(),
                ),
                Happened::WorkflowTaskStartedEventAttributes(
                    WorkflowTaskStartedEventAttributes::default(),
                ),
                Happened::WorkflowTaskCompletedEventAttributes(
                    WorkflowTaskCompletedEventAttributes::default(),
                ),
            ]
        };
        let events = parts
            .iter()
            .flat_map(|part| std::iter::once(happened(*part)).chain(task()));
        (1..)
            .zip(events)
            .map(|(event_id, attributes)| HistoryEvent {
                event_id,
                attributes: Some(attributes),
                ..HistoryEvent::default()
            })
            .collect()
    }

    /// Returns a command as a few words.
    fn words(command: Option<Command>) -> String {
        match command.and_then(|command| command.attributes) {
            None => "wait".to_owned(),
            Some(Does::ScheduleActivityTaskCommandAttributes(_)) => "schedule".to_owned(),
            Some(Does::RequestCancelActivityTaskCommandAttributes(of)) => {
                format!("cancel activity {}", of.scheduled_event_id)
            }
            Some(Does::CompleteWorkflowExecutionCommandAttributes(_)) => "complete".to_owned(),
            Some(Does::CancelWorkflowExecutionCommandAttributes(_)) => "cancel".to_owned(),
            Some(Does::FailWorkflowExecutionCommandAttributes(of)) => {
                format!("fail: {}", of.failure.unwrap().message)
            }
            Some(other) => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_workflow_schedules_its_activity_and_ends_as_that_does() {
        use Part::{Begun, Cancel, CancelPassedOn, Cancelled, Done, Lost, Returned};
        use Part::{Scheduled, Start};
        let returned = "fail: the run was returned: the host has no free slot";
        let silent = "fail: the worker that had the run fell silent";
        let cases: &[(&[Part], &str)] = &[
            (&[Start], "schedule"),
            (&[Start, Cancel], "cancel"),
            // something woke it up, such as a signal that a person sent
            (&[Start, Scheduled], "wait"),
            (&[Start, Scheduled, Begun], "wait"),
            (&[Start, Scheduled, Begun, Done], "complete"),
            (&[Start, Scheduled, Begun, Returned], returned),
            (&[Start, Scheduled, Begun, Lost], silent),
            (&[Start, Scheduled, Cancel], "cancel activity 5"),
            (&[Start, Scheduled, Begun, Cancel], "cancel activity 5"),
            (&[Start, Scheduled, Cancel, CancelPassedOn], "wait"),
            (
                &[Start, Scheduled, Cancel, CancelPassedOn, Cancelled],
                "cancel",
            ),
            (
                &[Start, Scheduled, Cancel, CancelPassedOn, Begun, Done],
                "complete",
            ),
            (&[Start, Scheduled, Begun, Cancel, Done], "complete"),
            (&[Start, Scheduled, Begun, Done, Cancel], "complete"),
            (&[Start, Scheduled, Begun, Cancel, Lost], silent),
        ];
        for (parts, expected) in cases {
            let found = words(command_after(RUN, &history(parts)));
            assert_eq!(&found, expected, "{parts:?}");
        }
    }

    #[test]
    fn the_activity_is_that_of_the_run() {
        let command = command_after(RUN, &history(&[Part::Start])).unwrap();
        assert_eq!(
            CommandType::try_from(command.command_type),
            Ok(CommandType::ScheduleActivityTask)
        );
        let Some(Does::ScheduleActivityTaskCommandAttributes(activity)) = command.attributes else {
            panic!("{command:?}");
        };
        assert_eq!(
            activity,
            ScheduleActivityTaskCommandAttributes {
                activity_id: RUN.to_owned(),
                activity_type: Some(ActivityType {
                    name: "symphony.run".to_owned(),
                }),
                task_queue: Some(queue(&Pool::parse("linux").unwrap())),
                input: Some(input_of([TICKET.to_owned()])),
                schedule_to_close_timeout: duration(LONGEST),
                start_to_close_timeout: duration(LONGEST),
                heartbeat_timeout: duration(Duration::from_secs(90)),
                retry_policy: Some(one_attempt()),
                ..ScheduleActivityTaskCommandAttributes::default()
            }
        );
    }

    #[test]
    fn a_workflow_that_is_no_run_fails() {
        let other = r#"{"protocol":1,"run":"018f4b7a-4f00-7000-8000-000000000002"}"#;
        for (parts, expected) in [
            (vec![], UNREADABLE),
            (vec![Part::StartOf("other", TICKET, TERMS)], UNREADABLE),
            (vec![Part::StartOf(NAME, TICKET, "")], UNREADABLE),
            (vec![Part::StartOf(NAME, "hello", TERMS)], "hello"),
            (vec![Part::StartOf(NAME, other, TERMS)], "for another run"),
        ] {
            let found = words(command_after(RUN, &history(&parts)));
            assert!(found.starts_with("fail: "), "{found}");
            assert!(found.contains(expected), "{found}");
        }
    }
}
