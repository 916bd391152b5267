//! Lists in sentences.

/// Names the first few and counts the rest: `a, b and 3 more`. Nothing is listed as an empty text.
pub fn list_few<'a>(names: impl ExactSizeIterator<Item = &'a str>, max: usize) -> String {
    let more = names.len().saturating_sub(max);
    let listed = names.take(max).collect::<Vec<_>>().join(", ");
    match more {
        0 => listed,
        more => format!("{listed} and {more} more"),
    }
}

/// Joins alternatives: `a, b or c`. Nothing is listed as an empty text.
pub fn one_of(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_alternative_comes_after_or() {
        for (names, expected) in [
            (&[][..], ""),
            (&["a"], "a"),
            (&["a", "b"], "a or b"),
            (&["a", "b", "c"], "a, b or c"),
        ] {
            let names: Vec<String> = names.iter().map(ToString::to_string).collect();
            assert_eq!(one_of(&names), expected);
        }
    }

    #[test]
    fn the_first_are_named_and_the_rest_is_counted() {
        let table: [(&[&str], &str); 4] = [
            (&[], ""),
            (&["a"], "a"),
            (&["a", "b"], "a, b"),
            (&["a", "b", "c", "d"], "a, b and 2 more"),
        ];
        for (names, expected) in table {
            assert_eq!(list_few(names.iter().copied(), 2), expected);
        }
    }
}
