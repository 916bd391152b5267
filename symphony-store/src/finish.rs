//! The end of a run, in one transaction: outcome routed, gates bound to their commit, retry made, fence retired.

use rusqlite::{Transaction, params};
use serde_json::Value;
use symphony_core::consequence::{claim_at_end, consequences_of_run_end};
use symphony_core::contract::PhaseClaim;
use symphony_core::id::{IssueId, RunId};
use symphony_core::issue::{FindingKind, Issue, NextPhase};
use symphony_core::log::LogEvent;
use symphony_core::outcome::{
    Evidence, FailureLimits, ProjectRouting, RunEnd, reached_provider, route_run_end,
};
use symphony_core::pull_request::{PrState, PullRequest, Verdict, VerdictKind, VerifiedGates};
use symphony_core::run::{ProtectionLevel, Run, RunError, RunStatus, RunTarget, Usage};
use symphony_core::spending::CapReached;

use crate::cascade::{carry_out, load_facts, mover, refused};
use crate::context::Context;
use crate::error::StoreError;
use crate::event::{About, append};
use crate::hold::{NewHold, clear_canary, lift_probed, place};
use crate::issue_query::load_issue;
use crate::note::{NewFinding, add_finding_in};
use crate::open::Store;
use crate::phase_claim_query::load_claim;
use crate::plan_run::{PhaseFinish, end_phase, phase_run_status};
use crate::project_run::{end_intake, end_wizard, route_project};
use crate::pull_request::{write_gates, write_verdict};
use crate::pull_request_query::{load_open_pr, load_pr};
use crate::review_write::set_pr_state;
use crate::row::to_json;
use crate::run::{load_run, write_usage};

/// Characters of a red gate's output that go into the finding: the end tells what failed.
const GATE_FINDING_CHARS_MAX: usize = 8_000;

/// What exit handling found out about a run.
#[derive(Debug, Clone)]
pub struct RunFinish {
    /// The run.
    pub run: RunId,
    /// How it ended, before its outcome is looked at.
    pub status: RunStatus,
    /// Why it did not succeed.
    pub error: Option<RunError>,
    /// The agent's exit code.
    pub exit_code: Option<i32>,
    /// What it used; none leaves what was recorded while it ran.
    pub usage: Option<Usage>,
    /// The end of its output.
    pub output_tail: String,
    /// Details to be added to the run's metadata.
    pub metadata: serde_json::Map<String, Value>,
    /// What became of a plan's phase; none for other runs, and when exit handling did not get as far.
    pub phase: Option<PhaseFinish>,
    /// The gates, when a pull request of this run waited for them.
    pub gates: Option<VerifiedGates>,
    /// A global condition that it met.
    pub hold: Option<NewHold>,
    /// The spending cap that ended it; or its issue's, when that is reached however it ended.
    pub cap: Option<CapReached>,
    /// The limits that decide about another attempt.
    pub limits: FailureLimits,
}

/// The detail of a run's metadata that counts the calls of tools that were refused to its agent.
pub const PERMISSION_DENIALS: &str = "permission_denials";

impl RunFinish {
    /// Returns how many calls of tools were refused to the agent.
    fn denials(&self) -> u64 {
        let denials = self.metadata.get(PERMISSION_DENIALS);
        denials.and_then(Value::as_u64).unwrap_or(0)
    }
}

/// What became of a run and its issue.
#[derive(Debug, Clone)]
pub struct FinishedRun {
    /// The run, as it is recorded now.
    pub run: Run,
    /// Its issue, as it is recorded now.
    pub issue: Option<Issue>,
}

impl Store {
    /// Ends a run. A run that has ended already is returned as it is: doing this twice does no harm.
    ///
    /// # Errors
    /// When the run does not exist, or the database can not be written.
    pub fn finish_run(
        &mut self,
        context: &Context,
        finish: &RunFinish,
    ) -> Result<FinishedRun, StoreError> {
        self.write(context, |tx| {
            let run = load_run(tx, &finish.run)?;
            if run.status.is_live() {
                end_run(tx, context, &run, finish)?;
            }
            let issue = run
                .target
                .issue()
                .map(|id| load_issue(tx, id))
                .transpose()?;
            Ok(FinishedRun {
                run: load_run(tx, &finish.run)?,
                issue,
            })
        })
    }
}

