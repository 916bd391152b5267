//! Risk of a change: level, counts, sensitive paths touched (spec: config, `risk`, `sensitive_paths`).

use serde::Serialize;

use crate::closed_set::closed_set;
use crate::config::RiskThresholds;
use crate::pull_request::FileStat;

closed_set!(
    /// How risky a change is.
    RiskLevel, "risk level", {
        /// Below the medium threshold.
        Low = "low",
        /// Above the medium threshold.
        Medium = "medium",
        /// Above the high threshold, or a sensitive path is touched.
        High = "high",
    }
);

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RiskAssessment {
    /// How risky.
    pub level: RiskLevel,
    /// Changed files.
    pub files: u64,
    /// Changed lines, added and removed.
    pub lines: u64,
    /// Sensitive paths that are touched; of a renamed file both its paths count.
    pub sensitive_paths: Vec<String>,
}

/// Assesses a change. A sensitive pattern is a path, a folder (all below it), or has `*` for any run of characters in
/// one part of a path and `**` for any run at all.
pub fn assess(
    files: &[FileStat],
    sensitive: &[String],
    thresholds: &RiskThresholds,
) -> RiskAssessment {
    let count = u64::try_from(files.len()).unwrap_or(u64::MAX);
    let lines = files.iter().fold(0_u64, |sum, file| {
        sum.saturating_add(file.insertions)
            .saturating_add(file.deletions)
    });
    // A file that is renamed leaves its old place, too: nobody moves a change out of sight.
    let touched: Vec<String> = files
        .iter()
        .flat_map(|file| std::iter::once(&file.path).chain(&file.old_path))
        .filter(|path| sensitive.iter().any(|pattern| matches(pattern, path)))
        .cloned()
        .collect();
    let above = |threshold: crate::config::RiskThreshold| {
        count > threshold.files || lines > threshold.lines
    };
    let level = if !touched.is_empty() || above(thresholds.high) {
        RiskLevel::High
    } else if above(thresholds.medium) {
        RiskLevel::Medium
    } else {
        RiskLevel::Low
    };
    RiskAssessment {
        level,
        files: count,
        lines,
        sensitive_paths: touched,
    }
}

/// Says whether a path fits a pattern, or lies below a folder that does.
fn matches(pattern: &str, path: &str) -> bool {
    let pattern = pattern.trim_start_matches("./").trim_end_matches('/');
    if glob(pattern.as_bytes(), path.as_bytes()) {
        return true;
    }
    path.match_indices('/').any(|(end, _)| {
        path.as_bytes()
            .get(..end)
            .is_some_and(|folder| glob(pattern.as_bytes(), folder))
    })
}

/// Matches `*` (within a part), `**` (across parts, also nothing) and literal bytes, in one pass with one point to go
/// back to for each kind of star: linear in pattern times path.
fn glob(pattern: &[u8], path: &[u8]) -> bool {
    // reachable[i]: the pattern's first i bytes match what was read of the path
    let mut tokens = Vec::new();
    let mut rest = pattern;
    while let Some((&first, tail)) = rest.split_first() {
        if rest.starts_with(b"**/") {
            tokens.push(Token::AnyParts);
            rest = rest.get(3..).unwrap_or_default();
        } else if rest.starts_with(b"**") {
            tokens.push(Token::Anything);
            rest = rest.get(2..).unwrap_or_default();
        } else {
            tokens.push(if first == b'*' {
                Token::InPart
            } else {
                Token::Byte(first)
            });
            rest = tail;
        }
    }
    let mut reachable = vec![false; tokens.len() + 1];
    if let Some(start) = reachable.first_mut() {
        *start = true;
    }
    close(&tokens, &mut reachable);
    for &byte in path {
        let mut next = vec![false; tokens.len() + 1];
        for (i, token) in tokens.iter().enumerate() {
            if !reachable.get(i).copied().unwrap_or(false) {
                continue;
            }
            let (stays, moves) = match token {
                Token::Byte(wanted) => (false, *wanted == byte),
                Token::InPart => (byte != b'/', false),
                Token::Anything => (true, false),
                Token::AnyParts => (true, byte == b'/'),
            };
            if stays && let Some(slot) = next.get_mut(i) {
                *slot = true;
            }
            if moves && let Some(slot) = next.get_mut(i + 1) {
                *slot = true;
            }
        }
        // "**/" goes on only behind a slash; the stars that match nothing may be passed over anywhere
        pass(&tokens, &mut next);
        reachable = next;
    }
    reachable.last().copied().unwrap_or(false)
}

