//! The Claude CLI.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use serde_json::json;
use symphony_core::config::ProviderName;
use symphony_core::run::ShellTools;
use symphony_core::session::SessionForm;
use symphony_core::web::WebAccess;

use super::api::{ApiKey, CloudApi, ModelApi};
use super::cli::{
    AgentCli, AnswersFile, Credentials, Interactive, RootRefusal, Sessions, Variables,
};
use super::invocation::{AgentCommand, AgentInvocation, AgentRole, Args, Session, StdinSource};
use super::talk::conversation;
use crate::conversation::Protocol;
use crate::stream::StreamFormat;

/// What Symphony knows about it.
pub(super) static CLI: AgentCli = AgentCli {
    name: ProviderName::ClaudeCli,
    title: "Claude Code",
    program: "claude",
    install: "npm install -g @anthropic-ai/claude-code",
    login: "claude auth login",
    credentials: Credentials {
        variables: &[
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "CLAUDE_CODE_USE_BEDROCK",
            "CLAUDE_CODE_USE_VERTEX",
        ],
        folder_variable: "CLAUDE_CONFIG_DIR",
        folder: ".claude",
        file: ".credentials.json",
        fix: "start `claude` and type `/login`, or set ANTHROPIC_API_KEY where `symphony` runs",
    },
    sessions: Some(Sessions {
        form: SessionForm::Uuid,
        folder: Some("projects"),
    }),
    api: ModelApi {
        base_url_variable: Some("ANTHROPIC_BASE_URL"),
        base_url: "https://api.anthropic.com",
        keys: &[
            ApiKey {
                variable: "ANTHROPIC_AUTH_TOKEN",
                header: "authorization",
                scheme: "Bearer ",
            },
            ApiKey {
                variable: "ANTHROPIC_API_KEY",
                header: "x-api-key",
                scheme: "",
            },
            ApiKey {
                variable: "CLAUDE_CODE_OAUTH_TOKEN",
                header: "authorization",
                scheme: "Bearer ",
            },
        ],
        headers_variable: Some("ANTHROPIC_CUSTOM_HEADERS"),
        login_hosts: &[
            "api.anthropic.com",
            "platform.claude.com",
            "console.anthropic.com",
        ],
        clouds: &[
            CloudApi {
                switch: "CLAUDE_CODE_USE_BEDROCK",
                regions: &["AWS_REGION", "AWS_DEFAULT_REGION"],
                region: "us-east-1",
                hosts: &[
                    "bedrock-runtime.{}.amazonaws.com",
                    "bedrock.{}.amazonaws.com",
                    "sts.{}.amazonaws.com",
                    "sts.amazonaws.com",
                ],
            },
            CloudApi {
                switch: "CLAUDE_CODE_USE_VERTEX",
                regions: &["CLOUD_ML_REGION"],
                region: "us-east5",
                hosts: &[
                    "{}-aiplatform.googleapis.com",
                    "aiplatform.googleapis.com",
                    "oauth2.googleapis.com",
                ],
            },
        ],
        // what it reports about itself goes to hosts that are not allowed
        in_sandbox: &[("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")],
        arguments: |_| Vec::new(),
        account: &[
            "/organizationUuid",
            "/claudeAiOauth/subscriptionType",
            "/claudeAiOauth/rateLimitTier",
        ],
        account_claim: None,
        tokens: &[
            "/claudeAiOauth/accessToken",
            "/claudeAiOauth/refreshToken",
            "/claudeAiOauth/expiresAt",
        ],
        key_in_login: None,
    },
    own_settings: None,
    variables: Variables {
        prefixes: &["ANTHROPIC_", "CLAUDE_"],
        settings: &[
            "API_TIMEOUT_MS",
            "BASH_DEFAULT_TIMEOUT_MS",
            "BASH_MAX_OUTPUT_LENGTH",
            "BASH_MAX_TIMEOUT_MS",
            "DISABLE_AUTOUPDATER",
            "DISABLE_BUG_COMMAND",
            "DISABLE_ERROR_REPORTING",
            "DISABLE_PROMPT_CACHING",
            "DISABLE_TELEMETRY",
            "ENABLE_TOOL_SEARCH",
            SANDBOX_VARIABLE,
            "MAX_MCP_OUTPUT_TOKENS",
            "MAX_THINKING_TOKENS",
            "MCP_TIMEOUT",
            "MCP_TOOL_TIMEOUT",
        ],
        clouds: &[
            ("CLAUDE_CODE_USE_BEDROCK", &["AWS_"]),
            (
                "CLAUDE_CODE_USE_VERTEX",
                &["CLOUD_ML_REGION", "GOOGLE_", "VERTEX_REGION_"],
            ),
        ],
        defaults: &[("CLAUDE_CODE_MAX_OUTPUT_TOKENS", "64000")],
        is_session_marker,
    },
    root: Some(RootRefusal {
        variable: SANDBOX_VARIABLE,
        hint: "the Claude CLI refuses to run unattended as root; run Symphony as another user, or set IS_SANDBOX=1 in \
               its environment when this machine is a container or another sandbox",
    }),
    reads_claude_md: true,
    judges_shell: ShellTools::Withheld,
    format: StreamFormat::Claude,
    native: std::convert::identity,
    command,
    interactive: Some(Interactive {
        names_sessions: true,
        command: interactive_command,
        home_files,
    }),
};

