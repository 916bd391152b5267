//! The pace of the scripted agent: it slows down once a person watches.

use serde_json::{Value, json};

/// Pause before each turn, in seconds: long enough to read what the agent does.
const PAUSE_SECONDS: f64 = 1.2;

/// Returns a scenario file whose agents pause before each turn; one that cannot be read stays as it is.
pub(super) fn slowed_down(scenario: &str) -> String {
    let Ok(mut file) = serde_json::from_str::<Value>(scenario) else {
        return scenario.to_owned();
    };
    let scenarios = file.get_mut("scenarios").and_then(Value::as_array_mut);
    let turns = scenarios.into_iter().flatten();
    let turns = turns.filter_map(|scenario| scenario.get_mut("turns")?.as_array_mut());
    for turn in turns.flatten().filter_map(Value::as_object_mut) {
        let pause = json!({ "type": "delay", "seconds": PAUSE_SECONDS });
        let faults = turn.entry("faults").or_insert_with(|| json!([]));
        if let Some(faults) = faults.as_array_mut() {
            faults.push(pause);
        }
    }
    file.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_turn_begins_with_a_pause() {
        let file = r#"{"scenarios":[{"turns":[{"content":[]},{"faults":[{"type":"slow"}]}]}]}"#;
        let slow: Value = serde_json::from_str(&slowed_down(file)).unwrap();
        let turns = &slow["scenarios"][0]["turns"];
        assert_eq!(turns[0]["faults"][0]["type"], "delay");
        assert_eq!(turns[1]["faults"][1]["type"], "delay");
        assert_eq!(slowed_down("{"), "{");
    }
}
