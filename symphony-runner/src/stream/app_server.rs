//! The messages of Codex's app-server (`codex app-server`; its schema: `codex app-server generate-json-schema`).

use serde_json::Value;
use symphony_core::Timestamp;
use symphony_core::unit::Tokens;

use super::event::{
    AgentEvent, ApiError, ApiRetry, Init, McpServer, MessageUsage, RateLimit, RunResult,
    TokenCounts, ToolResult, WEB_SEARCH,
};
use super::format::MCP_SERVER_NAME;
use super::json::Broken;
use super::rpc::{Message, RpcError, count_at, other, text_at, word_at};
use super::text::{DETAIL_BYTES_MAX, MESSAGE_BYTES_MAX, TEXT_BYTES_MAX, WORD_BYTES_MAX, beginning};
use super::tool::tool_use;

/// What a reader knows of the thread.
#[derive(Debug, Clone, Default)]
pub(crate) struct AppServerReader {
    session: Option<String>,
    model: Option<String>,
    /// What the whole thread has used, as far as it was reported.
    total: Option<TokenCounts>,
    /// Whether a turn has begun. What is reported before is what a resumed thread had used.
    has_begun: bool,
    /// What the turn has used.
    turn: TokenCounts,
    reports: u64,
}

impl AppServerReader {
    /// Reads one line; the events are appended.
    ///
    /// # Errors
    /// When the line is no message.
    pub(crate) fn read(&mut self, line: &[u8], events: &mut Vec<AgentEvent>) -> Result<(), Broken> {
        match Message::parse(line)? {
            Message::Response { id, outcome } => {
                let id = id.as_str().unwrap_or_default();
                match outcome {
                    Ok(result) if matches!(id, "thread/start" | "thread/resume") => {
                        self.session = word_at(&result, "/thread/id");
                        self.model = word_at(&result, "/model");
                        events.push(self.init(None));
                    }
                    Ok(_) => {
                        self.has_begun |= id == "turn/start";
                        events.push(other(id));
                    }
                    Err(error) if self.is_open(id) => events.push(refused(id, &error)),
                    Err(_) => events.push(other(id)),
                }
            }
            Message::Notification { method, params } => {
                self.notification(&method, &params, events);
            }
            Message::Request { method, .. } => events.push(other(&method)),
        }
        Ok(())
    }

    /// Returns whether an error with an id answers what Symphony asked, and ends the conversation.
    fn is_open(&self, id: &str) -> bool {
        match id {
            "initialize" | "thread/start" | "thread/resume" => self.session.is_none(),
            "turn/start" => !self.has_begun,
            _ => false,
        }
    }

    fn notification(&mut self, method: &str, params: &Value, events: &mut Vec<AgentEvent>) {
        let item = params.get("item").unwrap_or(&Value::Null);
        match method {
            "item/started" => events.push(started(item)),
            "item/completed" => {
                if is_web_search(item) {
                    events.extend(called(item));
                }
                events.push(completed(item));
            }
            "thread/tokenUsage/updated" => events.push(self.used(params)),
            "account/rateLimits/updated" => events.push(rate_limit(params)),
            "mcpServer/startupStatus/updated" => events.push(self.mcp_server(params)),
            "error" => events.push(failure(params)),
            "turn/completed" => events.push(self.turn_completed(params)),
            _ => events.push(other(method)),
        }
    }

    fn init(&self, mcp_servers: Option<Vec<McpServer>>) -> AgentEvent {
        AgentEvent::Init(Init {
            session: self.session.clone(),
            model: self.model.clone(),
            tools: Vec::new(),
            mcp_servers,
        })
    }

    /// A server that does not start is reported as one that is not connected.
    fn mcp_server(&self, params: &Value) -> AgentEvent {
        let (name, status) = (
            text_at(params, "/name", WORD_BYTES_MAX),
            word_at(params, "/status"),
        );
        match status.as_deref() {
            Some("failed" | "cancelled") if name == MCP_SERVER_NAME => {
                self.init(Some(vec![McpServer {
                    name,
                    status: "failed".to_owned(),
                }]))
            }
            _ => other("mcpServer/startupStatus/updated"),
        }
    }

