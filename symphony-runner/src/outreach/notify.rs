//! Notifies people of what waits for them, by the configured command: each item once, in a separate process, so that no
//! tick waits for it. A failure is recorded and logged; nothing else depends on it.

use serde::Serialize;
use symphony_core::Timestamp;
use symphony_core::config::Millis;
use symphony_core::inbox::{InboxItem, InboxKind};
use symphony_core::tick::Schedule;
use symphony_mcp::StoreThread;
use symphony_store::{Context, Notification, Store};

use crate::error::RunnerError;
use crate::inbox::inbox;
use crate::installation::Installation;
use crate::output::last_chars;
use crate::outreach::helper::Helper;
use crate::outreach::hook::Hook;
use crate::process::{DetachedSupervisor, Supervision};
use crate::tick::Observed;

/// Time limit of a command for one item.
const LIMIT_MS: u64 = 30_000;
/// Most characters of its last line that are kept if it fails.
const PROBLEM_CHARS_MAX: usize = 300;

/// The command's input, on one line.
#[derive(Debug, Serialize)]
struct Told<'a> {
    version: u32,
    event: &'static str,
    #[serde(flatten)]
    item: &'a InboxItem,
}

/// Queues what is new in the inbox and starts the process that delivers, unless one is running.
///
/// # Errors
/// When the database cannot be read or written, or the process not be started.
pub(crate) fn notify(
    installation: &Installation,
    store: &mut Store,
    observed: &Observed,
    schedule: &Schedule,
    now: Timestamp,
) -> Result<Option<DetachedSupervisor>, RunnerError> {
    let told: Vec<_> = observed
        .projects
        .iter()
        .filter(|(_, (_, config))| config.as_ref().is_some_and(|c| c.notify.is_some()))
        .map(|(id, _)| id)
        .collect();
    if told.is_empty() {
        return Ok(None);
    }
    let items = inbox(store, &observed.snapshot, schedule, now)?;
    for id in told {
        let own: Vec<&InboxItem> = items
            .iter()
            .filter(|item| item.project.as_ref().is_none_or(|project| project == id))
            .collect();
        store.queue_notifications(&Context::system(now), id, &own)?;
    }
    if !store.has_queued_notifications()? {
        return Ok(None);
    }
    Helper::Notify.start(installation)
}

/// Delivers what is queued: the body of the hidden command. Takes the lock from standard input.
///
/// # Errors
/// When the lock was not handed over, or the database cannot be read or written.
pub fn deliver(installation: &Installation) -> Result<(), RunnerError> {
    Helper::Notify.run(installation, async |store, supervision| {
        deliver_all(installation, store, supervision).await
    })
}

async fn deliver_all(
    installation: &Installation,
    store: &StoreThread,
    supervision: &Supervision,
) -> Result<(), RunnerError> {
    loop {
        let context = Context::system(Timestamp::now());
        // Taken before it is sent: a death in between loses this one notice, but no one gets it twice.
        let taken = store
            .call(move |store| store.take_notification(&context))
            .await??;
        let Some(notification) = taken else {
            return Ok(());
        };
        let problem = match send(installation, store, supervision, &notification).await {
            Ok(problem) => problem,
            Err(error) => Some(error.with_causes()),
        };
        if let Some(problem) = &problem {
            tracing::warn!(
                key = notification.item.key,
                problem,
                "a notification failed"
            );
        }
        let context = Context::system(Timestamp::now());
        store
            .call(move |store| {
                store.record_notification(&context, &notification, problem.as_deref())
            })
            .await??;
    }
}

/// Sends one notification; returns what went wrong.
async fn send(
    installation: &Installation,
    store: &StoreThread,
    supervision: &Supervision,
    notification: &Notification,
) -> Result<Option<String>, RunnerError> {
    let id = notification.project.clone();
    let project = store.call(move |store| store.project(&id)).await??;
    let config = installation.project_config(&project)?;
    let Some(line) = &config.notify else {
        return Ok(Some("no command is configured now".to_owned()));
    };
    let limit = Millis::new(LIMIT_MS);
    let hook = Hook {
        installation,
        config: &config,
        line,
        limit,
        directory: &project.root,
        files: installation.state_dir().join("notify"),
        name: "notify",
    };
    let told = Told {
        version: 1,
        event: event_name(notification.item.kind),
        item: &notification.item,
    };
    let outcome = hook.run(supervision, &told).await?;
    Ok((!outcome.passed()).then(|| {
        let last = outcome.output.lines().last().unwrap_or_default();
        let last = last_chars(last, PROBLEM_CHARS_MAX);
        format!("`{line}`: {}: {last}", outcome.how(limit))
    }))
}

const fn event_name(kind: InboxKind) -> &'static str {
    match kind {
        InboxKind::Review => "review_waits",
        InboxKind::Hold => "on_hold",
        _ => "human_needed",
    }
}
