//! How learnings stand in a prompt.

use std::fmt::Write as _;

use crate::rank::Hit;

/// Renders conventions, each as `- {pattern}` and a newline. What [`crate::Ranker::best`] took stays within
/// `convention_char_cap`. `pattern` gives the pattern of a learning by its index.
pub fn render_conventions<'a>(hits: &[Hit], pattern: impl Fn(usize) -> &'a str) -> String {
    let mut out = String::new();
    for hit in hits {
        out.push_str("- ");
        out.push_str(pattern(hit.index));
        out.push('\n');
    }
    out
}

/// Renders learnings of other projects, each as `- [{project}] {pattern}` and a newline. `project_and_pattern` gives the
/// name of the project and the pattern of a learning by its index.
pub fn render_cross_project<'a>(
    hits: &[Hit],
    project_and_pattern: impl Fn(usize) -> (&'a str, &'a str),
) -> String {
    let mut out = String::new();
    for hit in hits {
        let (project, pattern) = project_and_pattern(hit.index);
        writeln!(out, "- [{project}] {pattern}").expect("writing to a string cannot fail");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::Parts;

    fn hit(index: usize) -> Hit {
        Hit {
            index,
            score: 0.0,
            parts: Parts::default(),
        }
    }

    #[test]
    fn learnings_are_bullets() {
        let patterns = ["Use pnpm.", "Füße"];
        let pattern = |index: usize| patterns[index];
        assert_eq!(
            render_conventions(&[hit(1), hit(0)], pattern),
            "- Füße\n- Use pnpm.\n"
        );
        assert_eq!(
            render_cross_project(&[hit(0)], |index| ("Shop", pattern(index))),
            "- [Shop] Use pnpm.\n"
        );
    }
}
