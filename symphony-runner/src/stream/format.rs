//! Which format an agent's output has.

/// The name under which Symphony's MCP server is registered with every agent.
pub const MCP_SERVER_NAME: &str = "symphony";

/// The format of an agent's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamFormat {
    /// The Claude CLI's stream of JSON lines.
    Claude,
    /// The Codex CLI's JSON lines.
    Codex,
    /// The conversation of Codex's app-server.
    AppServer,
    /// A conversation by the Agent Client Protocol.
    Acp(AcpUsage),
    /// Plain text.
    Text,
}

/// How an agent reports what it used (measured with opencode 1.18, Qwen Code 0.24, Gemini CLI 0.61, Copilot CLI 1.0).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AcpUsage {
    /// The end of a turn has the counts of its last request only, input without what the cache had and output without
    /// thoughts (opencode).
    LastRequest,
    /// Each request's counts come with a piece of text (Qwen Code).
    EachRequest,
    /// The end of a turn has its sum (Gemini CLI).
    Turn,
    /// The end of a turn has the sum since the process began (Copilot CLI, and the protocol's draft).
    Process,
}
