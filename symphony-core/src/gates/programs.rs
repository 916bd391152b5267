//! Programs of a command line that may be outside of the checkout it runs in: their content is in no commit.

use crate::config::CommandLine;

/// Programs whose first argument is a script.
const INTERPRETERS: &[&str] = &[
    "bash", "bun", "dash", "deno", "env", "node", "perl", "php", "python", "python3", "ruby", "sh",
    "zsh",
];
/// What separates the commands of a line.
const SEPARATORS: &[char] = &['&', '|', ';', '\n', '(', ')', '{', '}', '`'];

/// A program that a command line names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum OutsideProgram<'a> {
    /// A name that is searched for in the search path.
    Named(&'a str),
    /// An absolute path, or one that begins with `~/`, that is run as a program, or as the script of an interpreter.
    At(&'a str),
    /// The same as an argument: a program only if the file is executable.
    Argument(&'a str),
}

/// Returns the programs of a command line, as far as they are obvious: each once, in order. What a variable or a
/// program names is not seen; relative paths are relative to the checkout.
pub fn outside_programs(line: &CommandLine) -> Vec<OutsideProgram<'_>> {
    let mut found = Vec::new();
    match line {
        CommandLine::Argv(words) => of_command(words.iter().map(String::as_str), &mut found),
        CommandLine::Shell(text) => {
            for command in text.split(SEPARATORS) {
                let words = command.split_whitespace();
                of_command(words.map(|word| word.trim_matches(['"', '\''])), &mut found);
            }
        }
    }
    let mut seen = Vec::with_capacity(found.len());
    found.retain(|program| {
        let is_new = !seen.contains(program);
        seen.push(*program);
        is_new
    });
    found
}

fn of_command<'a>(words: impl Iterator<Item = &'a str>, found: &mut Vec<OutsideProgram<'a>>) {
    let mut words = words
        .filter(|word| !word.is_empty() && *word != "!")
        .peekable();
    let mut own_path = false;
    while let Some(word) = words.next_if(|word| is_assignment(word)) {
        own_path |= word.starts_with("PATH=");
    }
    let Some(program) = words.next() else {
        return;
    };
    if is_path(program) {
        found.push(OutsideProgram::At(program));
    } else if !own_path && is_name(program) {
        found.push(OutsideProgram::Named(program));
    }
    let name = program.rsplit('/').next().unwrap_or_default();
    let mut awaits_script = INTERPRETERS.contains(&name);
    let mut is_output = false;
    for word in words {
        let is_path = is_path(word) && !is_output;
        if awaits_script && !word.starts_with('-') && !is_assignment(word) {
            awaits_script = false;
            if is_path {
                found.push(OutsideProgram::At(word));
            }
        } else if is_path {
            found.push(OutsideProgram::Argument(word));
        }
        // what follows is written, not run
        is_output = word.ends_with('>');
    }
}

fn is_assignment(word: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    word.split_once('=')
        .is_some_and(|(name, _)| !name.is_empty() && name.chars().all(is_plain))
}

fn is_path(word: &str) -> bool {
    word.len() > 1 && word.starts_with('/') || word.starts_with("~/")
}

fn is_name(word: &str) -> bool {
    word.chars()
        .all(|c| c.is_ascii_alphanumeric() || "-_.+".contains(c))
}

#[cfg(test)]
mod tests {
    use super::OutsideProgram::{Argument, At, Named};
    use super::*;

    #[test]
    fn the_programs_of_a_line_are_seen_as_far_as_a_glance_tells() {
        let shell = |text: &str| CommandLine::Shell(text.to_owned());
        for (line, expected) in [
            (shell("/opt/check.sh --all"), vec![At("/opt/check.sh")]),
            (shell("CI=1 A=/x ~/bin/check"), vec![At("~/bin/check")]),
            (shell("! lint-all . && ./own.sh"), vec![Named("lint-all")]),
            (
                shell("bash -e '/opt/check.sh' /data/in"),
                vec![Named("bash"), At("/opt/check.sh"), Argument("/data/in")],
            ),
            (shell("sh tools/lint"), vec![Named("sh")]),
            (
                shell("make test > /tmp/log 2>&1 | /usr/bin/tee"),
                vec![Named("make"), Named("1"), At("/usr/bin/tee")],
            ),
            (
                shell("timeout 5 /opt/check; /opt/check"),
                vec![Named("timeout"), Argument("/opt/check"), At("/opt/check")],
            ),
            (
                shell("env A=1 /opt/check"),
                vec![Named("env"), At("/opt/check")],
            ),
            // its programs are elsewhere
            (shell("PATH=\"$PWD/bin:$PATH\" jest"), vec![]),
            (shell("$RUN / -x"), vec![]),
            (shell("a; a"), vec![Named("a")]),
            (shell(""), vec![]),
            (
                CommandLine::Argv(vec!["/opt/my check".into(), "a;b".into()]),
                vec![At("/opt/my check")],
            ),
        ] {
            assert_eq!(outside_programs(&line), expected, "{line}");
        }
    }
}