/// The variable that says that the machine is a sandbox.
const SANDBOX_VARIABLE: &str = "IS_SANDBOX";
/// Marks of a session of it: with them the CLI would take itself for a part of that session.
const SESSION_MARKERS: [&str; 16] = [
    "CLAUDECODE",
    "CLAUDE_AGENT_SDK_VERSION",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_CONTAINER_ID",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_EXECPATH",
    "CLAUDE_CODE_MESSAGING_SOCKET",
    "CLAUDE_CODE_MESSAGING_TOKEN",
    "CLAUDE_CODE_PARENT_SESSION_ID",
    "CLAUDE_CODE_REMOTE",
    "CLAUDE_CODE_SESSION_ACCESS_TOKEN",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_SSE_PORT",
    "CLAUDE_ENV_FILE",
    "CLAUDE_PID",
    "CLAUDE_PROJECT_DIR",
];
/// Prefix of further marks: remote sessions.
const SESSION_MARKER_PREFIX: &str = "CLAUDE_CODE_REMOTE_";
/// Suffix of further marks: descriptors that only the surrounding session holds.
const SESSION_MARKER_SUFFIX: &str = "_FILE_DESCRIPTOR";

/// Tools with which sessions of one user see and message each other.
const PEER_TOOLS: &str = "ListAgents,SendMessage";
/// The web tools.
const WEB_TOOLS: &str = "WebSearch,WebFetch";
/// What a judge may do besides its MCP tools.
const JUDGE_TOOLS: &str = "Read,Grep,Glob";
/// No trailers of the CLI's own in commits and pull requests.
const SETTINGS: &str = r#"{"attribution":{"commit":"","pr":""}}"#;
/// The same for a person's session, in which it does not ask once more whether the agent may do what it does alone.
const INTERACTIVE_SETTINGS: &str =
    r#"{"attribution":{"commit":"","pr":""},"skipDangerousModePermissionPrompt":true}"#;
/// The variable that says that the folder needs no trust: a sandbox confines what its files start.
const TRUST_VARIABLE: &str = "CLAUDE_CODE_SANDBOXED";
/// Its file of settings and answers, in the home folder.
const ANSWERS_FILE: &str = ".claude.json";
/// By how many of its last characters it remembers an approved key.
const KEY_END_CHARS: usize = 20;

fn command(invocation: &AgentInvocation, program: &Path) -> AgentCommand {
    let mut args = Args::default();
    args.add(["-p", "--output-format", "stream-json", "--verbose"]);
    // Messages of a person reach it while it works.
    args.flag("--input-format", "stream-json");
    if let Session::Resume(session) = &invocation.session {
        args.flag("--resume", session.as_str());
        // Otherwise the system prompt of the session's first run is used, and the one below ignored.
        args.flag("--system-prompt-snapshot", "off");
    }
    if let Some(model) = &invocation.model {
        args.flag("--model", model);
    }
    args.flag("--system-prompt-file", &invocation.files.system_prompt);
    // The flag takes several values: the next one must be a flag.
    args.flag("--mcp-config", &invocation.files.mcp_config);
    args.add([
        "--strict-mcp-config",
        "--dangerously-skip-permissions",
        "--disable-slash-commands",
    ]);
    let denied = match invocation.web {
        WebAccess::Searches(_) => PEER_TOOLS.to_owned(),
        WebAccess::Denied => format!("{PEER_TOOLS},{WEB_TOOLS}"),
    };
    args.flag("--disallowedTools", denied);
    if invocation.role == AgentRole::Judge {
        // No settings, hooks or CLAUDE.md of the branch, and nothing that runs its code.
        args.flag("--setting-sources", "");
        args.flag("--tools", JUDGE_TOOLS);
        for dir in &invocation.readable_dirs {
            args.flag("--add-dir", dir);
        }
    }
    if let Some(turns) = invocation.turns_max {
        args.flag("--max-turns", turns.to_string());
    }
    if let Some(usd) = invocation.usd_max {
        args.flag("--max-budget-usd", format!("{:.6}", usd.usd()));
    }
    args.flag("--settings", SETTINGS);
    args.add(&invocation.extra_args);

    let mut env = BTreeMap::from([
        // Exactly one result and no lingering process.
        (
            "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS".to_owned(),
            "1".to_owned(),
        ),
        ("DISABLE_AUTOUPDATER".to_owned(), "1".to_owned()),
    ]);
    if invocation.is_confined {
        env.insert(SANDBOX_VARIABLE.to_owned(), "1".to_owned());
    }
    AgentCommand {
        program: program.to_owned(),
        args: args.0,
        env,
        files: Vec::new(),
        stdin: conversation(invocation, Protocol::Claude, None),
        cwd: invocation.worktree.clone(),
        format: invocation.call.format(),
    }
}