#[derive(Debug, Clone, Copy)]
enum Token {
    Byte(u8),
    InPart,
    Anything,
    AnyParts,
}

/// Passes over stars that may match nothing, at the beginning of a path.
fn close(tokens: &[Token], reachable: &mut [bool]) {
    for (i, token) in tokens.iter().enumerate() {
        let here = reachable.get(i).copied().unwrap_or(false);
        if here
            && !matches!(token, Token::Byte(_))
            && let Some(slot) = reachable.get_mut(i + 1)
        {
            *slot = true;
        }
    }
}

/// Passes over `*` and `**` in the middle of a path.
fn pass(tokens: &[Token], reachable: &mut [bool]) {
    for (i, token) in tokens.iter().enumerate() {
        let here = reachable.get(i).copied().unwrap_or(false);
        if here
            && matches!(token, Token::InPart | Token::Anything)
            && let Some(slot) = reachable.get_mut(i + 1)
        {
            *slot = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::RiskThreshold;

    fn file(path: &str, lines: u64) -> FileStat {
        FileStat {
            old_path: None,
            path: path.into(),
            insertions: lines,
            deletions: 0,
        }
    }

    const THRESHOLDS: RiskThresholds = RiskThresholds {
        medium: RiskThreshold {
            files: 10,
            lines: 300,
        },
        high: RiskThreshold {
            files: 30,
            lines: 1500,
        },
    };

    #[test]
    fn level_follows_counts_and_sensitive_paths() {
        let many = |n: usize| {
            (0..n)
                .map(|i| file(&format!("f{i}"), 1))
                .collect::<Vec<_>>()
        };
        for (files, level) in [
            (vec![file("a", 300)], RiskLevel::Low),
            (vec![file("a", 301)], RiskLevel::Medium),
            (many(10), RiskLevel::Low),
            (many(11), RiskLevel::Medium),
            (many(31), RiskLevel::High),
            (vec![file("a", 1501)], RiskLevel::High),
            (vec![file("auth/login.rs", 1)], RiskLevel::High),
        ] {
            assert_eq!(
                assess(&files, &["auth/".into()], &THRESHOLDS).level,
                level,
                "{files:?}"
            );
        }
    }

    #[test]
    fn a_file_that_is_renamed_out_of_a_sensitive_folder_is_sensitive() {
        let moved = FileStat {
            old_path: Some("auth/login.rs".to_owned()),
            ..file("vendor/login.rs", 1)
        };
        let found = assess(&[moved], &["auth/".into()], &THRESHOLDS);
        assert_eq!(found.level, RiskLevel::High);
        assert_eq!(found.sensitive_paths, ["auth/login.rs"]);
    }

    #[test]
    fn patterns_match_paths_folders_and_stars() {
        for (pattern, path, expected) in [
            ("src/auth", "src/auth/x.rs", true),
            ("src/auth", "src/authors.rs", false),
            ("*.sql", "schema.sql", true),
            ("*.sql", "db/schema.sql", false),
            ("**/*.sql", "db/schema.sql", true),
            ("**/*.sql", "schema.sql", true),
            ("migrations/**", "migrations/1/a.sql", true),
            (".github/*", ".github/workflows/ci.yml", true),
            ("a*c", "a/c", false),
            ("", "a", false),
        ] {
            assert_eq!(matches(pattern, path), expected, "{pattern} ~ {path}");
        }
    }
}
