//! Runs, read from their rows.

use symphony_core::Timestamp;
use symphony_core::agent::AgentType;
use symphony_core::id::{DeliveryId, IssueId, PhaseName, PlanId, PlanPhaseId, PrId, RunId};
use symphony_core::prompt_trial::{Assignment, PromptSet, TrialName};
use symphony_core::pull_request::PullRequestOf;
use symphony_core::run::{Fence, Run, RunError, RunTarget, SandboxRecord, Usage};
use symphony_core::unit::{Tokens, UsdMicros};

use crate::database::row::{count, count32, json, parsed, parsed_opt, time};
use crate::db::{Connection, OptionalExtension, Row};
use crate::error::StoreError;

/// Parses the prompt set of a run.
pub(crate) fn assignment(
    (trial, set, issue): (String, String, String),
) -> Result<Assignment, StoreError> {
    Ok(Assignment {
        trial: parsed_name(trial)?,
        set: parsed::<PromptSet>("set of prompts", set)?,
        issue: parsed("issue id", issue)?,
    })
}

pub(crate) fn parsed_name(name: String) -> Result<TrialName, StoreError> {
    parsed("name of a trial", name)
}

/// Parses the row of a run.
pub(crate) fn from_row(row: &Row<'_>) -> Result<Run, StoreError> {
    let issue: Option<IssueId> = parsed_opt("issue id", row.get("issue")?)?;
    let pr: Option<i64> = row.get("pull_request")?;
    let delivery: Option<i64> = row.get("claim")?;
    let plan_phase: Option<PlanPhaseId> = parsed_opt("plan phase id", row.get("plan_phase")?)?;
    let plan: Option<PlanId> = parsed_opt("plan id", row.get("plan")?)?;
    let agent: AgentType = parsed("agent type", row.get("agent")?)?;
    let of_pull_request = |of: PullRequestOf, pr| match agent {
        AgentType::Gates => RunTarget::Gates(of, PrId::new(pr)),
        _ => RunTarget::PullRequest(of, PrId::new(pr)),
    };
    let target = match (issue, pr, delivery, (plan, plan_phase)) {
        (Some(issue), Some(pr), _, _) => of_pull_request(issue.into(), pr),
        (Some(issue), None, Some(delivery), _) => {
            RunTarget::Delivery(issue, DeliveryId::new(delivery))
        }
        (Some(issue), None, None, _) => RunTarget::Issue(issue),
        (None, Some(pr), _, (Some(plan), _)) => of_pull_request(plan.into(), pr),
        (None, None, _, (Some(plan), Some(phase))) => RunTarget::PlanPhase(plan, phase),
        (None, ..) => RunTarget::Project,
    };
    let class: Option<String> = row.get("error_class")?;
    let error = match class {
        None => None,
        Some(class) => Some(RunError {
            class: parsed("error class", class)?,
            message: row
                .get::<_, Option<String>>("error_message")?
                .unwrap_or_default(),
        }),
    };
    let cost: Option<i64> = row.get("cost_micros")?;
    let opt_time = |column: &str| -> Result<Option<Timestamp>, StoreError> {
        row.get::<_, Option<i64>>(column)?.map(time).transpose()
    };
    Ok(Run {
        id: parsed("run id", row.get("id")?)?,
        project: parsed("project id", row.get("project")?)?,
        target,
        agent,
        phase: parsed_opt::<PhaseName>("phase", row.get("phase")?)?,
        attempt: count32(row, "attempt")?,
        provider: row.get("provider")?,
        model: row.get("model")?,
        status: parsed("run status", row.get("status")?)?,
        started_at: time(row.get("started_at")?)?,
        ended_at: opt_time("ended_at")?,
        exit_code: row.get("exit_code")?,
        error,
        output_tail: row.get("output_tail")?,
        worktree: row.get("worktree")?,
        branch: row.get("branch")?,
        usage: Usage {
            input_tokens: Tokens::new(count(row, "input_tokens")?),
            output_tokens: Tokens::new(count(row, "output_tokens")?),
            cache_read_tokens: Tokens::new(count(row, "cache_read_tokens")?),
            cache_creation_tokens: Tokens::new(count(row, "cache_write_tokens")?),
            cost: cost.map(|micros| UsdMicros::new(u64::try_from(micros).unwrap_or(0))),
            turns: count(row, "turns")?,
        },
        metadata: json("run metadata", &row.get::<_, String>("metadata")?)?,
        protection: parsed("protection level", row.get("protection")?)?,
        sandbox: sandbox(row)?,
        fence: Fence::new(row.get("fence")?),
        prompt_set: prompt_set(row)?,
        moved_issue: row.get("moved_issue")?,
        cancel_requested_at: opt_time("cancel_requested_at")?,
        pool: parsed_opt("pool", row.get("pool")?)?,
        host: parsed_opt("host", row.get("host")?)?,
    })
}

/// Reads what confined the agent of a run.
fn sandbox(row: &Row<'_>) -> Result<Option<SandboxRecord>, StoreError> {
    let level: Option<String> = row.get("sandbox_level")?;
    let Some(level) = level else {
        return Ok(None);
    };
    Ok(Some(SandboxRecord {
        level: parsed("sandbox level", level)?,
        network: parsed("sandbox network", row.get("sandbox_network")?)?,
        landlock_abi: row.get("landlock_abi")?,
    }))
}

/// Reads one run, inside or outside a transaction.
pub(crate) fn load_run(conn: &Connection, id: &RunId) -> Result<Run, StoreError> {
    conn.prepare_cached("SELECT * FROM run WHERE id = ?1")?
        .query_row([id.as_str()], |row| Ok(from_row(row)))
        .optional()?
        .ok_or_else(|| StoreError::not_found("run", id))?
}

/// Parses the prompt set that a run was built with.
pub(crate) fn prompt_set(row: &Row<'_>) -> Result<Option<Assignment>, StoreError> {
    let trial: Option<String> = row.get("trial")?;
    let Some(trial) = trial else {
        return Ok(None);
    };
    assignment((trial, row.get("prompt_set")?, row.get("trial_issue")?)).map(Some)
}
