//! The nearest known name to one that is not known, for suggestions in error messages.

/// Least similarity (Jaro-Winkler, 0 to 1) at which a name is worth suggesting: below it suggestions look arbitrary.
const SIMILARITY_MIN: f64 = 0.8;

/// Longest name that is compared, in characters: the comparison is quadratic, and no known name is that long.
const NAME_CHARS_MAX: usize = 128;

/// Returns the candidate that `found` was most likely meant to be, if one is close enough.
///
/// Case, `_` and `-` do not count as differences. Ties go to the earlier candidate.
pub fn nearest<'a>(found: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if found.chars().count() > NAME_CHARS_MAX {
        return None;
    }
    let wanted = folded(found);
    let mut best: Option<(f64, &str)> = None;
    for candidate in candidates {
        let similarity = similarity(&wanted, &folded(candidate));
        if similarity >= SIMILARITY_MIN && best.is_none_or(|(most, _)| similarity > most) {
            best = Some((similarity, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// How alike two folded names are: a single edit always counts as close, whatever the length.
fn similarity(a: &str, b: &str) -> f64 {
    let score = strsim::jaro_winkler(a, b);
    if a.chars().count() > 2 && strsim::damerau_levenshtein(a, b) <= 1 {
        score.max(0.95)
    } else {
        score
    }
}

fn folded(name: &str) -> String {
    name.chars()
        .filter(|c| !matches!(c, '_' | '-'))
        .flat_map(char::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_the_closest_name_or_none() {
        let known = [
            "tools",
            "disallowedTools",
            "model",
            "maxTurns",
            "background",
        ];
        for (found, expected) in [
            ("tool", Some("tools")),
            ("tolos", Some("tools")),
            ("disallowed_tools", Some("disallowedTools")),
            ("max-turns", Some("maxTurns")),
            ("MODEL", Some("model")),
            ("modle", Some("model")),
            ("colour", None),
            ("", None),
        ] {
            assert_eq!(nearest(found, known), expected, "{found}");
        }
    }

    #[test]
    fn a_name_without_end_is_not_compared() {
        assert_eq!(nearest(&"x".repeat(1 << 20), ["xx"]), None);
    }
}
