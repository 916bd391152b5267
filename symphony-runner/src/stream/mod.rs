//! What agents report: lines of output become typed events, log lines, usage and a verdict (spec: lifecycle, "Streams",
//! "Error classes").
//!
//! Everything here is pure: bytes in, values out. The supervisor reads the lines, keeps the raw ones, and asks
//! [`StreamState`] for the rest. Nothing here reads a clock, a file or a process.
//!
//! Rules that hold for every format:
//! - an unknown event passes through as [`AgentEvent::Other`], a broken line is counted, neither is fatal;
//! - the process's exit ends a run, never a result event: several may come;
//! - errors are classified by the structure of the report (fields, HTTP status, the fixed forms of Codex's messages),
//!   never by a number somewhere in a text;
//! - every text that is kept is bounded.

mod acp;
mod app_server;
mod class;
mod claude;
mod claude_message;
mod codex;
mod conclusion;
mod decode;
mod event;
mod format;
mod json;
mod log_line;
mod loop_detector;
mod news;
mod parse;
pub(crate) mod rpc;
mod state;
mod text;
mod tool;
mod usage;

pub(crate) use acp::PROMPT;
pub use conclusion::{Conclusion, ExitFact, RunEnd};
pub use event::{
    AgentEvent, ApiError, ApiRetry, Init, McpServer, MessageUsage, RateLimit, RunResult,
    TokenCounts, ToolResult, ToolUse,
};
pub use format::{AcpUsage, MCP_SERVER_NAME, StreamFormat};
pub use json::Broken;
pub use log_line::{LOG_LINE_BYTES_MAX, write_log_line};
pub use loop_detector::{LOOP_REPEATS_DEFAULT, LoopDetector, LoopFound};
pub use news::write_news;
pub use parse::{LineKind, LineReader};
pub use rpc::{Message, RpcError};
pub use state::{StreamState, must_end};
pub use text::push_plain;
