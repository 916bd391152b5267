//! `complete_phase`: the agent of a phase reports that it is delivered.

use schemars::JsonSchema;
use serde::Deserialize;
use symphony_core::contract::{
    ArtifactFound, ArtifactPath, CheckFailure, Delivery, DeliveryDecision, PhaseContract,
    check_delivery, decide_delivery,
};
use symphony_core::id::{IssueId, PhaseName};
use symphony_core::issue::Issue;
use symphony_store::{NewDelivery, Settlement, Store};

use crate::answer::{Answer, ToolError};
use crate::identity::{Identity, IssueWorkspace};
use crate::review::points::require_answers;
use crate::rows::delivery_row;
use crate::tool_call::ToolCall;
use crate::work::committable::Nested;
use crate::work::delivered::{commit_delivered, keep_delivered, read_delivered};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CompletePhase {
    /// The phase, as in your assignment.
    phase: String,
    /// Two to four sentences: what you delivered, and what deserves the reader's attention.
    summary: String,
    /// The artifact, relative to the worktree. Defaults to the path in your assignment.
    artifact_path: Option<String>,
    /// A later phase to continue with, if the issue is simple enough to skip those in between.
    skip_to: Option<String>,
    /// Turns git repositories that you created inside the worktree into plain files of your change. Without it, the call is
    /// refused if there is one.
    #[serde(default)]
    absorb: bool,
}

impl ToolCall for CompletePhase {
    const DESCRIPTION: &str = "Claims that your phase of the issue is delivered. Symphony checks the artifact and the paths you changed at once. \
        A refusal names every reason: fix them and claim again. Refused while a `must` point of a review has no answer. \
        An accepted delivery ends your work.";

    fn carry_out(self, store: &mut Store, identity: &Identity) -> Result<Answer, ToolError> {
        let issue = store.issue(identity.own_issue()?)?;
        let phase = phase_named("phase", self.phase)?;
        require_answers(store, identity)?;
        let (contract, next) = contract(identity, &issue, &phase, self.skip_to)?;
        let workspace = identity.workspace.as_ref().ok_or_else(|| {
            ToolError::new(format!(
                "{} has no worktree, so there is nothing to claim",
                issue.id
            ))
        })?;
        let path = artifact_path(contract, &issue.id, self.artifact_path)?;
        let new = NewDelivery {
            issue: issue.id,
            phase,
            artifact_path: path.clone(),
            summary: self.summary,
            skip_to: next.skip_to,
            next_phase: next.phase,
        };
        let context = identity.context();
        let nested = Nested::from_parameter(self.absorb);
        let failures = match read_delivered(workspace, path.as_deref(), nested, &new.issue) {
            Ok(delivered) => {
                let none = ArtifactFound::Missing { places: Vec::new() };
                let found = delivered.artifact.unwrap_or(none);
                let path = path.unwrap_or_default();
                check_delivery(contract, &new.issue, &path, &found, &delivered.changed)
            }
            Err(unreadable) => {
                store.refuse_delivery(&context, &new, std::slice::from_ref(&unreadable.text))?;
                return Err(unreadable);
            }
        };
        let (settlement, what, warnings) = match decide_delivery(
            contract,
            next.skip.as_ref(),
            failures,
        ) {
            DeliveryDecision::Rejected { reasons } => {
                let reasons = texts(&reasons);
                store.refuse_delivery(&context, &new, &reasons)?;
                return Err(ToolError::new(format!(
                    "the delivery of `{}` is refused: {}. Fix this, then call complete_phase again.",
                    new.phase,
                    reasons.join("; ")
                )));
            }
            DeliveryDecision::Accepted { warnings } => {
                (Settlement::Accepted, "is accepted", warnings)
            }
            DeliveryDecision::AwaitingJudge { warnings } => {
                let what = "passed its checks, and a judge will review it";
                (Settlement::AwaitingJudge, what, warnings)
            }
        };
        let settled = settle(store, identity, workspace, &new, settlement, &warnings)?;
        Ok(answer(&settled, what))
    }
}

/// Where the issue goes when the delivery is accepted.
struct Next {
    skip: Option<symphony_core::contract::Skip>,
    skip_to: Option<PhaseName>,
    phase: Option<PhaseName>,
}

