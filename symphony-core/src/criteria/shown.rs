//! The criteria in a run's prompt: its agent refers to their numbers.

use serde_json::Value;

use super::model::Criteria;

/// The key in a run's metadata with the criteria of its prompt and their numbers.
pub const SHOWN_CRITERIA: &str = "criteria";

/// Returns the criteria in the prompt of a run; `None` for a run whose prompt had none, or that an older version
/// started.
pub fn shown_criteria(metadata: &Value) -> Option<Criteria> {
    let shown = metadata.get(SHOWN_CRITERIA)?;
    serde_json::from_value(shown.clone()).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::criteria::collect_criteria;

    #[test]
    fn what_was_shown_is_read_as_it_was_written() {
        let documents = [("docs/plan.md", "# Acceptance criteria\n- b")];
        let criteria = collect_criteria("# Acceptance criteria\n- a", &documents);
        for (metadata, expected) in [
            (
                json!({ SHOWN_CRITERIA: criteria.clone() }),
                Some(criteria.clone()),
            ),
            (
                json!({ SHOWN_CRITERIA: Criteria::default() }),
                Some(Criteria::default()),
            ),
            (json!({ SHOWN_CRITERIA: null }), None),
            (json!({}), None),
        ] {
            assert_eq!(shown_criteria(&metadata), expected, "{metadata}");
        }
    }
}
