//! An issue, and the form for a new one.

use maud::{Markup, html};
use symphony_core::id::IssueId;
use symphony_core::issue::{BlockedBy, IssueStatus, Priority, Resolution, Review, allowed_moves};
use symphony_core::review_point::ReviewPoint;
use symphony_runner::order::Ending;
use symphony_runner::session::Session;
use symphony_store::EventFilter;
use symphony_view::{CommentView, ENDED, EventView, IssueDetail, IssueView, WaitView, read};

use super::layout::{Frame, Room, token};
use super::parts::{
    dependents_choice, inline, issue_link, pr_link, priority_tag, runs_table, status_class,
    status_words, when,
};
use crate::access::Role;
use crate::asked::Asked;
use crate::render::markdown::markdown;
use crate::server::{Failure, Turn};

/// Events of an issue that its page shows.
const EVENTS_MAX: u32 = 200;

/// Draws the form for a new issue.
pub(crate) fn new_issue(
    session: &mut Session,
    turn: &Turn,
    _asked: &Asked,
) -> Result<Markup, Failure> {
    turn.check(Role::Reviewer)?;
    let frame = Frame::load(session, turn)?;
    let main = html! {
        h1 { "New issue" }
        form .stack .wide method="post" action="/issues" {
            (token(turn))
            label for="title" { "Title" }
            input #title name="title" required maxlength="200" autofocus autocomplete="off";
            label for="description" { "What should be done, in Markdown" }
            textarea #description name="description" rows="10" {}
            div .row {
                label for="priority" { "Priority" }
                (priorities(Priority::Medium))
                label for="labels" { "Labels, with commas" }
                input #labels name="labels" autocomplete="off";
            }
            label .check { input type="checkbox" name="todo" value="yes" checked; " Start it: agents work on what is in `todo`" }
            div .row { button .btn .pri { "Add" } a href="/" { "Cancel" } }
        }
    };
    Ok(frame.draw(turn, Room::Board, "New issue", &main))
}

fn priorities(chosen: Priority) -> Markup {
    html! {
        select #priority name="priority" {
            @for priority in Priority::ALL {
                option value=(priority.name()) selected[*priority == chosen] { (priority.name()) }
            }
        }
    }
}

/// Draws an issue with everything that belongs to it.
pub(crate) fn issue(session: &mut Session, turn: &Turn, asked: &Asked) -> Result<Markup, Failure> {
    let id = IssueId::parse(&asked.id)
        .map_err(|_malformed| Failure::NotFound(format!("there is no issue `{}`", asked.id)))?;
    let detail = read::issue(session, &id)?;
    let frame = Frame::load(session, turn)?;
    let Frame {
        snapshot,
        elsewhere,
        ..
    } = &frame;
    let explained = read::explain_issue_of(session, snapshot, &id, elsewhere, turn.now)?;
    let waits: Vec<String> = explained.reasons.iter().filter_map(words).collect();
    let stored = session.store.issue(&id)?;
    let review = if session.store.has_open_review(&id)? {
        Review::Open
    } else {
        Review::None
    };
    let moves = allowed_moves(&stored.state, review);
    let chooses = !Ending::cancelled(&id, None)
        .undecided(&session.store)?
        .is_empty();
    let points = session.store.review_points(&id.clone().into())?;
    let filter = EventFilter {
        issue: Some(id),
        limit: Some(EVENTS_MAX),
        ..EventFilter::default()
    };
    let events: Vec<EventView> = session
        .store
        .events(&filter)?
        .into_iter()
        .map(EventView::from)
        .collect();
    let main = html! {
        (head(&detail, turn))
        div .split {
            div {
                div .panel .md {
                    @if detail.issue.description.is_empty() { p .soft { "No description." } }
                    (markdown(&detail.issue.description))
                }
                @if !waits.is_empty() && explained.running.is_none() {
                    div .panel { h2 { "What it waits for" } @for wait in &waits { div .md { (markdown(wait)) } } }
                }
                (documents(&detail, &points, turn))
                (comments(&detail, turn))
                @if !detail.runs.is_empty() { div .panel { h2 { "Runs" } (runs_table(&detail.runs, turn.now)) } }
                div .panel {
                    h2 { "Timeline" }
                    ol .timeline {
                        @for event in events.iter().rev() {
                            li { (when(event.at, turn.now)) " " b { (event.who()) } " " (event.shown()) }
                        }
                    }
                }
            }
            aside {
                (facts(&detail, turn))
                @if turn.may(Role::Reviewer) { (actions(&detail, &moves, chooses, turn)) }
            }
        }
    };
    let title = format!("{} {}", detail.issue.identifier, detail.issue.title);
    Ok(frame.draw(turn, Room::Board, &title, &main))
}

