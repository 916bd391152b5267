//! Plans, and one with its phases drawn.

use maud::{Markup, html};
use symphony_core::Timestamp;
use symphony_core::id::PlanId;
use symphony_core::plan::state::{PhaseStatus, PlanStatus, abort_branch, retry_phase};
use symphony_runner::session::Session;
use symphony_store::PlanRecord;
use symphony_view::text::compact_duration;
use symphony_view::{PhaseView, PlanView, read};

use super::layout::{Frame, Room, reserved, token};
use super::parts::{inline, pr_link, run_link, when};
use crate::access::Role;
use crate::asked::Asked;
use crate::render::dag::{Graph, Node, dag, list};
use crate::server::{Failure, Turn};

/// Draws the plans.
pub(crate) fn plans(session: &mut Session, turn: &Turn, _asked: &Asked) -> Result<Markup, Failure> {
    let frame = Frame::load(session, turn)?;
    let plans = session.store.plans(Some(&session.project.id))?;
    let main = html! {
        h1 { "Plans" }
        div .scroll tabindex="0" {
            table .list {
                thead { tr { th { "Plan" } th { "Status" } th .r { "Complete" } th { "Begun" } th { "File" } } }
                tbody { @for plan in &plans {
                    tr data-key {
                        td { a href=(format!("/plans/{}", plan.id)) { (plan.id) } }
                        td { (plan.status.words()) }
                        td .r { (plan.complete) " of " (plan.total) }
                        td { (when(plan.started_at, turn.now)) }
                        td .mono { (plan.path) }
                    }
                } }
            }
        }
        @if plans.is_empty() { p .soft { "No plan has been started here: " code { "symphony plan run FILE" } " starts one." } }
    };
    Ok(frame.draw(turn, Room::Plans, "Plans", &main))
}

/// Draws a plan.
pub(crate) fn plan(session: &mut Session, turn: &Turn, asked: &Asked) -> Result<Markup, Failure> {
    let frame = Frame::load(session, turn)?;
    let id = PlanId::parse(&asked.id)
        .map_err(|_malformed| Failure::NotFound(format!("there is no plan `{}`", asked.id)))?;
    let record = session.store.plan(&id)?;
    let view = read::plan(session, &record, turn.now)?;
    let phases = record.document.phases.iter();
    let edges = phases.flat_map(|phase| {
        let to = phase.id.as_str().to_owned();
        let from = phase.dependencies.iter();
        from.map(move |from| (from.as_str().to_owned(), to.clone()))
    });
    let graph = Graph {
        nodes: view
            .phases
            .iter()
            .map(|phase| node(phase, turn.now))
            .collect(),
        edges: edges.collect(),
    };
    let main = html! {
        div .row {
            div { h1 { "Plan " (view.id) } span .tag { (view.status.words()) } " "
                span .soft { (view.completed) " of " (view.total) " phases complete · begun " (when(view.started_at, turn.now)) } }
            span .grow {}
            @if let Some(pr) = &view.pull_request { (pr_link(pr.id)) }
            (plan_orders(&view, turn))
        }
        @for hold in &view.holds { p .notice .warn { (inline(&hold.what)) } }
        @for notice in &view.notices { p .notice .warn { (inline(notice)) } }
        @if let Some(next) = view.next() { p .notice { (inline(&next)) } }
        div .panel .scroll .wide-only tabindex="0" { (dag("Phases and what they wait for", &graph)) }
        div .panel .narrow-only { (list(&graph)) }
        div .panel {
            h2 { "Phases" }
            @for phase in &view.phases {
                details id=(format!("phase-{}", phase.id)) .phase open[phase.status == PhaseStatus::AwaitingDecision] {
                    summary { span class=(class(phase.status)) { (phase.status.words()) } " " b { (phase.title) } " " span .soft { (phase.id) } }
                    p { (inline(&phase.remark(turn.now))) }
                    @if let Some(run) = &phase.run { p { (run_link(run, "Its run")) } }
                    (phase_orders(&record, phase, turn))
                }
            }
        }
    };
    Ok(frame.draw(turn, Room::Plans, &format!("Plan {}", view.id), &main))
}

