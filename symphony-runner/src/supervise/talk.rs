//! The conversation with a running agent: what it says is answered on its standard input.

use symphony_core::failure::ErrorClass;
use symphony_core::id::CommentId;

use crate::conversation::{Conversation, InputWriter, Letter, Outgoing, conversation};
use crate::error::RunnerError;
use crate::process::Agent;
use crate::provider::{AgentCommand, StdinSource};

/// A conversation with a running agent.
#[derive(Debug)]
pub(super) struct Talk {
    conversation: Box<dyn Conversation>,
    input: InputWriter,
    out: Outgoing,
}

/// Returns the conversation that an agent takes part in, if it does.
pub(super) fn conversation_of(
    command: &AgentCommand,
) -> Result<Option<Box<dyn Conversation>>, RunnerError> {
    let StdinSource::Conversation(opening) = &command.stdin else {
        return Ok(None);
    };
    let path = &opening.prompt;
    let prompt = std::fs::read_to_string(path)
        .map_err(|error| RunnerError::io("read the prompt", path, error))?;
    Ok(Some(conversation((**opening).clone(), prompt)))
}

impl Talk {
    /// Begins a conversation.
    pub(super) fn begin(conversation: Box<dyn Conversation>, agent: &mut Agent) -> Option<Self> {
        let mut talk = Self {
            conversation,
            input: InputWriter::new(agent.take_stdin()?),
            out: Outgoing::default(),
        };
        talk.conversation.begin(&mut talk.out);
        talk.say();
        Some(talk)
    }

    /// Answers a line, and closes the agent's input when nothing more is to be said. Returns the class of error with
    /// which the agent must be ended, if it does not read what it asked for.
    pub(super) fn hear(&mut self, line: &[u8]) -> Option<ErrorClass> {
        self.conversation.take(line.trim_ascii(), &mut self.out);
        let is_read = self.say();
        if self.conversation.is_over() {
            self.input.close();
        }
        (!is_read).then_some(ErrorClass::AgentFailed)
    }

    /// Asks the agent to stop, and closes its input.
    pub(super) fn cancel(&mut self) {
        self.conversation.cancel(&mut self.out);
        let _the_agent_is_ended_next = self.say();
        self.input.close();
    }

    /// Says a message of a person, as soon as the agent can take it.
    pub(super) fn say_letter(&mut self, letter: Letter) {
        self.conversation.say(letter, &mut self.out);
        let _an_agent_that_does_not_read_is_found_when_it_asks = self.say();
    }

    /// Drops a message that its writer has withdrawn, if the agent was not sent it yet.
    pub(super) fn withdraw(&mut self, message: CommentId) {
        self.conversation.withdraw(message);
    }

    /// Returns the messages that the agent has got since the last call.
    pub(super) fn take_read(&mut self) -> Vec<CommentId> {
        self.conversation.take_read()
    }

    /// Returns whether nothing more is to be said.
    pub(super) fn is_over(&self) -> bool {
        self.conversation.is_over()
    }

    /// Returns whether the agent's turn has ended.
    pub(super) fn is_idle(&self) -> bool {
        self.conversation.is_idle()
    }

    /// Returns whether all was said to an agent whose exit code means nothing then.
    pub(super) fn has_said_all(&self) -> bool {
        self.is_over() && !self.conversation.has_exit_code()
    }

    fn say(&mut self) -> bool {
        let lines = self.out.take();
        lines.is_empty() || self.input.write(lines)
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        self.input.abort();
    }
}
