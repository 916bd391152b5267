//! The Claude CLI.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use symphony_core::run::ProtectionLevel;
use symphony_core::web::WebAccess;

use super::invocation::{AgentCommand, AgentInvocation, AgentRole, Args, StdinSource};

/// Tools with which sessions of one user see and message each other.
const PEER_TOOLS: &str = "ListAgents,SendMessage";
/// The web tools.
const WEB_TOOLS: &str = "WebSearch,WebFetch";
/// What a judge may do besides its MCP tools.
const JUDGE_TOOLS: &str = "Read,Grep,Glob";
/// No trailers of the CLI's own in commits and pull requests.
const SETTINGS: &str = r#"{"attribution":{"commit":"","pr":""}}"#;

pub(super) fn command(invocation: &AgentInvocation, program: &Path) -> AgentCommand {
    let mut args = Args::default();
    args.add(["-p", "--output-format", "stream-json", "--verbose"]);
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
    if invocation.protection == ProtectionLevel::Sandbox {
        env.insert("IS_SANDBOX".to_owned(), "1".to_owned());
    }
    AgentCommand {
        program: program.to_owned(),
        args: args.0,
        env,
        stdin: StdinSource::File(invocation.files.user_prompt.clone()),
        cwd: invocation.worktree.clone(),
        format: invocation.call.format(),
    }
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

/// Returns why the Claude CLI will not start as root, if so: it refuses to skip permissions there unless it is told
/// that it is in a sandbox.
pub fn root_hint(
    effective_user_id: u32,
    environment: &BTreeMap<OsString, OsString>,
) -> Option<&'static str> {
    let told = environment
        .get(OsStr::new("IS_SANDBOX"))
        .is_some_and(|value| value == "1");
    (effective_user_id == 0 && !told).then_some(
        "the Claude CLI refuses to run unattended as root; run Symphony as another user, or set \
         IS_SANDBOX=1 in its environment when this machine is a container or another sandbox",
    )
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

    #[test]
    fn root_is_told_what_to_set() {
        let with =
            |value: &str| BTreeMap::from([(OsString::from("IS_SANDBOX"), OsString::from(value))]);
        assert!(root_hint(0, &BTreeMap::new()).is_some());
        assert!(root_hint(0, &with("0")).is_some());
        assert!(root_hint(0, &with("1")).is_none());
        assert!(root_hint(1000, &BTreeMap::new()).is_none());
    }
}
