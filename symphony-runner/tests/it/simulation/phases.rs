//! Phases: the pipeline as shipped, what its agents claim, and what is said of their claims.

use symphony_core::agent::AgentType;
use symphony_core::contract::{
    CheckFailure, Delivery, DeliveryDecision, Pipeline, decide_delivery, parse_contract,
};
use symphony_core::id::PhaseName;
use symphony_core::issue::{Issue, PHASE_LABEL_PREFIX};
use symphony_core::pull_request::VerdictKind;
use symphony_core::run::{Run, RunTarget};
use symphony_store::{
    Context, IssueEdit, NewDelivery, NewVerdict, ReviewRefusal, Settlement, StoreError,
};

use super::course::Course;

/// Contracts as they ship.
const CONTRACTS: [(&str, &str); 4] = [
    (
        "research.md",
        include_str!("../../../../prompts/phases/research.md"),
    ),
    (
        "architecture.md",
        include_str!("../../../../prompts/phases/architecture.md"),
    ),
    (
        "grooming.md",
        include_str!("../../../../prompts/phases/grooming.md"),
    ),
    (
        "ready.md",
        include_str!("../../../../prompts/phases/ready.md"),
    ),
];

/// What a phase agent says of its phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Claim {
    /// It is delivered.
    Delivered,
    /// It is delivered, and nothing was written.
    Empty,
    /// It is delivered, and everything up to `ready` may be left out.
    Skipping,
    /// Another phase is delivered than the one that the issue is in.
    OfAnother,
    /// It is delivered; the supervisor dies before the work is committed.
    Unsettled,
}

/// Says whether a run delivers a phase other than `ready`.
pub(super) fn is_phase_agent(run: &Run) -> bool {
    let delivers = run.phase.as_ref().is_some_and(|phase| !phase.is_ready());
    delivers && !run.target.is_review()
}

/// The pipeline as it ships.
pub(super) fn shipped() -> Pipeline {
    let contracts = CONTRACTS.map(|(file, text)| parse_contract(file, text).unwrap());
    let profiles = AgentType::SHIPPED.into_iter().collect();
    Pipeline::new([contracts.to_vec()], &[], &profiles).unwrap()
}

fn ready() -> PhaseName {
    PhaseName::parse("ready").unwrap()
}

impl Course {
    /// A phase agent claims, as `complete_phase` does: checks, intent, commit, settlement.
    pub(super) fn claim_phase(
        &mut self,
        run: &Run,
        context: &Context,
        how: Claim,
    ) -> Result<(), StoreError> {
        let (Some(issue), Some(own)) = (run.target.issue().cloned(), run.phase.clone()) else {
            return Ok(());
        };
        if how == Claim::OfAnother {
            return self.claim_another(run, context, &own);
        }
        let contracts = &self.stage(&run.project).pipeline;
        let contract = contracts.get(&own).unwrap();
        let skip_to = (how == Claim::Skipping).then(ready);
        let skip = skip_to.as_ref().map(|to| contracts.skip(&own, to).unwrap());
        let mut failures = Vec::new();
        if how == Claim::Empty {
            let path = "docs/empty.md".to_owned();
            failures.push(CheckFailure::ArtifactEmpty { path });
        }
        let decision = decide_delivery(contract, skip.as_ref(), failures);
        let new = NewDelivery {
            issue: issue.clone(),
            phase: own,
            artifact_path: None,
            summary: "Looked into it.".into(),
            next_phase: skip_to.clone().or_else(|| contract.next_phase.clone()),
            skip_to,
        };
        let settlement = match decision {
            DeliveryDecision::Rejected { .. } => {
                self.store
                    .refuse_delivery(context, &new, &["it is empty".to_owned()])?;
                self.machine.count("empty claim refused");
                return Ok(());
            }
            DeliveryDecision::Accepted { .. } => Settlement::Accepted,
            DeliveryDecision::AwaitingJudge { .. } => Settlement::AwaitingJudge,
        };
        let claim = self.store.submit_delivery(context, &new)?;
        if self.store.issue(&issue)?.phase() != run.phase {
            let phase = &new.phase;
            self.machine.fail(format_args!(
                "I8: {} claimed {phase}, which is over",
                run.id
            ));
        }
        if how == Claim::Unsettled {
            self.machine.count("claim never settled");
            self.machine.kill(&run.id);
            return Ok(());
        }
        let commit = format!("h{}", self.machine.number());
        self.store
            .settle_delivery(context, claim.id, settlement, &commit, &[])?;
        self.machine.count(match settlement {
            Settlement::Accepted => "claim accepted",
            Settlement::AwaitingJudge => "claim awaits its judge",
        });
        Ok(())
    }

