//! Pull requests, and one with its diff, gates and review.

use std::collections::BTreeMap;

use maud::{Markup, html};
use symphony_core::id::PrId;
use symphony_core::pull_request::{PullRequest, VerifiedGate};
use symphony_core::review_point::PointState;
use symphony_runner::session::Session;
use symphony_store::PrFilter;
use symphony_view::text::{compact_duration, plural};
use symphony_view::{PointView, PrView, read};
use symphony_workspace::CommitLine;

use super::forge::forge_rows;
use super::issue::withdraw_button;
use super::layout::{Frame, Room, reserved, token};
use super::parts::{inline, issue_link, plan_link, pr_link, run_link, when};
use crate::access::Role;
use crate::asked::Asked;
use crate::highlight::highlight;
use crate::render::ansi::ansi;
use crate::render::diff::{Diff, DiffPage, Layout, Place, diff, elsewhere, file_id, parse};
use crate::render::markdown::markdown;
use crate::server::{Failure, Turn};

/// Pull requests that the list shows.
const PRS_MAX: u32 = 100;

/// Draws the newest pull requests.
pub(crate) fn pull_requests(
    session: &mut Session,
    turn: &Turn,
    _asked: &Asked,
) -> Result<Markup, Failure> {
    let frame = Frame::load(session, turn)?;
    let filter = PrFilter {
        project: Some(session.project.id.clone()),
        limit: Some(PRS_MAX),
        ..PrFilter::default()
    };
    let prs: Vec<PrView> = session
        .store
        .prs(&filter)?
        .into_iter()
        .map(PrView::from)
        .collect();
    let main = html! {
        h1 { "Pull requests" }
        div .scroll tabindex="0" {
            table .list {
                thead { tr { th { "PR" } th { "For" } th { "Title" } th { "State" } th { "Gates" } th .r { "Change" } th { "Opened" } } }
                tbody { @for pr in &prs {
                    tr data-key {
                        td { (pr_link(pr.id)) }
                        td { (subject(pr)) }
                        td { (pr.title) }
                        td { (pr.state) }
                        td { (pr.gate_summary()) }
                        td .r { span .ok { "+" (pr.insertions) } " " span .bad { "−" (pr.deletions) } }
                        td { (when(pr.created_at, turn.now)) }
                    }
                } }
            }
        }
        @if prs.is_empty() { p .soft { "No pull requests yet: a worker opens one when its change is complete." } }
    };
    Ok(frame.draw(turn, Room::Prs, "Pull requests", &main))
}

fn subject(pr: &PrView) -> Markup {
    html! {
        @if let Some(issue) = &pr.issue { (issue_link(issue)) }
        @if let Some(plan) = &pr.plan { (plan_link(plan)) }
    }
}

/// Finds the pull request of an address.
pub(crate) fn find(session: &Session, id: &str) -> Result<PullRequest, Failure> {
    let number = id.parse::<PrId>();
    let number = number
        .map_err(|_malformed| Failure::NotFound(format!("there is no pull request `{id}`")))?;
    Ok(session.store.pr(number)?)
}

