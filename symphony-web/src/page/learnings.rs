//! What agents and people have learned.

use maud::{Markup, html};
use symphony_core::learning::{LearningState, PATTERN_CHARS_MAX};
use symphony_runner::session::Session;
use symphony_store::LearningFilter;
use symphony_view::{MeasuredLearning, read};

use super::layout::{Frame, Room, token};
use super::parts::{issue_link, when};
use crate::access::Role;
use crate::asked::Asked;
use crate::server::{Failure, Turn};

/// Learnings that the page shows.
const LEARNINGS_MAX: u32 = 500;

/// Draws the learnings.
pub(crate) fn learnings(
    session: &mut Session,
    turn: &Turn,
    _asked: &Asked,
) -> Result<Markup, Failure> {
    let frame = Frame::load(session, turn)?;
    let filter = LearningFilter {
        project: Some(session.project.id.clone()),
        states: LearningState::ALL.to_vec(),
        limit: Some(LEARNINGS_MAX),
        ..LearningFilter::default()
    };
    let learnings = read::learnings(session, &filter)?.items;
    let main = html! {
        div .row { h1 { "Learnings" } span .soft { "What agents and people found out; later prompts get what applies to them" } }
        @for learning in &learnings { (draw(learning, turn)) }
        @if learnings.is_empty() { p .soft { "No learnings yet: agents record what they find out about the project." } }
    };
    Ok(frame.draw(turn, Room::Learnings, "Learnings", &main))
}

fn draw(measured: &MeasuredLearning, turn: &Turn) -> Markup {
    let learning = &measured.learning;
    let act = |what: &str| format!("/learnings/{}/{what}", learning.id);
    html! {
        article .item data-key=(learning.id) tabindex="-1" {
            div .top {
                span .tag { (learning.state) }
                @if let Some(kind) = learning.learning_type { span .tag { (kind) } }
                span .soft { "by " (learning.author) " · " (when(learning.created_at, turn.now)) }
                @if let Some(issue) = &learning.issue { (issue_link(issue)) }
            }
            p { (learning.pattern) }
            @if let Some(found) = &measured.usefulness {
                details {
                    summary { "Measured effect" }
                    @for sentence in found.sentences() { p .soft { (sentence) } }
                }
            }
            @if turn.may(Role::Reviewer) {
                details #(format!("edit-{}", learning.id)) {
                    summary { "Edit" }
                    form .stack method="post" action=(act("edit")) {
                        (token(turn))
                        label for=(format!("text-{}", learning.id)) { "Text; later prompts use it" }
                        textarea #(format!("text-{}", learning.id)) name="text" rows="3" maxlength=(PATTERN_CHARS_MAX) required { (learning.pattern) }
                        div { button .btn { "Save" } }
                    }
                }
            }
            div .row {
                @for place in &learning.applies_to { code { (place) } }
                span .grow {}
                @if turn.may(Role::Reviewer) {
                    @if learning.retired {
                        form method="post" action=(act("restore")) { (token(turn)) button .btn { "Restore" } }
                    } @else {
                        form method="post" action=(act("retire")) { (token(turn)) button .btn { "Retire" } }
                    }
                }
            }
        }
    }
}
