//! Gates of a base without a result: the process that ran them died, or could not run them.

use super::telling::telling_line;
use crate::listing::list_few;
use crate::pull_request::VerifiedGates;

/// Gates that a hold names; the rest is counted.
const NAMES_MAX: usize = 3;

/// Describes that gates had no result on a base: those that were running at the end, each with its command, and why. It
/// has the form of a text about red gates, so that the search for the gate to repair finds it.
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
    // a name in backticks would look like that of a gate
    let why = why.replace('`', "'");
    format!(
        "on `{branch}` at {}: {what} came to no result: {why}",
        commit.get(..7).unwrap_or(commit)
    )
}

/// How many runs of a pull request's gates in a row may lose their supervisor before its issue stops: a machine that
/// restarts once or twice is not the fault of the change.
pub const GATE_DEATHS_MAX: u32 = 3;

/// Describes why an issue stops whose gates ended their supervisor `deaths` times in a row, the last time while these
/// were running; `None` while another try may help, or if no gate was running.
pub fn deadly_gates_text(deaths: u32, running: &[String]) -> Option<String> {
    let running = were_running(running).filter(|_| deaths >= GATE_DEATHS_MAX)?;
    Some(format!(
        "the supervisor of its gates died {deaths} times in a row, the last time while {running}, which may use up the memory or end \
         processes that are not its own"
    ))
}

/// Describes why gates had no result when their supervisor died while these were running.
pub fn died_text(running: &[String], problem: &str) -> String {
    match were_running(running) {
        Some(running) => format!("{problem}; {running}"),
        None => problem.to_owned(),
    }
}

/// Lists the red gates of a pull request for the person who decides about them. One without a result shows why: there
/// may be no output that does.
pub fn red_gates_text(gates: &VerifiedGates) -> Option<String> {
    let red: Vec<String> = gates.red().map(|gate| format!("`{}`", gate.name)).collect();
    if red.is_empty() {
        return None;
    }
    let names = list_few(red.iter().map(String::as_str), NAMES_MAX);
    let mut no_result = gates.red().filter(|gate| gate.exit_code.is_none());
    let why = no_result.find_map(|gate| telling_line(&gate.output));
    Some(match why {
        Some(why) => format!("{names} ({why})"),
        None => names,
    })
}

fn were_running(running: &[String]) -> Option<String> {
    let were = match running.len() {
        0 => return None,
        1 => "was running",
        _ => "were running",
    };
    let names: Vec<String> = running.iter().map(|name| format!("`{name}`")).collect();
    let names = list_few(names.iter().map(String::as_str), NAMES_MAX);
    Some(format!("{names} {were}"))
}

#[cfg(test)]
mod tests {
    use super::super::named_gate;
    use super::*;
    use crate::pull_request::VerifiedGate;

    #[test]
    fn gates_that_end_their_supervisor_three_times_in_a_row_are_named() {
        for (deaths, running, expected) in [
            (1, vec!["test"], None),
            (2, vec!["test"], None),
            (3, vec![], None),
            (3, vec!["test"], Some("while `test` was running,")),
            (4, vec!["a", "b"], Some("while `a`, `b` were running,")),
        ] {
            let running: Vec<String> = running.into_iter().map(str::to_owned).collect();
            let text = deadly_gates_text(deaths, &running);
            assert_eq!(text.is_some(), expected.is_some(), "{deaths} {running:?}");
            assert!(
                text.unwrap_or_default()
                    .contains(expected.unwrap_or_default())
            );
        }
        assert_eq!(died_text(&[], "it died"), "it died");
        let running = ["test".to_owned()];
        assert_eq!(
            died_text(&running, "it died"),
            "it died; `test` was running"
        );
    }

    #[test]
    fn red_gates_are_named_with_the_reason_of_one_that_came_to_no_result() {
        let gate = |name: &str, exit_code: Option<i32>, output: &str| VerifiedGate {
            name: name.to_owned(),
            required: true,
            passed: exit_code == Some(0),
            exit_code,
            duration_ms: 1,
            output: output.to_owned(),
            cached: false,
            definition: None,
            failed_tries: Vec::new(),
        };
        for (results, expected) in [
            (vec![], None),
            (vec![gate("lint", Some(0), "fine")], None),
            (vec![gate("lint", Some(1), "no")], Some("`lint`")),
            (
                vec![gate("lint", Some(1), "no"), gate("test", None, "it died")],
                Some("`lint`, `test` (it died)"),
            ),
        ] {
            let gates = VerifiedGates {
                results,
                ..VerifiedGates::none_on("c1")
            };
            assert_eq!(red_gates_text(&gates).as_deref(), expected);
        }
    }

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
