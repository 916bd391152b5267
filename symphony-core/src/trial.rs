//! What a trial of the gates found: `init` and `doctor` try set-up and gates on the base before any agent is paid.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::closed_set::closed_set;
use crate::gates::{RedOnBase, telling_line};
use crate::pull_request::{SET_UP_GATE, VerifiedGate, is_missing_program};
use crate::run_network::RunNetworkUse;

/// Most characters of output that a remark or a line quotes.
const QUOTE_CHARS_MAX: usize = 160;
/// The prefix of a comment that `init` wrote about a command that did not pass.
const REMARKS: [&str; 2] = [
    "// RED when `symphony init` tried it",
    "// Not tried by `symphony init`",
];

/// How shells, compilers and test runners report a missing file; in lower case.
const MISSING_WORDS: [&str; 8] = [
    "no such file",
    "not found",
    "enoent",
    "filenotfound",
    "cannot open",
    "can't open",
    "does not exist",
    "cannot find",
];
/// Characters that may surround a path.
const NO_PATH: &str = "'\"`‘’“”()[]{}<>,;:=";
/// Most missing files of an output that are reported.
const MISSING_FILES_MAX: usize = 50;
/// Last parts of an absolute path that may be a path of the project.
const MISSING_PARTS_MAX: usize = 4;

closed_set!(
    /// How a command came out of a trial.
    TrialOutcome, "outcome of a trial", {
        /// It passed.
        Passed = "passed",
        /// It failed.
        Failed = "failed",
        /// A program that it needs is missing (exit code 126 or 127).
        Missing = "missing",
        /// It was not tried to its end.
        NotTried = "not_tried",
    }
);

/// One command of a trial: the set-up, or a gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrialStep {
    /// The gate's name.
    pub name: String,
    /// The command.
    pub command: String,
    /// Whether a change needs it to pass.
    pub required: bool,
    /// How it came out.
    pub outcome: TrialOutcome,
    /// Exit code; `None` if it did not end on its own.
    pub exit_code: Option<i32>,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// The end of its output; or why it was not tried.
    pub output: String,
}

impl TrialStep {
    /// Makes the step of a command that ran.
    pub fn ran(command: impl Into<String>, result: VerifiedGate) -> Self {
        let outcome = match (result.passed, result.exit_code) {
            (true, _) => TrialOutcome::Passed,
            (false, code) if is_missing_program(code) => TrialOutcome::Missing,
            (false, _) => TrialOutcome::Failed,
        };
        Self {
            name: result.name,
            command: command.into(),
            required: result.required,
            outcome,
            exit_code: result.exit_code,
            duration_ms: result.duration_ms,
            output: result.output,
        }
    }

    /// Makes the step of a command that was not tried.
    pub fn not_tried(
        name: impl Into<String>,
        command: impl Into<String>,
        required: bool,
        why: impl Into<String>,
    ) -> Self {
        Self {
            name: name.into(),
            command: command.into(),
            required,
            outcome: TrialOutcome::NotTried,
            exit_code: None,
            duration_ms: 0,
            output: why.into(),
        }
    }

    /// Returns whether it ran, and did not pass.
    pub const fn is_red(&self) -> bool {
        matches!(self.outcome, TrialOutcome::Failed | TrialOutcome::Missing)
    }

    /// Describes its result in a few words: `exit code 1`, `` `npm` was not found ``.
    pub fn how(&self) -> String {
        match (self.outcome, self.exit_code) {
            (TrialOutcome::Passed, _) => "passed".to_owned(),
            (TrialOutcome::NotTried, _) => self.output.clone(),
            (TrialOutcome::Missing, Some(code)) => match missing_program(&self.output) {
                Some(program) => format!("`{program}` was not found"),
                None => format!("a program is missing, exit code {code}"),
            },
            (_, Some(code)) => format!("exit code {code}"),
            (_, None) => "it did not end on its own".to_owned(),
        }
    }

    /// Returns the program that it did not find, where its output names it.
    pub fn missing_program(&self) -> Option<&str> {
        missing_program(&self.output)
    }