/// What can be ordered for the plan as a whole.
fn plan_orders(view: &PlanView, turn: &Turn) -> Markup {
    let act = |what: &str| format!("/plans/{}/{what}", view.id);
    let is_over = view.status.is_ended() || view.given_up;
    let can_retry = view.failed > 0 || view.status == PlanStatus::Aborted;
    html! {
        @if turn.may(Role::Reviewer) && !is_over {
            @match view.status {
                PlanStatus::Paused => (button(&act("resume"), None, "Resume", turn)),
                // phases that wait have their own orders; a plan that waits as a whole is offered again
                PlanStatus::AwaitingUserDecision if view.completed == view.total => (button(&act("resume"), None, "Resume", turn)),
                PlanStatus::Running => (button(&act("pause"), None, "Pause", turn)),
                _ => {}
            }
        }
        @if turn.may(Role::Reviewer) && can_retry && !view.given_up { (button(&act("retry"), None, "Retry what failed", turn)) }
        @if turn.may(Role::Admin) && !is_over { (button(&act("abort"), None, "Abort the plan", turn)) }
        @if !is_over { (reserved(turn, "abort")) }
    }
}

/// What can be ordered for a phase, as it is now.
fn phase_orders(record: &PlanRecord, phase: &PhaseView, turn: &Turn) -> Markup {
    let act = |what: &str| format!("/plans/{}/{what}", record.id);
    let id = Some(phase.id.as_str());
    let can_skip = !matches!(phase.status, PhaseStatus::Running | PhaseStatus::Complete);
    let can_abort = abort_branch(&record.state, &phase.id, turn.now).is_ok();
    html! {
        div .row {
            @if turn.may(Role::Reviewer) && retry_phase(&record.state, &phase.id).is_ok() { (button(&act("retry"), id, "Retry", turn)) }
            @if turn.may(Role::Reviewer) && can_skip { (button(&act("skip"), id, "Skip", turn)) }
            @if turn.may(Role::Admin) && can_abort { (button(&act("abort"), id, "Abort, with what depends on it", turn)) }
        }
    }
}

fn button(action: &str, phase: Option<&str>, words: &str, turn: &Turn) -> Markup {
    html! {
        form method="post" action=(action) {
            (token(turn))
            @if let Some(phase) = phase { input type="hidden" name="phase" value=(phase); }
            button .btn { (words) }
        }
    }
}

fn node(phase: &PhaseView, now: Timestamp) -> Node {
    let took = phase.started_at.map(|started| {
        let end = phase.completed_at.unwrap_or(now).as_millisecond();
        let ms = end.saturating_sub(started.as_millisecond());
        compact_duration(u64::try_from(ms).unwrap_or(0))
    });
    let words = phase.status.words();
    Node {
        id: phase.id.to_string(),
        title: phase.title.clone(),
        small: took.map_or_else(|| words.to_owned(), |took| format!("{words} · {took}")),
        class: node_class(phase.status),
        href: Some(format!("#phase-{}", phase.id)),
    }
}

const fn class(status: PhaseStatus) -> &'static str {
    match status {
        PhaseStatus::Complete => "ok",
        PhaseStatus::Running => "info",
        PhaseStatus::Failed | PhaseStatus::Blocked => "bad",
        PhaseStatus::AwaitingDecision | PhaseStatus::Retrying => "warn",
        _ => "soft",
    }
}

const fn node_class(status: PhaseStatus) -> &'static str {
    match status {
        PhaseStatus::Complete => "fin",
        PhaseStatus::Running => "run",
        PhaseStatus::Failed | PhaseStatus::Blocked => "bad",
        PhaseStatus::AwaitingDecision => "ask",
        _ => "wait",
    }
}
