//! Phases: claimed by their agent, judged by a judge.

use serde_json::{Value, json};
use symphony_core::contract::{
    ArtifactFound, ArtifactPath, CheckFailure, ClaimDecision, PhaseClaim, PhaseContract,
    check_claim, decide_claim,
};
use symphony_core::criteria::Criteria;
use symphony_core::id::{ClaimId, IssueId, PhaseName};
use symphony_core::issue::Issue;
use symphony_core::pull_request::VerdictKind;
use symphony_store::{NewPhaseClaim, NewVerdict, Settlement, Store};

use super::own_issue;
use super::point::{changes, require_answers};
use crate::answer::{Answer, ToolError};
use crate::committable::Nested;
use crate::identity::{Identity, IssueWorkspace, ReviewTarget, Verdicts};
use crate::params::{ApprovePhase, CompletePhase, PointParam, RejectPhase};
use crate::phase_source::{branch_head, commit_delivered, keep_delivered, read_delivered};

/// Returns a claim as `get_issue` shows it.
pub(super) fn claim_row(claim: &PhaseClaim) -> Value {
    json!({
        "id": claim.id,
        "phase": claim.phase,
        "state": claim.state,
        "artifact_path": claim.artifact_path,
        "summary": claim.summary,
        "skip_to": claim.skip_to,
        "reasons": claim.reasons,
        "verdict": claim.verdict,
        "head_commit": claim.head_commit,
    })
}

/// `complete_phase`
pub(super) fn complete(
    store: &mut Store,
    identity: &Identity,
    params: CompletePhase,
) -> Result<Answer, ToolError> {
    let issue = store.issue(own_issue(identity)?)?;
    let phase = phase_named("phase", params.phase)?;
    require_answers(store, identity)?;
    let (contract, next) = contract(identity, &issue, &phase, params.skip_to)?;
    let workspace = identity.workspace.as_ref().ok_or_else(|| {
        ToolError::new(format!(
            "{} has no worktree, so there is nothing to claim",
            issue.id
        ))
    })?;
    let path = artifact_path(contract, &issue.id, params.artifact_path)?;
    let new = NewPhaseClaim {
        issue: issue.id,
        phase,
        artifact_path: path.clone(),
        summary: params.summary,
        skip_to: next.skip_to,
        next_phase: next.phase,
    };
    let context = identity.context();
    let message = format!("symphony({}): the files of a nested repository", new.issue);
    let nested = (Nested::from_parameter(params.absorb), message.as_str());
    let failures = match read_delivered(workspace, path.as_deref(), nested) {
        Ok(delivered) => {
            let none = ArtifactFound::Missing { places: Vec::new() };
            let found = delivered.artifact.unwrap_or(none);
            let path = path.unwrap_or_default();
            check_claim(contract, &new.issue, &path, &found, &delivered.changed)
        }
        Err(unreadable) => {
            store.refuse_claim(&context, &new, std::slice::from_ref(&unreadable.text))?;
            return Err(unreadable);
        }
    };
    match decide_claim(contract, next.skip.as_ref(), failures) {
        ClaimDecision::Rejected { reasons } => {
            let reasons = texts(&reasons);
            store.refuse_claim(&context, &new, &reasons)?;
            Err(ToolError::new(format!(
                "the claim of `{}` is refused: {}. Fix this, then call complete_phase again.",
                new.phase,
                reasons.join("; ")
            )))
        }
        ClaimDecision::Accepted { warnings } => {
            let settled = settle(
                store,
                identity,
                workspace,
                &new,
                Settlement::Accepted,
                &warnings,
            )?;
            Ok(answer(&settled, "is accepted"))
        }
        ClaimDecision::AwaitingJudge { warnings } => {
            let judge = Settlement::AwaitingJudge;
            let settled = settle(store, identity, workspace, &new, judge, &warnings)?;
            Ok(answer(
                &settled,
                "passed its checks, and a judge will review it",
            ))
        }
    }
}

/// Where the issue goes when the claim is accepted.
struct Next {
    skip: Option<symphony_core::contract::Skip>,
    skip_to: Option<PhaseName>,
    phase: Option<PhaseName>,
}

/// Returns the contract of a phase that can be claimed now, and where it leads.
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

/// Returns where the artifact is: the claim's own path, or the contract's.
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