    /// Returns the missing files in its output, as far as they can be recognized: paths as they are printed, and the
    /// ends of absolute ones.
    pub fn missing_files(&self) -> BTreeSet<String> {
        let lines = self.output.lines().filter(|line| says_missing(line));
        let words =
            lines.flat_map(|line| line.split(|c: char| c.is_whitespace() || NO_PATH.contains(c)));
        let mut files = BTreeSet::new();
        for word in words {
            let path = word.trim_start_matches("./").trim_end_matches('.');
            let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
            let is_path = parts
                .last()
                .is_some_and(|name| name.contains('.') || parts.len() > 1);
            if !is_path || parts.contains(&"..") || files.len() >= MISSING_FILES_MAX {
                continue;
            }
            if path.starts_with('/') {
                let first = parts.len().saturating_sub(MISSING_PARTS_MAX);
                files
                    .extend((first..parts.len()).filter_map(|at| Some(parts.get(at..)?.join("/"))));
            } else {
                files.insert(parts.join("/"));
            }
        }
        files
    }

    /// Returns the line of its output with the reason of the failure.
    pub fn telling_line(&self) -> Option<String> {
        let line = telling_line(&self.output)?;
        Some(line.chars().take(QUOTE_CHARS_MAX).collect())
    }

    /// Returns the comment for the configuration file; `None` for a command that passed.
    pub fn remark(&self, commit: &str, quote: Quote) -> Option<String> {
        let commit: String = commit.chars().take(10).collect();
        match self.outcome {
            TrialOutcome::Passed => None,
            TrialOutcome::NotTried => Some(format!(
                "Not tried by `symphony init`: {}. `symphony doctor --gates` tries it.",
                self.output
            )),
            TrialOutcome::Failed | TrialOutcome::Missing => {
                let said = self.telling_line().filter(|_| quote == Quote::TellingLine);
                let said = said.map_or_else(String::new, |line| format!(" It says: {line}"));
                Some(format!(
                    "RED when `symphony init` tried it on commit {commit} ({}). No change can pass until it is green: \
                     `symphony doctor --gates` tries it again.{said}",
                    self.how()
                ))
            }
        }
    }
}

/// Whether a remark quotes output, which may hold what a file that is committed must not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quote {
    /// The line with the reason of the failure.
    TellingLine,
    /// Nothing.
    Nothing,
}

/// What a trial shows of the base.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrialVerdict {
    /// Something that every change needs is red: no change can pass.
    Red,
    /// Everything that a change needs passed.
    Green,
    /// It did not get far enough, or nothing is required.
    Unknown,
}

impl<'a> From<&'a TrialStep> for RedOnBase<'a> {
    fn from(step: &'a TrialStep) -> Self {
        Self {
            name: &step.name,
            command: &step.command,
            exit_code: step.exit_code,
            output: &step.output,
        }
    }
}

/// The results of set-up and gates on one commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trial {
    /// The base branch.
    pub base: String,
    /// Its commit.
    pub commit: String,
    /// The set-up command, if there is one.
    pub setup: Option<TrialStep>,
    /// The gates, in the order of the configuration.
    pub gates: Vec<TrialStep>,
    /// What they reached for from their sandbox.
    #[serde(default, skip_serializing_if = "RunNetworkUse::is_idle")]
    pub network: RunNetworkUse,
}

impl Trial {
    /// Returns all steps, in order.
    pub fn steps(&self) -> impl Iterator<Item = &TrialStep> {
        self.setup.iter().chain(&self.gates)
    }

    /// Returns what keeps every change from passing: the set-up, and required gates, that are red.
    pub fn blocking(&self) -> impl Iterator<Item = &TrialStep> {
        self.steps().filter(|step| step.is_red() && step.required)
    }

    /// Returns what it shows about the base.
    pub fn verdict(&self) -> TrialVerdict {
        let mut required = self.steps().filter(|step| step.required).peekable();
        if self.blocking().next().is_some() {
            TrialVerdict::Red
        } else if required.peek().is_some()
            && required.all(|step| step.outcome == TrialOutcome::Passed)
        {
            TrialVerdict::Green
        } else {
            TrialVerdict::Unknown
        }
    }

    /// Returns the step of a gate.
    pub fn gate(&self, name: &str) -> Option<&TrialStep> {
        self.gates.iter().find(|gate| gate.name == name)
    }
}

/// Returns whether a line is about something missing.
fn says_missing(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    MISSING_WORDS.iter().any(|words| line.contains(words))
}

