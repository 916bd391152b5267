//! What an agent is doing, in a few words for `status` and the progress of a run: no JSON, no tags.

use serde_json::{Map, Value};

use super::event::AgentEvent;
use super::text::push_plain;

/// Most bytes of one text that are quoted: a line of a terminal shows less.
const QUOTE_BYTES_MAX: usize = 200;
/// The tool parameters that say most about a call, the most telling first.
const TELLING: [&str; 12] = [
    "command",
    "file_path",
    "notebook_path",
    "path",
    "pattern",
    "query",
    "url",
    "title",
    "description",
    "summary",
    "prompt",
    "issue_id",
];
/// Length of the longest escape in a JSON text (`\u001b`), which may be cut.
const ESCAPE_BYTES_MAX: usize = 6;
/// Prefix of Symphony's own tools in the Claude CLI.
const OWN_TOOLS: &str = "mcp__symphony__";

/// Writes what the agent is doing; returns whether the event shows it. Otherwise the previous words are still true.
pub fn write_news(out: &mut String, event: &AgentEvent) -> bool {
    match event {
        AgentEvent::Init(init) => {
            out.push_str("started");
            if let Some(model) = &init.model {
                out.push_str(" with ");
                quote(out, model);
            }
        }
        AgentEvent::Text { text, .. } => told(out, "says: ", text),
        AgentEvent::Thinking { text } => told(out, "thinks: ", text),
        AgentEvent::ToolUse(call) => {
            out.push_str("uses ");
            quote(out, call.name.strip_prefix(OWN_TOOLS).unwrap_or(&call.name));
            if let Some(text) = telling(&call.input) {
                out.push_str(": ");
                quote(out, &text);
            }
        }
        AgentEvent::ToolResult(result) if result.is_error => {
            told(out, "got an error from a tool: ", &result.text);
        }
        AgentEvent::ApiRetry(retry) => {
            told(out, "waits for the provider: ", &retry.error);
        }
        AgentEvent::ApiError(error) => {
            let text = error.error.as_ref().or(error.kind.as_ref());
            told(
                out,
                "got an error from the provider: ",
                text.map_or("unknown", String::as_str),
            );
        }
        AgentEvent::PermissionDenied { tool, message, .. } => {
            out.push_str("was refused ");
            quote(out, tool);
            told(out, ": ", message);
        }
        AgentEvent::RateLimit(limit) if limit.rejected => {
            out.push_str("reached a rate limit");
        }
        AgentEvent::Result(result) if result.is_error => {
            told(
                out,
                "failed: ",
                result.errors.first().unwrap_or(&result.text),
            );
        }
        AgentEvent::Result(_) => out.push_str("finished"),
        AgentEvent::ToolResult(_)
        | AgentEvent::RateLimit(_)
        | AgentEvent::MessageUsage(_)
        | AgentEvent::Other { .. } => return false,
    }
    true
}

/// Returns what says most about a call of a tool: a known parameter, or the first text among them.
fn telling(input: &str) -> Option<String> {
    let parameters = parameters(input)?;
    TELLING
        .iter()
        .filter_map(|name| parameters.get(*name))
        .chain(parameters.values())
        .find_map(Value::as_str)
        .map(str::to_owned)
}

/// Parses the parameters of a call. Long ones are cut inside a text, usually the last: it is closed where it was cut.
fn parameters(input: &str) -> Option<Map<String, Value>> {
    if let Ok(parameters) = serde_json::from_str(input) {
        return Some(parameters);
    }
    (0..=ESCAPE_BYTES_MAX).find_map(|cut| {
        let kept = input.get(..input.len().checked_sub(cut)?)?;
        serde_json::from_str(&format!("{kept}\"}}")).ok()
    })
}

fn told(out: &mut String, word: &str, text: &str) {
    out.push_str(word);
    quote(out, text);
}

/// Appends the first line of a text.
fn quote(out: &mut String, text: &str) {
    let line = text.lines().find(|line| !line.trim().is_empty());
    push_plain(out, line.unwrap_or_default().trim(), QUOTE_BYTES_MAX);
}

#[cfg(test)]
mod tests {
    use super::super::event::{ToolResult, ToolUse};
    use super::*;

    fn news(event: &AgentEvent) -> Option<String> {
        let mut out = String::new();
        write_news(&mut out, event).then_some(out)
    }

    #[test]
    fn a_call_of_a_tool_is_told_by_its_telling_parameter() {
        let long = format!(
            "{{\"file_path\":\"src/a.rs\",\"content\":\"{}",
            "x".repeat(900)
        );
        for (name, input, expected) in [
            (
                "Bash",
                r#"{"command":"cargo test","description":"d"}"#,
                "uses Bash: cargo test",
            ),
            (
                "Bash",
                r#"{"description":"Run it","timeout":7}"#,
                "uses Bash: Run it",
            ),
            ("Bash", "{\"command\":\"a\\nb\"}", "uses Bash: a"),
            ("Edit", &long, "uses Edit: src/a.rs"),
            ("Bash", r#"{"command":"echo \u00"#, "uses Bash: echo "),
            ("Bash", r#"{"command":"echo \"#, "uses Bash: echo "),
            (
                "mcp__symphony__create_pr",
                r#"{"title":"Say hello"}"#,
                "uses create_pr: Say hello",
            ),
            ("mcp__symphony__list", "{}", "uses list"),
            ("Odd", r#"{"deep":{"a":["#, "uses Odd"),
            ("Odd", r#"{"zeal":"much"}"#, "uses Odd: much"),
            ("Odd", "", "uses Odd"),
            (
                "Bash",
                r#"{"command":"\u001b[31mred"}"#,
                "uses Bash: ␛[31mred",
            ),
        ] {
            let call = AgentEvent::ToolUse(ToolUse {
                id: "t".to_owned(),
                name: name.to_owned(),
                input: input.to_owned(),
                input_digest: 0,
            });
            assert_eq!(
                news(&call).as_deref().map(str::trim_end),
                Some(expected.trim_end()),
                "{input}"
            );
        }
    }

    #[test]
    fn what_tells_nothing_leaves_the_words_before() {
        let result = |is_error, text: &str| {
            AgentEvent::ToolResult(ToolResult {
                id: "t".to_owned(),
                is_error,
                text: text.to_owned(),
            })
        };
        assert_eq!(news(&result(false, "{\"version\":1}")), None);
        assert_eq!(
            news(&result(true, "\nno such file\nat all")).as_deref(),
            Some("got an error from a tool: no such file")
        );
        let text = AgentEvent::Text {
            text: "\nI begin.\nThen more.".to_owned(),
            subagent: false,
        };
        assert_eq!(news(&text).as_deref(), Some("says: I begin."));
    }
}
