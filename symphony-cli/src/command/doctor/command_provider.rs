//! The program of the provider `command`: nothing else looks for it before a run starts it.

use std::ffi::OsStr;
use std::path::Path;

use symphony_core::config::{CommandLine, ProjectConfig};
use symphony_runner::environment::agent_search_path;
use symphony_runner::installation::Installation;
use symphony_runner::provider::ProviderCall;
use symphony_runner::provider::detect::find_program;

use super::check::CheckView;
use super::programs::programs_of;

/// What to do about it.
const FIX: &str = "install it, put its folder into PATH, or set another command with `symphony config set \
                   providers.command.command COMMAND`";

/// Says what is wrong with the program that the provider `command` starts with; `None` for other providers, and where
/// the program is there.
pub(super) fn check_command(
    installation: &Installation,
    config: &ProjectConfig,
    call: &ProviderCall,
) -> Option<CheckView> {
    let ProviderCall::Command { line, .. } = call else {
        return None;
    };
    let path = agent_search_path(&installation.environment, &config.env);
    let program = missing(line, &path)?;
    let place = if program.contains('/') {
        "does not exist, or is not executable"
    } else {
        "is not in the PATH that agents get"
    };
    let detail = format!("`{program}`, which providers.command.command starts, {place}");
    Some(CheckView::failed("provider", &detail, FIX))
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