/// Returns the program that a shell did not find, by its last words.
fn missing_program(output: &str) -> Option<&str> {
    output.lines().rev().find_map(|line| {
        let line = line.trim();
        // dash: `sh: 1: npm: not found`; bash: `bash: line 1: npm: command not found`;
        // env: `env: 'node': No such file …`
        let before = [
            ": command not found",
            ": not found",
            ": No such file or directory",
            ": Permission denied",
        ]
        .iter()
        .find_map(|end| line.strip_suffix(end))?;
        let program = before
            .rsplit(": ")
            .next()?
            .trim_matches(['\'', '`', '"', '‘', '’']);
        (!program.is_empty() && !program.contains(' ')).then_some(program)
    })
}

/// Removes comments of `init` from a configuration file that a later trial has made untrue: those of commands that
/// passed. `None` if there is no such comment.
pub fn without_old_remarks(text: &str, trial: &Trial) -> Option<String> {
    let passed = |name: &str| {
        let mut steps = trial.steps();
        steps.any(|step| step.name == name && step.outcome == TrialOutcome::Passed)
    };
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut kept = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let rest = lines.get(at..).unwrap_or_default();
        let length = rest
            .iter()
            .take_while(|line| line.trim_start().starts_with("//"))
            .count();
        let is_remark = REMARKS
            .iter()
            .any(|begin| line.trim_start().starts_with(begin));
        let subject = rest.get(length).and_then(|line| subject_of(line));
        if is_remark && subject.is_some_and(|name| passed(&name)) {
            at += length;
        } else {
            kept.push_str(line);
            at += 1;
        }
    }
    (kept.len() < text.len()).then_some(kept)
}

