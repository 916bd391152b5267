//! Conversations with agents: protocols in which Symphony answers while the agent works.
//!
//! A conversation is a pure state machine: messages of the agent go in, lines for its standard input come out. Reading,
//! writing and ending belong to the supervisor, events and usage to [`crate::stream`], which reads the same lines. So a
//! conversation knows nothing of limits, logs and exit handling.
//!
//! To add a protocol, implement [`Conversation`] in a file of its own and name it in [`Protocol`].

mod acp;
mod app_server;
mod outgoing;
mod writer;

use std::fmt::Debug;
use std::path::PathBuf;

use symphony_core::id::RunId;

use self::acp::AcpConversation;
use self::app_server::AppServerConversation;
pub(crate) use self::outgoing::Outgoing;
pub(crate) use self::writer::InputWriter;
use crate::provider::{AgentRole, McpServerCommand, Session};
use crate::stream::rpc::Message;

/// A protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// Codex's app-server.
    AppServer,
    /// The Agent Client Protocol.
    Acp,
}

/// What a conversation begins with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opening {
    /// The protocol.
    pub protocol: Protocol,
    /// The run.
    pub run: RunId,
    /// Whether the agent writes or judges.
    pub role: AgentRole,
    /// Whether it resumes a session.
    pub session: Session,
    /// The folder it works in.
    pub folder: PathBuf,
    /// The model, for protocols that name it.
    pub model: Option<String>,
    /// The system prompt; `None` if the agent has it from its arguments or settings.
    pub system_prompt: Option<String>,
    /// The file of the user prompt.
    pub prompt: PathBuf,
    /// How the agent reaches Symphony's MCP service.
    pub mcp_server: McpServerCommand,
}

/// A conversation with an agent.
pub(crate) trait Conversation: Debug + Send {
    /// Says the first message.
    fn begin(&mut self, out: &mut Outgoing);

    /// Takes in a message of the agent.
    fn take(&mut self, message: Message, out: &mut Outgoing);

    /// Asks the agent to stop what it does.
    fn cancel(&mut self, out: &mut Outgoing);

    /// Returns whether nothing more is to be said. The agent's standard input can be closed then.
    fn is_over(&self) -> bool;
}

/// Returns the conversation of an opening. `prompt` is the text of the user prompt.
pub(crate) fn conversation(opening: Opening, prompt: String) -> Box<dyn Conversation> {
    match opening.protocol {
        Protocol::AppServer => Box::new(AppServerConversation::new(opening, prompt)),
        Protocol::Acp => Box::new(AcpConversation::new(opening, prompt)),
    }
}

/// How often an agent is asked to go on after a tool was refused, which ends the turn of most.
const GO_ON_MAX: u32 = 3;

/// What it is asked then.
const GO_ON: &str = "That tool call was refused: it is not available in this role. Go on without it, and finish your task with the tools you have.";

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    /// An opening that a test can use.
    pub(super) fn opening(protocol: Protocol, role: AgentRole) -> Opening {
        Opening {
            protocol,
            run: RunId::parse("01900000-0000-7000-8000-000000000000").unwrap(),
            role,
            session: Session::New,
            folder: PathBuf::from("/work"),
            model: None,
            system_prompt: Some("You are a worker.".to_owned()),
            prompt: PathBuf::from("/run/user-prompt.md"),
            mcp_server: McpServerCommand {
                program: PathBuf::from("/bin/symphony"),
                socket: PathBuf::from("/run/mcp.sock"),
            },
        }
    }

    /// Returns what was said, and checks that each line is one message.
    pub(super) fn said(out: &mut Outgoing) -> Vec<Value> {
        let bytes = out.take();
        let lines = bytes
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty());
        lines
            .map(|line| serde_json::from_slice(line).unwrap())
            .collect()
    }

    /// Says a line to a conversation; returns what it answers.
    pub(super) fn take(conversation: &mut dyn Conversation, line: &Value) -> Vec<Value> {
        let mut out = Outgoing::default();
        let message = Message::parse(line.to_string().as_bytes()).unwrap();
        conversation.take(message, &mut out);
        said(&mut out)
    }
}
