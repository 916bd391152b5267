//! The briefing of a plan's phase (prompts, path E).

use symphony_core::plan::Isolation;
use symphony_core::plan::state::artifacts_for;
use symphony_core::pull_request::{PullRequest, VerdictKind};
use symphony_core::review_point::ReviewPoint;
use symphony_prompt::{PlanPhaseDispatch, Workspace};

use super::briefing::{Briefing, BriefingSources};
use super::site::Site;
use super::subject::PhaseSubject;
use crate::error::RunnerError;
use crate::prompts::worker_prompt::{WorkerPromptRequest, load_worker_input};
use crate::supervise::Job;
use crate::supervise::prompts::{Prompts, fence_marker, point_inputs};

/// Assembles the prompts of a plan's phase.
pub(super) async fn plan_briefing(
    sources: BriefingSources<'_>,
    subject: PhaseSubject,
) -> Result<Briefing, RunnerError> {
    let BriefingSources { job, site, .. } = sources;
    let plan = &subject.plan;
    let settings = &job.config.plan;
    let input = load_worker_input(WorkerPromptRequest {
        root: site.path().to_owned(),
        project_name: Some(job.project.name.clone()),
        artifacts: artifacts_for(&plan.dag()?, &plan.state, &subject.id),
        global_constraints: settings.global_constraints.clone(),
        instructions: instructions(job, &subject, site),
        phase: subject.phase.clone(),
    })
    .await?;
    let workspace = Workspace {
        identifier: format!("{}/{}", plan.id, subject.id),
        path: site.path().display().to_string(),
        branch: site.branch_name(),
        base: site.base_name(),
    };
    let is_isolated = plan.options.isolation == Isolation::Worktree;
    let plan_worker = job.installation.shipped.plan_worker.text;
    let mut dispatch = PlanPhaseDispatch::new(is_isolated.then_some(workspace), plan_worker, input);
    dispatch.review_points = point_inputs(subject.points);
    dispatch.fence_marker = fence_marker();
    let built = dispatch.build()?;
    let resumed = sources
        .news
        .map(|news| dispatch.build_resumed(&news.input))
        .transpose()?;
    Ok(Briefing {
        prompts: Prompts {
            built,
            resumed,
            learnings: Vec::new(),
            messages: Vec::new(),
        },
        review: None,
        criteria: None,
    })
}

/// The instruction for an agent whose last run ended without a report.
const CONTINUED: &str = "Your last run of this phase ended without a `complete_phase` call that Symphony accepted, so it \
    is not known whether the phase is complete. Its work is in your folder. Check whether the success criteria are met, finish what \
    is missing, and call `complete_phase`.";

/// Returns the plan's instructions, or the project's, then what this attempt has to know about the earlier one.
fn instructions(job: &Job<'_>, subject: &PhaseSubject, site: &Site) -> Option<String> {
    let of_plan = subject.plan.options.instructions.clone();
    let mut parts: Vec<String> = of_plan
        .or_else(|| job.config.plan.instructions.clone())
        .into_iter()
        .collect();
    let progress = subject.plan.state.phases.get(&subject.id);
    if let Some(failure) = progress.and_then(|progress| progress.history.last()) {
        parts.push(format!(
            "This phase was tried before, and the work of that attempt is in your folder. It failed ({}):\n\n{}",
            failure.class,
            indented(&failure.error)
        ));
    }
    if progress.is_some_and(|progress| progress.is_continued) {
        parts.push(CONTINUED.to_owned());
    }
    let rejected = subject.rejected.as_ref();
    parts.extend(rejected.and_then(|pr| review_of(pr, &subject.points)));
    parts.extend(site.notes.iter().cloned());
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

/// How many bytes of a red gate's output a prompt quotes, from the end, where test runners print what failed.
const GATE_OUTPUT_BYTES_MAX: usize = 8_000;

/// Returns what the review of the plan's work found wrong. A person sent this phase back for it. Its points have their
/// own section.
fn review_of(pr: &PullRequest, points: &[ReviewPoint]) -> Option<String> {
    let mut found: Vec<String> = Vec::new();
    let verdict = pr.verdict.as_ref();
    let rejection = verdict.filter(|verdict| verdict.kind == VerdictKind::Rejected);
    match points {
        [] => found.extend(rejection.map(|verdict| indented(&verdict.comment))),
        _ => found.push("What it asks for is below, under `Review Points`.".to_owned()),
    }
    let gates = pr
        .gates_of_head()
        .into_iter()
        .flat_map(|gates| &gates.results);
    for gate in gates.filter(|gate| gate.is_red()) {
        let from = gate.output.len().saturating_sub(GATE_OUTPUT_BYTES_MAX);
        let from = gate.output.ceil_char_boundary(from);
        let tail = gate.output.get(from..).unwrap_or_default();
        found.push(format!(
            "Gate `{}` failed:\n\n{}",
            gate.name,
            indented(tail)
        ));
    }
    (!found.is_empty()).then(|| {
        format!(
            "The work of the whole plan was reviewed and not accepted. The work of all its phases is in your folder. The \
             review says:\n\n{}",
            found.join("\n\n")
        )
    })
}

/// Indents a text as a separate block, so that no error text can pass for a heading.
fn indented(text: &str) -> String {
    let lines = text.trim().lines().map(|line| format!("    {line}"));
    lines.collect::<Vec<_>>().join("\n")
}
