//! Reading what a text about a red base names.

/// What follows the exit code of a gate whose program is missing.
pub(super) const MISSING: &str = ", because a program is missing or cannot be executed";

/// Returns the gate that [`base_red_text`](super::base_red_text) names first.
pub fn named_gate(text: &str) -> Option<&str> {
    // no branch has a colon in its name
    let (_, rest) = text.split_once(": `")?;
    rest.split_once('`').map(|(name, _)| name)
}

/// Returns whether a text about a base names a gate among those that are red, or that had no result.
pub(super) fn names(text: &str, gate: &str) -> bool {
    about(text, gate).is_some()
}

/// Returns whether a gate in the text is red because a program is missing that no agent can write: its command names no
/// path of the project.
pub(super) fn misses_program(text: &str, gate: &str) -> bool {
    lacks_program(text, gate)
        && about(text, gate).is_some_and(|rest| {
            let command = rest.strip_prefix(" (`").and_then(|rest| {
                let end = rest.find("`) ")?;
                rest.get(..end)
            });
            let is_in_project =
                |word: &str| word.contains('/') && !word.starts_with(['/', '-', '~', '$']);
            !command
                .unwrap_or_default()
                .split_whitespace()
                .any(is_in_project)
        })
}

/// Returns whether a gate in the text lacks a program.
pub(super) fn lacks_program(text: &str, gate: &str) -> bool {
    const ENDED: [&str; 2] = ["failed with exit code ", "did not end on its own"];
    let Some(text) = about(text, gate) else {
        return false;
    };
    let ends = ENDED.iter().filter_map(|how| text.split_once(how));
    let first = ends.min_by_key(|(before, _)| before.len());
    first.is_some_and(|(_, rest)| {
        let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        rest.starts_with(MISSING)
    })
}

/// Returns what follows the name of a gate in a text about a base.
pub(super) fn about<'t>(text: &'t str, gate: &str) -> Option<&'t str> {
    [": ", ", "].into_iter().find_map(|before| {
        let named = format!("{before}`{gate}`");
        let (_, rest) = text.split_once(&named)?;
        let follows = [
            " (`",
            " failed with ",
            " did not end ",
            " came to no ",
            ", ",
        ];
        let is_gate = follows.iter().any(|next| rest.starts_with(next));
        is_gate.then_some(rest)
    })
}
