//! Risk of a change: level, counts, sensitive paths touched (spec: config, `risk`, `sensitive_paths`).

use serde::Serialize;

use crate::closed_set::closed_set;
use crate::config::RiskThresholds;
use crate::path_pattern::PathPatterns;
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

/// Assesses a change; see [`PathPatterns`] for what a sensitive pattern covers.
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
    let sensitive = PathPatterns::new(sensitive);
    // A file that is renamed leaves its old place, too: no one moves a change out of sight.
    let touched: Vec<String> = files
        .iter()
        .flat_map(|file| std::iter::once(&file.path).chain(&file.old_path))
        .filter(|path| sensitive.cover(path))
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
}
