//! The criteria that a run's prompt had: numbers in what its agent says are those.

use serde_json::Value;

use super::model::Criteria;

/// The detail of a run's metadata that holds the criteria of its prompt, with their numbers there.
pub const SHOWN_CRITERIA: &str = "criteria";

/// Returns the criteria that the prompt of a run had; none for a run whose prompt was to name none, or that an older version started.
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
