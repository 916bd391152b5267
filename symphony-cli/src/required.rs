//! What was left out on a command line, where one of several options would do.

use std::io::Write as _;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use owo_colors::OwoColorize as _;

/// Prints an error of the command line. A group of options of which one is required is shown as that: clap lists it
/// as if all were.
pub(crate) fn print_error(error: &clap::Error) {
    // a reader that went away is not an error, and no one else can read the message
    let _unwritten = match alternatives(error) {
        None => error.print(),
        Some(message) => {
            let usage = match error.get(ContextKind::Usage) {
                Some(ContextValue::StyledStr(usage)) => format!("{}\n\n", usage.ansi()),
                _ => String::new(),
            };
            write!(
                anstream::stderr().lock(),
                "{} {message}\n\n{usage}For more information, try '--help'.\n",
                "error:".red().bold()
            )
        }
    };
}

/// Says what is required, when a group is among it.
fn alternatives(error: &clap::Error) -> Option<String> {
    if error.kind() != ErrorKind::MissingRequiredArgument {
        return None;
    }
    match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::Strings(missing)) => required(missing),
        _ => None,
    }
}

/// Puts what clap says is missing into a sentence; `None` without a group.
fn required(missing: &[String]) -> Option<String> {
    missing.iter().find(|argument| is_group(argument))?;
    let (groups, single): (Vec<&String>, Vec<&String>) =
        missing.iter().partition(|argument| is_group(argument));
    let single = single.into_iter().cloned();
    let groups = groups.into_iter().map(|group| one_of(group));
    let parts: Vec<String> = single.chain(groups).collect();
    let verb = if parts.len() == 1 { "is" } else { "are" };
    Some(format!("{} {verb} required", parts.join(" and ")))
}

/// Says whether clap means several options: `<--done|--cancelled>`. The name of a value has no dashes.
fn is_group(argument: &str) -> bool {
    argument.starts_with("<--")
}

/// Names the options of a group without their values.
fn one_of(group: &str) -> String {
    let options: Vec<&str> = group
        .trim_matches(['<', '>'])
        .split('|')
        .filter(|part| part.starts_with("--"))
        .filter_map(|part| part.split_whitespace().next())
        .collect();
    match options.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, first)) => format!("one of {} or {last}", first.join(", ")),
        None => group.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_shown_as_a_choice() {
        for (missing, sentence) in [
            (&["--squash"][..], None),
            (&["<ID|ISSUE|PLAN>"], None),
            (
                &["<--feedback <TEXT>|--point <POINT>|--reopen <NUMBER>>"],
                Some("one of --feedback, --point or --reopen is required"),
            ),
            (
                &["<--done|--cancelled>"],
                Some("one of --done or --cancelled is required"),
            ),
            (
                &["<--edit <A|B>|--reset>"],
                Some("one of --edit or --reset is required"),
            ),
            (
                &["<--done|--cancelled>", "<ISSUE>"],
                Some("<ISSUE> and one of --done or --cancelled are required"),
            ),
        ] {
            let missing: Vec<String> = missing.iter().map(|&text| text.to_owned()).collect();
            assert_eq!(required(&missing).as_deref(), sentence, "{missing:?}");
        }
    }
}
