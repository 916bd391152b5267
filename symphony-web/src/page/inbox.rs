//! What waits for a person.

use maud::{Markup, html};
use symphony_core::inbox::InboxItem;
use symphony_runner::session::Session;
use symphony_view::text::Clock;
use symphony_view::{InboxView, OpenPrView, read};

use super::layout::{Frame, Room, token};
use super::parts::{inline, when};
use crate::access::Role;
use crate::asked::Asked;
use crate::server::{Failure, Turn, is_in_scope};

/// Draws the inbox of the installation.
pub(crate) fn inbox(session: &mut Session, turn: &Turn, _asked: &Asked) -> Result<Markup, Failure> {
    let frame = Frame::load(session, turn)?;
    let mut items = read::inbox_of(session, &frame.snapshot, &frame.elsewhere, turn.now)?;
    items.retain(|view| is_in_scope(session, turn, view.item.project.as_ref()));
    let clock = Clock::system();
    let main = html! {
        div .row { h1 { "Inbox" } span .soft { "Everything that waits for a person, oldest first" } }
        @if items.is_empty() {
            div .empty { h2 { "Nothing is waiting for you" } p { "Agents continue on their own." } }
        }
        @for view in &items { (draw(view, &frame, &clock, turn)) }
    };
    Ok(frame.draw(turn, Room::Inbox, "Inbox", &main))
}

fn draw(view: &InboxView, frame: &Frame, clock: &Clock, turn: &Turn) -> Markup {
    let item = &view.item;
    let (href, name) = target(item, &frame.status.pull_requests);
    html! {
        article .item data-key=(item.key) tabindex="-1" {
            div .top { span .tag { (item.kind.words()) } (when(item.since, turn.now)) }
            h2 { (inline(&view.subject())) }
            p { (inline(&view.text(clock))) }
            div .row {
                @if let Some(href) = href { a .btn .pri href=(href) { (name) } }
                @if let Some(number) = item.key.strip_prefix("notice:").filter(|_| turn.may(Role::Admin)) {
                    form method="post" action=(format!("/notices/{number}/dismiss")) { (token(turn)) button .btn { "Dismiss" } }
                }
                @if !item.answers.is_empty() {
                    details {
                        summary { "In a terminal" }
                        @for answer in &item.answers { pre { (answer) } }
                    }
                }
            }
        }
    }
}

/// Where an item is decided: at the pull request if there is one, else at its issue.
fn target(item: &InboxItem, open: &[OpenPrView]) -> (Option<String>, &'static str) {
    let plan = item
        .key
        .strip_prefix("plan:")
        .and_then(|rest| rest.split(':').next());
    let Some(issue) = &item.issue else {
        return match plan {
            Some(plan) => (Some(format!("/plans/{plan}")), "Open the plan"),
            None => (Some("/health".to_owned()), "Look at it"),
        };
    };
    match open.iter().find(|pr| pr.issue.as_ref() == Some(issue)) {
        Some(pr) => (Some(format!("/prs/{}", pr.id)), "Review"),
        None => (Some(format!("/issues/{issue}")), "Open the issue"),
    }
}