fn end_run(
    tx: &Transaction<'_>,
    context: &Context,
    run: &Run,
    finish: &RunFinish,
) -> Result<(), StoreError> {
    let open_pr = run
        .target
        .issue()
        .map(|id| load_open_pr(tx, id))
        .transpose()?
        .flatten();
    let own_pr = open_pr
        .as_ref()
        .filter(|pr| pr.run.as_ref() == Some(&run.id));
    let mut red = None;
    if let (Some(pr), Some(gates)) = (own_pr, &finish.gates)
        && gates.commit == pr.head_commit
    {
        write_gates(tx, pr.id, gates)?;
        let verified = LogEvent::GatesVerified {
            pr: pr.id,
            commit: gates.commit.clone(),
            green: gates.green(),
        };
        append(tx, context, About::issue(&pr.issue), &verified)?;
        red = (!gates.green()).then_some((pr, gates));
    }
    let run = &Run {
        output_tail: finish.output_tail.clone(),
        ..run.clone()
    };
    let mut counted = false;
    let routing = match run.target.issue() {
        None => None,
        Some(id) => {
            let accepted = settle_claim(tx, context, id, finish)?;
            let issue = load_issue(tx, id)?;
            let end = RunEnd {
                run,
                issue: &issue,
                status: finish.status,
                error: finish.error.clone(),
                evidence: evidence(tx, run, finish)?,
                accepted,
                gate_is_red: red.is_some(),
                cap: finish.cap,
                limits: finish.limits,
            };
            let routing = route_run_end(&end, context.now);
            counted = routing.counts.total_runs > issue.counts.total_runs;
            Some((id, routing))
        }
    };
    if let Some((pr, gates)) = red {
        reject_for_gates(tx, context, pr, gates)?;
    }
    let project = match &run.target {
        RunTarget::Project => Some(route_project(tx, run, finish)?),
        _ => None,
    };
    let (status, error) = match (&routing, &run.target, &project) {
        (Some((_, end)), ..) => (end.status, end.error.clone()),
        (None, RunTarget::PlanPhase(..), _) => phase_run_status(tx, run, finish)?,
        (None, _, Some(end)) => (end.status, end.error.clone()),
        (None, _, None) => (finish.status, finish.error.clone()),
    };
    // the log tells what ended before it tells what came of it
    let ending = Ending {
        status,
        error: error.as_ref(),
        counted,
        advanced: routing
            .as_ref()
            .is_some_and(|(_, end)| end.advance.is_some()),
    };
    write_end(tx, context, run, finish, &ending)?;
    if let RunTarget::PlanPhase(plan, phase) = &run.target {
        end_phase(tx, context, run, (plan, phase), finish)?;
    }
    if let Some((id, routing)) = &routing {
        // read after the run's end is written: it is no longer live, so that its issue may go on
        let facts = load_facts(tx, id)?;
        let effects = consequences_of_run_end(&facts, run, routing, mover(context))
            .map_err(|source| refused(id, source))?;
        carry_out(tx, context, id, &effects)?;
        end_intake(tx, context, run, id, finish)?;
    }
    if let Some(ProjectRouting {
        wizard: Some(state),
        ..
    }) = &project
    {
        end_wizard(tx, context, run, *state)?;
    }
    settle_holds(tx, context, run, finish)
}

/// Closes the claim of a run that ends when it cannot count, and says whether an accepted one waits for its step, and
/// whether another phase follows.
fn settle_claim(
    tx: &Transaction<'_>,
    context: &Context,
    issue: &IssueId,
    finish: &RunFinish,
) -> Result<Option<NextPhase>, StoreError> {
    let mut facts = load_facts(tx, issue)?;
    if let Some(effect) = claim_at_end(&facts, &finish.run, finish.status) {
        carry_out(tx, context, issue, std::slice::from_ref(&effect))?;
        facts.take(&effect);
    }
    let accepted = facts.claim.filter(PhaseClaim::awaits_step);
    Ok(accepted.as_ref().map(PhaseClaim::next))
}