/// Draws a pull request.
pub(crate) fn pull_request(
    session: &mut Session,
    turn: &Turn,
    asked: &Asked,
) -> Result<Markup, Failure> {
    let frame = Frame::load(session, turn)?;
    let stored = find(session, &asked.id)?;
    let mut change = parse(&stored.diff);
    highlight(&mut change);
    let commits = read::commits(session, &stored)?;
    let pr = read::whole_pull_request(session, stored)?;
    let layout = match asked.query("view") {
        Some("split") => Layout::Split,
        _ => Layout::Unified,
    };
    let can_comment = turn.may(Role::Reviewer) && pr.state.is_open();
    let comment_on = asked
        .query("comment")
        .filter(|_| can_comment)
        .and_then(place_of);
    let notes = Notes::of(&pr, comment_on.as_ref(), turn);
    let (below, top) = notes.placed(&elsewhere(&change, notes.0.keys()));
    let address = format!("/prs/{}", pr.id);
    let view = format!("{address}?view={}", name_of(layout));
    let link = |place: &Place| {
        let place: String =
            form_urlencoded::byte_serialize(format!("{}:{}", place.path, place.line).as_bytes())
                .collect();
        format!("{view}&comment={place}#comment")
    };
    let page = DiffPage {
        layout,
        below: &below,
        top: &top,
        comment: if can_comment { Some(&link) } else { None },
    };
    let main = html! {
        (head(&pr, turn))
        div .split {
            div {
                @if !pr.body.is_empty() { div .panel .md { (markdown(&pr.body)) } }
                @if let Some(proposal) = &pr.proposal {
                    div .panel { h2 { "Evidence" } ul { @for evidence in &proposal.evidence { li { (inline(&evidence.line())) } } } }
                }
                @for message in &pr.unread_messages {
                    div .notice .warn {
                        "No agent has read this message: " (message.content)
                        @if turn.may(Role::Reviewer) { (withdraw_button(message, turn)) }
                    }
                }
                @for file in &pr.decisive_files {
                    p .notice .warn { "This file decides what Symphony does once it is merged: " code { (file) } }
                }
                div .row .diffbar {
                    h2 { (plural(pr.files.len(), "file")) ", " span .ok { "+" (pr.insertions) } " " span .bad { "−" (pr.deletions) } }
                    span .grow {}
                    a href=(format!("{address}?view=unified")) aria-current=[(layout == Layout::Unified).then_some("true")] { "Unified" }
                    a href=(format!("{address}?view=split")) aria-current=[(layout == Layout::Split).then_some("true")] { "Split" }
                }
                (diff(&change, &page))
            }
            aside {
                (gates(&pr, turn))
                (verdict(&pr, turn))
                (points(&pr, turn))
                @if can_comment { (decide(&pr, turn)) }
                (files_panel(&change))
                (commits_panel(&commits))
                (facts(&pr, turn))
            }
        }
    };
    let title = format!("PR {} {}", pr.id, pr.title);
    Ok(frame.draw(turn, Room::Prs, &title, &main))
}

/// The files, to go to one of many.
fn files_panel(change: &Diff) -> Markup {
    html! {
        @if change.files.len() > 1 {
            div .panel {
                h2 { "Files" }
                @for file in &change.files { p { a .mono href=(format!("#{}", file_id(&file.path))) { (file.path) } } }
            }
        }
    }
}

fn commits_panel(commits: &[CommitLine]) -> Markup {
    html! {
        @if !commits.is_empty() {
            div .panel {
                h2 { (plural(commits.len(), "commit")) }
                @for commit in commits {
                    p { code { (commit.id.get(..8).unwrap_or(&commit.id)) } " " (commit.subject) " " span .soft { (commit.author) } }
                }
            }
        }
    }
}

const fn name_of(layout: Layout) -> &'static str {
    match layout {
        Layout::Unified => "unified",
        Layout::Split => "split",
    }
}

/// Reads `PATH:LINE`.
fn place_of(text: &str) -> Option<Place> {
    let (path, line) = text.rsplit_once(':')?;
    let line = line.parse().ok()?;
    (!path.is_empty()).then(|| Place {
        path: path.to_owned(),
        line,
    })
}

/// What stands at lines of the diff: the points that are about them, and the form of a new one.
struct Notes(BTreeMap<Place, Vec<Markup>>);

impl Notes {
    fn of(pr: &PrView, comment_on: Option<&Place>, turn: &Turn) -> Self {
        let mut notes: BTreeMap<Place, Vec<Markup>> = BTreeMap::new();
        for point in &pr.points {
            if let (Some(file), Some(lines)) = (&point.file, point.lines) {
                let place = Place {
                    path: file.clone(),
                    line: lines.last(),
                };
                notes
                    .entry(place)
                    .or_default()
                    .push(draw_point(pr, point, turn));
            }
        }
        if let Some(place) = comment_on {
            let form = comment_form(pr, place, turn);
            notes.entry(place.clone()).or_default().push(form);
        }
        Self(notes)
    }

    /// Puts each below its line, or at the top of its file where the diff does not show the line.
    fn placed(&self, elsewhere: &[&Place]) -> (BTreeMap<Place, Markup>, BTreeMap<String, Markup>) {
        let mut below = BTreeMap::new();
        let mut top: BTreeMap<String, Markup> = BTreeMap::new();
        for (place, notes) in &self.0 {
            let drawn = html! { @for note in notes { (note) } };
            if elsewhere.contains(&place) {
                let before = top.remove(&place.path);
                top.insert(
                    place.path.clone(),
                    html! { @if let Some(before) = before { (before) } (drawn) },
                );
            } else {
                below.insert(place.clone(), drawn);
            }
        }
        (below, top)
    }
}

