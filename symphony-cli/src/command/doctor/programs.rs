//! The programs that a tick, its agents and the commands of the configuration start.

use std::path::PathBuf;

use symphony_core::config::{CommandLine, ProjectConfig};
use symphony_runner::provider::agent_clis;
use symphony_workspace::FilterUse;

/// Who looks for a program, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seeker {
    /// Symphony itself, its git, and hooks: the plain search path.
    Symphony,
    /// Agents, gates and the set-up: the search path that agents get.
    Agent,
}

/// Returns the programs that are looked for by name, each once for each that looks.
pub(super) fn needed_programs(config: &ProjectConfig, lfs: &FilterUse) -> Vec<(PathBuf, Seeker)> {
    let mut needed = vec![(PathBuf::from("git"), Seeker::Symphony)];
    let mut add = |program: PathBuf, seeker| {
        let need = (program, seeker);
        if need.0.components().count() == 1 && !needed.contains(&need) {
            needed.push(need);
        }
    };
    if let FilterUse::Runs(program) = lfs {
        add(program.into(), Seeker::Symphony);
    }
    let chosen = config.provider.named();
    for cli in agent_clis().filter(|cli| chosen.is_none_or(|named| named.provider() == cli.name)) {
        let binary = config.providers.settings(cli.name).binary.clone();
        add(binary.unwrap_or_else(|| cli.program.into()), Seeker::Agent);
    }
    // npm's programs are scripts of Node.js
    add("node".into(), Seeker::Agent);
    let gates = config.gates.iter().map(|gate| &gate.command);
    for line in gates.chain(&config.worktree.setup) {
        for program in programs_of(line) {
            add(program.into(), Seeker::Agent);
        }
    }
    for line in config.notify.iter().chain(&config.publish) {
        for program in programs_of(line) {
            add(program.into(), Seeker::Symphony);
        }
    }
    needed
}

/// Words that a shell knows itself.
const BUILT_IN: &[&str] = &[
    ".", ":", "[", "[[", "case", "cd", "command", "do", "done", "echo", "elif", "else", "esac",
    "eval", "exec", "exit", "export", "false", "fi", "for", "if", "printf", "pwd", "read",
    "return", "set", "shift", "source", "test", "then", "time", "trap", "true", "ulimit", "umask",
    "unset", "until", "wait", "while",
];

/// Returns the first words of the commands of a line that a shell does not know itself, as far as a glance tells them. A
/// command that sets PATH for itself is left out: its programs are elsewhere.
pub(super) fn programs_of(line: &CommandLine) -> Vec<&str> {
    match line {
        CommandLine::Argv(words) => words.first().map(String::as_str).into_iter().collect(),
        CommandLine::Shell(text) => text
            .split(['&', '|', ';', '\n', '(', ')', '{', '}'])
            .filter_map(first_program)
            .collect(),
    }
}

fn first_program(command: &str) -> Option<&str> {
    if command
        .split_whitespace()
        .any(|word| word.starts_with("PATH="))
    {
        return None;
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.+".contains(c);
    command
        .split_whitespace()
        .find(|word| !word.contains('=') && *word != "!")
        .filter(|word| word.chars().all(is_plain) && !BUILT_IN.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_programs_of_a_command_are_told_at_a_glance() {
        let shell = |text: &str| CommandLine::Shell(text.to_owned());
        let table = [
            (shell("cargo test --workspace"), vec!["cargo"]),
            (
                shell("CI=1 npm ci && npm test | tee log; ./own.sh"),
                vec!["npm", "npm", "tee"],
            ),
            (
                shell("! grep -q TODO src\n(cd web && yarn build)"),
                vec!["grep", "yarn"],
            ),
            (shell("$RUN \"a b\""), vec![]),
            (shell("if test -e a; then exit 1; fi"), vec![]),
            (shell("PATH=\"$PWD/node_modules/.bin:$PATH\" jest"), vec![]),
            (
                shell("HUSKY=0 npm ci && .venv/bin/python -m pytest"),
                vec!["npm"],
            ),
            (shell(""), vec![]),
            (
                CommandLine::Argv(vec!["make".to_owned(), "a;b".to_owned()]),
                vec!["make"],
            ),
        ];
        for (line, expected) in table {
            assert_eq!(programs_of(&line), expected, "{line}");
        }
    }
}
