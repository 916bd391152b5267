//! Whether gates that passed are still the project's gates: what they depend on may have changed since.

use crate::closed_set::closed_set;
use crate::pull_request::VerifiedGates;

/// A gate as the configuration has it now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfiguredGate {
    /// Its name.
    pub name: String,
    /// Whether a red one sends the change back.
    pub required: bool,
    /// A digest of all that its result depends on besides the files: command, set-up, copied files, environment and
    /// toolchain.
    pub definition: String,
}

closed_set!(
    /// Whether results are those of the project's current gates.
    GatesAge, "age of gates", {
        /// They are.
        Current = "current",
        /// A gate was added, became required, or depends on something that has changed since: a merge runs them again.
        Outdated = "outdated",
    }
);

impl GatesAge {
    /// Compares results with the gates that the project has now. Red ones count until they run again, whatever has
    /// changed.
    pub fn of(found: &VerifiedGates, now: &[ConfiguredGate]) -> Self {
        if !found.green() || cover(found, now) {
            Self::Current
        } else {
            Self::Outdated
        }
    }

    /// As [`GatesAge::of`], whether or not they passed.
    pub(crate) fn of_any(found: &VerifiedGates, now: &[ConfiguredGate]) -> Self {
        if cover(found, now) {
            Self::Current
        } else {
            Self::Outdated
        }
    }

    /// Returns what follows the word for green gates; empty for current ones.
    pub const fn note(self) -> &'static str {
        match self {
            Self::Current => "",
            Self::Outdated => {
                " (the gates or their environment have changed since: they run again before a merge)"
            }
        }
    }
}

/// Returns whether there is a result for each gate. A result of an older Symphony has no definition, and counts.
fn cover(found: &VerifiedGates, now: &[ConfiguredGate]) -> bool {
    now.iter().all(|gate| {
        found.results.iter().any(|result| {
            let ran = result.definition.as_ref();
            result.name == gate.name
                && (result.required || result.passed || !gate.required)
                && ran.is_none_or(|ran| *ran == gate.definition)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pull_request::VerifiedGate;

    fn result(name: &str, (required, passed): (bool, bool), definition: &str) -> VerifiedGate {
        VerifiedGate {
            name: name.to_owned(),
            required,
            passed,
            exit_code: Some(i32::from(!passed)),
            duration_ms: 1,
            output: String::new(),
            cached: false,
            definition: Some(definition.to_owned()).filter(|text| !text.is_empty()),
            failed_tries: Vec::new(),
        }
    }

    fn gate(name: &str, required: bool, definition: &str) -> ConfiguredGate {
        ConfiguredGate {
            name: name.to_owned(),
            required,
            definition: definition.to_owned(),
        }
    }

    #[test]
    fn green_gates_are_outdated_once_the_project_has_others() {
        use GatesAge::{Current, Outdated};
        let green = || result("test", (true, true), "a");
        for (results, now, age) in [
            (vec![green()], vec![gate("test", true, "a")], Current),
            (vec![green()], vec![gate("test", false, "a")], Current),
            // taken out: what is left passed
            (vec![green()], vec![], Current),
            (vec![green()], vec![gate("test", true, "b")], Outdated),
            (vec![green()], vec![gate("lint", true, "a")], Outdated),
            (
                vec![green()],
                vec![gate("test", true, "a"), gate("lint", false, "a")],
                Outdated,
            ),
            (vec![], vec![gate("test", true, "a")], Outdated),
            // it became required, and had failed
            (
                vec![result("test", (false, false), "a")],
                vec![gate("test", true, "a")],
                Outdated,
            ),
            // of an older Symphony
            (
                vec![result("test", (true, true), "")],
                vec![gate("test", true, "b")],
                Current,
            ),
            // red is red until it runs again
            (
                vec![result("test", (true, false), "a")],
                vec![gate("test", true, "b")],
                Current,
            ),
        ] {
            let found = VerifiedGates {
                results,
                ..VerifiedGates::none_on("abc")
            };
            assert_eq!(GatesAge::of(&found, &now), age, "{found:?} {now:?}");
        }
    }
}
