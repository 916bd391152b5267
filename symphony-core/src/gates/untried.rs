//! Gates that nothing has shown to pass on the base as they are configured now.

use std::collections::BTreeSet;

/// A required gate, with a digest of what the configuration says about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateToTry {
    /// Its name.
    pub name: String,
    /// A digest of its command and of all settings that its result on a base depends on.
    pub digest: String,
}

/// Returns the names of the gates whose digest is not among those that passed on the base: they were added or changed,
/// or never ran there.
pub fn untried_gates(gates: &[GateToTry], passed: &BTreeSet<String>) -> Vec<String> {
    let untried = gates.iter().filter(|gate| !passed.contains(&gate.digest));
    untried.map(|gate| gate.name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_is_untried_until_it_passed_as_it_is_now() {
        let gate = |name: &str, digest: &str| GateToTry {
            name: name.to_owned(),
            digest: digest.to_owned(),
        };
        for (gates, passed, expected) in [
            (vec![], vec![], vec![]),
            (vec![gate("test", "a")], vec![], vec!["test"]),
            (vec![gate("test", "a")], vec!["a"], vec![]),
            // changed
            (vec![gate("test", "b")], vec!["a"], vec!["test"]),
            // one was added
            (
                vec![gate("test", "a"), gate("lint", "c")],
                vec!["a"],
                vec!["lint"],
            ),
            // one was taken out
            (vec![gate("test", "a")], vec!["a", "c"], vec![]),
            // changed back
            (vec![gate("test", "a")], vec!["b", "a"], vec![]),
        ] {
            let passed: BTreeSet<String> = passed.into_iter().map(str::to_owned).collect();
            assert_eq!(
                untried_gates(&gates, &passed),
                expected,
                "{gates:?} {passed:?}"
            );
        }
    }
}
