//! In which order gates run, and which ones run for the sake of others: they share a checkout, and one may need what
//! those before it built there.

use crate::config::Gate;

/// Cuts gates into groups that run at once: neighbours that are `parallel`, all others alone. No gate needs what others
/// of its group leave.
pub fn groups(gates: &[Gate]) -> impl Iterator<Item = &[Gate]> {
    gates.chunk_by(|a, b| a.parallel && b.parallel)
}

/// Returns the wanted gates together with all that run before the last of them, in their order: so that each finds what
/// it finds when all run. A test suite without the build that it tests says nothing, neither red nor green.
pub fn with_those_before(gates: &[Gate], wanted: impl Fn(usize, &Gate) -> bool) -> Vec<Gate> {
    let mut kept = Vec::with_capacity(gates.len());
    let mut start = gates.len();
    let groups: Vec<&[Gate]> = groups(gates).collect();
    let mut is_needed = false;
    // from the last group to the first
    for group in groups.into_iter().rev() {
        start -= group.len();
        let is_wanted: Vec<bool> = (start..)
            .zip(group)
            .map(|(index, gate)| wanted(index, gate))
            .collect();
        let of_group = group.iter().zip(&is_wanted).rev();
        kept.extend(
            of_group
                .filter(|(_, wanted)| is_needed || **wanted)
                .map(|(gate, _)| gate.clone()),
        );
        is_needed |= is_wanted.contains(&true);
    }
    kept.reverse();
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::CommandLine;

    /// Gates by their letters; small ones are `parallel`.
    fn gates(letters: &str) -> Vec<Gate> {
        let gate = |letter: char| Gate {
            parallel: letter.is_ascii_lowercase(),
            ..Gate::new(letter.to_string(), CommandLine::Shell("true".into()))
        };
        letters.chars().map(gate).collect()
    }

    fn letters(gates: &[Gate]) -> String {
        gates.iter().map(|gate| gate.name.as_str()).collect()
    }

    #[test]
    fn neighbours_that_may_run_at_once_do() {
        let groups = |all| -> Vec<String> { groups(&gates(all)).map(letters).collect() };
        assert_eq!(groups("abCdE"), ["ab", "C", "d", "E"]);
        assert_eq!(groups(""), Vec::<String>::new());
    }

    #[test]
    fn gates_run_after_those_before_them_and_without_those_beside_and_after_them() {
        for (all, wanted, expected) in [
            ("ABC", "", ""),
            ("ABC", "A", "A"),
            ("ABC", "C", "ABC"),
            ("ABC", "AB", "AB"),
            ("Abcd", "c", "Ac"),
            ("abCde", "d", "abCd"),
            ("abCde", "be", "abCe"),
            ("abCde", "b", "b"),
        ] {
            let found = with_those_before(&gates(all), |_, gate| wanted.contains(&gate.name));
            assert_eq!(letters(&found), expected, "{wanted} of {all}");
        }
    }
}
