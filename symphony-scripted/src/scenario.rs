//! The scenario file.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;

use regex::{Regex, RegexBuilder};
use serde::Deserialize;
use serde_json::Value;

use crate::error::ScriptError;

/// What a turn says when the scenario has none of its own left, unless it names another text.
const FINAL_TEXT: &str = "Done.";

#[derive(Debug, Deserialize)]
pub(crate) struct ScenarioFile {
    pub(crate) scenarios: Vec<Scenario>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Scenario {
    pub(crate) name: Option<String>,
    #[serde(rename = "match")]
    pub(crate) match_any: Option<String>,
    pub(crate) match_system: Option<String>,
    pub(crate) match_prompt: Option<String>,
    pub(crate) match_model: Option<String>,
    pub(crate) uses: Option<u64>,
    pub(crate) vars: BTreeMap<String, String>,
    pub(crate) usage: TurnUsage,
    pub(crate) final_text: Option<String>,
    pub(crate) turns: Vec<Turn>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(default)]
pub(crate) struct Turn {
    pub(crate) content: Vec<Value>,
    pub(crate) expect: Option<String>,
    pub(crate) repeat: i64,
    pub(crate) stop_reason: Option<String>,
    pub(crate) usage: TurnUsage,
    pub(crate) faults: Vec<Fault>,
}

impl Default for Turn {
    fn default() -> Self {
        Self {
            content: Vec::new(),
            expect: None,
            repeat: 1,
            stop_reason: None,
            usage: TurnUsage::default(),
            faults: Vec::new(),
        }
    }
}

/// The tokens of a turn; what is not named is taken from the scenario, else from the defaults.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct TurnUsage {
    #[serde(rename = "input_tokens")]
    pub(crate) input: Option<u64>,
    #[serde(rename = "output_tokens")]
    pub(crate) output: Option<u64>,
    #[serde(rename = "cache_read_input_tokens")]
    pub(crate) cache_read: Option<u64>,
    #[serde(rename = "cache_creation_input_tokens")]
    pub(crate) cache_creation: Option<u64>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Fault {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    #[serde(default = "one")]
    pub(crate) times: i64,
    pub(crate) status: Option<u16>,
    pub(crate) retry_after: Option<f64>,
    pub(crate) message: Option<String>,
    pub(crate) seconds: Option<f64>,
    pub(crate) chunk_delay: Option<f64>,
    pub(crate) code: Option<u8>,
    #[serde(default)]
    pub(crate) partial_line: bool,
    pub(crate) bytes: Option<u64>,
    pub(crate) line_bytes: Option<u64>,
}

const fn one() -> i64 {
    1
}

/// Checks that a scenario file can be played, without starting an agent.
///
/// # Errors
/// With what is wrong, without the file's name.
pub fn check_scenario(path: &Path) -> Result<(), String> {
    let file = match ScenarioFile::load(path) {
        Ok(file) => file,
        Err(ScriptError::Scenario { what, .. }) => return Err(what),
        Err(ScriptError::File { source, .. }) if source.kind() == ErrorKind::NotFound => {
            return Err("it does not exist".to_owned());
        }
        Err(ScriptError::File { source, .. }) => return Err(source.to_string()),
        Err(error) => return Err(error.to_string()),
    };
    for (number, scenario) in file.scenarios.iter().enumerate() {
        scenario.check().map_err(|error| match &scenario.name {
            Some(name) => format!("scenario `{name}`: {error}"),
            None => format!("scenario {}: {error}", number + 1),
        })?;
    }
    Ok(())
}

impl ScenarioFile {
    /// Reads a file.
    pub(crate) fn load(path: &Path) -> Result<Self, ScriptError> {
        let text = std::fs::read_to_string(path).map_err(|source| ScriptError::File {
            path: path.to_owned(),
            source,
        })?;
        let mut json = serde_json::Deserializer::from_str(&text);
        serde_path_to_error::deserialize(&mut json).map_err(|error| ScriptError::Scenario {
            path: path.to_owned(),
            what: error.to_string(),
        })
    }
}

impl Scenario {
    /// Reads every regular expression. They are compiled as they are needed: each agent is a process of its own, and a
    /// scenario's turns need few of them.
    fn check(&self) -> Result<(), ScriptError> {
        let conditions = [
            &self.match_any,
            &self.match_system,
            &self.match_prompt,
            &self.match_model,
        ];
        let conditions = conditions.into_iter().flatten();
        let expected = self.turns.iter().filter_map(|turn| turn.expect.as_ref());
        let mut patterns = conditions.chain(self.vars.values()).chain(expected);
        patterns.try_for_each(|pattern| check_regex(pattern))
    }

