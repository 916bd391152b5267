//! Patterns of paths inside a project, such as in `sensitive_paths`.
//!
//! A pattern covers too much rather than too little. `app/[id]` is a character class to someone who knows globs and a
//! plain folder to someone who writes a web application, so it covers both.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// Characters that are special in a glob and often plain in a path.
const AMBIGUOUS: [char; 5] = ['?', '[', '{', '}', '\\'];

/// Some patterns, ready to be compared with paths.
///
/// Each covers a path, or a folder with all that is below it. `*` is any run of characters in one part of a path and
/// `**` any run at all; `?`, `[…]` and `{…,…}` are those of globs.
#[derive(Debug, Clone)]
pub struct PathPatterns {
    set: GlobSet,
}

impl PathPatterns {
    /// Reads patterns. What is not a glob, such as `a[`, counts as a plain path.
    pub fn new(patterns: &[String]) -> Self {
        let mut set = GlobSetBuilder::new();
        let globs = patterns.iter().flat_map(|pattern| readings(pattern));
        for glob in globs.filter_map(|(text, escapes)| build(&text, escapes).ok()) {
            set.add(glob);
        }
        Self {
            set: set.build().unwrap_or_else(|_| GlobSet::empty()),
        }
    }

    /// Returns whether a path is covered, itself or one of its parent folders.
    pub fn cover(&self, path: &str) -> bool {
        let ends = path.match_indices('/').map(|(end, _)| end);
        let mut folders = ends.filter_map(|end| path.get(..end));
        self.set.is_match(path) || folders.any(|folder| self.set.is_match(folder))
    }
}

/// Returns why a text is not a pattern: a class or a group that does not end, for example.
///
/// # Errors
/// With the reason, as part of a sentence.
pub fn check_path_pattern(pattern: &str) -> Result<(), String> {
    match build(&spread(plain(pattern)), Escapes::On) {
        Ok(_) => Ok(()),
        Err(error) => Err(error.kind().to_string()),
    }
}

/// Whether a backslash escapes what follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Escapes {
    On,
    Off,
}

/// Returns the globs that a pattern may mean: the glob that it is, and one where only stars are special.
fn readings(pattern: &str) -> Vec<(String, Escapes)> {
    let pattern = plain(pattern);
    if pattern.is_empty() {
        return Vec::new();
    }
    let mut readings = vec![(spread(pattern), Escapes::On)];
    if pattern.contains(AMBIGUOUS) {
        let mut literal = String::new();
        for c in pattern.chars() {
            match c {
                '?' | '[' | '{' | '}' => literal.extend(['[', c, ']']),
                _ => literal.push(c),
            }
        }
        readings.push((spread(&literal), Escapes::Off));
    }
    readings
}

fn plain(pattern: &str) -> &str {
    pattern.trim_start_matches("./").trim_end_matches('/')
}

/// Writes a `**` that has neighbours in its part of the path as a group: globs know it only as a part of its own.
fn spread(pattern: &str) -> String {
    let parts = pattern.split('/').map(|part| match part {
        "**" => part.to_owned(),
        _ => part.replace("**", "{*,*/**/*}"),
    });
    parts.collect::<Vec<String>>().join("/")
}

fn build(glob: &str, escapes: Escapes) -> Result<globset::Glob, globset::Error> {
    GlobBuilder::new(glob)
        .literal_separator(true)
        .backslash_escape(escapes == Escapes::On)
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_cover_paths_folders_and_globs() {
        for (pattern, path, expected) in [
            ("src/auth", "src/auth/x.rs", true),
            ("./src/auth/", "src/auth/x.rs", true),
            ("src/auth", "src/authors.rs", false),
            ("*.sql", "schema.sql", true),
            ("*.sql", "db/schema.sql", false),
            ("**/*.sql", "db/schema.sql", true),
            ("**/*.sql", "schema.sql", true),
            ("migrations/**", "migrations/1/a.sql", true),
            (".github/*", ".github/workflows/ci.yml", true),
            ("a*c", "a/c", false),
            ("", "a", false),
            ("**.key", "a/b/x.key", true),
            ("**.key", "x.key", true),
            ("src**secret", "src/a/b/my-secret", true),
            ("src**secret", "src-secret", true),
            ("src/{auth,crypto}/**", "src/crypto/x.rs", true),
            ("src/{auth,crypto}", "src/auth/x.rs", true),
            ("src/{auth,crypto}", "src/net/x.rs", false),
            ("config.?s", "config.js", true),
            ("key[0-9].pem", "key7.pem", true),
            ("app/[id]/**", "app/[id]/page.tsx", true),
            ("app/[...slug]", "app/[...slug]/page.tsx", true),
            ("a[", "a[", true),
            ("what?", "what?", true),
            ("a\\b", "a\\b", true),
        ] {
            let patterns = PathPatterns::new(&[pattern.to_owned()]);
            assert_eq!(patterns.cover(path), expected, "{pattern} ~ {path}");
        }
    }

    #[test]
    fn a_pattern_that_does_not_end_is_named() {
        for (pattern, reason) in [
            (
                "src/{auth,crypto",
                "unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)",
            ),
            ("src/[a-", "unclosed character class; missing ']'"),
        ] {
            assert_eq!(check_path_pattern(pattern), Err(reason.to_owned()));
        }
        assert_eq!(check_path_pattern("src/{auth,crypto}/**"), Ok(()));
    }
}
