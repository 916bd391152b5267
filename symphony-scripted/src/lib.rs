//! The scripted agent: an agent CLI without a model, for demonstrations, trials and tests without network (spec:
//! lifecycle, "Providers", `scripted`).
//!
//! It plays a scenario file: the same file also drives a stand-in for a model's HTTP API behind the real CLIs, so one
//! scenario shows the same run with each. Only the model is missing; everything else is real: it runs its tools in the
//! working directory, calls `mcp__<server>__<tool>` as an MCP client of the servers in its MCP configuration, and writes
//! the Claude CLI's stream.
//!
//! # Scenario file
//! ```json
//! {"scenarios": [
//!   {"name": "implement", "match": "SYM-1\\b", "uses": 1,
//!    "vars": {"issue": "Issue: (\\S+)"},
//!    "usage": {"input_tokens": 100, "output_tokens": 20},
//!    "final_text": "Done.",
//!    "turns": [
//!      {"content": [
//!         {"type": "thinking", "thinking": "…"}, {"type": "text", "text": "…"},
//!         {"type": "tool_use", "label": "issue", "name": "mcp__symphony__get_issue", "input": {"issue": "${issue}"}}]},
//!      {"expect": "\"status\": *\"todo\"",
//!       "content": [{"type": "tool_use", "name": "Bash", "input": {"command": "echo ${results.issue.title}"}}],
//!       "repeat": 3, "stop_reason": "max_tokens",
//!       "faults": [{"type": "http", "status": 529, "times": 2}]}]}]}
//! ```
//! - The first scenario wins whose `match` (searched in system and user prompt), `match_system`, `match_prompt` and
//!   `match_model` are all found, and whose `uses` are not used up: they are counted across processes in the state
//!   directory.
//! - A turn whose `expect` is not in the last tool result, a placeholder without value, an unmatched prompt, a broken file:
//!   the run ends with the text `SCRIPT ERROR: …`, `is_error` and exit code 1, so that no test overlooks it.
//! - A turn without a tool call ends the conversation, as it does with a model; when the turns are used up, `final_text`
//!   ends it.
//! - `repeat` serves a turn several times (`-1`: for ever; the limit of turns ends it).
//! - `namespace` joins a tool's name as `namespace__name`.
//! - `side_replies`, `headers` and `allow_no_tools` concern HTTP and are ignored.
//!
//! # Placeholders
//! In any string of a block: `${var}`, `${session_id}`, `${turn}`, `${prompt}`, `${system}`, `${model}`,
//! `${last_tool_result}`, `${results.LABEL}`, each with a path (`.a.0.b`, through JSON in texts) and a regex
//! (`~regex(group)`, without `}` inside). A string that is one placeholder takes the value's JSON type; `$${` is a plain
//! `${`.
//!
//! # Regular expressions
//! They are those of the `regex` crate, with `^` and `$` at every line (`(?m)`). Against Python's: no look-around, no
//! back-references, no conditionals, and a literal `{` or `}` must be escaped where it could be a repetition.
//!
//! # Faults
//! One for each attempt at a turn, in order, each `times` times (default 1, -1: for ever); then the turn is served.
//! | type | what happens |
//! |---|---|
//! | `http {status, retry_after, message}` | as the Claude CLI: `api_retry` until its retries are used up (400: none), then an API error and exit 1 |
//! | `cut`, `reset` | `api_retry` without a status |
//! | `malformed`, `error_event` | tried again without a word |
//! | `hang {seconds}`, `hang_stream {seconds}`, `delay {seconds}`, `slow {chunk_delay}` | silence (3600, 3600, 1, 0.1 s), then the turn |
//! | `exit {code, partial_line}` | the process ends without a result; with `partial_line` in the middle of a line |
//! | `flood {bytes, line_bytes}` | that much output in lines of that length (default 1024), then the turn |

mod answer;
mod argument;
mod bash;
mod binding;
mod emit;
mod engine;
mod error;
mod fault;
mod file_tools;
mod mcp_client;
mod options;
mod placeholder;
mod price;
mod run;
mod scenario;
mod tool;
mod unmatched;

pub use error::OptionsError;
pub use options::{ScriptedOptions, Surroundings};
pub use run::run;
pub use scenario::check_scenario;
