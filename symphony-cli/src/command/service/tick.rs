//! `symphony tick --workflow`.

use std::path::Path;

use symphony_core::Timestamp;
use symphony_service::service::{Snapshot, Start};
use symphony_view::text::{in_future, one_line};

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
    let mut lines = Vec::new();
    for row in &snapshot.running {
        lines.push(format!(
            "{} is running ({})",
            row.issue_identifier, row.state
        ));
    }
    for row in &snapshot.retrying {
        let why = row.error.as_deref().unwrap_or("its last attempt succeeded");
        let due = in_future(row.due_at, snapshot.generated_at);
        let name = &row.issue_identifier;
        lines.push(format!("{name} has its next attempt {due}: {why}"));
    }
    for row in &snapshot.waiting {
        lines.push(format!("{} waits: {}", row.issue_identifier, row.reason));
    }
    if lines.is_empty() {
        lines.push("Nothing to do: no ticket is active.".to_owned());
    }
    // Identifiers, states and errors are a tracker's words: control characters would write into the terminal.
    lines
        .iter()
        .fold(String::new(), |text, line| text + &one_line(line) + "\n")
}