/// Opens a session in a terminal, with the rights that the agent has alone.
fn interactive_command(invocation: &AgentInvocation, program: &Path) -> AgentCommand {
    let mut args = Args::default();
    match &invocation.session {
        Session::Resume(session) => args.flag("--resume", session.as_str()),
        Session::New => args.flag("--session-id", invocation.run.as_str()),
    }
    // So that the next run can have another system prompt.
    args.flag("--system-prompt-snapshot", "off");
    if let Some(model) = &invocation.model {
        args.flag("--model", model);
    }
    args.flag("--system-prompt-file", &invocation.files.system_prompt);
    // The flag takes several values: the next one must be a flag.
    args.flag("--mcp-config", &invocation.files.mcp_config);
    args.add(["--strict-mcp-config", "--dangerously-skip-permissions"]);
    args.flag("--settings", INTERACTIVE_SETTINGS);
    args.add(&invocation.extra_args);
    let mut env = BTreeMap::from([("DISABLE_AUTOUPDATER".to_owned(), "1".to_owned())]);
    if invocation.is_confined {
        for variable in [SANDBOX_VARIABLE, TRUST_VARIABLE] {
            env.insert(variable.to_owned(), "1".to_owned());
        }
    }
    AgentCommand {
        program: program.to_owned(),
        args: args.0,
        env,
        files: Vec::new(),
        stdin: StdinSource::Terminal,
        cwd: invocation.worktree.clone(),
        format: invocation.call.format(),
    }
}

/// Returns its file of answers: the greeting is over, and the key of the environment may be used.
fn home_files(environment: &BTreeMap<OsString, OsString>) -> Vec<AnswersFile> {
    let key = environment.get(OsStr::new("ANTHROPIC_API_KEY"));
    let approved = key.and_then(|key| key.to_str()).map(|key| {
        let characters: Vec<char> = key.chars().collect();
        let begin = characters.len().saturating_sub(KEY_END_CHARS);
        characters.get(begin..).unwrap_or_default().iter().collect()
    });
    let approved: Vec<String> = approved.into_iter().collect();
    let answers = json!({
        "hasCompletedOnboarding": true,
        "customApiKeyResponses": { "approved": approved, "rejected": [] },
    });
    vec![(ANSWERS_FILE.into(), answers.to_string())]
}

fn is_session_marker(name: &str) -> bool {
    SESSION_MARKERS.contains(&name)
        || name.starts_with(SESSION_MARKER_PREFIX)
        || (name.starts_with("CLAUDE_CODE_") && name.ends_with(SESSION_MARKER_SUFFIX))
}

/// Returns the user prompt in a form that is safe to write to the Claude CLI's stdin.
///
/// A prompt that begins with `/` and a known name would be run as a command of the CLI and never reach the model.
pub fn prompt_for_stdin(prompt: &str) -> Cow<'_, str> {
    if prompt.trim_start().starts_with('/') {
        Cow::Owned(format!("Task:\n{prompt}"))
    } else {
        Cow::Borrowed(prompt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_never_begins_with_a_slash() {
        for (prompt, expected) in [
            ("do it", "do it"),
            ("/cost please", "Task:\n/cost please"),
            ("\n  /cost", "Task:\n\n  /cost"),
            ("a /cost", "a /cost"),
        ] {
            assert_eq!(prompt_for_stdin(prompt), expected);
        }
    }
}
