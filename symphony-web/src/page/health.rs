//! Whether everything works: holds, slots, ticks.

use maud::{Markup, html};
use symphony_runner::session::Session;

use super::layout::{Frame, Room, reserved, token};
use super::parts::{subject, when};
use crate::access::Role;
use crate::render::time::until;
use crate::routes::Asked;
use crate::server::{Failure, Turn};

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
        div .panel {
            h2 { "More" }
            p { "The whole check of the setup and of the database:" }
            pre { "symphony doctor\nsymphony doctor --audit" }
        }
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