fn comment_form(pr: &PrView, place: &Place, turn: &Turn) -> Markup {
    html! {
        form #comment .stack .point method="post" action=(format!("/prs/{}/reject", pr.id)) {
            (token(turn))
            input type="hidden" name="commit" value=(pr.head_commit);
            input type="hidden" name="file" value=(place.path);
            input type="hidden" name="line" value=(place.line);
            label for="point" { "What has to change at " code { (place.path) ":" (place.line) } }
            textarea #point name="text" rows="3" required autofocus {}
            div .row {
                (severities("point-severity"))
                button .btn .bad { "Reject with this point" }
                a href=(format!("/prs/{}", pr.id)) { "Cancel" }
            }
            p .soft { "The pull request goes back to an agent, which has to answer the point." }
        }
    }
}

fn severities(id: &str) -> Markup {
    html! {
        label for=(id) { "Severity" }
        select id=(id) name="severity" {
            option value="must" selected { "must" }
            option value="should" { "should" }
            option value="note" { "note" }
        }
    }
}

fn draw_point(pr: &PrView, point: &PointView, turn: &Turn) -> Markup {
    let class = if point.state == PointState::Open {
        "point"
    } else {
        "point done"
    };
    html! {
        div class=(class) id=(format!("point-{}", point.number)) {
            p { b { "Point " (point.number) } " · " (point.severity) " · " (point.by()) " · " (point.state)
                @if point.answered { ", answered" } " · " (when(point.created_at, turn.now)) }
            div .md { (markdown(&point.text)) }
            @for answer in &point.answers {
                div .answer {
                    p .soft { b { (answer.by()) } " · " (answer.answer) " · " (when(answer.created_at, turn.now)) }
                    div .md { (markdown(&answer.text)) }
                }
            }
            @if turn.may(Role::Reviewer) { (point_form(pr, point, turn)) }
        }
    }
}

/// The form that replies to a point, closes it or reopens it.
fn point_form(pr: &PrView, point: &PointView, turn: &Turn) -> Markup {
    let act = |what: &str| format!("/prs/{}/{what}", pr.id);
    let is_open = point.state == PointState::Open;
    let id = format!("reply-{}", point.number);
    html! {
        details {
            summary { @if is_open { "Reply or close" } @else { "Reopen" } }
            form .stack method="post" action=(act(if is_open { "reply" } else { "reopen-point" })) {
                (token(turn))
                input type="hidden" name="point" value=(point.number);
                label for=(id) { @if is_open { "Your words" } @else { "What is missing" } }
                textarea id=(id) name="text" rows="2" {}
                div .row {
                    @if is_open {
                        button .btn { "Reply" }
                        button .btn formaction=(act("close-point")) { "Close the point" }
                    } @else { button .btn { "Reopen" } }
                }
            }
        }
    }
}

fn head(pr: &PrView, turn: &Turn) -> Markup {
    html! {
        div .row {
            div {
                h1 { (pr.title) }
                span .id { "PR " (pr.id) } " " (subject(pr)) " " span .tag { (pr.state) } " "
                span .soft { code { (pr.branch) } " → " code { (pr.base) } " · opened " (when(pr.created_at, turn.now)) }
            }
            span .grow {}
            @if pr.state.is_open() && pr.proposal.is_none() && turn.may(Role::Admin) {
                form method="post" action=(format!("/prs/{}/merge", pr.id)) { (token(turn)) input type="hidden" name="commit" value=(pr.head_commit); button .btn .pri { "Merge" } }
            }
            @if pr.state.is_open() && pr.proposal.is_none() { (reserved(turn, "merge")) }
        }
        @if let Some(commit) = &pr.branch_commit {
            p .notice .warn { "The branch has moved to " code { (commit.get(..10).unwrap_or(commit)) } ": gates and verdict are about the commit before." }
        }
    }
}

fn gates(pr: &PrView, turn: &Turn) -> Markup {
    html! {
        div .panel {
            h2 { "Gates" }
            @if let Some(run) = &pr.gates_run { p .info { "Running now: " (run_link(run, "look at their log")) } }
            @match &pr.gates {
                None => p .soft { "They have not run on this commit." },
                Some(gates) => {
                    @if gates.is_empty() { p .soft { "The project has no gates." } }
                    @for gate in gates { (draw_gate(gate)) }
                }
            }
            @if pr.state.is_open() && turn.may(Role::Reviewer) {
                form method="post" action=(format!("/prs/{}/check", pr.id)) { (token(turn)) button .btn { "Run them again" } }
            }
        }
    }
}

