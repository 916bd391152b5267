//! Conversations with agents: protocols in which Symphony answers while the agent works.
//!
//! A conversation is a pure state machine: messages of the agent go in, lines for its standard input come out. Reading,
//! writing and ending belong to the supervisor, events and usage to [`crate::stream`], which reads the same lines. So a
//! conversation knows nothing of limits, logs and exit handling.
//!
//! To add a protocol, implement [`Conversation`] in a file of its own and name it in [`Protocol`].

mod acp;
mod app_server;
mod claude;
mod mailbox;
mod outgoing;
mod writer;

use std::fmt::Debug;
use std::path::PathBuf;

use symphony_core::id::{CommentId, RunId};

use self::acp::AcpConversation;
use self::app_server::AppServerConversation;
use self::claude::ClaudeConversation;
pub(crate) use self::mailbox::Letter;
pub(crate) use self::outgoing::Outgoing;
pub use self::writer::InputWriter;
use crate::provider::{AgentRole, McpServerCommand, Session};

/// A protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// Claude Code's lines of JSON.
    Claude,
    /// Codex's app-server.
    AppServer,
    /// The Agent Client Protocol.
    Acp(MidTurn),
}

/// How an agent by the Agent Client Protocol takes a message while it works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MidTurn {
    /// As a second prompt, which joins the first.
    Prompt,
    /// It asks for messages after each round of tools (`craft/drainMidTurnQueue`).
    Asks,
    /// Not at all: a second prompt would cancel the first. The message begins the next turn.
    Waits,
}

impl Protocol {
    /// Returns whether an agent itself reports that a server of tools did not come up.
    pub(crate) const fn reports_tools(self) -> bool {
        matches!(self, Self::Claude)
    }
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

    /// Takes in a line of the agent.
    fn take(&mut self, line: &[u8], out: &mut Outgoing);

    /// Takes in a message of a person: the agent gets it now, or as soon as it can take it.
    fn say(&mut self, letter: Letter, out: &mut Outgoing);

    /// Drops a message that its writer has withdrawn, if the agent was not sent it yet.
    fn withdraw(&mut self, message: CommentId);

    /// Returns the messages that the agent has got since the last call.
    fn take_read(&mut self) -> Vec<CommentId>;

    /// Asks the agent to stop what it does.
    fn cancel(&mut self, out: &mut Outgoing);

    /// Returns whether nothing more is to be said. The agent's standard input can be closed then.
    fn is_over(&self) -> bool;

    /// Returns whether the agent's turn has ended, whatever is still to be said. An agent that does nothing more is not waited
    /// for then.
    fn is_idle(&self) -> bool {
        self.is_over()
    }

    /// Returns whether the agent's exit code means something once all was said.
    fn has_exit_code(&self) -> bool {
        false
    }
}

/// Returns the conversation of an opening. `prompt` is the text of the user prompt.
pub(crate) fn conversation(opening: Opening, prompt: String) -> Box<dyn Conversation> {
    match opening.protocol {
        Protocol::Claude => Box::new(ClaudeConversation::new(opening, prompt)),
        Protocol::AppServer => Box::new(AppServerConversation::new(opening, prompt)),
        Protocol::Acp(mid_turn) => Box::new(AcpConversation::new(opening, prompt, mid_turn)),
    }
}

/// How often an agent is asked to go on after a tool was refused, which ends the turn of most.
const GO_ON_MAX: u32 = 3;

/// What it is asked then.
const GO_ON: &str = "That tool call was refused: it is not available in this role. Continue without it, and finish your task with the tools you have.";

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
        conversation.take(line.to_string().as_bytes(), &mut out);
        said(&mut out)
    }

    /// Says a message of a person to a conversation; returns what the agent is sent.
    pub(super) fn letter(conversation: &mut dyn Conversation, id: i64, text: &str) -> Vec<Value> {
        let mut out = Outgoing::default();
        let letter = Letter {
            id: CommentId::new(id),
            text: text.to_owned(),
        };
        conversation.say(letter, &mut out);
        said(&mut out)
    }
}
