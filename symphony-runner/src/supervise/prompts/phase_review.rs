//! What a judge is shown of a delivery.

use symphony_core::contract::{Delivery, PhaseContract};
use symphony_prompt::{PhaseReview, Review};

/// Turns the record into the judge's input.
pub(crate) fn phase_review(
    delivery: &Delivery,
    contract: Option<&PhaseContract>,
    artifact: Option<String>,
) -> Review {
    let of = |list: fn(&PhaseContract) -> &Vec<String>| {
        contract.map_or_else(Vec::new, |contract| list(contract).clone())
    };
    Review::Phase(Box::new(PhaseReview {
        phase: delivery.phase.clone(),
        summary: delivery.summary.clone(),
        artifact_path: delivery.artifact_path.clone().unwrap_or_default(),
        artifact,
        required_sections: of(|contract| &contract.required_sections),
        done_when: of(|contract| &contract.done_when),
        skip_to: delivery.skip_to.clone(),
    }))
}
