//! The command of each provider and role, as a snapshot; the search for programs.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt::Write;
use std::fs;
use std::num::NonZeroU32;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use symphony_core::config::ProviderChoice::{self, Auto, Named};
use symphony_core::config::{
    AcpName, AcpProblem, AcpProgram, CommandLine, CommandOutput, KEYS, NamedProvider,
    ProjectConfig, ProviderName, Providers,
};
use symphony_core::failure::ErrorClass;
use symphony_core::id::RunId;
use symphony_core::session::{SessionForm, SessionId};
use symphony_core::unit::UsdMicros;
use symphony_core::web::WebAccess;
use symphony_runner::provider::detect::{Installation, find_provider};
use symphony_runner::provider::{
    AgentCommand, AgentInvocation, AgentRole, McpServerCommand, ProviderCall, ProviderError,
    RunFiles, Session, agent_cli, agent_clis, agent_command, mcp_config,
};
use symphony_runner::stream::StreamFormat;

fn invocation(call: ProviderCall) -> AgentInvocation {
    let run = Path::new("/p/.symphony/runs/r1");
    AgentInvocation {
        call,
        run: RunId::parse("r1").unwrap(),
        role: AgentRole::Author,
        session: Session::New,
        web: WebAccess::Searches(NonZeroU32::MIN),
        model: None,
        turns_max: None,
        usd_max: None,
        worktree: "/p/.symphony-workspaces/SYM-1".into(),
        files: RunFiles {
            system_prompt: run.join("system-prompt.md"),
            user_prompt: run.join("user-prompt.md"),
            mcp_config: run.join("mcp.json"),
            settings: run.join("agent-settings.json"),
        },
        system_prompt: "Say \"hi\".\n1 = 1\n".to_owned(),
        readable_dirs: vec![run.to_owned()],
        mcp_server: McpServerCommand {
            program: "/usr/bin/symphony".into(),
            socket: run.join("mcp.sock"),
        },
        secret: "a secret".to_owned(),
        is_confined: false,
        extra_args: Vec::new(),
        extra_env: BTreeMap::new(),
    }
}

fn session() -> Session {
    let id = "9c739da6-3bb8-4deb-a43b-fdf44ba32ba3";
    Session::Resume(SessionId::parse(id, SessionForm::Uuid).unwrap())
}

/// All that may be said, said.
fn full(call: ProviderCall) -> AgentInvocation {
    AgentInvocation {
        web: WebAccess::Denied,
        session: session(),
        model: Some("opus".to_owned()),
        turns_max: Some(40),
        usd_max: Some(UsdMicros::new(1_250_000)),
        is_confined: true,
        extra_args: vec!["--more".to_owned(), "x y".to_owned()],
        extra_env: BTreeMap::from([("A".to_owned(), "b".to_owned())]),
        ..invocation(call)
    }
}

fn judge(call: ProviderCall) -> AgentInvocation {
    AgentInvocation {
        role: AgentRole::Judge,
        web: WebAccess::Denied,
        ..invocation(call)
    }
}

fn shown(command: &AgentCommand) -> String {
    let mut text = String::new();
    for (name, value) in &command.env {
        writeln!(text, "{name}={value}").unwrap();
    }
    writeln!(text, "{}", command.program.display()).unwrap();
    for arg in &command.args {
        writeln!(text, "  {}", arg.to_string_lossy()).unwrap();
    }
    for (path, written) in &command.files {
        writeln!(text, "{}: {written}", path.display()).unwrap();
    }
    writeln!(
        text,
        "stdin {:?} in {} as {:?}",
        command.stdin,
        command.cwd.display(),
        command.format
    )
    .unwrap();
    text
}

fn call_of(name: ProviderName, program: impl Into<PathBuf>) -> ProviderCall {
    ProviderCall::Cli {
        cli: agent_cli(name).unwrap(),
        program: program.into(),
    }
}

fn claude() -> ProviderCall {
    call_of(ProviderName::ClaudeCli, "/bin/claude")
}

fn codex() -> ProviderCall {
    call_of(ProviderName::CodexCli, "/bin/codex")
}

