//! opencode (`opencode acp`), measured with 1.18.33.

use std::path::Path;

use serde_json::{Map, Value, json};
use symphony_core::config::ProviderName;
use symphony_core::run::ShellTools;
use symphony_core::session::SessionForm;

use super::acp;
use super::api::ModelApi;
use super::cli::{AgentCli, Credentials, Sessions, Variables};
use super::invocation::{AgentCommand, AgentInvocation, Args};
use super::own_settings::{OwnSettings, SettingsForm};
use super::talk::call;
use crate::conversation::{MidTurn, Protocol};
use crate::stream::{AcpUsage, StreamFormat};

/// What Symphony knows about it.
pub(super) static CLI: AgentCli = AgentCli {
    name: ProviderName::Opencode,
    title: "opencode",
    program: "opencode",
    install: "npm install -g opencode-ai",
    login: "opencode auth login",
    credentials: Credentials {
        variables: &["OPENCODE_API_KEY"],
        folder_variable: "XDG_DATA_HOME",
        folder: ".local/share",
        file: "opencode/auth.json",
        fix: "`opencode auth login`, or name a provider with its key in opencode's own settings",
    },
    sessions: Some(Sessions {
        form: SessionForm::Word,
        // one database has everything
        folder: None,
    }),
    api: ModelApi {
        login_hosts: &["opencode.ai", "models.dev"],
        ..acp::UNKNOWN_API
    },
    own_settings: Some(OwnSettings {
        folder_variable: "XDG_CONFIG_HOME",
        folder: ".config",
        files: &[
            "opencode/config.json",
            "opencode/opencode.json",
            "opencode/opencode.jsonc",
        ],
        file_variable: Some("OPENCODE_CONFIG"),
        inside: ".config/opencode/opencode.json",
        kept: &[
            "/model",
            "/small_model",
            "/provider",
            "/enabled_providers",
            "/disabled_providers",
        ],
        form: SettingsForm::Providers,
        removed: &[
            "XDG_CONFIG_HOME",
            "XDG_STATE_HOME",
            "XDG_CACHE_HOME",
            "OPENCODE_CONFIG",
            "OPENCODE_CONFIG_DIR",
        ],
    }),
    variables: Variables {
        prefixes: &["OPENCODE_"],
        settings: &[],
        clouds: &[],
        defaults: &[],
        is_session_marker: |name| matches!(name, "OPENCODE" | "OPENCODE_CLIENT"),
    },
    root: None,
    reads_claude_md: false,
    judges_shell: ShellTools::Given,
    format: StreamFormat::Acp(AcpUsage::LastRequest),
    native: std::convert::identity,
    command,
    interactive: None,
};

/// The agent's name in its settings.
const AGENT: &str = "symphony";

/// Its tools that change files or run programs.
const CHANGING: [&str; 3] = ["edit", "bash", "task"];
/// Its tools that reach the web.
const WEB: [&str; 3] = ["webfetch", "websearch", "codesearch"];

/// What it does by itself: updates, downloads, and the files and plugins of the project, which a branch could plant.
const SWITCHES: [&str; 6] = [
    "OPENCODE_DISABLE_AUTOUPDATE",
    "OPENCODE_DISABLE_CLAUDE_CODE",
    "OPENCODE_DISABLE_DEFAULT_PLUGINS",
    "OPENCODE_DISABLE_EXTERNAL_SKILLS",
    "OPENCODE_DISABLE_LSP_DOWNLOAD",
    "OPENCODE_DISABLE_PROJECT_CONFIG",
];

fn command(invocation: &AgentInvocation, program: &Path) -> AgentCommand {
    let mut args = Args::default();
    args.add(["acp"]);
    args.add(&invocation.extra_args);
    let mut command = call(
        invocation,
        program,
        args,
        Protocol::Acp(MidTurn::Prompt),
        None,
    );
    let switches = SWITCHES.map(|name| (name.to_owned(), "1".to_owned()));
    command.env.extend(switches);
    let own = [
        // Laid over the user's own settings, which name the providers.
        ("OPENCODE_CONFIG_CONTENT", settings(invocation).to_string()),
        // It opens a server on loopback, for whoever knows the password.
        ("OPENCODE_SERVER_PASSWORD", invocation.secret.clone()),
    ];
    command
        .env
        .extend(own.map(|(name, value)| (name.to_owned(), value)));
    command
}

fn settings(invocation: &AgentInvocation) -> Value {
    let mut permission = Map::from_iter([("*".to_owned(), json!("allow"))]);
    for tool in acp::withheld(invocation, &CHANGING, &WEB) {
        permission.insert(tool.to_owned(), json!("deny"));
    }
    // Without a model of Symphony's, its own settings name one.
    let model = invocation.model.as_ref();
    let models = ["model", "small_model"].map(|key| Some((key.to_owned(), json!(model?))));
    let mut settings: Map<String, Value> = models.into_iter().flatten().collect();
    let prompt = format!("{{file:{}}}", invocation.files.system_prompt.display());
    let own = [
        ("autoupdate", json!(false)),
        ("share", json!("disabled")),
        ("snapshot", json!(false)),
        ("permission", permission.into()),
        ("default_agent", json!(AGENT)),
        (
            "agent",
            json!({ AGENT: { "mode": "primary", "description": "Works for Symphony.", "prompt": prompt } }),
        ),
    ];
    settings.extend(own.map(|(key, value)| (key.to_owned(), value)));
    settings.into()
}
