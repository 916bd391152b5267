//! A question to the person at the terminal, answered by a line.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use crate::failure::Context as _;
use crate::output::Output;

/// Times that an unclear answer is asked about again.
const TRIES_MAX: usize = 3;

/// One answer that a person can give.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Choice {
    key: char,
    name: &'static str,
    meaning: &'static str,
}

impl Choice {
    /// Makes an answer that is given by its letter or its name.
    pub(crate) const fn new(key: char, name: &'static str, meaning: &'static str) -> Self {
        Self { key, name, meaning }
    }
}

/// Says whether a person can be asked: standard input and standard error are a terminal.
pub(crate) fn is_possible(out: Output) -> bool {
    !out.is_json() && io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks a question; returns the name of the choice, or none when the person gives no clear answer.
///
/// # Errors
/// When the terminal cannot be read or written.
pub(crate) fn ask(question: &str, choices: &[Choice]) -> anyhow::Result<Option<&'static str>> {
    let mut text = format!("{question}\n");
    for choice in choices {
        text.push_str(&format!(
            "  {} {}: {}\n",
            choice.key, choice.name, choice.meaning
        ));
    }
    let mut stderr = anstream::stderr().lock();
    for _ in 0..TRIES_MAX {
        stderr
            .write_all(format!("{text}> ").as_bytes())
            .and_then(|()| stderr.flush())
            .context("ask on the terminal")?;
        let mut line = String::new();
        let read = io::stdin().lock().read_line(&mut line);
        if read.context("read the answer")? == 0 {
            return Ok(None);
        }
        if let Some(choice) = chosen(&line, choices) {
            return Ok(Some(choice));
        }
        let keys: Vec<String> = choices
            .iter()
            .map(|choice| choice.key.to_string())
            .collect();
        text = format!("Answer with one of {}.\n", keys.join(", "));
    }
    Ok(None)
}

/// Asks whether to go on.
///
/// # Errors
/// When the terminal cannot be read or written.
pub(crate) fn confirm(question: &str) -> anyhow::Result<bool> {
    let choices = [
        Choice::new('y', "yes", "continue"),
        Choice::new('n', "no", "change nothing"),
    ];
    Ok(ask(question, &choices)? == Some("yes"))
}

fn chosen(line: &str, choices: &[Choice]) -> Option<&'static str> {
    let answer = line.trim().to_lowercase();
    let is_meant =
        |choice: &&Choice| answer == choice.name || answer == choice.key.to_string().as_str();
    choices.iter().find(is_meant).map(|choice| choice.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_a_letter_or_a_name() {
        let choices = [Choice::new('k', "keep", ""), Choice::new('c', "cancel", "")];
        for (line, expected) in [
            ("k\n", Some("keep")),
            (" Cancel \n", Some("cancel")),
            ("\n", None),
            ("kc\n", None),
        ] {
            assert_eq!(chosen(line, &choices), expected, "{line:?}");
        }
    }
}
