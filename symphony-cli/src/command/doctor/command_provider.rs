//! The programs of the providers `command` and `acp`: nothing else looks for them before a run starts one.

use std::ffi::OsStr;
use std::path::Path;

use symphony_core::config::{AcpName, CommandLine, ProjectConfig};
use symphony_runner::environment::agent_search_path;
use symphony_runner::installation::Installation;
use symphony_runner::provider::ProviderCall;
use symphony_runner::provider::detect::find_program;

use super::check::CheckView;
use super::programs::programs_of;

/// Says what to do about a program that a key names.
fn fix(key: &str) -> String {
    format!(
        "install it, put its folder into PATH, or set another command with `symphony config set {key} COMMAND`"
    )
}

/// Says what is wrong with the program that the provider `command` or `acp` starts with; `None` for other providers, and
/// where the program is there.
pub(super) fn check_command(
    installation: &Installation,
    config: &ProjectConfig,
    call: &ProviderCall,
) -> Option<CheckView> {
    let (line, key) = match call {
        ProviderCall::Command { line, .. } => (line, "providers.command.command".to_owned()),
        ProviderCall::Acp { name, line } => (line, key_of(name)),
        _ => return None,
    };
    let path = agent_search_path(&installation.environment, &config.env);
    let problem = problem_of(line, &key, &path)?;
    Some(CheckView::failed("provider", &problem, fix(&key)))
}

/// Says what each program below `providers.acp` is started with, and which of them is not there.
pub(super) fn check_acp_programs(
    installation: &Installation,
    config: &ProjectConfig,
) -> Vec<CheckView> {
    const CHECK: &str = "acp";
    let checks = acp_programs(installation, config).into_iter();
    let checks = checks.map(|(name, found)| match found {
        Ok(line) => CheckView::ok(CHECK, format!("{} runs `{line}`", name.as_provider())),
        Err(problem) => CheckView::warning(CHECK, problem, fix(&key_of(&name))),
    });
    checks.collect()
}

/// Looks for each program below `providers.acp`: its command, or what is wrong with it.
pub(crate) fn acp_programs(
    installation: &Installation,
    config: &ProjectConfig,
) -> Vec<(AcpName, Result<CommandLine, String>)> {
    let path = agent_search_path(&installation.environment, &config.env);
    let names = config.providers.acp.keys();
    let found = names.map(|name| {
        let found = match config.providers.acp_program(Some(name)) {
            Ok((_, line)) => match problem_of(line, &key_of(name), &path) {
                None => Ok(line.clone()),
                Some(problem) => Err(problem),
            },
            Err(problem) => Err(problem.to_string()),
        };
        (name.clone(), found)
    });
    found.collect()
}

fn key_of(name: &AcpName) -> String {
    format!("providers.acp.{name}.command")
}

/// Says that the program of a command is missing.
fn problem_of(line: &CommandLine, key: &str, search_path: &OsStr) -> Option<String> {
    let program = missing(line, search_path)?;
    let place = if program.contains('/') {
        "does not exist, or is not executable"
    } else {
        "is not in the PATH that agents get"
    };
    Some(format!("`{program}`, which {key} starts, {place}"))
}

/// Returns the first program of a command if it is missing. A relative path is not looked for: it is one in the
/// worktree of a run.
fn missing<'l>(line: &'l CommandLine, search_path: &OsStr) -> Option<&'l str> {
    let program = first_program(line)?;
    let is_relative = program.contains('/') && !program.starts_with('/');
    (!is_relative && find_program(Path::new(program), search_path).is_none()).then_some(program)
}

/// Returns the program that a command starts with, as far as a glance shows it.
fn first_program(line: &CommandLine) -> Option<&str> {
    if let CommandLine::Shell(text) = line
        && let Some(first) = text.split_whitespace().next()
        && first.starts_with('/')
    {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.+/".contains(c);
        return Some(first).filter(|first| first.chars().all(is_plain));
    }
    programs_of(line).first().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_of_a_command_is_looked_for_where_agents_find_it() {
        let shell = |text: &str| CommandLine::Shell(text.to_owned());
        let argv =
            |words: &[&str]| CommandLine::Argv(words.iter().map(|w| (*w).to_owned()).collect());
        for (line, expected) in [
            (shell("sh agent.sh"), None),
            (shell("/bin/sh -c true"), None),
            (shell("no-such-agent --run"), Some("no-such-agent")),
            (shell("MODEL=x no-such-agent"), Some("no-such-agent")),
            (shell("/no/such/agent --run"), Some("/no/such/agent")),
            // only a shell, or a worktree, knows what these are
            (shell("/no/$such/agent"), None),
            (shell("./agent.sh"), None),
            (shell("cd sub && sh agent.sh"), None),
            (argv(&["./agent.sh"]), None),
            (argv(&["sh", "agent.sh"]), None),
            (argv(&["/no/such/agent"]), Some("/no/such/agent")),
            (argv(&["no-such-agent"]), Some("no-such-agent")),
        ] {
            assert_eq!(
                missing(&line, OsStr::new("/bin:/usr/bin")),
                expected,
                "{line}"
            );
        }
    }
}