fn scripted() -> ProviderCall {
    ProviderCall::Scripted {
        program: "/usr/bin/symphony".into(),
        scenario: "/p/scenario.json".into(),
        state_dir: "/p/.symphony/scripted".into(),
    }
}

#[test]
fn claude_worker() {
    insta::assert_snapshot!(shown(&agent_command(&invocation(claude()))));
}

#[test]
fn claude_with_everything() {
    insta::assert_snapshot!(shown(&agent_command(&full(claude()))));
}

#[test]
fn claude_judge() {
    insta::assert_snapshot!(shown(&agent_command(&judge(claude()))));
}

#[test]
fn codex_worker() {
    insta::assert_snapshot!(shown(&agent_command(&invocation(codex()))));
}

#[test]
fn codex_with_everything() {
    insta::assert_snapshot!(shown(&agent_command(&full(codex()))));
}

#[test]
fn codex_judge() {
    insta::assert_snapshot!(shown(&agent_command(&judge(codex()))));
}

#[test]
fn agents_in_a_conversation() {
    let names = [
        ProviderName::CodexAppServer,
        ProviderName::Opencode,
        ProviderName::Qwen,
        ProviderName::Gemini,
        ProviderName::Copilot,
    ];
    for name in names {
        let call = || call_of(name, format!("/bin/{name}"));
        insta::assert_snapshot!(
            format!("{name}_worker"),
            shown(&agent_command(&invocation(call())))
        );
        insta::assert_snapshot!(
            format!("{name}_judge"),
            shown(&agent_command(&judge(call())))
        );
    }
    let acp = ProviderCall::Acp {
        name: AcpName::parse("my-agent").unwrap(),
        line: CommandLine::Argv(vec!["my-agent".to_owned(), "--acp".to_owned()]),
    };
    insta::assert_snapshot!("acp_with_everything", shown(&agent_command(&full(acp))));
}

#[test]
fn a_program_without_flags_is_watched_where_the_web_is_denied() {
    let command = ProviderCall::Command {
        line: CommandLine::Shell("my-agent".to_owned()),
        output: CommandOutput::ClaudeStream,
    };
    for (call, denied) in [
        (claude(), None),
        (codex(), None),
        (scripted(), None),
        (command, Some(0)),
    ] {
        assert_eq!(full(call.clone()).searches_max(), denied);
        assert_eq!(invocation(call).searches_max(), Some(1));
    }
}

#[test]
fn command_as_text_and_as_words() {
    let text = ProviderCall::Command {
        line: CommandLine::Shell("my-agent \"$@\"".to_owned()),
        output: CommandOutput::Text,
    };
    let words = ProviderCall::Command {
        line: CommandLine::Argv(vec!["my-agent".to_owned(), "--go".to_owned()]),
        output: CommandOutput::ClaudeStream,
    };
    insta::assert_snapshot!(shown(&agent_command(&full(text))));
    insta::assert_snapshot!(shown(&agent_command(&invocation(words))));
}

#[test]
fn scripted_worker_and_judge() {
    insta::assert_snapshot!(shown(&agent_command(&full(scripted()))));
    insta::assert_snapshot!(shown(&agent_command(&judge(scripted()))));
}

