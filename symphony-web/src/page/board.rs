//! The board.

use maud::{Markup, html};
use symphony_core::Timestamp;
use symphony_core::issue::IssueStatus;
use symphony_runner::session::Session;
use symphony_view::read::{self, BoardFilter};
use symphony_view::{CardView, ColumnView, RunningView};

use super::layout::{Frame, Room};
use super::parts::{inline, pr_link, priority_tag, run_link, status_words, tokens, took, when};
use crate::access::Role;
use crate::asked::Asked;
use crate::server::{Failure, Turn, projects_in_scope, turn_to_project};

/// Draws the board.
pub(crate) fn board(session: &mut Session, turn: &Turn, asked: &Asked) -> Result<Markup, Failure> {
    let served = session.project.id.clone();
    let projects = projects_in_scope(session, turn)?;
    // the whole page is of that project, with its agents at work
    turn_to_project(session, turn, asked.query("project"))?;
    let project = session.project.id.clone();
    let is_served = project == served;
    let may_add = turn.may(Role::Reviewer) && is_served;
    let frame = Frame::load(session, turn)?;
    let filter = BoardFilter {
        label: asked.query("label").map(str::to_owned),
        text: asked.query("text").map(str::to_owned),
    };
    let board = read::board(session, &frame.status, &filter)?;
    // a label keeps the project
    let labels_at = if is_served {
        "/?label=".to_owned()
    } else {
        format!("/?project={}&label=", encoded(project.as_str()))
    };
    let is_empty = board.columns.iter().all(|column| column.total == 0);
    let shown = board
        .columns
        .iter()
        .filter(|column| column.status != IssueStatus::Cancelled || column.total > 0);
    let main = html! {
        div .row {
            h1 { "Board" }
            form .filter role="search" action="/" {
                @if projects.len() > 1 {
                    select name="project" aria-label="Project" {
                        @for one in &projects { option value=(one) selected[*one == project] { (one) } }
                    }
                }
                input type="search" name="text" value=[asked.query("text")] placeholder="Text in title or description"
                    aria-label="Text in title or description";
                input type="search" name="label" value=[asked.query("label")] placeholder="Label" aria-label="Label";
                button .btn { "Filter" }
                @if filter.label.is_some() || filter.text.is_some() || !is_served { a href="/" { "Show all" } }
            }
            span .grow {}
            @if may_add { a .btn .pri href="/issues/new" { "New issue" } }
        }
        @if is_empty {
            div .empty {
                h2 { "The backlog is empty" }
                p { "Describe the work, and agents do it: each issue gets a worker, gates and a judge, and in the end you decide." }
                @if may_add { a .btn .pri href="/issues/new" { "Add the first issue" } }
            }
        } @else {
            div .board {
                @for column in shown { (draw_column(column, turn, &labels_at)) }
            }
        }
    };
    Ok(frame.draw(turn, Room::Board, "Board", &main))
}

fn draw_column(column: &ColumnView, turn: &Turn, labels_at: &str) -> Markup {
    let name = status_words(column.status);
    html! {
        section .col .empty-col[column.cards.is_empty()] aria-label=(name) data-status=(column.status.name()) {
            h2 { span { (name) } span { (column.total) } }
            @for card in &column.cards { (draw_card(card, column.status, turn, labels_at)) }
            @if column.cards.is_empty() { p .none { "None" } }
            @if column.next.is_some() {
                p .none { "More are not shown: filter by text or label." }
            }
        }
    }
}

fn draw_card(card: &CardView, status: IssueStatus, turn: &Turn, labels_at: &str) -> Markup {
    let now = turn.now;
    let draggable = turn.may(Role::Reviewer).then_some("true");
    html! {
        article .card tabindex="-1" draggable=[draggable] data-key=(card.identifier) {
            div .top { span .id { (card.identifier) } (when(card.updated_at, now)) }
            a .t href=(format!("/issues/{}", card.identifier)) { (card.title) }
            div .meta {
                (priority_tag(card.priority))
                @if let Some(phase) = &card.phase { span .tag { (phase) } }
                @for label in card.labels.iter().filter(|label| !label.starts_with("phase:")) {
                    a .tag href=(format!("{labels_at}{}", encoded(label))) { (label) }
                }
                @if let Some(pr) = &card.pull_request {
                    span { (pr_link(pr.id)) " +" (pr.insertions) " −" (pr.deletions) }
                    span { "gates " (pr.gates_text(now)) }
                    span { "verdict: " (pr.verdict_text()) }
                }
                @if let Some(waits) = card.waits.as_ref().filter(|_| status != IssueStatus::Done) {
                    @let class = if card.waits_for_person { "warn" } else { "" };
                    span class=(class) { (inline(waits)) }
                }
            }
            @if let Some(run) = &card.run { (work(run, now)) }
        }
    }
}

fn work(running: &RunningView, now: Timestamp) -> Markup {
    let run = &running.run;
    let cost = run.usage.cost();
    html! {
        div .work {
            (run_link(&run.id, &format!("{} · {}", run.profile, run.provider)))
            " · " (took(run, now)) " · " (tokens(run.usage.tokens())) " tokens"
            @if !cost.is_empty() { " · " (cost) }
            @if let Some(last) = &running.last_event { i { (last) } }
        }
    }
}

fn encoded(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}
