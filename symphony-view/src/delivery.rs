//! Deliveries of phases.

use serde::Serialize;
use symphony_core::asker::verification_note;
use symphony_core::contract::Delivery;

use crate::text::{Listed, Page, Table, View, ago};

/// Characters of a commit that are shown to a person.
const COMMIT_CHARS: usize = 10;

/// A delivery.
#[derive(Debug, Clone, Serialize)]
pub struct DeliveryView {
    /// What the agent reported.
    #[serde(flatten)]
    pub delivery: Delivery,
}

impl From<Delivery> for DeliveryView {
    fn from(delivery: Delivery) -> Self {
        Self { delivery }
    }
}

impl DeliveryView {
    /// Its state, in words.
    pub fn standing(&self) -> String {
        let delivery = &self.delivery;
        match (&delivery.next_phase, delivery.awaits_step()) {
            (Some(next), true) => format!("accepted; continues with {next} at the next tick"),
            (None, true) => "accepted; this was the last phase".to_owned(),
            _ if delivery.is_approved() => {
                "approved; waits until you close your review points".to_owned()
            }
            _ if delivery.awaits_judge() => "awaits a verdict".to_owned(),
            _ => delivery.state.to_string(),
        }
    }
}

impl Listed for DeliveryView {
    fn write_all(items: &[Self], page: &mut Page) {
        let mut table = Table::new(["DELIVERY", "PHASE", "STATE", "COMMIT", "MADE", "WHY"]);
        for view in items {
            let delivery = &view.delivery;
            let commit = delivery.head_commit.as_deref().unwrap_or_default();
            table.row([
                delivery.id.to_string(),
                delivery.phase.to_string(),
                view.standing(),
                commit.chars().take(COMMIT_CHARS).collect(),
                ago(delivery.created_at, page.now()),
                delivery.reasons.join("; "),
            ]);
        }
        page.table(&table);
    }
}

impl View for DeliveryView {
    fn write(&self, page: &mut Page) {
        let delivery = &self.delivery;
        page.field("delivery", &delivery.id.to_string());
        page.field("issue", delivery.issue.as_str());
        page.field("phase", delivery.phase.as_str());
        page.field("state", &self.standing());
        page.field(
            "artifact",
            delivery.artifact_path.as_deref().unwrap_or_default(),
        );
        page.field(
            "commit",
            delivery.head_commit.as_deref().unwrap_or_default(),
        );
        if let Some(verdict) = &delivery.verdict {
            let note = verification_note(verdict.unverified.as_deref());
            page.field(
                "verdict",
                &format!("{} by {}{note}", verdict.kind, verdict.by()),
            );
        }
        for reason in &delivery.reasons {
            page.field("why", reason);
        }
    }
}
