//! An invocation as plain data, and the command that it turns into.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use symphony_core::config::{AcpName, CommandLine, CommandOutput, NamedProvider, ProviderName};
use symphony_core::id::RunId;
use symphony_core::session::SessionId;
use symphony_core::unit::UsdMicros;
use symphony_core::web::WebAccess;

use super::cli::AgentCli;
use crate::conversation::Opening;
use crate::stream::{AcpUsage, StreamFormat};

/// One run of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentInvocation {
    /// The provider, with what only it needs.
    pub call: ProviderCall,
    /// The run.
    pub run: RunId,
    /// Whether the agent writes or judges.
    pub role: AgentRole,
    /// Whether it may use the web.
    pub web: WebAccess,
    /// Whether it resumes a session.
    pub session: Session,
    /// The model; `None` for the CLI's own default.
    pub model: Option<String>,
    /// The CLI's own turn limit, if it has one (Codex has none).
    pub turns_max: Option<u32>,
    /// The money it may spend, for CLIs that enforce a budget (Claude's does); most report the cost only at the end.
    pub usd_max: Option<UsdMicros>,
    /// The folder it works in.
    pub worktree: PathBuf,
    /// The run's files.
    pub files: RunFiles,
    /// The text of the system prompt, as in its file.
    pub system_prompt: String,
    /// Folders outside the worktree that a judge reads (the run's own, with the diff).
    pub readable_dirs: Vec<PathBuf>,
    /// How the agent's CLI reaches Symphony's MCP service.
    pub mcp_server: McpServerCommand,
    /// A password for what the agent's CLI opens to others on this machine.
    pub secret: String,
    /// Whether it runs in a sandbox.
    pub is_confined: bool,
    /// Arguments from the configuration (`providers.<name>.args`), added after Symphony's own.
    pub extra_args: Vec<String>,
    /// Variables from the configuration (`providers.<name>.env`); they override Symphony's own.
    pub extra_env: BTreeMap<String, String>,
}

impl AgentInvocation {
    /// Returns how many web searches the stream may show before the run is ended; `None` if the provider itself refuses
    /// them. A user's own program has no flag for it, so it can only be watched.
    pub const fn searches_max(&self) -> Option<u32> {
        match (self.web, &self.call) {
            (WebAccess::Searches(max), _) => Some(max.get()),
            (WebAccess::Denied, ProviderCall::Command { .. } | ProviderCall::Acp { .. }) => Some(0),
            (WebAccess::Denied, _) => None,
        }
    }
}

/// The session of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Session {
    /// A new one.
    #[default]
    New,
    /// That of an earlier run. The user prompt has only what is new since.
    Resume(SessionId),
}

/// A provider, with what only it needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProviderCall {
    /// The CLI of an agent.
    Cli {
        /// What Symphony knows about it.
        cli: &'static AgentCli,
        /// What is started.
        program: PathBuf,
    },
    /// Any program.
    Command {
        /// What to run.
        line: CommandLine,
        /// What it writes.
        output: CommandOutput,
    },
    /// Any program that speaks the Agent Client Protocol.
    Acp {
        /// Its name in the configuration.
        name: AcpName,
        /// What to run.
        line: CommandLine,
    },
    /// The built-in offline agent.
    Scripted {
        /// Symphony's own executable.
        program: PathBuf,
        /// The scenario file.
        scenario: PathBuf,
        /// Where the uses of scenarios are counted across runs.
        state_dir: PathBuf,
    },
}

impl ProviderCall {
    /// Returns which kind of provider it is.
    pub const fn name(&self) -> ProviderName {
        match self {
            Self::Cli { cli, .. } => cli.name,
            Self::Command { .. } => ProviderName::Command,
            Self::Acp { .. } => ProviderName::Acp,
            Self::Scripted { .. } => ProviderName::Scripted,
        }
    }

    /// Returns the name under which runs, holds and sessions are kept.
    pub fn full_name(&self) -> NamedProvider {
        match self {
            Self::Acp { name, .. } => NamedProvider::Acp(name.clone()),
            _ => self.name().into(),
        }
    }

    /// Returns the format of its output.
    pub const fn format(&self) -> StreamFormat {
        match self {
            Self::Cli { cli, .. } => cli.format,
            Self::Scripted { .. } => StreamFormat::Claude,
            Self::Acp { .. } => StreamFormat::Acp(AcpUsage::Process),
            Self::Command { output, .. } => match output {
                CommandOutput::ClaudeStream => StreamFormat::Claude,
                CommandOutput::Text => StreamFormat::Text,
            },
        }
    }
}

/// Whether an agent writes or judges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentRole {
    /// It works in its worktree.
    Author,
    /// It judges another agent's work: nothing planted in the branch may influence it, and it runs none of the branch's
    /// code.
    Judge,
}

/// The run's files that a call refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFiles {
    /// The system prompt.
    pub system_prompt: PathBuf,
    /// The user prompt.
    pub user_prompt: PathBuf,
    /// The MCP configuration (see [`super::mcp_config()`]).
    pub mcp_config: PathBuf,
    /// Settings of the agent's CLI, for those that take a file.
    pub settings: PathBuf,
}

/// How an agent's CLI reaches Symphony's MCP service: it starts this program, which copies bytes to and from the run's
/// socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpServerCommand {
    /// Symphony's executable.
    pub program: PathBuf,
    /// The run's socket.
    pub socket: PathBuf,
}

impl McpServerCommand {
    /// Returns the program's arguments.
    pub fn args(&self) -> [String; 3] {
        [
            "mcp".to_owned(),
            "--socket".to_owned(),
            self.socket.to_string_lossy().into_owned(),
        ]
    }
}

/// What to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentCommand {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Variables to add to the agent's environment.
    pub env: BTreeMap<String, String>,
    /// Files to write before it starts, with their text.
    pub files: Vec<(PathBuf, String)>,
    /// Its standard input.
    pub stdin: StdinSource,
    /// Its working directory.
    pub cwd: PathBuf,
    /// The format of its output.
    pub format: StreamFormat,
}

/// The standard input of an agent. It is left open only for a conversation: other CLIs would wait for more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StdinSource {
    /// A file.
    File(PathBuf),
    /// Nothing.
    Null,
    /// A conversation.
    Conversation(Box<Opening>),
    /// The terminal of a person, which is its output as well.
    Terminal,
}

/// Arguments under construction.
#[derive(Debug, Default)]
pub(super) struct Args(pub(super) Vec<OsString>);

impl Args {
    /// Adds plain arguments.
    pub(super) fn add<A: AsRef<OsStr>>(&mut self, args: impl IntoIterator<Item = A>) {
        self.0
            .extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
    }

    /// Adds a flag with its value.
    pub(super) fn flag(&mut self, flag: &str, value: impl AsRef<OsStr>) {
        self.0.push(flag.into());
        self.0.push(value.as_ref().to_owned());
    }
}