    /// Takes in what the thread has used. Only what was added counts: a resumed thread begins with what it had used
    /// before, and a report may come twice.
    fn used(&mut self, params: &Value) -> AgentEvent {
        let total = counts(params.pointer("/tokenUsage/total"));
        let last = counts(params.pointer("/tokenUsage/last"));
        let before = self.total.unwrap_or_else(|| total.without(last));
        self.total = Some(total);
        if !self.has_begun {
            return other("thread/tokenUsage/updated");
        }
        let added = total.without(before);
        self.turn = self.turn + added;
        self.reports += 1;
        AgentEvent::MessageUsage(MessageUsage {
            message_id: format!("usage {}", self.reports),
            subagent: false,
            tokens: added,
        })
    }

    fn turn_completed(&mut self, params: &Value) -> AgentEvent {
        let status = text_at(params, "/turn/status", WORD_BYTES_MAX);
        let is_error = status != "completed";
        let mut errors = Vec::new();
        if is_error {
            let told = text_at(params, "/turn/error/message", MESSAGE_BYTES_MAX);
            errors.push(if told.is_empty() {
                format!("the turn ended as `{status}`")
            } else {
                told
            });
        }
        AgentEvent::Result(Box::new(RunResult {
            is_error,
            subtype: format!("turn/{status}"),
            api_error_status: status_of(params.pointer("/turn/error/codexErrorInfo")),
            errors,
            turns: 1,
            tokens: std::mem::take(&mut self.turn),
            ..RunResult::default()
        }))
    }
}

/// A request of Symphony's that was refused ends the conversation.
fn refused(id: &str, error: &RpcError) -> AgentEvent {
    AgentEvent::Result(Box::new(RunResult {
        is_error: true,
        subtype: format!("{id}/refused"),
        errors: vec![error.text()],
        ..RunResult::default()
    }))
}

fn is_web_search(item: &Value) -> bool {
    text_at(item, "/type", WORD_BYTES_MAX) == "webSearch"
}

/// The name of the tool of a call; `None` for items that are no calls.
fn tool_name(item: &Value) -> Option<String> {
    match item.get("type")?.as_str()? {
        "commandExecution" => Some("command_execution".to_owned()),
        "fileChange" => Some("file_change".to_owned()),
        "mcpToolCall" => Some(format!(
            "mcp__{}__{}",
            text_at(item, "/server", WORD_BYTES_MAX),
            text_at(item, "/tool", WORD_BYTES_MAX)
        )),
        "webSearch" => {
            let reads = ["openPage", "findInPage"];
            let action = text_at(item, "/action/type", WORD_BYTES_MAX);
            let is_read = reads.contains(&action.as_str());
            Some(if is_read { "web_page" } else { WEB_SEARCH }.to_owned())
        }
        _ => None,
    }
}

fn called(item: &Value) -> Option<AgentEvent> {
    let name = tool_name(item)?;
    let mut inputs = ["command", "changes", "query", "arguments"].into_iter();
    let input = inputs.find_map(|field| item.get(field));
    let id = text_at(item, "/id", WORD_BYTES_MAX);
    Some(tool_use(id, name, input.unwrap_or(&Value::Null)))
}

fn started(item: &Value) -> AgentEvent {
    // The query of a search is known only at its end.
    let call = if is_web_search(item) {
        None
    } else {
        called(item)
    };
    call.unwrap_or_else(|| other(&format!("item/started/{}", kind_of(item))))
}

fn kind_of(item: &Value) -> String {
    text_at(item, "/type", WORD_BYTES_MAX)
}

fn completed(item: &Value) -> AgentEvent {
    if tool_name(item).is_some() {
        let status = text_at(item, "/status", WORD_BYTES_MAX);
        return AgentEvent::ToolResult(ToolResult {
            id: text_at(item, "/id", WORD_BYTES_MAX),
            is_error: !matches!(status.as_str(), "" | "completed"),
            text: answer(item),
        });
    }
    match kind_of(item).as_str() {
        "agentMessage" => AgentEvent::Text {
            text: text_at(item, "/text", TEXT_BYTES_MAX),
            subagent: false,
        },
        "reasoning" => AgentEvent::Thinking {
            text: joined(item.get("summary"), DETAIL_BYTES_MAX),
        },
        kind => other(&format!("item/completed/{kind}")),
    }
}

