//! Runs, and one run with its log.

use maud::{Markup, html};
use symphony_core::message::{Addressee, Reach};
use symphony_core::run::Run;
use symphony_runner::session::Session;
use symphony_store::RunFilter;
use symphony_view::RunView;
use symphony_view::text::compact_duration;

use super::layout::{Frame, Room, reserved, token};
use super::parts::{run_class, runs_table, short, subject, tokens, took, when};
use super::prompt::prompt_panel;
use crate::access::Role;
use crate::asked::Asked;
use crate::live::{LogPart, lines_before, lines_from, tail_of};
use crate::server::{Failure, Turn};

/// Runs that the list shows.
const RUNS_MAX: u32 = 100;

/// Draws the newest runs.
pub(crate) fn runs(session: &mut Session, turn: &Turn, _asked: &Asked) -> Result<Markup, Failure> {
    let frame = Frame::load(session, turn)?;
    let filter = RunFilter {
        project: Some(session.project.id.clone()),
        limit: Some(RUNS_MAX),
        ..RunFilter::default()
    };
    let runs: Vec<RunView> = session
        .store
        .runs(&filter)?
        .into_iter()
        .map(RunView::from)
        .collect();
    let main = html! {
        h1 { "Runs" }
        (runs_table(&runs, turn.now))
    };
    Ok(frame.draw(turn, Room::Runs, "Runs", &main))
}

/// Draws a run.
pub(crate) fn run(session: &mut Session, turn: &Turn, asked: &Asked) -> Result<Markup, Failure> {
    let frame = Frame::load(session, turn)?;
    let stored = session.store.find_run(&asked.id)?;
    let prompts = prompt_panel(session, &stored)?;
    let log = tail_of(session, &stored)?;
    let message = message_box(&stored, turn);
    let run = RunView::from(stored);
    let is_live = run.status.is_live();
    let main = html! {
        div .row {
            div {
                h1 { (run.profile) " · " (subject(&run)) }
                span .id { (short(&run.id)) }
                " " span class=(format!("tag {}", run_class(run.status))) { (run.status) }
                " " span .soft { "attempt " (run.attempt) " · started " (when(run.started_at, turn.now)) }
            }
            span .grow {}
            @if is_live && turn.may(Role::Admin) {
                form method="post" action=(format!("/runs/{}/cancel", run.id)) { (token(turn)) button .btn .bad { "Cancel the run" } }
            }
            @if is_live { (reserved(turn, "cancel the run")) }
            a .btn href=(format!("/runs/{}/log", run.id)) { "Raw log" }
        }
        @if let Some(error) = &run.error { p .notice .bad { (error.class) ": " (error.message) } }
        div .split {
            div { (log_panel(&run, &log, turn)) (message) }
            aside { (facts(&run, turn)) (prompts) }
        }
    };
    let title = format!("{} {}", run.profile, run.subject());
    Ok(frame.draw(turn, Room::Runs, &title, &main))
}

/// Draws the lines of a run's log before an offset, for whoever reads back, or from one on, for whoever has a link to a line.
pub(crate) fn run_lines(
    session: &mut Session,
    turn: &Turn,
    asked: &Asked,
) -> Result<Markup, Failure> {
    let frame = Frame::load(session, turn)?;
    let stored = session.store.find_run(&asked.id)?;
    let offset = |name| asked.query(name).and_then(|offset| offset.parse().ok());
    let log = match (offset("before"), offset("at")) {
        (Some(before), _) => lines_before(session, &stored, before)?,
        (None, Some(at)) => lines_from(session, &stored, at)?,
        (None, None) => {
            let missing = "`before` or `at` must be an offset in the log";
            return Err(Failure::Wrong(missing.to_owned()));
        }
    };
    let run = RunView::from(stored);
    let main = html! {
        h1 { "Log of " (subject(&run)) }
        p { a href=(format!("/runs/{}", run.id)) { "Back to the end of the log" } }
        (older(&run, &log))
        div #log .log role="log" aria-label="Log" tabindex="0" data-run=(run.id) { @for line in &log.lines { (line) } }
    };
    Ok(frame.draw(turn, Room::Runs, "Log", &main))
}

fn older(run: &RunView, log: &LogPart) -> Markup {
    html! {
        @if log.start > 0 {
            p .older { a href=(format!("/runs/{}/lines?before={}", run.id, log.start)) data-older { "Show earlier lines" } }
        }
    }
}

fn log_panel(run: &RunView, log: &LogPart, turn: &Turn) -> Markup {
    html! {
        div .logbar {
            span .soft { "Log" }
            button .btn .js data-next-error hidden { "Next error" }
            label .js hidden { input type="checkbox" data-follow checked; " Follow" }
        }
        (older(run, log))
        div #log .log role="log" aria-label="Log" tabindex="0" data-run=(run.id) data-next=(log.next)
            data-live=[run.status.is_live().then_some("")] {
            @for line in &log.lines { (line) }
            @if log.lines.is_empty() {
                p .soft .none { @if run.status.is_live() { "Nothing yet." } @else { "This run has no log." } }
            }
        }
        @if run.status.is_live() { p .soft { "As of " (when(turn.now, turn.now)) "; new lines appear by themselves." } }
    }
}

/// Draws the box for a message to the agent; nothing for a run that takes none.
fn message_box(run: &Run, turn: &Turn) -> Markup {
    let Ok((issue, addressee)) = Addressee::of(run) else {
        return Markup::default();
    };
    let who = match addressee {
        Addressee::Author => "agent",
        Addressee::Judge => "judge",
    };
    let when = match Reach::of(Some(run)) {
        Reach::AtWork => "it reads the message while it works",
        Reach::AfterTurn => "it reads the message when its turn ends",
        Reach::NextRun => "the next run begins with the message",
    };
    html! {
        @if turn.may(Role::Reviewer) {
            form .panel .stack method="post" action=(format!("/runs/{}/say", run.id)) {
                (token(turn))
                label for="message" { "Message to the " (who) " on " (issue) "; " (when) }
                textarea #message name="text" rows="3" required {}
                div { button .btn { "Send" } }
            }
        }
    }
}

fn facts(run: &RunView, turn: &Turn) -> Markup {
    html! {
        div .panel {
            h2 { "Run" }
            dl .kv {
                dt { "Agent" } dd { (run.provider_in_words()) }
                @if let Some(model) = run.model_in_words() { dt { "Model" } dd { (model) } }
                dt { "Time" } dd { (took(run, turn.now)) }
                dt { "Turns" } dd { (run.usage.turns) }
                dt { "Tokens" } dd title=(format!("{} in, {} out, {} read from the cache, {} written to it{}", run.usage.input_tokens,
                    run.usage.output_tokens, run.usage.cache_read_tokens, run.usage.cache_creation_tokens, run.counted_by())) { (tokens(run.usage.tokens())) }
                @if !run.usage.cost().is_empty() { dt { "Cost" } dd { (run.usage.cost()) } }
                @if let Some(branch) = &run.branch { dt { "Branch" } dd .mono { (branch) } }
                @if let Some(code) = run.exit_code { dt { "Exit code" } dd { (code) } }
                dt { "Protection" } dd { (run.protection) }
                @if let Some(sandbox) = &run.sandbox { dt { "Sandbox" } dd { (sandbox) } }
                @if let Some(ms) = run.duration_ms { dt { "Took" } dd { (compact_duration(ms)) } }
            }
        }
    }
}