    /// Says whether the scenario fits the prompts and the model.
    pub(crate) fn fits(
        &self,
        system: &str,
        prompt: &str,
        model: &str,
    ) -> Result<bool, ScriptError> {
        let both = format!("{system}\n{prompt}");
        let conditions = [
            (&self.match_any, both.as_str()),
            (&self.match_system, system),
            (&self.match_prompt, prompt),
            (&self.match_model, model),
        ];
        for (pattern, text) in conditions {
            if let Some(pattern) = pattern
                && !regex(pattern)?.is_match(text)
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the turn with a number, repeats counted; behind the last one the final text.
    pub(crate) fn turn(&self, number: u64) -> Turn {
        let mut left = i64::try_from(number).unwrap_or(i64::MAX);
        for turn in &self.turns {
            left = left.saturating_sub(turn.repeat);
            if left < 0 || turn.repeat < 0 {
                return turn.clone();
            }
        }
        let text = self.final_text.as_deref().unwrap_or(FINAL_TEXT);
        Turn {
            content: vec![serde_json::json!({"type": "text", "text": text})],
            ..Turn::default()
        }
    }
}

impl Turn {
    /// Returns the fault of the n-th attempt (from 1) at this turn, if it has one.
    pub(crate) fn fault(&self, attempt: u64) -> Option<&Fault> {
        let mut left = i64::try_from(attempt).unwrap_or(i64::MAX);
        self.faults.iter().find(|fault| {
            left = left.saturating_sub(fault.times);
            left <= 0 || fault.times < 0
        })
    }
}

/// Compiles a regular expression of a scenario: `^` and `$` hold at every line.
pub(crate) fn regex(pattern: &str) -> Result<Regex, ScriptError> {
    let mut regex = RegexBuilder::new(pattern);
    regex
        .multi_line(true)
        .build()
        .map_err(|error| not_valid(pattern, &error))
}

fn check_regex(pattern: &str) -> Result<(), ScriptError> {
    let mut parser = regex_syntax::ParserBuilder::new().multi_line(true).build();
    let expression = parser.parse(pattern);
    expression
        .map(drop)
        .map_err(|error| not_valid(pattern, &error))
}

fn not_valid(pattern: &str, reason: &impl ToString) -> ScriptError {
    ScriptError::Regex {
        regex: pattern.to_owned(),
        what: reason.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(text: &str) -> Scenario {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn turns_repeat_and_end_with_the_final_text() {
        let text = |number: u64, scenario: &Scenario| {
            scenario.turn(number).content.first().unwrap()["text"]
                .as_str()
                .unwrap()
                .to_owned()
        };
        let some = scenario(
            r#"{"final_text": "end", "turns": [
                {"content": [{"type": "text", "text": "a"}], "repeat": 2},
                {"content": [{"type": "text", "text": "b"}]}]}"#,
        );
        let told: Vec<String> = (0..5).map(|number| text(number, &some)).collect();
        assert_eq!(told, ["a", "a", "b", "end", "end"]);
        let endless =
            scenario(r#"{"turns": [{"content": [{"type": "text", "text": "a"}], "repeat": -1}]}"#);
        assert_eq!(text(1_000_000, &endless), "a");
        assert_eq!(text(0, &scenario("{}")), "Done.");
    }

    #[test]
    fn faults_come_one_for_each_attempt() {
        let turn: Turn =
            serde_json::from_str(r#"{"faults": [{"type": "http", "times": 2}, {"type": "cut"}]}"#)
                .unwrap();
        let kinds: Vec<Option<&str>> = (1..=4)
            .map(|attempt| turn.fault(attempt).map(|fault| fault.kind.as_str()))
            .collect();
        assert_eq!(kinds, [Some("http"), Some("http"), Some("cut"), None]);
        let endless: Turn =
            serde_json::from_str(r#"{"faults": [{"type": "hang", "times": -1}]}"#).unwrap();
        assert!(endless.fault(1000).is_some());
    }

    #[test]
    fn what_cannot_be_played_is_known_before_an_agent_starts() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("scenario.json");
        let check = |text: &str| {
            std::fs::write(&path, text).unwrap();
            check_scenario(&path).unwrap_err()
        };
        assert_eq!(
            check("{\n  \"scenarios\": [}\n"),
            "scenarios[0]: expected value at line 2 column 17"
        );
        assert_eq!(check("{}"), "missing field `scenarios` at line 1 column 2");
        for broken in [
            r#"{"scenarios": [{"name": "judge", "match_system": "("}]}"#,
            r#"{"scenarios": [{"name": "judge", "vars": {"issue": "("}}]}"#,
            r#"{"scenarios": [{"name": "judge", "turns": [{"expect": "("}]}]}"#,
        ] {
            let problem = check(broken);
            assert!(
                problem.starts_with("scenario `judge`: regex \"(\" is not valid"),
                "{problem}"
            );
        }
        std::fs::write(&path, r#"{"scenarios": []}"#).unwrap();
        assert_eq!(check_scenario(&path), Ok(()));
        std::fs::remove_file(&path).unwrap();
        assert_eq!(check_scenario(&path), Err("it does not exist".to_owned()));
    }

    #[test]
    fn all_given_conditions_must_be_found() {
        let both = scenario(r#"{"match": "^ISSUE-1\\b", "match_model": "opus"}"#);
        assert!(both.fits("sys", "x\nISSUE-1 y", "claude-opus").unwrap());
        assert!(!both.fits("sys", "x\nISSUE-12", "claude-opus").unwrap());
        assert!(!both.fits("sys", "ISSUE-1", "sonnet").unwrap());
        assert!(scenario("{}").fits("", "", "").unwrap());
        assert!(scenario(r#"{"match": "("}"#).fits("", "", "").is_err());
    }
}