/// Returns the command that a line of the configuration sets: a gate's name, or that of the set-up.
fn subject_of(line: &str) -> Option<String> {
    let line = line.trim().trim_end_matches(',');
    if line.starts_with("\"setup\":") {
        return Some(SET_UP_GATE.to_owned());
    }
    let gate: serde_json::Value = serde_json::from_str(line).ok()?;
    Some(gate.get("name")?.as_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_of_init_go_when_what_they_are_about_passes() {
        let text = "{\n  // Commands.\n  \"gates\": [\n    // RED when `symphony init` tried it on commit 0123 (exit code 1). No\n    // change can pass.\n    { \"name\": \"test\", \"command\": \"t\" },\n    // RED when `symphony init` tried it, too.\n    { \"name\": \"lint\", \"command\": \"l\" },\n  ],\n  // The set-up.\n  // Not tried by `symphony init`: no time.\n  \"setup\": \"s\",\n  // RED when `symphony init` tried it: a person's own words\n}\n";
        let trial = |passed: bool| {
            let named = |name: &str, passed| TrialStep {
                name: name.into(),
                ..step(passed, Some(i32::from(!passed)), "")
            };
            Trial {
                base: "main".into(),
                commit: "c".into(),
                setup: Some(named(SET_UP_GATE, passed)),
                gates: vec![named("test", passed), named("lint", false)],
                network: RunNetworkUse::default(),
            }
        };
        assert_eq!(without_old_remarks(text, &trial(false)), None);
        let kept = without_old_remarks(text, &trial(true)).unwrap();
        assert_eq!(
            kept,
            "{\n  // Commands.\n  \"gates\": [\n    { \"name\": \"test\", \"command\": \"t\" },\n    // RED when `symphony init` tried it, too.\n    { \"name\": \"lint\", \"command\": \"l\" },\n  ],\n  // The set-up.\n  \"setup\": \"s\",\n  // RED when `symphony init` tried it: a person's own words\n}\n"
        );
    }

    fn step(passed: bool, exit_code: Option<i32>, output: &str) -> TrialStep {
        let result = serde_json::json!({
            "name": "test", "required": true, "passed": passed, "exit_code": exit_code, "duration_ms": 5, "output": output,
        });
        let result: VerifiedGate = serde_json::from_value(result).unwrap();
        TrialStep::ran("npm test", result)
    }

    #[test]
    fn a_missing_program_is_no_failure_of_the_code() {
        let table = [
            (step(true, Some(0), ""), TrialOutcome::Passed, "passed"),
            (
                step(false, Some(1), "boom"),
                TrialOutcome::Failed,
                "exit code 1",
            ),
            (
                step(false, None, "x"),
                TrialOutcome::Failed,
                "it did not end on its own",
            ),
            (
                step(false, Some(127), "sh: 1: npm: not found\n"),
                TrialOutcome::Missing,
                "`npm` was not found",
            ),
            (
                step(false, Some(127), "bash: line 1: uv: command not found"),
                TrialOutcome::Missing,
                "`uv` was not found",
            ),
            (
                step(false, Some(127), "env: 'node': No such file or directory"),
                TrialOutcome::Missing,
                "`node` was not found",
            ),
            (
                step(false, Some(127), "sh: 1: .venv/bin/python: not found"),
                TrialOutcome::Missing,
                "`.venv/bin/python` was not found",
            ),
            (
                step(false, Some(126), "sh: 1: ./run: Permission denied"),
                TrialOutcome::Missing,
                "`./run` was not found",
            ),
            (
                step(false, Some(127), ""),
                TrialOutcome::Missing,
                "a program is missing, exit code 127",
            ),
        ];
        for (step, outcome, how) in table {
            assert_eq!(
                (step.outcome, step.how().as_str()),
                (outcome, how),
                "{step:?}"
            );
        }
    }

    #[test]
    fn missing_files_are_told_by_what_is_printed_about_them() {
        let files = |output: &str| -> Vec<String> {
            step(false, Some(1), output)
                .missing_files()
                .into_iter()
                .collect()
        };
        for (output, expected) in [
            ("cat: .env: No such file or directory", vec![".env"]),
            (
                "FileNotFoundError: [Errno 2] No such file or directory: './conf/config.local'",
                vec!["conf/config.local"],
            ),
            (
                "Error: ENOENT: no such file or directory, open '/c/conf/test.json'",
                vec!["c/conf/test.json", "conf/test.json", "test.json"],
            ),
            (
                "sh: 1: .: cannot open .env.test: No such file",
                vec![".env.test"],
            ),
            ("read config.local, 3 tests failed", vec![]),
            ("bash: line 1: uv: command not found", vec![]),
            ("../secrets.txt does not exist", vec![]),
        ] {
            assert_eq!(files(output), expected, "{output}");
        }
        let many: Vec<String> = (0..500).map(|n| format!("f{n}.txt not found")).collect();
        assert_eq!(files(&many.join("\n")).len(), MISSING_FILES_MAX);
    }

    #[test]
    fn a_remark_says_that_it_was_red_and_why() {
        let commit = "0123456789abcdef";
        assert_eq!(
            step(true, Some(0), "").remark(commit, Quote::TellingLine),
            None
        );
        let red = step(false, Some(1), "1 failed\n\n---\n");
        let remark = red.remark(commit, Quote::TellingLine).unwrap();
        assert!(
            remark.starts_with(
                "RED when `symphony init` tried it on commit 0123456789 (exit code 1)."
            ),
            "{remark}"
        );
        assert!(remark.ends_with(" It says: 1 failed"), "{remark}");
        let remark = red.remark(commit, Quote::Nothing).unwrap();
        assert!(!remark.contains("1 failed"), "{remark}");
        let skipped = TrialStep::not_tried("test", "npm test", true, "the set-up failed");
        let remark = skipped.remark(commit, Quote::TellingLine).unwrap();
        assert!(
            remark.starts_with("Not tried by `symphony init`: the set-up failed."),
            "{remark}"
        );
    }

    #[test]
    fn a_trial_is_a_verdict_only_when_everything_required_was_tried() {
        let passed = || step(true, Some(0), "");
        let red = || step(false, Some(1), "no");
        let untried = || TrialStep::not_tried("test", "npm test", true, "stopped");
        let optional = |step: TrialStep| TrialStep {
            required: false,
            ..step
        };
        for (setup, gates, expected) in [
            (None, vec![], TrialVerdict::Unknown),
            (None, vec![passed()], TrialVerdict::Green),
            (None, vec![passed(), optional(red())], TrialVerdict::Green),
            (
                None,
                vec![passed(), optional(untried())],
                TrialVerdict::Green,
            ),
            (None, vec![optional(passed())], TrialVerdict::Unknown),
            (None, vec![passed(), untried()], TrialVerdict::Unknown),
            (None, vec![red(), untried()], TrialVerdict::Red),
            (Some(red()), vec![untried()], TrialVerdict::Red),
            (Some(passed()), vec![passed()], TrialVerdict::Green),
        ] {
            let (base, commit) = ("main".to_owned(), "c".to_owned());
            let trial = Trial {
                base,
                commit,
                setup,
                gates,
                network: RunNetworkUse::default(),
            };
            assert_eq!(trial.verdict(), expected, "{trial:#?}");
        }
    }
}
