//! Phase claims.

use serde::Serialize;
use symphony_core::asker::verification_note;
use symphony_core::contract::Delivery;

use crate::output::{List, Page, Table, View, ago};

/// Characters of a commit that are shown to a person.
const COMMIT_CHARS: usize = 10;

/// A delivery.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct DeliveryView {
    #[serde(flatten)]
    pub(crate) claim: Delivery,
}

impl From<Delivery> for DeliveryView {
    fn from(claim: Delivery) -> Self {
        Self { claim }
    }
}

impl DeliveryView {
    /// Its state, in words.
    fn standing(&self) -> String {
        let claim = &self.claim;
        match (&claim.next_phase, claim.awaits_step()) {
            (Some(next), true) => format!("accepted, continues with {next} at the next tick"),
            (None, true) => "accepted, the last phase".to_owned(),
            _ if claim.is_approved() => {
                "approved, waits until your review points are closed".to_owned()
            }
            _ if claim.awaits_judge() => "awaits a verdict".to_owned(),
            _ => claim.state.to_string(),
        }
    }
}

impl View for List<DeliveryView> {
    fn write(&self, page: &mut Page) {
        let mut table = Table::new(["CLAIM", "PHASE", "STATE", "COMMIT", "MADE", "WHY"]);
        for view in &self.items {
            let claim = &view.claim;
            let commit = claim.head_commit.as_deref().unwrap_or_default();
            table.row([
                claim.id.to_string(),
                claim.phase.to_string(),
                view.standing(),
                commit.chars().take(COMMIT_CHARS).collect(),
                ago(claim.created_at, page.now()),
                claim.reasons.join("; "),
            ]);
        }
        page.table(&table);
    }
}

impl View for DeliveryView {
    fn write(&self, page: &mut Page) {
        let claim = &self.claim;
        page.field("claim", &claim.id.to_string());
        page.field("issue", claim.issue.as_str());
        page.field("phase", claim.phase.as_str());
        page.field("state", &self.standing());
        page.field(
            "artifact",
            claim.artifact_path.as_deref().unwrap_or_default(),
        );
        page.field("commit", claim.head_commit.as_deref().unwrap_or_default());
        if let Some(verdict) = &claim.verdict {
            let note = verification_note(verdict.unverified.as_deref());
            page.field(
                "verdict",
                &format!("{} by {}{note}", verdict.kind, verdict.author),
            );
        }
        for reason in &claim.reasons {
            page.field("why", reason);
        }
    }
}
