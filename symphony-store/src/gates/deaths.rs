//! Pull requests whose gates keep killing their supervisor. They are tried again a few times, then their issue stops.

use symphony_core::consequence::consequences_of_run_end;
use symphony_core::failure::ErrorClass;
use symphony_core::gates::{GATE_DEATHS_MAX, deadly_gates_text};
use symphony_core::issue::{Issue, IssueEvent, IssueStatus};
use symphony_core::outcome::Routing;
use symphony_core::pull_request::{PullRequest, VerifiedGate, VerifiedGates};
use symphony_core::run::{Run, RunStatus};

use crate::database::context::Context;
use crate::db::{Connection, Transaction, params};
use crate::error::StoreError;
use crate::gates::delay::forget_delay;
use crate::gates::record::record_gates;
use crate::issue::cascade::{carry_out, load_facts, mover, refused};

/// Stops an issue whose gates keep killing their supervisor, and returns whether it did. There is no output that would
/// show an agent what is wrong, and each try ends the same way.
pub(crate) fn stop_deadly(
    tx: &Transaction<'_>,
    context: &Context,
    run: &Run,
    pr: &PullRequest,
    issue: &Issue,
    running: &[String],
) -> Result<bool, StoreError> {
    // A new head, or a person who requests the gates again, starts the count over.
    let before = deaths_before(tx, pr, run)?.min(pr.gates_wait.tries);
    let Some(reason) = deadly_gates_text(before.saturating_add(1), running) else {
        return Ok(false);
    };
    if issue.state.status() != IssueStatus::Review || !pr.state.is_open() {
        return Ok(false);
    }
    forget_delay(tx, pr.id)?;
    let routing = Routing {
        status: RunStatus::Crashed,
        error: None,
        advance: None,
        event: Some(IssueEvent::GatesStopped { reason }),
        counts: issue.counts,
        retry: None,
        comment: None,
    };
    let facts = load_facts(tx, &issue.id)?;
    let effects = consequences_of_run_end(&facts, run, &routing, mover(context))
        .map_err(|source| refused(&issue.id, source))?;
    carry_out(tx, context, &issue.id, &effects)?;
    Ok(true)
}

/// Stops the gates of a plan's pull request that keep killing their supervisor, and returns whether it did. They are
/// recorded as red on its head, where a person finds failed gates. They run again when a person asks for it or the head
/// moves.
pub(crate) fn stop_deadly_of_plan(
    tx: &Transaction<'_>,
    context: &Context,
    run: &Run,
    pr: &PullRequest,
    running: &[String],
) -> Result<bool, StoreError> {
    let before = deaths_before(tx, pr, run)?.min(pr.gates_wait.tries);
    let Some(reason) = deadly_gates_text(before.saturating_add(1), running) else {
        return Ok(false);
    };
    if !pr.state.is_open() {
        return Ok(false);
    }
    let results = running.iter().map(|name| VerifiedGate {
        name: name.clone(),
        // Whether or not the failure of this gate counts, no other gate of the same run gets a result.
        required: true,
        passed: false,
        exit_code: None,
        duration_ms: 0,
        output: reason.clone(),
        cached: false,
        definition: None,
        failed_tries: Vec::new(),
    });
    let gates = VerifiedGates {
        commit: pr.head_commit.clone(),
        results: results.collect(),
        merged_with: None,
    };
    record_gates(tx, context, pr, &gates)?;
    Ok(true)
}

/// Counts how many runs of a pull request's gates in a row before this one ended because their supervisor died.
fn deaths_before(conn: &Connection, pr: &PullRequest, run: &Run) -> Result<u32, StoreError> {
    let mut statement = conn.prepare_cached(
        "SELECT error_class FROM run WHERE pull_request = ?1 AND agent = 'gates' AND ended_at IS NOT NULL AND id <> ?2
         ORDER BY fence DESC LIMIT ?3",
    )?;
    let mut rows = statement.query(params![pr.id.get(), run.id.as_str(), GATE_DEATHS_MAX])?;
    let mut count = 0;
    while let Some(row) = &rows.next()? {
        let class: Option<String> = row.get(0)?;
        if class.as_deref() != Some(ErrorClass::Crashed.name()) {
            break;
        }
        count += 1;
    }
    Ok(count)
}
