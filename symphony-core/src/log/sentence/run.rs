//! Sentences about runs, holds and profiles.

use super::{RunEnd, Subject};
use crate::agent::AgentType;
use crate::failure::ErrorClass;
use crate::run::RunStatus;
use crate::tick::HoldScope;
use crate::wording::counted;

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;
/// Holds longer than this last until someone or something lifts them.
const DAYS_MAX: i64 = 365;

/// Describes how a run ended.
pub(super) fn ended(end: RunEnd, about: &Subject<'_>) -> String {
    let mut text = format!("{} {}{}", about.run(), verb(end.status), about.on_issue());
    let class = end
        .error
        .filter(|class| class.name() != end.status.name())
        .map(ErrorClass::words);
    let reason = match end.status {
        RunStatus::Looping => Some("it repeated itself".to_owned()),
        RunStatus::Tampered => Some("it changed configuration that runs programs".to_owned()),
        _ => class,
    };
    if let Some(reason) = reason {
        text.push_str(": ");
        text.push_str(&reason);
    }
    if let Some(cap) = end.cap {
        text.push_str("; the spending cap of the ");
        text.push_str(cap.name());
        text.push_str(" is reached");
    }
    if end.status != RunStatus::Succeeded && !end.counted && !end.advanced {
        text.push_str(" (uses no attempt)");
    }
    text
}

const fn verb(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Starting | RunStatus::Running => "is running",
        RunStatus::Succeeded => "succeeded",
        RunStatus::Failed => "failed",
        RunStatus::TimedOut => "timed out",
        RunStatus::Stalled => "stalled",
        RunStatus::Crashed => "crashed",
        RunStatus::Looping | RunStatus::Tampered => "was ended",
        RunStatus::Cancelled => "was cancelled",
    }
}

/// Describes what is on hold, for how long and why.
pub(super) fn held(scope: &HoldScope, for_ms: i64, class: ErrorClass, reason: &str) -> String {
    let what = match scope {
        HoldScope::Provider(name) => format!("Runs on {name}"),
        HoldScope::Model { .. } => format!("Runs on {scope}"),
        HoldScope::Project(id) | HoldScope::Gates(id) => format!("Runs of project {id}"),
        HoldScope::Everything => "All runs".to_owned(),
    };
    let how_long = match for_ms {
        ..MINUTE_MS => " for less than a minute".to_owned(),
        MINUTE_MS..HOUR_MS => format!(" for {}", minutes(for_ms / MINUTE_MS)),
        _ if for_ms / HOUR_MS / 24 > DAYS_MAX => String::new(),
        _ => format!(
            " for {}",
            counted(u64::try_from(for_ms / HOUR_MS).unwrap_or(0), "hour")
        ),
    };
    let class = class.words();
    if reason.is_empty() {
        format!("{what} are on hold{how_long}: {class}")
    } else {
        format!("{what} are on hold{how_long}: {class}: {reason}")
    }
}

/// Describes that a hold was lifted, and what showed that its condition is over.
pub(super) fn lifted(scope: Option<&HoldScope>) -> String {
    match scope {
        None => "The hold was lifted: a run reached the provider again".to_owned(),
        Some(scope @ (HoldScope::Provider(_) | HoldScope::Model { .. })) => {
            format!("The hold of {scope} was lifted: a run reached it again")
        }
        Some(HoldScope::Gates(id)) => {
            format!("The hold of project {id} was lifted: its gates pass on the base")
        }
        Some(HoldScope::Project(id)) => format!("The hold of project {id} was lifted"),
        Some(HoldScope::Everything) => {
            "The hold of all runs was lifted: one got through".to_owned()
        }
    }
}

fn minutes(count: i64) -> String {
    counted(u64::try_from(count).unwrap_or(0), "minute")
}

/// Describes what a profile's override contains now.
pub(super) fn overridden(
    agent: &AgentType,
    model: Option<&str>,
    instructions_chars: Option<u64>,
) -> String {
    let parts = [
        model.map(|model| format!("model {model}")),
        instructions_chars.map(|chars| format!("instructions of {}", counted(chars, "character"))),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() {
        format!("The overrides of the profile {agent} were removed")
    } else {
        format!("The profile {agent} was overridden: {}", parts.join(", "))
    }
}
