//! Gates of a base that came to no result: whoever ran them died, or could not run them.

use crate::listing::list_few;

/// Gates that a hold names; the rest is counted.
const NAMES_MAX: usize = 3;

/// Says that gates came to no result on a base: those that ran when it ended, each with its command, and why. It reads as a text
/// about red gates does, and whoever looks for the gate that is to be repaired finds it.
pub fn no_result_text(branch: &str, commit: &str, running: &[(&str, String)], why: &str) -> String {
    let running: Vec<String> = running
        .iter()
        .map(|(name, command)| {
            if command.is_empty() {
                format!("`{name}`")
            } else {
                format!("`{name}` (`{command}`)")
            }
        })
        .collect();
    let what = if running.is_empty() {
        "the gates".to_owned()
    } else {
        list_few(running.iter().map(String::as_str), NAMES_MAX)
    };
    // a name in backticks would be taken for that of a gate
    let why = why.replace('`', "'");
    format!(
        "on `{branch}` at {}: {what} came to no result: {why}",
        commit.get(..7).unwrap_or(commit)
    )
}

#[cfg(test)]
mod tests {
    use super::super::named_gate;
    use super::*;

    #[test]
    fn what_came_to_no_result_is_named_as_a_red_gate_is() {
        for (running, why, expected, named) in [
            (
                vec![("test", "make test".to_owned())],
                "its supervisor died",
                "on `main` at 1234567: `test` (`make test`) came to no result: its supervisor died",
                Some("test"),
            ),
            (
                vec![("a", "x".to_owned()), ("b", String::new())],
                "its supervisor died",
                "on `main` at 1234567: `a` (`x`), `b` came to no result: its supervisor died",
                Some("a"),
            ),
            (
                vec![],
                "failed: `git clone` was killed",
                "on `main` at 1234567: the gates came to no result: failed: 'git clone' was killed",
                None,
            ),
        ] {
            let text = no_result_text("main", "123456789", &running, why);
            assert_eq!(text, expected);
            assert_eq!(named_gate(&text), named);
        }
    }
}
