//! The arguments about acceptance criteria.

use schemars::JsonSchema;
use serde::Deserialize;
use symphony_core::criteria::CriterionState;

use crate::named::Named;

/// The answer to an acceptance criterion.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "an object such as {\"item\": 1, \"state\": \"met\", \"note\": \"how\"}"
)]
#[schemars(inline)]
pub(crate) struct CriterionParam {
    /// Its number.
    pub(crate) item: u32,
    /// Whether it is met.
    pub(crate) state: Named<CriterionState>,
    /// How it is met, such as the test that shows it. For `not_met` and `not_applicable`: why. At most 1,000 characters.
    #[serde(default)]
    pub(crate) note: String,
}
