//! The events that every output format is turned into.

use symphony_core::Timestamp;
use symphony_core::unit::{Tokens, UsdMicros};

/// The name of a web search that is not one of a CLI's own tools.
pub(super) const WEB_SEARCH: &str = "web_search";

/// One event that an agent's CLI reported.
///
/// A line may hold several: a Claude message line has its usage and then its blocks.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum AgentEvent {
    /// The agent is up. This may come several times in one process.
    Init(Init),
    /// The agent said something.
    Text {
        /// What it said, cut at 64 KiB.
        text: String,
        /// Whether a subagent said it.
        subagent: bool,
    },
    /// A thought of the agent.
    Thinking {
        /// What it thought, cut at 1 KiB.
        text: String,
    },
    /// The agent called a tool.
    ToolUse(ToolUse),
    /// A tool answered.
    ToolResult(ToolResult),
    /// What one message used, as far as it is known before the result.
    MessageUsage(MessageUsage),
    /// The CLI retries a failed request.
    ApiRetry(ApiRetry),
    /// The CLI gave up on a request.
    ApiError(ApiError),
    /// A tool call was denied.
    PermissionDenied {
        /// The tool.
        tool: String,
        /// The id of the call.
        tool_use_id: String,
        /// Why, cut at 4 KiB.
        message: String,
    },
    /// The provider reported its limits.
    RateLimit(RateLimit),
    /// A loop of the agent ended. More may follow.
    Result(Box<RunResult>),
    /// Anything else, known or not.
    Other {
        /// The event's type, with its subtype after a slash.
        kind: String,
    },
}

/// The content of an agent's start-up event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Init {
    /// The session's (or thread's) id.
    pub session: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The tools, by name.
    pub tools: Vec<String>,
    /// The MCP servers; `None` if the format does not list them.
    pub mcp_servers: Option<Vec<McpServer>>,
}

/// An MCP server as the agent's CLI sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpServer {
    /// Its name.
    pub name: String,
    /// Its state: `connected`, `pending`, `failed` …
    pub status: String,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolUse {
    /// The call's id.
    pub id: String,
    /// The tool's name; an MCP tool as `mcp__server__tool`.
    pub name: String,
    /// The arguments as JSON text, cut at 1 KiB.
    pub input: String,
    /// A digest of the whole arguments: equal arguments, equal digest. It means nothing outside this process.
    pub input_digest: u64,
}

impl ToolUse {
    /// Returns whether the call is a web search: by a tool of the Claude CLI, of Codex or of the model's provider.
    pub fn is_web_search(&self) -> bool {
        matches!(self.name.as_str(), "WebSearch" | WEB_SEARCH)
    }
}

/// The answer to a call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// The call's id.
    pub id: String,
    /// Whether the tool failed.
    pub is_error: bool,
    /// The answer's text, cut at 1 KiB.
    pub text: String,
}

/// Counts of tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TokenCounts {
    /// Input that was neither read from nor written to the cache.
    pub input: Tokens,
    /// Output.
    pub output: Tokens,
    /// Read from the cache.
    pub cache_read: Tokens,
    /// Written to the cache.
    pub cache_creation: Tokens,
}

impl TokenCounts {
    /// Returns by how much the counts exceed others.
    pub(super) fn without(self, others: Self) -> Self {
        let excess =
            |count: Tokens, other: Tokens| Tokens::new(count.get().saturating_sub(other.get()));
        Self {
            input: excess(self.input, others.input),
            output: excess(self.output, others.output),
            cache_read: excess(self.cache_read, others.cache_read),
            cache_creation: excess(self.cache_creation, others.cache_creation),
        }
    }
}

impl std::ops::Add for TokenCounts {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            input: self.input + other.input,
            output: self.output + other.output,
            cache_read: self.cache_read + other.cache_read,
            cache_creation: self.cache_creation + other.cache_creation,
        }
    }
}

/// What one message of the model used. The lines of one message repeat it: count it once per id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageUsage {
    /// The message's id.
    pub message_id: String,
    /// Whether it is a subagent's.
    pub subagent: bool,
    /// Its tokens; the output is the count at the message's start until a partial-message event has the final one.
    pub tokens: TokenCounts,
}

/// A request that is retried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiRetry {
    /// The HTTP status; `None` if the network failed, or the status is not reported.
    pub status: Option<u16>,
    /// The CLI's word for the error (`overloaded`, `rate_limit` …), or its message.
    pub error: String,
    /// Which retry this is, from 1.
    pub attempt: u64,
    /// The maximum number of retries.
    pub attempts_max: u64,
}

/// A request that failed for good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiError {
    /// The HTTP status, if there was an answer.
    pub status: Option<u16>,
    /// The CLI's word for the error (`server_error`, `authentication_failed` …).
    pub error: Option<String>,
    /// The provider's word (`overloaded_error` …).
    pub kind: Option<String>,
}

/// The provider's report of its limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateLimit {
    /// Whether requests are refused now.
    pub rejected: bool,
    /// When the limit is lifted.
    pub resets_at: Option<Timestamp>,
    /// Which limit (`five_hour`, `seven_day` …).
    pub limit: Option<String>,
}

/// The end of a loop of the agent, as its CLI reports it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunResult {
    /// The CLI's own judgement. (Its `subtype` alone means nothing: an API failure comes as `success`.)
    pub is_error: bool,
    /// The subtype: `success`, `error_max_turns` …; Codex: `turn.completed`, `turn.failed`.
    pub subtype: String,
    /// Why the loop ended: `completed`, `max_turns`, `api_error` …
    pub terminal_reason: Option<String>,
    /// The HTTP status of the failed request.
    pub api_error_status: Option<u16>,
    /// The provider's word for the failed request.
    pub api_error_type: Option<String>,
    /// The final text, cut at 64 KiB.
    pub text: String,
    /// The CLI's error messages, at most 16, each cut at 4 KiB.
    pub errors: Vec<String>,
    /// Turns of this loop.
    pub turns: u64,
    /// Tokens since the last result of this process, subagents included.
    pub tokens: TokenCounts,
    /// Cost since the last result of this process; `None` if the CLI reports none.
    pub cost: Option<UsdMicros>,
    /// Cost of the whole session so far, for CLIs that report only that.
    pub session_cost: Option<UsdMicros>,
    /// How many tool calls were denied.
    pub permission_denials: u64,
}