/// Says what an issue waits for; nothing for one that has ended.
fn words(wait: &WaitView) -> Option<String> {
    match wait {
        WaitView::Dispatch(reason) => Some(reason.text.clone()),
        WaitView::Person { reason, .. } if *reason == ENDED => None,
        WaitView::Person { text, .. } => Some(text.clone()),
    }
}

fn head(detail: &IssueDetail, turn: &Turn) -> Markup {
    let issue = &detail.issue;
    html! {
        div .row {
            div {
                h1 { (issue.title) }
                span .id { (issue.identifier) }
                " " span class=(format!("tag {}", status_class(issue.status))) { (status_words(issue.status)) }
                " " (priority_tag(issue.priority))
                @if let Some(phase) = &issue.phase { " " span .tag { (phase) } }
                " " span .soft { "changed " (when(issue.updated_at, turn.now)) }
            }
            span .grow {}
            @if let Some(pr) = detail.pull_requests.iter().find(|pr| pr.state.is_open()) {
                a .btn .pri href=(format!("/prs/{}", pr.id)) { "Review PR " (pr.id) }
            }
        }
        @if let Some(reason) = &issue.blocked_reason {
            p .notice .bad { "Blocked: " (inline(reason)) }
        }
        @for lost in &detail.lost_documents { p .notice .bad { (inline(lost)) } }
        @if let Some(failure) = &detail.last_failure { p .notice .warn { (inline(&failure.text(turn.now))) } }
    }
}

fn facts(detail: &IssueDetail, turn: &Turn) -> Markup {
    let issue = &detail.issue;
    html! {
        div .panel {
            h2 { "Issue" }
            dl .kv {
                dt { "Priority" } dd { (issue.priority.name()) }
                @if let Some(size) = issue.size { dt { "Size" } dd { (size.name()) } }
                @if let Some(agent) = &issue.agent { dt { "Agent" } dd { (agent) } }
                @if let Some(model) = &issue.model { dt { "Model" } dd { (model) } }
                @if !issue.labels.is_empty() { dt { "Labels" } dd { (issue.labels.join(", ")) } }
                @if let Some(parent) = &issue.parent { dt { "Part of" } dd { (issue_link(parent)) } }
                @if !issue.depends_on.is_empty() {
                    dt { "Depends on" } dd { @for id in &issue.depends_on { (issue_link(id)) " " } }
                }
                @if !detail.dependents.is_empty() {
                    dt { "Needed by" } dd { @for id in &detail.dependents { (issue_link(id)) " " } }
                }
                @if !detail.children.is_empty() {
                    dt { "Sub-tasks" } dd { @for id in &detail.children { (issue_link(id)) " " } }
                }
                @for link in &detail.trackers {
                    dt { "On " (link.tracker) }
                    dd {
                        @if let Some(page) = link.page() { a href=(page) rel="noopener noreferrer" { (link.key) } }
                        @else { (link.key) }
                    }
                }
                @for pr in &detail.pull_requests { dt { (pr_link(pr.id)) } dd { (pr.state) } }
                dt { "Runs" } dd { (issue.total_runs) }
                dt { "Created" } dd { (when(issue.created_at, turn.now)) }
            }
        }
    }
}

fn documents(detail: &IssueDetail, points: &[ReviewPoint], turn: &Turn) -> Markup {
    html! {
        @for view in &detail.deliveries {
            @let delivery = &view.delivery;
            div .panel {
                h2 { "Delivery of " (delivery.phase) " · " (view.standing()) " · " (when(delivery.created_at, turn.now)) }
                details open[delivery.awaits_judge()] { summary { "Summary" } div .md { (markdown(&delivery.summary)) } }
                @if delivery.awaits_judge() && turn.may(Role::Reviewer) { (decide(&detail.issue, points, turn)) }
            }
        }
        @if !detail.findings.is_empty() {
            div .panel {
                h2 { "What agents found out" }
                @for finding in &detail.findings {
                    p { span .tag { (finding.kind) } " " (finding.author) " · " (when(finding.created_at, turn.now)) }
                    div .md { (markdown(&finding.text)) }
                }
            }
        }
    }
}