/// What a run's agent is for, apart from moving its issue.
fn evidence(tx: &Transaction<'_>, run: &Run, finish: &RunFinish) -> Result<Evidence, StoreError> {
    let found = match &run.target {
        RunTarget::PullRequest(_, pr) => load_pr(tx, *pr)?
            .verdict
            .is_some_and(|verdict| verdict.run.as_ref() == Some(&run.id)),
        RunTarget::Claim(_, claim) => load_claim(tx, *claim)?
            .verdict
            .is_some_and(|verdict| verdict.run.as_ref() == Some(&run.id)),
        _ => false,
    };
    Ok(if found {
        Evidence::Found
    } else if finish.denials() > 0 {
        Evidence::NoneAfterDenials
    } else {
        Evidence::None
    })
}

/// A red required gate: the output becomes a finding, the pull request is rejected by the system.
fn reject_for_gates(
    tx: &Transaction<'_>,
    context: &Context,
    pr: &PullRequest,
    gates: &VerifiedGates,
) -> Result<(), StoreError> {
    let mut names = Vec::new();
    for gate in gates
        .results
        .iter()
        .filter(|gate| gate.required && !gate.passed)
    {
        let how = gate.exit_code.map_or_else(
            || "did not end by itself".to_owned(),
            |code| format!("ended with exit code {code}"),
        );
        let start = gate
            .output
            .char_indices()
            .rev()
            .nth(GATE_FINDING_CHARS_MAX - 1)
            .map_or(0, |(i, _)| i);
        let tail = gate.output.get(start..).unwrap_or_default();
        let text = format!(
            "Gate `{}` {how} on commit {}:\n\n{tail}",
            gate.name, gates.commit
        );
        let finding = NewFinding {
            kind: FindingKind::Gate,
            text,
            files: Vec::new(),
        };
        add_finding_in(tx, context, &pr.issue, &finding)?;
        names.push(gate.name.as_str());
    }
    let verdict = Verdict {
        kind: VerdictKind::Rejected,
        author: context.actor.author(),
        run: None,
        commit: gates.commit.clone(),
        protection: ProtectionLevel::Isolated,
        comment: format!("required gates failed: {}", names.join(", ")),
        at: context.now,
    };
    write_verdict(tx, pr.id, &verdict)?;
    set_pr_state(tx, context, &pr.issue, pr.id, PrState::Rejected)
}

/// How a run is recorded to have ended.
struct Ending<'a> {
    status: RunStatus,
    error: Option<&'a RunError>,
    /// Whether it counts towards the circuit breaker of its issue.
    counted: bool,
    /// Whether its issue's phase is left with it: what was delivered counts for nothing else.
    advanced: bool,
}

fn write_end(
    tx: &Transaction<'_>,
    context: &Context,
    run: &Run,
    finish: &RunFinish,
    ending: &Ending<'_>,
) -> Result<(), StoreError> {
    let (status, error) = (ending.status, ending.error);
    let mut metadata = match &run.metadata {
        Value::Object(map) => map.clone(),
        _ => serde_json::Map::new(),
    };
    metadata.extend(finish.metadata.clone());
    if let Some(usage) = &finish.usage {
        write_usage(tx, &run.id, usage, context.now)?;
    }
    tx.execute(
        "UPDATE run SET status = ?2, ended_at = ?3, exit_code = ?4, error_class = ?5, error_message = ?6, output_tail = ?7, metadata = ?8 WHERE id = ?1",
        params![
            run.id.as_str(),
            status.name(),
            context.now.as_millisecond().max(run.started_at.as_millisecond()),
            finish.exit_code,
            error.map(|e| e.class.name()),
            error.map(|e| e.message.as_str()),
            finish.output_tail,
            to_json(&metadata),
        ],
    )?;
    let about = About {
        project: Some(&run.project),
        issue: run.target.issue(),
        run: Some(&run.id),
    };
    let ended = LogEvent::RunEnded {
        status,
        error: error.map(|e| e.class),
        counted: ending.counted,
        advanced: ending.advanced,
        cap: finish.cap.map(|cap| cap.scope),
    };
    append(tx, context, about, &ended)
}

fn settle_holds(
    tx: &Transaction<'_>,
    context: &Context,
    run: &Run,
    finish: &RunFinish,
) -> Result<(), StoreError> {
    if let Some(hold) = &finish.hold {
        place(tx, context, &run.id, hold)?;
    } else if reached_provider(finish.status, finish.usage.as_ref().unwrap_or(&run.usage)) {
        lift_probed(tx, context, &run.id)?;
    }
    clear_canary(tx, &run.id)
}