/// Returns the text of a finished call: its error, its output, or its result's text blocks.
fn answer(item: &Value) -> String {
    let error = text_at(item, "/error/message", MESSAGE_BYTES_MAX);
    if !error.is_empty() {
        return error;
    }
    let output = text_at(item, "/aggregatedOutput", DETAIL_BYTES_MAX);
    if !output.is_empty() {
        return match item.get("exitCode").and_then(Value::as_i64) {
            None | Some(0) => output,
            Some(code) => format!("exit code {code}\n{output}"),
        };
    }
    joined(item.pointer("/result/content"), DETAIL_BYTES_MAX)
}

/// Joins the texts of a list whose elements are texts, or objects with one.
fn joined(list: Option<&Value>, bytes_max: usize) -> String {
    let elements = list.and_then(Value::as_array).into_iter().flatten();
    let texts =
        elements.filter_map(|element| element.as_str().or_else(|| element.get("text")?.as_str()));
    let mut text = String::new();
    for part in texts {
        if text.len() > bytes_max {
            break;
        }
        text.push_str(&beginning(part.as_bytes(), bytes_max));
    }
    beginning(text.as_bytes(), bytes_max)
}

/// An error that is retried, or one that is not.
fn failure(params: &Value) -> AgentEvent {
    let info = params.pointer("/error/codexErrorInfo");
    let message = text_at(params, "/error/message", MESSAGE_BYTES_MAX);
    if params.get("willRetry").and_then(Value::as_bool) == Some(true) {
        let (attempt, attempts_max) = attempts(&message);
        let details = text_at(params, "/error/additionalDetails", MESSAGE_BYTES_MAX);
        return AgentEvent::ApiRetry(ApiRetry {
            status: status_of(info),
            error: if details.is_empty() { message } else { details },
            attempt,
            attempts_max,
        });
    }
    AgentEvent::ApiError(ApiError {
        status: status_of(info),
        error: Some(message),
        kind: None,
    })
}

/// Reads the form `Reconnecting... 1/5`.
fn attempts(message: &str) -> (u64, u64) {
    let counts = message.strip_prefix("Reconnecting... ");
    let counts = counts.and_then(|rest| rest.split_once('/'));
    let number = |text: &str| text.trim().parse().unwrap_or_default();
    counts.map_or((0, 0), |(attempt, most)| (number(attempt), number(most)))
}

/// The HTTP status in `{"kind of error": {"httpStatusCode": 429}}`.
fn status_of(info: Option<&Value>) -> Option<u16> {
    let fields = info?.as_object()?.values().next()?;
    let status = fields.get("httpStatusCode")?.as_u64()?;
    u16::try_from(status).ok()
}

fn rate_limit(params: &Value) -> AgentEvent {
    let windows =
        ["primary", "secondary"].map(|name| params.pointer(&format!("/rateLimits/{name}")));
    let used = |window: &&Value| {
        let percent = window.get("usedPercent").and_then(Value::as_f64);
        percent.unwrap_or_default()
    };
    let windows = windows.into_iter().flatten();
    let Some(fullest) = windows.max_by(|left, right| used(left).total_cmp(&used(right))) else {
        return other("account/rateLimits/updated");
    };
    let resets_at = fullest.get("resetsAt").and_then(Value::as_i64);
    let credits = |name: &str| {
        let credits = params.pointer(&format!("/rateLimits/credits/{name}"));
        credits.and_then(Value::as_bool) == Some(true)
    };
    let is_paid_beyond = credits("hasCredits") || credits("unlimited");
    AgentEvent::RateLimit(RateLimit {
        rejected: used(&fullest) >= 100.0 && !is_paid_beyond,
        resets_at: resets_at.and_then(|second| Timestamp::from_second(second).ok()),
        limit: word_at(params, "/rateLimits/limitId"),
    })
}

/// Reads counts of tokens: Codex's input includes what was read from and written to the cache.
fn counts(value: Option<&Value>) -> TokenCounts {
    let count = |path: &str| value.map_or(0, |value| count_at(value, path));
    let (cached, written) = (count("/cachedInputTokens"), count("/cacheWriteInputTokens"));
    let input = count("/inputTokens").saturating_sub(cached);
    TokenCounts {
        input: Tokens::new(input.saturating_sub(written)),
        output: Tokens::new(count("/outputTokens")),
        cache_read: Tokens::new(cached),
        cache_creation: Tokens::new(written),
    }
}