/// The verdict on a delivery that awaits one.
fn decide(issue: &IssueView, points: &[ReviewPoint], turn: &Turn) -> Markup {
    let act = |what: &str| format!("/issues/{}/{what}", issue.identifier);
    html! {
        @for point in points.iter().filter(|point| point.is_open()) {
            p { b { "Point " (point.number) } " · " (point.severity) }
            div .md { (markdown(&point.text)) }
        }
        form .stack method="post" action=(act("approve")) {
            (token(turn))
            label for="approval" { "Comment" }
            textarea #approval name="text" rows="2" {}
            @for point in points.iter().filter(|point| point.is_open()) {
                label .check { input type="checkbox" name="close" value=(point.number); " Close point " (point.number) }
            }
            div { button .btn .pri { "Approve" } }
        }
        form .stack method="post" action=(act("reject")) {
            (token(turn))
            label for="feedback" { "What has to change" }
            textarea #feedback name="text" rows="3" required {}
            input type="hidden" name="severity" value="must";
            div { button .btn .bad { "Reject" } }
        }
    }
}

fn comments(detail: &IssueDetail, turn: &Turn) -> Markup {
    html! {
        div .panel {
            h2 { "Comments" }
            @for comment in &detail.comments {
                article .comment {
                    p .soft { b { (comment.by()) } " · " (when(comment.created_at, turn.now))
                        @if let Some(how) = comment.delivery() { " · " (how) } }
                    @if comment.is_unread() && turn.may(Role::Reviewer) { (withdraw_button(comment, turn)) }
                    div .md { (markdown(&comment.content)) }
                }
            }
            @if turn.may(Role::Reviewer) {
                form .stack method="post" action=(format!("/issues/{}/comment", detail.issue.identifier)) {
                    (token(turn))
                    label for="comment" { "Comment, or message to the agent" }
                    textarea #comment name="text" rows="3" required {}
                    div .row {
                        button .btn { "Comment" }
                        @if !detail.issue.status.is_terminal() {
                            button .btn formaction=(format!("/issues/{}/say", detail.issue.identifier)) { "Send to the agent" }
                        }
                    }
                }
            } @else if detail.comments.is_empty() { p .soft { "None." } }
        }
    }
}

/// Draws the button that withdraws a message.
pub(super) fn withdraw_button(message: &CommentView, turn: &Turn) -> Markup {
    html! {
        form method="post" action=(format!("/messages/{}/withdraw", message.id)) {
            (token(turn))
            button .btn { "Withdraw" }
        }
    }
}

fn actions(detail: &IssueDetail, moves: &[IssueStatus], chooses: bool, turn: &Turn) -> Markup {
    let issue = &detail.issue;
    let act = |what: &str| format!("/issues/{}/{what}", issue.identifier);
    html! {
        div .panel {
            h2 { "Move" }
            form .stack method="post" action=(act("move")) {
                (token(turn))
                div .row {
                    select name="status" aria-label="New status" {
                        @for status in moves { option value=(status.name()) { (status_words(*status)) } }
                    }
                    button .btn { "Move" }
                }
                @if chooses && moves.contains(&IssueStatus::Cancelled) { (dependents_choice("move-dependents")) }
            }
            @if issue.blocked_by == Some(BlockedBy::TakenOver) {
                form method="post" action=(act("release")) { (token(turn)) button .btn { "Give back to agents" } }
            }
            @if issue.consecutive_failures > 0 || issue.status == IssueStatus::Blocked {
                form method="post" action=(act("retry")) { (token(turn)) button .btn { "Retry now" } }
            }
        }
        @if !issue.status.is_terminal() {
            details .panel {
                summary { "Close" }
                form .stack method="post" action=(act("close")) {
                    (token(turn))
                    label for="reason" { "Reason; kept as a comment" }
                    textarea #reason name="reason" rows="2" required {}
                    @if chooses { (dependents_choice("close-dependents")) }
                    div .row {
                        button .btn name="resolution" value=(Resolution::Done.name()) { "Close as done" }
                        button .btn .bad name="resolution" value=(Resolution::Cancelled.name()) { "Close as cancelled" }
                    }
                }
            }
        }
        details .panel {
            summary { "Edit" }
            form .stack method="post" action=(act("edit")) {
                (token(turn))
                label for="edit-title" { "Title" }
                input #edit-title name="title" value=(issue.title) required maxlength="200";
                label for="edit-description" { "Description" }
                textarea #edit-description name="description" rows="8" { (issue.description) }
                label for="priority" { "Priority" }
                (priorities(issue.priority))
                label for="edit-labels" { "Labels, with commas" }
                input #edit-labels name="labels" value=(issue.labels.join(", "));
                label for="depends" { "Depends on, with commas" }
                input #depends name="depends_on" value=(issue.depends_on.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "));
                div { button .btn { "Save" } }
            }
        }
    }
}
