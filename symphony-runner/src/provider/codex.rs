//! The Codex CLI (`codex exec --json`); `codex_app_server` calls it in another way.
//!
//! It has no turn limit and no list of tools: the verdict of a judge that runs on it is stored as advisory.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use symphony_core::config::ProviderName;
use symphony_core::run::ShellTools;
use symphony_core::session::SessionForm;
use symphony_core::web::WebAccess;
use toml::Value;

use super::api::{ApiKey, ModelApi};
use super::cli::{AgentCli, Credentials, Interactive, Sessions, Variables};
use super::detect::is_executable;
use super::invocation::{AgentCommand, AgentInvocation, AgentRole, Args, Session, StdinSource};
use crate::environment::RUN_MARKER;
use crate::stream::StreamFormat;

/// What Symphony knows about it.
pub(super) static CLI: AgentCli = KNOWN;

/// The same, for whoever calls it in another way.
pub(super) const KNOWN: AgentCli = AgentCli {
    name: ProviderName::CodexCli,
    title: "Codex",
    program: "codex",
    install: "npm install -g @openai/codex",
    login: "codex login",
    credentials: Credentials {
        variables: &["CODEX_API_KEY", "OPENAI_API_KEY"],
        folder_variable: "CODEX_HOME",
        folder: ".codex",
        file: "auth.json",
        fix: "`codex login`, or set CODEX_API_KEY where `symphony` runs",
    },
    sessions: Some(Sessions {
        form: SessionForm::Uuid,
        folder: Some("sessions"),
    }),
    api: ModelApi {
        base_url_variable: Some("OPENAI_BASE_URL"),
        base_url: "https://api.openai.com/v1",
        keys: &[
            ApiKey {
                variable: "CODEX_API_KEY",
                header: "authorization",
                scheme: "Bearer ",
            },
            ApiKey {
                variable: "OPENAI_API_KEY",
                header: "authorization",
                scheme: "Bearer ",
            },
        ],
        headers_variable: None,
        login_hosts: &["chatgpt.com", "auth.openai.com", "api.openai.com"],
        clouds: &[],
        in_sandbox: &[],
        arguments: other_base_url,
        account: &["/tokens/account_id"],
        account_claim: Some("/https:~1~1api.openai.com~1auth/chatgpt_account_id"),
        tokens: &[
            "/tokens/access_token",
            "/tokens/refresh_token",
            "/tokens/id_token",
            "/last_refresh",
        ],
        key_in_login: Some("/OPENAI_API_KEY"),
    },
    own_settings: None,
    variables: Variables {
        prefixes: &["CODEX_", "OPENAI_"],
        settings: &[],
        clouds: &[],
        defaults: &[],
        is_session_marker: |name| SESSION_MARKERS.contains(&name),
    },
    root: None,
    reads_claude_md: false,
    judges_shell: ShellTools::Given,
    format: StreamFormat::Codex,
    native,
    command,
    interactive: Some(Interactive {
        names_sessions: false,
        command: interactive_command,
        home_files: |_| Vec::new(),
    }),
};

/// Marks of a session of it: with them the CLI would take itself for a part of that session.
const SESSION_MARKERS: [&str; 5] = [
    "CODEX_CI",
    "CODEX_INTERNAL_ORIGINATOR_OVERRIDE",
    "CODEX_SANDBOX",
    "CODEX_SANDBOX_NETWORK_DISABLED",
    "CODEX_THREAD_ID",
];

/// Up to this size (in bytes, as an encoded argument) the system prompt is an argument; above it, a file. The kernel
/// limits one argument to 128 KiB.
const INSTRUCTIONS_ARG_BYTES_MAX: usize = 120 * 1024;

fn command(invocation: &AgentInvocation, program: &Path) -> AgentCommand {
    let mut args = Args::default();
    args.add([
        "exec",
        "--json",
        "--skip-git-repo-check",
        // Its own sandbox forbids commits in a worktree, and without approval every MCP call.
        "--dangerously-bypass-approvals-and-sandbox",
    ]);
    if let Some(model) = &invocation.model {
        args.flag("-m", model);
    }
    for (key, value) in settings(invocation) {
        args.flag("-c", format!("{key}={value}"));
    }
    args.add(&invocation.extra_args);
    if let Session::Resume(session) = &invocation.session {
        // The flags before the subcommand count for it, too.
        args.add(["resume", session.as_str()]);
    }
    args.add(["-"]);
    AgentCommand {
        program: program.to_owned(),
        args: args.0,
        env: BTreeMap::new(),
        files: Vec::new(),
        stdin: StdinSource::File(invocation.files.user_prompt.clone()),
        cwd: invocation.worktree.clone(),
        format: invocation.call.format(),
    }
}