#[test]
fn codex_settings_are_toml_values() {
    let mut some = invocation(codex());
    some.system_prompt = "true\n\"\"\"'''\u{1b}\u{0}\\ é".to_owned();
    let command = agent_command(&some);
    let prompts: Vec<String> = command
        .args
        .iter()
        .filter_map(|arg| arg.to_str()?.strip_prefix("developer_instructions="))
        .map(|value| {
            let table: toml::Table = toml::from_str(&format!("value={value}")).unwrap();
            table["value"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(prompts, [some.system_prompt]);
    for arg in &command.args {
        assert!(
            !arg.as_encoded_bytes().contains(&0),
            "an argument cannot hold NUL"
        );
    }
}

#[test]
fn a_long_system_prompt_of_codex_is_a_file() {
    let with = |length: usize| {
        let mut some = invocation(codex());
        some.system_prompt = "x".repeat(length);
        let args = agent_command(&some).args;
        let longest = args.iter().map(|arg| arg.len()).max().unwrap();
        assert!(longest < 128 * 1024, "{longest}");
        args.iter()
            .any(|arg| arg == "model_instructions_file=\"/p/.symphony/runs/r1/system-prompt.md\"")
    };
    assert!(!with(120 * 1024 - 2));
    assert!(with(120 * 1024));
}

#[test]
fn mcp_config_is_one_server_that_is_always_loaded() {
    let server = invocation(claude()).mcp_server;
    insta::assert_snapshot!(mcp_config(&server));
}

#[test]
fn formats_belong_to_providers() {
    let command = |output| ProviderCall::Command {
        line: CommandLine::Shell("x".to_owned()),
        output,
    };
    let cases = [
        (claude(), StreamFormat::Claude),
        (codex(), StreamFormat::Codex),
        (scripted(), StreamFormat::Claude),
        (command(CommandOutput::Text), StreamFormat::Text),
        (command(CommandOutput::ClaudeStream), StreamFormat::Claude),
    ];
    for (call, format) in cases {
        assert_eq!(call.format(), format, "{}", call.name());
    }
}

/// A machine with some programs.
struct Machine {
    dir: tempfile::TempDir,
    providers: Providers,
}

impl Machine {
    fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
            providers: ProjectConfig::defaults("/p").providers,
        }
    }

    fn program(&self, path: &str, mode: u32) -> PathBuf {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    fn find(&self, choice: &ProviderChoice) -> Result<ProviderCall, ProviderError> {
        let path = format!("relative:{}/bin", self.dir.path().display());
        find_provider(
            choice,
            &self.providers,
            &Installation {
                symphony: Path::new("/usr/bin/symphony"),
                scripted_state_dir: Path::new("/state"),
                search_path: OsStr::new(&path),
            },
        )
    }
}

#[test]
fn auto_takes_claude_then_codex_then_says_what_to_install() {
    let machine = Machine::new();
    machine.program("bin/claude", 0o644);
    let nothing = machine.find(&Auto).unwrap_err();
    assert_eq!(nothing, ProviderError::NothingInstalled);
    assert_eq!(nothing.class(), ErrorClass::ProviderMissing);
    for word in [
        "@anthropic-ai/claude-code",
        "@openai/codex",
        "`symphony demo`",
    ] {
        assert!(nothing.to_string().contains(word), "{nothing}");
    }
    let codex = machine.program("bin/codex", 0o755);
    assert_eq!(
        machine.find(&Auto),
        Ok(call_of(ProviderName::CodexCli, codex))
    );
    let claude = machine.program("bin/claude", 0o755);
    assert_eq!(
        machine.find(&Auto),
        Ok(call_of(ProviderName::ClaudeCli, claude))
    );
}

#[test]
fn a_cli_is_listed_under_its_own_name() {
    for name in ProviderName::ALL {
        let listed = agent_cli(*name).map(|cli| cli.name);
        assert!(listed.is_none_or(|listed| listed == *name), "{name}");
    }
}

#[test]
fn the_reference_names_what_auto_tries_in_this_order() {
    let key = KEYS.iter().find(|key| key.name == "provider").unwrap();
    let places: Vec<Option<usize>> = agent_clis()
        .map(|cli| key.doc.find(cli.name.name()))
        .collect();
    assert!(places.is_sorted() && places[0].is_some(), "{}", key.doc);
}

#[test]
fn a_named_provider_is_found_or_told_missing() {
    let mut machine = Machine::new();
    machine.providers.each[ProviderName::ClaudeCli as usize].binary =
        Some("/nonexistent/claude".into());
    assert_eq!(
        machine
            .find(&Named(ProviderName::ClaudeCli.into()))
            .unwrap_err()
            .to_string(),
        "provider `claude-cli` needs `/nonexistent/claude`, which is not an executable file; install it \
         (`npm install -g @anthropic-ai/claude-code`) or set `providers.claude-cli.binary`"
    );
    assert_eq!(
        machine
            .find(&Named(ProviderName::CodexCli.into()))
            .unwrap_err()
            .to_string(),
        "provider `codex-cli` needs `codex`, which is not in PATH; install it (`npm install -g @openai/codex`) \
         or set `providers.codex-cli.binary`"
    );
    assert_eq!(
        machine.find(&Named(ProviderName::Command.into())),
        Err(ProviderError::NoCommand)
    );
    assert_eq!(
        machine.find(&Named(ProviderName::Scripted.into())),
        Err(ProviderError::NoScenario)
    );
    let scenario = machine.dir.path().join("s.json");
    machine.providers.scenario = Some(scenario.clone());
    assert_eq!(
        machine
            .find(&Named(ProviderName::Scripted.into()))
            .unwrap_err()
            .to_string(),
        format!(
            "provider `scripted` cannot play the scenario file {}: it does not exist",
            scenario.display()
        )
    );
    fs::write(&scenario, r#"{"scenarios": []}"#).unwrap();
    assert_eq!(
        machine.find(&Named(ProviderName::Scripted.into())),
        Ok(ProviderCall::Scripted {
            program: "/usr/bin/symphony".into(),
            scenario,
            state_dir: "/state".into(),
        })
    );
}

#[test]
fn one_of_several_programs_is_found_by_its_name() {
    let mut machine = Machine::new();
    for program in ["goose", "kimi"] {
        let program = AcpProgram {
            command: Some(CommandLine::Shell(program.to_owned())),
            ..AcpProgram::default()
        };
        let name = AcpName::parse(program.command.as_ref().unwrap().to_string()).unwrap();
        machine.providers.acp.insert(name, program);
    }
    let goose = AcpName::parse("goose").unwrap();
    let found = machine
        .find(&Named(NamedProvider::Acp(goose.clone())))
        .unwrap();
    assert_eq!(found.full_name().to_string(), "acp.goose");
    assert_eq!(found.name(), ProviderName::Acp);
    let acp = NamedProvider::from(ProviderName::Acp);
    let problem = machine.find(&Named(acp.clone())).unwrap_err();
    assert_eq!(
        problem.to_string(),
        "provider `acp` cannot start: `acp` could be `acp.goose` or `acp.kimi`; name one of them"
    );
    machine.providers.acp.remove(&goose);
    let gone = machine.find(&Named(NamedProvider::Acp(goose.clone())));
    let problem = AcpProblem::Unknown {
        name: goose.clone(),
        nearest: None,
    };
    let provider = NamedProvider::Acp(goose);
    assert_eq!(gone, Err(ProviderError::NoAcpProgram { provider, problem }));
    let only = machine.find(&Named(acp)).unwrap();
    assert_eq!(only.full_name().to_string(), "acp.kimi");
}

#[test]
fn the_native_codex_is_taken_behind_npms_wrapper() {
    let (platform, triple) = if cfg!(target_arch = "aarch64") {
        ("codex-linux-arm64", "aarch64-unknown-linux-musl")
    } else {
        ("codex-linux-x64", "x86_64-unknown-linux-musl")
    };
    let layouts = [
        format!("lib/@openai/codex/node_modules/@openai/{platform}/vendor/{triple}/bin/codex"),
        format!("lib/@openai/{platform}/vendor/{triple}/bin/codex"),
        format!("lib/@openai/codex/vendor/{triple}/bin/codex"),
    ];
    for layout in layouts {
        let machine = Machine::new();
        let wrapper = machine.program("lib/@openai/codex/bin/codex.js", 0o755);
        fs::create_dir(machine.dir.path().join("bin")).unwrap();
        let link = machine.dir.path().join("bin/codex");
        symlink(&wrapper, &link).unwrap();
        assert_eq!(
            machine.find(&Named(ProviderName::CodexCli.into())),
            Ok(call_of(ProviderName::CodexCli, link)),
            "without a native binary"
        );
        let native = machine.program(&layout, 0o755);
        assert_eq!(
            machine.find(&Named(ProviderName::CodexCli.into())),
            Ok(call_of(
                ProviderName::CodexCli,
                native.canonicalize().unwrap()
            ))
        );
    }
}
