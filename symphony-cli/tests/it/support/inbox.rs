//! What waits for a person.

use serde_json::Value;

use super::Project;

impl Project {
    /// Returns the items of a kind that the inbox has.
    pub(crate) fn waiting(&self, kind: &str) -> Vec<Value> {
        let inbox = self.json(&["inbox"]);
        let items = inbox["items"].as_array().unwrap().iter();
        items.filter(|item| item["kind"] == kind).cloned().collect()
    }

    /// Returns the first item of a kind; the test fails where there is none.
    pub(crate) fn first_waiting(&self, kind: &str) -> Value {
        let inbox = self.json(&["inbox"]);
        let mut items = inbox["items"].as_array().unwrap().iter();
        let item = items.find(|item| item["kind"] == kind);
        item.unwrap_or_else(|| panic!("no {kind} in {inbox:#}"))
            .clone()
    }
}
