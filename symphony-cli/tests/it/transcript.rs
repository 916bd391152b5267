//! Transcripts: what was typed, what came back, with everything that differs from run to run replaced.

use crate::support::{Answer, Project};

/// A transcript under construction.
#[derive(Debug)]
pub(crate) struct Transcript<'a> {
    project: &'a Project,
    text: String,
}

impl<'a> Transcript<'a> {
    /// Begins one.
    pub(crate) fn of(project: &'a Project) -> Self {
        Self {
            project,
            text: String::new(),
        }
    }

    /// Runs a command and writes down both of its streams and its exit code, when that is not 0.
    pub(crate) fn run(mut self, arguments: &[&str]) -> Self {
        let answer = self.project.symphony(arguments);
        self.add(arguments, &answer);
        self
    }

    fn add(&mut self, arguments: &[&str], answer: &Answer) {
        let quoted = |argument: &str| {
            if argument.contains([' ', '{', '[']) || argument.is_empty() {
                format!("'{argument}'")
            } else {
                argument.to_owned()
            }
        };
        // a folder is quoted as its name here needs it, whatever it is on this machine
        let typed: Vec<String> = arguments
            .iter()
            .map(|argument| quoted(&self.without_places(argument)))
            .collect();
        let code = match answer.code {
            0 => String::new(),
            code => format!("[exit code {code}]\n"),
        };
        let typed = typed.join(" ");
        let parts = [
            "$ symphony ",
            &typed,
            "\n",
            &answer.stdout,
            &answer.stderr,
            &code,
            "\n",
        ];
        self.text.push_str(&parts.concat());
    }

    /// Returns the text, without paths of this machine.
    pub(crate) fn text(self) -> String {
        self.without_places(&self.text)
    }

    fn without_places(&self, text: &str) -> String {
        let root = self.project.root.display().to_string();
        let beside = self.project.beside.display().to_string();
        text.replace(&root, "ROOT").replace(&beside, "BESIDE")
    }
}

/// Compares a transcript with its snapshot: ages, times, ids and the width of columns are not compared.
macro_rules! assert_transcript {
    ($name:literal, $transcript:expr) => {
        insta::with_settings!({
            filters => vec![
                (r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", "ID"),
                (r"\b[0-9a-f]{12}\b", "ID"),
                (r"(?m)^[0-9a-f]{8}  ", "ID  "),
                (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "TIME"),
                (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "TIME"),
                (r"(just now|\d+s ago|\d+m( \d+s)? ago)", "AGO"),
                (r"\b[0-9a-f]{40}\b", "COMMIT"),
                (r"(head|as|on|commit) [0-9a-f]{10}\b", "$1 COMMIT"),
                (r"\d+ MiB free", "SPACE free"),
                (r"git: \S+ \d+\.\d+", "git: GIT"),
                // which agents a machine has
                (
                    r"(?m)^(ok|absent) +(claude|codex|opencode|qwen|gemini|copilot|other agents): [^\n]*\n",
                    "",
                ),
                (r"(?m)^(ok|absent) +cgroups: [^\n]*\n", ""),
                (r"(?m)^(ok|absent) +sandbox: [^\n]*\n( +[^\n]*\n)*", ""),
                (r"\b(claude|codex): [^\n]*", "$1: AGENT"),
                (r"No agent can be started yet: none of[^\n]*\n", ""),
                (r"schema \d+", "schema N"),
                (r"Symphony supports up to \d+", "Symphony supports up to N"),
                (r"checkout of main \([0-9a-f]{10}\)", "checkout of main (COMMIT)"),
                (r"\b(in|after) \d+m?s\b", "$1 SPAN"),
                (r" {3,}", "  "),
                (r"(AGO|took)  \d+m?s\b", "$1  SPAN"),
            ],
            omit_expression => true,
        }, { insta::assert_snapshot!($name, $transcript.text()) })
    };
}
pub(crate) use assert_transcript;