/// Returns the contract of a phase that can be delivered now, and where it leads.
fn contract<'a>(
    identity: &'a Identity,
    issue: &Issue,
    phase: &PhaseName,
    skip_to: Option<String>,
) -> Result<(&'a PhaseContract, Next), ToolError> {
    match issue.phase() {
        Some(now) if now == *phase => {}
        now => {
            let now = now.map_or_else(
                || "no longer has a phase label".to_owned(),
                |now| format!("is now in the phase `{now}`"),
            );
            return Err(ToolError::new(format!(
                "you cannot claim `{phase}`: {} {now}",
                issue.id
            )));
        }
    }
    let pipeline = identity
        .phases
        .get()
        .ok_or_else(|| ToolError::new("the project's phase contracts cannot be read here"))?;
    let contract = pipeline.get(phase).ok_or_else(|| {
        ToolError::new(format!(
            "the phase `{phase}` has no contract in this project"
        ))
    })?;
    if contract.is_ready() {
        return Err(ToolError::new(
            "`ready` ends with a pull request: commit your work, then call create_pr",
        ));
    }
    let skip_to = skip_to
        .map(|name| phase_named("skip_to", name))
        .transpose()?;
    let skip = skip_to
        .as_ref()
        .map(|to| pipeline.skip(phase, to))
        .transpose()
        .map_err(|error| ToolError::new(format!("skip_to: {error}")))?;
    let next = skip_to.clone().or_else(|| contract.next_phase.clone());
    let next = Next {
        skip,
        skip_to,
        phase: next,
    };
    Ok((contract, next))
}

fn phase_named(field: &str, name: String) -> Result<PhaseName, ToolError> {
    PhaseName::parse(name).map_err(|error| ToolError::new(format!("{field}: {error}")))
}

/// Returns where the artifact is: the delivery's own path, or the contract's.
fn artifact_path(
    contract: &PhaseContract,
    issue: &IssueId,
    named: Option<String>,
) -> Result<Option<String>, ToolError> {
    let own = named
        .map(|path| ArtifactPath::parse(&path))
        .transpose()
        .map_err(|error| ToolError::new(format!("artifact_path: {error}")))?;
    let path = own.as_ref().or(contract.artifact_path.as_ref());
    Ok(path.map(|path| path.for_issue(issue)))
}

fn texts(failures: &[CheckFailure]) -> Vec<String> {
    failures.iter().map(ToString::to_string).collect()
}

/// Records the delivery, commits the work, and settles the delivery on that commit. The record comes first: if the
/// process dies in between, the exit handling of the run finds it.
fn settle(
    store: &mut Store,
    identity: &Identity,
    workspace: &IssueWorkspace,
    new: &NewDelivery,
    settlement: Settlement,
    warnings: &[CheckFailure],
) -> Result<Delivery, ToolError> {
    let delivery = store.submit_delivery(&identity.context(), new)?;
    let committed = commit_delivered(workspace, &new.issue, &new.phase);
    let handed_in = committed.and_then(|commit| {
        identity.before_hand_in.take(store, &commit)?;
        Ok(commit)
    });
    let commit = match handed_in {
        Ok(commit) => commit,
        Err(error) => {
            store.withdraw_delivery(&identity.context(), delivery.id, &error.text)?;
            return Err(error);
        }
    };
    let context = identity.context();
    let settled =
        store.settle_delivery(&context, delivery.id, settlement, &commit, &texts(warnings))?;
    keep_delivered(workspace, &new.issue, commit);
    Ok(settled)
}

fn answer(delivery: &Delivery, what: &str) -> Answer {
    let then = match &delivery.next_phase {
        Some(next) => format!("the issue then continues with `{next}`"),
        None => "a person then looks at the issue".to_owned(),
    };
    let warnings = if delivery.reasons.is_empty() {
        String::new()
    } else {
        format!(" Warnings: {}.", delivery.reasons.join("; "))
    };
    let message = format!(
        "the delivery of `{}` {what}, at commit {}; {then}.{warnings} You are done: end your turn.",
        delivery.phase,
        delivery.head_commit.as_deref().unwrap_or("none")
    );
    Answer::new(message).with("claim", delivery_row(delivery))
}