/// Records the claim, commits what it is about, and settles it on that commit. Recorded first: whatever happens in
/// between, the end of the run finds it.
fn settle(
    store: &mut Store,
    identity: &Identity,
    workspace: &IssueWorkspace,
    new: &NewPhaseClaim,
    settlement: Settlement,
    warnings: &[CheckFailure],
) -> Result<PhaseClaim, ToolError> {
    let claim = store.submit_claim(&identity.context(), new)?;
    let commit = match commit_delivered(workspace, &new.issue, &new.phase) {
        Ok(commit) => commit,
        Err(error) => {
            store.withdraw_claim(&identity.context(), claim.id, &error.text)?;
            return Err(error);
        }
    };
    let context = identity.context();
    let settled = store.settle_claim(&context, claim.id, settlement, &commit, &texts(warnings))?;
    keep_delivered(workspace, &new.issue, commit);
    Ok(settled)
}

fn answer(claim: &PhaseClaim, what: &str) -> Answer {
    let then = match &claim.next_phase {
        Some(next) => format!("the issue then goes on to `{next}`"),
        None => "a person then looks at the issue".to_owned(),
    };
    let warnings = if claim.reasons.is_empty() {
        String::new()
    } else {
        format!(" Warnings: {}.", claim.reasons.join("; "))
    };
    let message = format!(
        "the claim of `{}` {what}, at commit {}; {then}.{warnings} You are done: end your turn.",
        claim.phase,
        claim.head_commit.as_deref().unwrap_or("none")
    );
    Answer::new(message).with("claim", claim_row(claim))
}

/// Returns the claim under review, and the commit that a verdict is about.
fn judged(store: &mut Store, identity: &Identity) -> Result<(ClaimId, String), ToolError> {
    if identity.verdicts == Verdicts::Refused {
        return Err(ToolError::new(Verdicts::REFUSAL));
    }
    let head = identity.workspace.as_ref().map(branch_head).transpose()?;
    match &identity.review {
        Some(ReviewTarget::Claim { claim, commit }) => match head {
            Some(head) if head != *commit => Err(ToolError::new(format!(
                "the branch is now at {head}, but you were shown {commit}: your verdict would not count. End your turn; the next \
                 judge will review the new commit."
            ))),
            _ => Ok((*claim, commit.clone())),
        },
        _ if identity.actor.is_human() => {
            let issue = own_issue(identity)?;
            let claim = store
                .open_claim(issue)?
                .filter(PhaseClaim::awaits_judge)
                .ok_or_else(|| {
                    ToolError::new(format!("{issue} has no claim that waits for a judge"))
                })?;
            let commit = head.or(claim.head_commit.clone()).unwrap_or_default();
            if claim.head_commit.as_ref() != Some(&commit) {
                store.move_claim_head(&identity.context(), claim.id, &commit)?;
            }
            Ok((claim.id, commit))
        }
        _ => Err(ToolError::new("this run reviews no claim")),
    }
}

/// `approve_phase`
pub(super) fn approve(
    store: &mut Store,
    identity: &Identity,
    params: ApprovePhase,
) -> Result<Answer, ToolError> {
    let comment = params.comment.unwrap_or_default();
    let approved = VerdictKind::Approved;
    let claim = verdict(store, identity, (approved, comment), &params.points)?;
    let then = match &claim.next_phase {
        _ if claim.is_approved() => {
            "it takes effect when the person whose review points are open has closed them"
                .to_owned()
        }
        Some(next) => format!("{} goes on to `{next}`", claim.issue),
        None => format!("{} has no further phase: a person looks at it", claim.issue),
    };
    let message = format!("approved the phase `{}`; {then}", claim.phase);
    Ok(Answer::new(message).with("claim", claim_row(&claim)))
}

/// `reject_phase`
pub(super) fn reject(
    store: &mut Store,
    identity: &Identity,
    params: RejectPhase,
) -> Result<Answer, ToolError> {
    let feedback = params.feedback.unwrap_or_default();
    let rejected = VerdictKind::Rejected;
    let claim = verdict(store, identity, (rejected, feedback), &params.points)?;
    let message = format!(
        "rejected the phase `{}`; {} goes back to an agent with every open point",
        claim.phase, claim.issue
    );
    Ok(Answer::new(message).with("claim", claim_row(&claim)))
}

fn verdict(
    store: &mut Store,
    identity: &Identity,
    (kind, comment): (VerdictKind, String),
    points: &[PointParam],
) -> Result<PhaseClaim, ToolError> {
    let (claim, commit) = judged(store, identity)?;
    let verdict = NewVerdict {
        force: false,
        kind,
        commit,
        comment,
        points: changes(points, || Ok(Criteria::default()))?,
    };
    Ok(store.record_phase_review(&identity.context(), claim, &verdict)?)
}
