//! Which tools for Python the workflows run, and how a gate runs each.

use super::package::Role;

/// How commands run in the environment of a package.
#[derive(Debug, Clone, Copy)]
pub(super) struct Runner<'a> {
    /// What is before a tool that the workflow starts by its plain name.
    pub(super) before: &'a str,
    /// What is before a command that the workflow starts through `pipenv`.
    pub(super) environment: &'a str,
}

/// A check that workflows make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CiCheck {
    pub(super) role: Role,
    /// The program of the tool, as it is installed.
    pub(super) tool: &'static str,
    /// The command of the gate.
    pub(super) command: String,
    /// Whether the gate starts the tool in the package's own environment, which has to have it.
    pub(super) is_installed: bool,
}

/// Programs that run a tool in an environment which they know; the gate takes the command as it is.
const RUNNERS: &[(&str, &str)] = &[
    ("uv", "run"),
    ("poetry", "run"),
    ("pdm", "run"),
    ("pipenv", "run"),
    ("hatch", "run"),
];
/// Programs that fetch a tool by themselves.
const FETCHERS: &[&str] = &["uvx", "pipx"];
const TOOLS: &[&str] = &[
    "ruff",
    "flake8",
    "pylint",
    "black",
    "mypy",
    "pyright",
    "basedpyright",
    "tox",
    "nox",
];

/// Returns the checks that these commands make, the first of each role.
pub(super) fn checks(commands: &[String], runner: Runner<'_>) -> Vec<CiCheck> {
    let mut found: Vec<CiCheck> = Vec::new();
    for command in commands {
        if let Some(check) = check_of(command, runner)
            && !found.iter().any(|other| other.role == check.role)
        {
            found.push(check);
        }
    }
    found
}

fn check_of(command: &str, runner: Runner<'_>) -> Option<CiCheck> {
    let words: Vec<&str> = command.split_whitespace().collect();
    let (at, tool) = words
        .iter()
        .enumerate()
        .find_map(|(at, word)| Some((at, *TOOLS.iter().find(|tool| *tool == word)?)))?;
    let (before, arguments) = (words.get(..at)?, words.get(at + 1..)?);
    let arguments = whole(tool, arguments);
    let role = role_of(tool, arguments)?;
    let plain = [&[tool], arguments].concat().join(" ");
    let (command, is_installed) = match before {
        [] | ["python" | "python3", "-m"] => (format!("{}{plain}", runner.before), true),
        [program, word, ..] if RUNNERS.contains(&(program, word)) => {
            let environment = if *program == "pipenv" {
                runner.environment
            } else {
                ""
            };
            (format!("{environment}{} {plain}", before.join(" ")), false)
        }
        [program, ..] if FETCHERS.contains(program) => {
            (format!("{} {plain}", before.join(" ")), false)
        }
        _ => return None,
    };
    Some(CiCheck {
        role,
        tool,
        command,
        is_installed,
    })
}

/// Leaves out an option at the end whose value was the workflow's, such as the `-e` of `tox -e ${{ matrix.env }}`.
fn whole<'a>(tool: &str, arguments: &'a [&'a str]) -> &'a [&'a str] {
    match arguments.split_last() {
        Some((&("-e" | "-s" | "--session" | "--sessions" | "--"), rest))
            if matches!(tool, "tox" | "nox") =>
        {
            rest
        }
        _ => arguments,
    }
}

/// Returns what a tool checks; `None` if it changes files, or does something else.
fn role_of(tool: &str, arguments: &[&str]) -> Option<Role> {
    let has = |flags: &[&str]| arguments.iter().any(|argument| flags.contains(argument));
    let only_tells = has(&["--version", "--help", "-h"]);
    let role = match (tool, arguments.first()) {
        ("ruff", Some(&"check")) if !has(&["--fix", "--fix-only"]) => Role::Lint,
        ("ruff", Some(&"format")) | ("black", _) if has(&["--check", "--diff"]) => Role::Format,
        ("flake8" | "pylint", _) => Role::Lint,
        ("mypy" | "pyright" | "basedpyright", _) => Role::Types,
        ("tox" | "nox", _) => Role::Test,
        _ => return None,
    };
    (!only_tells).then_some(role)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_run_as_the_workflow_does_in_the_environment_of_the_package() {
        let venv = Runner {
            before: ".venv/bin/python -m ",
            environment: "",
        };
        let pipenv = Runner {
            before: "PIPENV_VENV_IN_PROJECT=1 pipenv run ",
            environment: "PIPENV_VENV_IN_PROJECT=1 ",
        };
        for (command, runner, expected) in [
            (
                "ruff check .",
                venv,
                "lint: .venv/bin/python -m ruff check .",
            ),
            ("ruff check --fix .", venv, ""),
            (
                "ruff format --check src",
                venv,
                "format: .venv/bin/python -m ruff format --check src",
            ),
            ("ruff format", venv, ""),
            ("ruff --version", venv, ""),
            (
                "python -m mypy --strict src",
                venv,
                "types: .venv/bin/python -m mypy --strict src",
            ),
            (
                "black --check .",
                pipenv,
                "format: PIPENV_VENV_IN_PROJECT=1 pipenv run black --check .",
            ),
            (
                "pipenv run flake8",
                pipenv,
                "lint: PIPENV_VENV_IN_PROJECT=1 pipenv run flake8",
            ),
            (
                "uv run --group lint ruff check",
                venv,
                "lint: uv run --group lint ruff check",
            ),
            ("uv run mypy .", venv, "types: uv run mypy ."),
            ("poetry run pyright", venv, "types: poetry run pyright"),
            ("uvx ruff check", venv, "lint: uvx ruff check"),
            ("pipx run nox -s tests", venv, "test: pipx run nox -s tests"),
            ("tox -e", venv, "test: .venv/bin/python -m tox"),
            (
                "nox -s lint --",
                venv,
                "test: .venv/bin/python -m nox -s lint",
            ),
            ("pip install ruff", venv, ""),
            ("uv tool install ruff", venv, ""),
            ("pytest", venv, ""),
        ] {
            let found = checks(&[command.to_owned()], runner);
            let told: Vec<String> = found
                .iter()
                .map(|check| format!("{}: {}", check.role.name(), check.command))
                .collect();
            assert_eq!(told.concat(), expected, "{command}");
        }
        let twice = ["mypy a".to_owned(), "mypy b".to_owned()];
        assert_eq!(checks(&twice, venv).len(), 1);
    }
}
