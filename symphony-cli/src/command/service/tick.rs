//! `symphony tick --workflow`.

use std::path::Path;

use symphony_core::Timestamp;
use symphony_service::service::{Snapshot, Start};

use super::args::{open, stop_of};
use crate::app::App;
use crate::failure::Exit;

/// Does one step of a file's service.
///
/// # Errors
/// When the file cannot be used, or another service works with it.
pub(crate) fn tick(app: &App, workflow: &Path) -> anyhow::Result<Exit> {
    let mut service = open(app, workflow, Start::Tick)?;
    service.tick().map_err(|error| stop_of(&error))?;
    let snapshot = service
        .snapshot(Timestamp::now())
        .map_err(|error| stop_of(&error))?;
    if app.out.is_json() {
        app.out.document(&snapshot)?;
    } else {
        if !app.out.is_quiet() {
            app.out.write(&summary(&snapshot))?;
        }
        for problem in &snapshot.problems {
            app.out.warn(problem);
        }
    }
    Ok(if snapshot.problems.is_empty() {
        Exit::Done
    } else {
        Exit::Failed
    })
}

fn summary(snapshot: &Snapshot) -> String {
    let mut text = String::new();
    for row in &snapshot.running {
        text.push_str(&format!(
            "{} is at work ({})\n",
            row.issue_identifier, row.state
        ));
    }
    for row in &snapshot.retrying {
        let why = row
            .error
            .as_deref()
            .unwrap_or("its last attempt ended well");
        text.push_str(&format!(
            "{} has its next attempt at {}: {why}\n",
            row.issue_identifier, row.due_at
        ));
    }
    for row in &snapshot.waiting {
        text.push_str(&format!("{} waits: {}\n", row.issue_identifier, row.reason));
    }
    if text.is_empty() {
        text.push_str("Nothing to do: no issue is active.\n");
    }
    text
}