fn draw_gate(gate: &VerifiedGate) -> Markup {
    let class = if gate.passed { "ok" } else { "bad" };
    html! {
        details .gate open[!gate.passed] {
            summary {
                span class=(class) { (if gate.passed { "passed" } else { "failed" }) }
                " " b { (gate.name) }
                " " span .soft { (compact_duration(gate.duration_ms))
                    @if gate.cached { ", as before" } @if !gate.required { ", not required" }
                    @if !gate.failed_tries.is_empty() { ", " (gate.failed_tries.len()) " other tries failed" } }
            }
            pre { (ansi(&gate.output)) }
        }
    }
}

fn verdict(pr: &PrView, turn: &Turn) -> Markup {
    html! {
        div .panel {
            h2 { "Verdict" }
            @match &pr.verdict {
                None => p .soft { "None yet." },
                Some(verdict) => {
                    p { b { (verdict.kind) } " by " (verdict.by()) " · " (when(verdict.at, turn.now))
                        @if verdict.commit != pr.head_commit { " " span .warn { "on an earlier commit" } } }
                    div .md { (markdown(&verdict.comment)) }
                }
            }
            @if !pr.checklist.is_empty() {
                h3 { "Acceptance criteria" }
                ul .checklist { @for entry in &pr.checklist { li { (entry.criterion.text) } } }
            }
        }
    }
}

fn points(pr: &PrView, turn: &Turn) -> Markup {
    let elsewhere = pr
        .points
        .iter()
        .filter(|point| point.file.is_none() || point.lines.is_none());
    html! {
        @if !pr.points.is_empty() {
            div .panel {
                h2 { "Review points" }
                @for point in pr.points.iter().filter(|point| point.lines.is_some()) {
                    p { a href=(format!("#point-{}", point.number)) { "Point " (point.number) } " · " (point.severity) " · " (point.state)
                        @if point.answered { ", answered" } }
                }
                @for point in elsewhere { (draw_point(pr, point, turn)) }
            }
        }
    }
}

fn decide(pr: &PrView, turn: &Turn) -> Markup {
    let is_proposal = pr.proposal.is_some();
    html! {
        div .panel {
            h2 { "Your review" }
            @if is_proposal { (confirm_form(pr, turn)) } @else { (approve_form(pr, turn)) }
            form .stack method="post" action=(format!("/prs/{}/reject", pr.id)) {
                (token(turn))
                @if !is_proposal { input type="hidden" name="commit" value=(pr.head_commit); }
                label for="feedback" { @if is_proposal { "What is still missing" } @else { "What has to change" } }
                textarea #feedback name="text" rows="3" required {}
                div .row { (severities("severity")) button .btn .bad { "Reject" } }
                @if !is_proposal { p .soft { "To comment on a line, click its number." } }
            }
        }
    }
}

fn approve_form(pr: &PrView, turn: &Turn) -> Markup {
    html! {
        form .stack method="post" action=(format!("/prs/{}/approve", pr.id)) {
            (token(turn))
            input type="hidden" name="commit" value=(pr.head_commit);
            label for="approval" { "Comment" }
            textarea #approval name="text" rows="2" {}
            @for point in pr.points.iter().filter(|point| point.state == PointState::Open) {
                label .check { input type="checkbox" name="close" value=(point.number); " Close point " (point.number) }
            }
            div { button .btn { "Approve" } }
        }
    }
}

fn confirm_form(pr: &PrView, turn: &Turn) -> Markup {
    html! {
        p { "An agent says that nothing is left to do. If you confirm it, the issue is done." }
        form .stack method="post" action=(format!("/prs/{}/confirm", pr.id)) {
            (token(turn))
            label for="approval" { "Comment" }
            textarea #approval name="text" rows="2" {}
            div { button .btn .pri { "Confirm" } }
        }
    }
}

fn facts(pr: &PrView, turn: &Turn) -> Markup {
    let short = |commit: &str| commit.get(..10).unwrap_or(commit).to_owned();
    html! {
        div .panel {
            h2 { "Change" }
            dl .kv {
                dt { "Head" } dd .mono { (short(&pr.head_commit)) }
                dt { "Base" } dd .mono { (short(&pr.base_commit)) }
                @if let Some(commit) = &pr.merged_commit { dt { "Merged as" } dd .mono { (short(commit)) } }
                @if let Some(forge) = &pr.forge { (forge_rows(forge)) }
                @if let Some(run) = &pr.run { dt { "Opened by" } dd { (run_link(run, "a worker's run")) } }
                dt { "Opened" } dd { (when(pr.created_at, turn.now)) }
            }
        }
    }
}
