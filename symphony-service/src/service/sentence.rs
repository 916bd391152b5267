//! A line of the log as a person reads it in a terminal: what happened to which ticket, without keys and ids.

use super::log::LogLine;

/// What the log says, under `after`, of an attempt that failed and is followed by another.
pub(super) const AFTER_FAILURE: &str = "failure";
/// What it says of one that went well: the ticket may still be open.
pub(super) const AFTER_SUCCESS: &str = "success";

/// Returns the sentence for a line; lines without one of their own are shown as they are written.
pub(super) fn sentence(line: &LogLine) -> String {
    let value = |key: &str| line.value(key).unwrap_or_default();
    let text = match line.event() {
        "trouble" | "workflow_note" => return value("error").to_owned(),
        "trouble_over" => return format!("Resolved: {}", value("error")),
        "workflow_reloaded" => return format!("{} changed; its new settings apply", value("path")),
        "log_failed" => {
            return format!("Cannot write {}: {}", value("path"), value("error"));
        }
        "service_stopped" => return "Stopped.".to_owned(),
        "worker_started" => started(line),
        "worker_ended" => ended(line),
        "retrying" => retrying(line),
        "ending_worker" => format!("the agent is asked to end, {}", reason(value("reason"))),
        "worker_killed" => "its worker did not end in time and was killed".to_owned(),
        "strays_ended" => format!(
            "processes that its dead worker left were ended: {}",
            value("count")
        ),
        "released" => "it is no longer worked on".to_owned(),
        event => match line.value("message") {
            Some(message)
                if matches!(event, "notification" | "session_started" | "turn_completed") =>
            {
                message.to_owned()
            }
            Some(message) => format!("{} ({message})", event.replace('_', " ")),
            None => event.replace('_', " "),
        },
    };
    match line.value("issue_identifier") {
        Some(identifier) => format!("{identifier}: {text}"),
        None => line.text().to_owned(),
    }
}

fn started(line: &LogLine) -> String {
    match (line.value("task"), line.value("attempt")) {
        (Some("remove"), _) => "its workspace is being removed".to_owned(),
        (Some("after_run"), _) => "the hook after_run is running".to_owned(),
        (_, Some(attempt)) => format!("an agent starts (retry {attempt})"),
        (_, None) => "an agent starts".to_owned(),
    }
}

fn ended(line: &LogLine) -> String {
    let error = line.value("error").unwrap_or("no reason is known");
    match (line.value("task"), line.value("outcome")) {
        (Some("remove"), Some("completed")) => "its workspace is removed".to_owned(),
        (Some("remove"), _) => format!("its workspace stays: {error}"),
        (Some("after_run"), _) => format!("the attempt failed: {error}"),
        (_, Some("completed")) => "the attempt is completed".to_owned(),
        (_, Some("stopped")) if line.value("error").is_none() => "the agent has ended".to_owned(),
        _ => format!("the attempt failed: {error}"),
    }
}

fn retrying(line: &LogLine) -> String {
    let wait = line.value("wait_ms").and_then(|ms| ms.parse::<u64>().ok());
    let when = match wait.map(|ms| ms.div_ceil(1000)) {
        None => "later".to_owned(),
        Some(seconds @ ..120) => format!("in {seconds} s"),
        Some(seconds) => format!("in {} min", seconds.div_ceil(60)),
    };
    match (line.value("error"), line.value("after")) {
        (Some(error), _) if !error.is_empty() => {
            format!("its next attempt starts {when} at the earliest: {error}")
        }
        (_, Some(AFTER_FAILURE)) => format!("another attempt starts {when}"),
        _ => format!("Symphony checks {when} whether its ticket is still open"),
    }
}

fn reason(word: &str) -> &str {
    match word {
        "stop" => "because its ticket has left the active states",
        "clean" => "because its ticket has ended",
        "stall" => "because it was silent for too long",
        "quit" => "because you asked to end all agents",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::{AFTER_FAILURE, AFTER_SUCCESS};
    use crate::service::log::{About, LogLine};

    fn about(line: LogLine) -> LogLine {
        line.about(About {
            id: "i",
            identifier: "ENG-1",
            session: Some("t-u"),
        })
    }

    #[test]
    fn a_person_reads_sentences_without_keys() {
        let info = |event| about(LogLine::info(event));
        for (line, expected) in [
            (
                info("worker_started").with("task", "attempt"),
                "ENG-1: an agent starts",
            ),
            (
                info("worker_started")
                    .with("task", "attempt")
                    .with("attempt", "3"),
                "ENG-1: an agent starts (retry 3)",
            ),
            (
                info("notification").with("message", "hook before_run started"),
                "ENG-1: hook before_run started",
            ),
            (
                info("turn_completed").with("message", "turn 1 completed"),
                "ENG-1: turn 1 completed",
            ),
            (
                info("worker_ended")
                    .with("task", "attempt")
                    .with("outcome", "died")
                    .with("error", "the worker died"),
                "ENG-1: the attempt failed: the worker died",
            ),
            (
                info("worker_ended")
                    .with("task", "attempt")
                    .with("outcome", "stopped"),
                "ENG-1: the agent has ended",
            ),
            (
                info("worker_ended")
                    .with("task", "remove")
                    .with("outcome", "completed"),
                "ENG-1: its workspace is removed",
            ),
            (
                info("retrying")
                    .with("wait_ms", "9800")
                    .with("after", AFTER_FAILURE),
                "ENG-1: another attempt starts in 10 s",
            ),
            (
                info("retrying")
                    .with("wait_ms", "1000")
                    .with("after", AFTER_SUCCESS),
                "ENG-1: Symphony checks in 1 s whether its ticket is still open",
            ),
            (
                info("retrying")
                    .with("wait_ms", "300000")
                    .with("error", "no slot"),
                "ENG-1: its next attempt starts in 5 min at the earliest: no slot",
            ),
            (
                info("ending_worker").with("reason", "clean"),
                "ENG-1: the agent is asked to end, because its ticket has ended",
            ),
            (
                LogLine::warning("trouble")
                    .with("about", "look")
                    .with("error", "disk is full"),
                "disk is full",
            ),
            (
                LogLine::info("trouble_over")
                    .with("about", "look")
                    .with("error", "disk is full"),
                "Resolved: disk is full",
            ),
            (
                LogLine::info("else").with("a", "b c"),
                "level=info event=else a=\"b c\"",
            ),
        ] {
            assert_eq!(line.sentence(), expected);
        }
    }
}