    /// A claim of a phase that the issue is not in: never recorded.
    fn claim_another(
        &mut self,
        run: &Run,
        context: &Context,
        own: &PhaseName,
    ) -> Result<(), StoreError> {
        let now = run.target.issue().map(|id| self.store.issue(id));
        let Some(issue) = now.transpose()? else {
            return Ok(());
        };
        let other = ["research", "architecture", "grooming"]
            .map(|name| PhaseName::parse(name).unwrap())
            .into_iter()
            .find(|phase| phase != own && issue.phase().as_ref() != Some(phase));
        let Some(phase) = other else { return Ok(()) };
        let new = NewDelivery {
            issue: issue.id,
            phase,
            artifact_path: None,
            summary: "Done long ago.".into(),
            skip_to: None,
            next_phase: Some(ready()),
        };
        match self.store.submit_delivery(context, &new) {
            Err(StoreError::Review(ReviewRefusal::DeliverySuperseded { .. })) => {
                self.machine.count("claim of another phase refused");
                Ok(())
            }
            Err(error) => Err(error),
            Ok(claim) => self.machine.fail(format_args!(
                "I8: {} could claim {}, {} is in another phase",
                run.id, claim.phase, claim.issue
            )),
        }
    }

    /// A judge speaks about the claim that it was given.
    pub(super) fn judge_delivery(
        &mut self,
        run: &Run,
        context: &Context,
        kind: VerdictKind,
    ) -> Result<(), StoreError> {
        let RunTarget::Delivery(_, id) = &run.target else {
            return Ok(());
        };
        let commit = self.store.delivery(*id)?.head_commit.unwrap_or_default();
        let issue = self.store.delivery(*id)?.issue;
        let verdict = self.verdict_closing(&issue, kind, &commit)?;
        self.store.record_phase_review(context, *id, &verdict)?;
        self.machine.count(match kind {
            VerdictKind::Approved => "phase approved",
            VerdictKind::Rejected => "phase rejected",
        });
        Ok(())
    }

    /// A judge that speaks about another commit of a claim, or an author about its own: never recorded.
    pub(super) fn speak_falsely_of_claim(
        &mut self,
        run: &Run,
        context: &Context,
        claim: &Delivery,
    ) {
        let head = claim.head_commit.as_deref().unwrap_or_default();
        let commit = if run.target.is_review() { "h0" } else { head };
        let approved = VerdictKind::Approved;
        let spoken = self.store.record_phase_review(
            context,
            claim.id,
            &NewVerdict::plain(approved, commit, ""),
        );
        if spoken.is_ok() {
            let id = claim.id;
            self.machine.fail(format_args!(
                "I9: {} could judge claim {id} on {commit}",
                run.id
            ));
        }
        self.machine.count("phase verdict refused");
    }

    /// A person decides on a claim, as `symphony phase approve` and `reject` do: the judge at work is ended first.
    pub(super) fn decide_delivery(
        &mut self,
        human: &Context,
        claim: &Delivery,
        kind: VerdictKind,
    ) -> Result<(), StoreError> {
        if !self.end_run_of(&claim.issue)? {
            return Ok(());
        }
        // a judge that was just ended may have spoken
        let claim = self.store.delivery(claim.id)?;
        let Some(commit) = claim
            .head_commit
            .as_deref()
            .filter(|_| claim.awaits_judge())
        else {
            return Ok(());
        };
        if kind == VerdictKind::Approved {
            self.close_points(&claim.issue)?;
        }
        self.store.record_phase_review(
            human,
            claim.id,
            &NewVerdict::plain(kind, commit, "As I see it."),
        )?;
        self.machine.count("a person decided on a phase");
        Ok(())
    }

    /// A person puts an issue into another phase, whatever runs on it.
    pub(super) fn change_phase(
        &mut self,
        human: &Context,
        issue: &Issue,
    ) -> Result<(), StoreError> {
        let names = ["research", "architecture", "grooming", "ready"];
        let to = *self.machine.random.pick(&names);
        let mut labels = issue.labels.clone();
        labels.retain(|label| !label.starts_with(PHASE_LABEL_PREFIX));
        labels.push(format!("{PHASE_LABEL_PREFIX}{to}"));
        self.machine
            .note(format_args!("a person puts {} into {to}", issue.id));
        let edit = IssueEdit {
            labels: Some(labels),
            ..IssueEdit::default()
        };
        self.store.edit_issue(human, &issue.id, &edit)?;
        self.machine.count("label changed");
        Ok(())
    }
}
