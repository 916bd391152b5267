//! The MCP service that agents report through: tools, roles, transports.
//!
//! One [`Service`] answers for one [`Identity`]: role, run and issue are fixed when its transport is created and are
//! never arguments of a call. The same role decides what `tools/list` shows and what `tools/call` accepts. Each call is
//! one transaction of the store. What an agent can act on is a tool result with `isError`, never a protocol error.

mod answer;
mod argument;
mod before_hand_in;
mod error;
mod identity;
mod pipe;
mod redaction;
mod review;
mod rows;
mod service;
mod socket;
mod store_thread;
mod tool;
mod tool_call;
mod work;

pub use before_hand_in::BeforeHandIn;
pub use error::McpError;
pub use identity::{Identity, IssueWorkspace, ProjectPhases, ReviewTarget, Reviewed, Verdicts};
pub use pipe::{pipe, pipe_stdio};
pub use service::{Service, serve, serve_stdio};
pub use socket::{Peer, RunSocket, bind_private};
pub use store_thread::StoreThread;
