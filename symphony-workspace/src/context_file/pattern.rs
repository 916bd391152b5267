//! Patterns as they are written in a plan.

use globset::{GlobBuilder, GlobMatcher};
use symphony_core::plan::{PathRefusal, check_pattern};

use super::problem::ContextFileProblem;

/// The characters that make a name a pattern.
const SPECIAL: [char; 4] = ['*', '?', '[', '{'];

/// A pattern that stays inside the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    /// The folder all matches are in, relative; empty for the project itself.
    pub(super) base: String,
    /// The whole pattern, relative, without `.` and `..`.
    pub(super) whole: String,
    /// Whether the part behind the base names something whose name begins with a dot.
    pub(super) names_hidden: bool,
}

impl Pattern {
    /// Brings what a plan names to its normal form.
    pub(super) fn parse(text: &str) -> Result<Self, ContextFileProblem> {
        check_pattern(text).map_err(|refusal| match refusal {
            PathRefusal::Outside => ContextFileProblem::Outside,
            other => ContextFileProblem::BadPattern {
                reason: other.to_string(),
            },
        })?;
        let mut parts: Vec<&str> = Vec::new();
        for part in text.trim().split('/') {
            match part {
                "" | "." => {}
                // a `..` behind a wildcard is left: it matches nothing
                ".." if parts.last().is_some_and(|last| !last.contains(SPECIAL)) => {
                    parts.pop();
                }
                _ => parts.push(part),
            }
        }
        let plain = parts.iter().take_while(|part| !part.contains(SPECIAL));
        // The last part is what is searched for, even if it is a plain name.
        let base = plain.count().min(parts.len().saturating_sub(1));
        let (before, behind) = parts.split_at(base);
        Ok(Self {
            base: before.join("/"),
            whole: parts.join("/"),
            names_hidden: behind
                .iter()
                .any(|part| part.starts_with('.') && *part != ".."),
        })
    }

    /// Returns whether it may match several files.
    pub(super) fn is_glob(&self) -> bool {
        self.whole.contains(SPECIAL)
    }

    /// Makes the matcher for paths relative to the project.
    pub(super) fn matcher(&self) -> Result<GlobMatcher, ContextFileProblem> {
        GlobBuilder::new(&self.whole)
            .literal_separator(true)
            .build()
            .map(|glob| glob.compile_matcher())
            .map_err(|error| ContextFileProblem::BadPattern {
                reason: error.kind().to_string(),
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_have_a_folder_they_begin_at() {
        for (text, base, whole, names_hidden) in [
            ("src/a.rs", "src", "src/a.rs", false),
            ("a.rs", "", "a.rs", false),
            ("./src//*.rs", "src", "src/*.rs", false),
            ("src/x/../**/*.rs", "src", "src/**/*.rs", false),
            ("*/../a", "", "*/../a", false),
            (".github/**/*.yml", ".github", ".github/**/*.yml", false),
            ("**/.eslintrc*", "", "**/.eslintrc*", true),
            ("src/{a,b}/c.rs", "src", "src/{a,b}/c.rs", false),
        ] {
            let expected = Pattern {
                base: base.to_owned(),
                whole: whole.to_owned(),
                names_hidden,
            };
            assert_eq!(Pattern::parse(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_leads_out_is_refused() {
        for text in ["../a", "/etc/*", "~/x", "a/../../*", "{a,/etc}/*"] {
            assert_eq!(
                Pattern::parse(text),
                Err(ContextFileProblem::Outside),
                "{text}"
            );
        }
        assert!(matches!(
            Pattern::parse("[a").unwrap().matcher(),
            Err(ContextFileProblem::BadPattern { .. })
        ));
    }
}
