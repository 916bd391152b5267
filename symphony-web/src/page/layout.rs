//! What every page has around it: where one is, what is at work, what waits.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use symphony_core::tick::Snapshot;
use symphony_runner::session::Session;
use symphony_runner::tick::observe_with_phases;
use symphony_view::{Elsewhere, StatusView, read};

use super::keys::keys;
use super::parts::{inline, money};
use crate::access::Role;
use crate::assets::{ICON, SCRIPT, STYLE};
use crate::live::newest_event;
use crate::server::{Failure, Turn};

/// A room of the site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Room {
    Board,
    Inbox,
    Runs,
    Prs,
    Plans,
    Learnings,
    Spending,
    Health,
}

const ROOMS: [(Room, &str, &str); 8] = [
    (Room::Board, "/", "Board"),
    (Room::Inbox, "/inbox", "Inbox"),
    (Room::Runs, "/runs", "Runs"),
    (Room::Prs, "/prs", "Pull requests"),
    (Room::Plans, "/plans", "Plans"),
    (Room::Learnings, "/learnings", "Learnings"),
    (Room::Spending, "/spending", "Spending"),
    (Room::Health, "/health", "Health"),
];

/// What a page is drawn with.
#[derive(Debug)]
pub(super) struct Frame {
    /// What was observed: pages look once.
    pub(super) snapshot: Snapshot,
    /// Whose commands are offered with a folder.
    pub(super) elsewhere: Elsewhere,
    pub(super) status: StatusView,
    message: Option<String>,
    /// The newest event that the page knows of.
    event: i64,
}

impl Frame {
    /// Reads it.
    pub(super) fn load(session: &mut Session, turn: &Turn) -> Result<Self, Failure> {
        let elsewhere = Elsewhere::load(Some(&session.project.root), &session.store)?;
        // before anything is read: what happens meanwhile is news
        let event = newest_event(session).unwrap_or_default();
        let snapshot = observe_with_phases(&session.installation, &mut session.store, turn.now)?;
        Ok(Self {
            event,
            status: read::status_of(session, &snapshot, &elsewhere, turn.now)?,
            snapshot,
            elsewhere,
            // What a refresh shows can be thrown away at once, by the page that the order leads to: the sentence is for that one.
            message: (!turn.is_refresh)
                .then(|| turn.site.take_message(&turn.visitor, &turn.page))
                .flatten(),
        })
    }

    /// Draws a page.
    pub(super) fn draw(&self, turn: &Turn, room: Room, title: &str, main: &Markup) -> Markup {
        let status = &self.status;
        let waiting = status.waiting.len();
        let body = html! {
            a .skip href="#main" { "Skip to content" }
            header {
                a .brand href="/" { img src=(ICON) alt="" width="20" height="20"; " Symphony" }
                nav aria-label="Main" {
                    @for (one, href, name) in ROOMS {
                        a href=(href) aria-current=[(one == room).then_some("page")] {
                            (name)
                            @if one == Room::Inbox && waiting > 0 {
                                " " span .n { (waiting) span .hidden { " waiting" } }
                            }
                        }
                    }
                }
                div .live {
                    span { span class=(if status.running.is_empty() { "dot" } else { "dot on" }) {}
                        (status.slots_taken) " of " (status.slots) " agents at work" }
                    @if status.paused { span .warn { "paused" } }
                    span { (money(status.today.spent_today.cost_usd)) " today" }
                    (signed_in(turn))
                    form method="post" action="/sign-out" { (token(turn)) button .link { "Sign out" } }
                }
            }
            main #main data-live=(room_name(room)) data-event=(self.event) {
                @if let Some(message) = &self.message { p .notice role="status" { (message) } }
                @if let Some(problem) = &status.problem {
                    p .notice .bad role="alert" { "Nothing starts: " (inline(problem)) }
                }
                (limits(turn))
                (main)
            }
            (keys())
        };
        document(&format!("{title} · {}", status.project), &body)
    }
}

/// Says who is signed in. Whoever serves the page has no name.
fn signed_in(turn: &Turn) -> Markup {
    let role = turn.visitor.role;
    html! {
        @match &turn.visitor.user {
            Some(user) => span title="signed in as" { b { (user) } " (" (role) ")" },
            None => span title="signed in by a link" { (role) },
        }
    }
}

/// Says why nothing is offered, to a visitor who may only look.
fn limits(turn: &Turn) -> Markup {
    html! {
        @if turn.site.access.is_read_only {
            p .soft { "This page was started with --read-only: it shows everything and changes nothing." }
        } @else if !turn.may(Role::Reviewer) {
            p .soft { "You are a viewer: you can read everything. To comment and decide, you need the role reviewer." }
        }
    }
}

/// Says who may give an order that is not offered, to a visitor who may do other things.
pub(super) fn reserved(turn: &Turn, what: &str) -> Markup {
    html! {
        @if turn.may(Role::Reviewer) && !turn.may(Role::Admin) { span .soft { "Only an admin can " (what) "." } }
    }
}

const fn room_name(room: Room) -> &'static str {
    match room {
        Room::Board => "board",
        Room::Inbox => "inbox",
        Room::Runs => "runs",
        Room::Prs => "prs",
        Room::Plans => "plans",
        Room::Learnings => "learnings",
        Room::Spending => "spending",
        Room::Health => "health",
    }
}

/// The hidden field that proves that a form is of a page of this session.
pub(super) fn token(turn: &Turn) -> Markup {
    html! { input type="hidden" name=(crate::server::FORM_TOKEN_FIELD) value=(turn.form_token()); }
}

/// A page without navigation, for whoever is not signed in.
pub(crate) fn bare(title: &str, main: &Markup) -> Markup {
    document(title, &html! { main #main .bare { (main) } })
}

fn document(title: &str, body: &Markup) -> Markup {
    without_controls(html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · Symphony" }
                link rel="icon" href=(ICON) type="image/svg+xml";
                link rel="stylesheet" href=(STYLE);
                script src=(SCRIPT) defer {}
            }
            body { (body) }
        }
    })
}

/// Takes the control characters out that somebody wrote into a title or a comment: no page needs them, and a terminal that shows the
/// page's source would obey them.
fn without_controls(page: Markup) -> Markup {
    let is_control = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if !page.0.contains(is_control) {
        return page;
    }
    PreEscaped(page.0.chars().filter(|c| !is_control(*c)).collect())
}