/// Opens a session in a terminal, with the rights that the agent has alone.
fn interactive_command(invocation: &AgentInvocation, program: &Path) -> AgentCommand {
    let mut args = Args::default();
    if let Session::Resume(session) = &invocation.session {
        args.add(["resume", session.as_str()]);
    }
    args.add(["--dangerously-bypass-approvals-and-sandbox"]);
    if let Some(model) = &invocation.model {
        args.flag("-m", model);
    }
    for (key, value) in settings(invocation) {
        args.flag("-c", format!("{key}={value}"));
    }
    // Its question whether the folder is trusted is answered: the agent works there alone.
    let trust = [(
        "trust_level".to_owned(),
        Value::String("trusted".to_owned()),
    )];
    let folder = invocation.worktree.to_string_lossy().into_owned();
    let projects = [(folder, Value::Table(toml::Table::from_iter(trust)))];
    let projects = Value::Table(toml::Table::from_iter(projects));
    args.flag("-c", format!("projects={projects}"));
    args.add(&invocation.extra_args);
    AgentCommand {
        program: program.to_owned(),
        args: args.0,
        env: BTreeMap::new(),
        files: Vec::new(),
        stdin: StdinSource::Terminal,
        cwd: invocation.worktree.clone(),
        format: invocation.call.format(),
    }
}

/// The name of the model provider that leads to another base URL.
const OTHER_PROVIDER: &str = "symphony";

/// Returns the settings of a model provider at another base URL: the CLI's own one always opens web sockets, which no
/// endpoint passes on.
fn other_base_url(base_url: &str) -> Vec<String> {
    let text = |text: &str| Value::String(text.to_owned());
    let settings = [
        ("name", text("OpenAI")),
        ("base_url", text(base_url)),
        ("wire_api", text("responses")),
        ("env_key", text("CODEX_API_KEY")),
        ("supports_websockets", Value::Boolean(false)),
    ];
    let provider = format!("model_provider={}", text(OTHER_PROVIDER));
    let settings = settings
        .into_iter()
        .map(|(key, value)| format!("model_providers.{OTHER_PROVIDER}.{key}={value}"));
    std::iter::once(provider)
        .chain(settings)
        .flat_map(|setting| ["-c".to_owned(), setting])
        .collect()
}

/// The settings that hold for each way to call it.
pub(super) fn common_settings(invocation: &AgentInvocation) -> Vec<(&'static str, Value)> {
    let mut settings = vec![
        ("analytics.enabled", Value::Boolean(false)),
        ("check_for_update_on_startup", Value::Boolean(false)),
    ];
    if invocation.role == AgentRole::Judge {
        // No AGENTS.md of the branch.
        settings.push(("project_doc_max_bytes", Value::Integer(0)));
    }
    if invocation.web == WebAccess::Denied {
        settings.push(("web_search", Value::String("disabled".to_owned())));
    }
    settings
}

/// The settings, each as a TOML value: text that is not TOML would be used as it is, and text that happens to be TOML
/// changes its type.
fn settings(invocation: &AgentInvocation) -> Vec<(&'static str, Value)> {
    let mut settings = common_settings(invocation);
    let instructions = Value::String(invocation.system_prompt.clone());
    if instructions.to_string().len() <= INSTRUCTIONS_ARG_BYTES_MAX {
        settings.push(("developer_instructions", instructions));
    } else {
        let file = invocation.files.system_prompt.to_string_lossy();
        settings.push(("model_instructions_file", Value::String(file.into_owned())));
    }
    let server = &invocation.mcp_server;
    let args = server.args().into_iter().map(Value::String).collect();
    // Codex gives its MCP servers an environment of its own: the run's marker must be passed explicitly.
    let marker = toml::Table::from_iter([(
        RUN_MARKER.to_owned(),
        Value::String(invocation.run.as_str().to_owned()),
    )]);
    settings.extend([
        (
            "mcp_servers.symphony.command",
            Value::String(server.program.to_string_lossy().into_owned()),
        ),
        ("mcp_servers.symphony.args", Value::Array(args)),
        ("mcp_servers.symphony.env", Value::Table(marker)),
        // Without it, the first request is sent before the server is up, and a dead server is no error.
        ("mcp_servers.symphony.required", Value::Boolean(true)),
    ]);
    settings
}

/// Returns the native binary behind npm's wrapper, or the program itself.
///
/// A SIGKILL of the wrapper would leave the native process running; started directly, there is no wrapper.
fn native(program: PathBuf) -> PathBuf {
    let Ok(wrapper) = program.canonicalize() else {
        return program;
    };
    let Some(package) = wrapper
        .extension()
        .filter(|extension| *extension == "js")
        .and_then(|_| wrapper.parent())
        .and_then(Path::parent)
    else {
        return program;
    };
    let (platform, triple) = if cfg!(target_arch = "aarch64") {
        ("codex-linux-arm64", "aarch64-unknown-linux-musl")
    } else {
        ("codex-linux-x64", "x86_64-unknown-linux-musl")
    };
    let binary = Path::new("vendor").join(triple).join("bin/codex");
    let nested = package.join("node_modules/@openai").join(platform);
    let beside = package.parent().map(|scope| scope.join(platform));
    [Some(nested), beside, Some(package.to_owned())]
        .into_iter()
        .flatten()
        .map(|root| root.join(&binary))
        .find(|candidate| is_executable(candidate))
        .unwrap_or(program)
}
