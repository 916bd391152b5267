//! What is said when no scenario of a file fits a run: what the run was about, and what each scenario wants.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::binding::Prompts;
use crate::scenario::Scenario;

/// Scenarios that are named; the rest is counted.
const NAMED_MAX: usize = 8;
/// Characters of a heading that are shown.
const HEADING_CHARS_MAX: usize = 80;

/// No scenario of a file fits a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unmatched {
    path: PathBuf,
    system: String,
    prompt: String,
    scenarios: Vec<String>,
}

impl Unmatched {
    /// Describes a run and the scenarios of a file; `used_up` are the positions of those that fit, and were played as
    /// often as they may be.
    pub(crate) fn new(
        path: &Path,
        prompts: Prompts<'_>,
        scenarios: &[Scenario],
        used_up: &[usize],
    ) -> Self {
        let described = scenarios.iter().enumerate();
        Self {
            path: path.to_owned(),
            system: heading(prompts.system),
            prompt: heading(prompts.user),
            scenarios: described
                .map(|(at, scenario)| describe(at, scenario, used_up.contains(&at)))
                .collect(),
        }
    }
}

impl fmt::Display for Unmatched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "no scenario in {} matches this run (system prompt: `{}`; prompt: `{}`). ",
            self.path.display(),
            self.system,
            self.prompt
        )?;
        if self.scenarios.is_empty() {
            return f.write_str("The file has no scenarios");
        }
        f.write_str("The file has ")?;
        for (at, scenario) in self.scenarios.iter().take(NAMED_MAX).enumerate() {
            write!(f, "{}{scenario}", if at == 0 { "" } else { "; " })?;
        }
        match self.scenarios.len().saturating_sub(NAMED_MAX) {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}

/// Returns the first heading of a prompt, by which most scenarios are chosen; else its first line.
fn heading(prompt: &str) -> String {
    let lines = || prompt.lines().map(str::trim);
    let line = lines().find(|line| line.starts_with("# "));
    let line = line.or_else(|| lines().find(|line| !line.is_empty()));
    let line = line.unwrap_or_default();
    match line.char_indices().nth(HEADING_CHARS_MAX) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line.to_owned(),
    }
}

/// Returns the name of a scenario with its conditions.
fn describe(at: usize, scenario: &Scenario, is_used_up: bool) -> String {
    let name = match &scenario.name {
        Some(name) => format!("`{name}`"),
        None => format!("scenario {}", at + 1),
    };
    let conditions = [
        ("match_system", &scenario.match_system),
        ("match_prompt", &scenario.match_prompt),
        ("match", &scenario.match_any),
        ("match_model", &scenario.match_model),
    ];
    let conditions = conditions.into_iter();
    let mut wants: Vec<String> = conditions
        .filter_map(|(key, pattern)| Some(format!("{key} `{}`", pattern.as_ref()?)))
        .collect();
    if is_used_up {
        wants.push("played as often as `uses` allows".to_owned());
    }
    if wants.is_empty() {
        name
    } else {
        format!("{name} ({})", wants.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unmatched_run_names_the_file_itself_and_every_condition() {
        let scenarios: Vec<Scenario> = serde_json::from_str(
            r#"[{"name": "worker", "match_system": "^# Worker$", "match_prompt": "^# SYM-1: "},
                {"match": "judge", "match_model": "opus"}, {"name": "once", "uses": 1}]"#,
        )
        .unwrap();
        let prompts = Prompts {
            system: "You work alone.\n\n# Worker\nDo it.",
            user: "# SYM-3: Add a parser\n",
            model: "scripted",
        };
        let path = Path::new("/p/scenario.json");
        assert_eq!(
            Unmatched::new(path, prompts, &scenarios, &[2]).to_string(),
            "no scenario in /p/scenario.json matches this run (system prompt: `# Worker`; prompt: `# SYM-3: Add a \
             parser`). The file has `worker` (match_system `^# Worker$`, match_prompt `^# SYM-1: `); scenario 2 \
             (match `judge`, match_model `opus`); `once` (played as often as `uses` allows)"
        );
        let many = vec![Scenario::default(); NAMED_MAX + 2];
        let text = Unmatched::new(path, prompts, &many, &[]).to_string();
        assert!(text.ends_with("; scenario 8; and 2 more"), "{text}");
        let none = Unmatched::new(path, prompts, &[], &[]).to_string();
        assert!(none.ends_with("The file has no scenarios"), "{none}");
    }

    #[test]
    fn a_prompt_is_known_by_its_heading() {
        let long = "x".repeat(HEADING_CHARS_MAX + 1);
        for (prompt, expected) in [
            ("Text\n# Head\n# More", "# Head"),
            ("\n  First line \nsecond", "First line"),
            ("", ""),
            (&*long, &*format!("{}…", "x".repeat(HEADING_CHARS_MAX))),
        ] {
            assert_eq!(heading(prompt), expected);
        }
    }
}
