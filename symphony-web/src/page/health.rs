//! Whether everything works: holds, slots, ticks, and what `doctor` finds.

use maud::{Markup, html};
use symphony_runner::session::Session;
use symphony_view::text::plural;

use super::layout::{Frame, Room, reserved, token};
use super::parts::{inline, subject, when};
use crate::access::Role;
use crate::asked::Asked;
use crate::render::time::until;
use crate::server::{Check, Checkup, Failure, Turn};

/// Draws the state of the installation.
pub(crate) fn health(
    session: &mut Session,
    turn: &Turn,
    _asked: &Asked,
) -> Result<Markup, Failure> {
    let frame = Frame::load(session, turn)?;
    let status = &frame.status;
    let main = html! {
        div .row {
            h1 { "Health" }
            span .grow {}
            @if turn.may(Role::Admin) { (orders(status.paused, turn)) }
            (reserved(turn, "pause and resume"))
        }
        div .columns {
            div .panel {
                h2 { "Loop" }
                dl .kv {
                    dt { "State" } dd { @if status.paused { span .warn { "paused" } } @else { span .ok { "agents are started" } } }
                    dt { "Last tick" } dd { @match status.last_tick_at { Some(at) => (when(at, turn.now)), None => span .warn { "never" } } }
                    dt { "Slots" } dd { (status.slots_taken) " of " (status.slots) " taken" }
                    @if let Some(due) = status.today.next_due_at { dt { "Next due" } dd { (until(due, turn.now)) } }
                }
                @if let Some(stuck) = &status.stuck_tick { p .notice .bad { (stuck.text()) } }
            }
            div .panel {
                h2 { "Running now" }
                @for running in &status.running { p { (subject(&running.run)) " " (running.run.profile) } }
                @if status.running.is_empty() { p .soft { "No run." } }
            }
        }
        div .panel {
            h2 { "Holds" }
            @for hold in &status.holds { p .notice .warn { (hold.what) @if let Some(until) = hold.until { " · until " (until) } } }
            @if status.holds.is_empty() { p .soft { "Nothing is on hold." } }
        }
        (checkup(turn))
    };
    Ok(frame.draw(turn, Room::Health, "Health", &main))
}

fn orders(is_paused: bool, turn: &Turn) -> Markup {
    html! {
        @if is_paused {
            form method="post" action="/resume" { (token(turn)) button .btn .pri { "Resume" } }
        } @else {
            form method="post" action="/pause" { (token(turn)) button .btn { "Pause" } }
        }
    }
}

/// Draws what `doctor` found when it ran last: what is wrong first, in its words.
fn checkup(turn: &Turn) -> Markup {
    let last = turn.site.checkups.last();
    let again = if last.is_some() {
        "Check again"
    } else {
        "Check now"
    };
    html! {
        div .panel #setup {
            div .row {
                h2 { "Setup and database" }
                @if let Some(kept) = &last { span .soft { "checked " (when(kept.at, turn.now)) } }
                span .grow {}
                @if turn.may(Role::Reviewer) {
                    form method="post" action="/health/check" { (token(turn)) button .btn { (again) } }
                }
            }
            @match &last {
                Some(kept) => (found(&kept.found)),
                None => p .soft { "Not checked since the server started. A check takes a few seconds and does the same as " code { "symphony doctor" } " and "
                    code { "symphony doctor --audit" } "." },
            }
        }
    }
}

fn found(found: &Checkup) -> Markup {
    let is_fine = |check: &&Check| matches!(check.status.as_str(), "ok" | "absent");
    let (fine, wrong): (Vec<&Check>, Vec<&Check>) = found.checks.iter().partition(is_fine);
    html! {
        @if wrong.is_empty() && found.findings.is_empty() { p .ok { "Nothing is wrong." } }
        @if !wrong.is_empty() { ul .checks { @for check in wrong { (draw_check(check)) } } }
        @if !found.findings.is_empty() {
            h3 { "Audit" }
            ul .checks {
                @for finding in &found.findings {
                    li {
                        span .tag .bad { (finding.invariant) } " " b { (inline(&finding.subject)) } ": " (inline(&finding.detail))
                        p .soft { "expected: " (inline(&finding.statement)) }
                    }
                }
            }
        }
        @if !fine.is_empty() {
            details #fine-checks {
                summary { (plural(fine.len(), "check")) " without a problem" }
                ul .checks { @for check in fine { (draw_check(check)) } }
            }
        }
    }
}

fn draw_check(check: &Check) -> Markup {
    let class = match check.status.as_str() {
        "ok" => "ok",
        "warning" => "warn",
        "failed" => "bad",
        _ => "",
    };
    html! {
        li {
            span class=(format!("tag {class}")) { (check.status) } " " b { (check.check) } ": " (inline(&check.detail))
            @if !check.fix.is_empty() { p .soft { "fix: " (inline(&check.fix)) } }
        }
    }
}
