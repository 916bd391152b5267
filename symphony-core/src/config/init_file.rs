//! The commented file that `init` writes, made from the table of keys.

use std::fmt::Write;

use super::defaults::{GATE_REQUIRED, GATE_TIMEOUT_MS, INIT_TURN_TIMEOUT_MS};
use super::key::{DefaultValue, Key, Kind, Leaf, TextRule};
use super::leaf::expected;
use super::table::KEYS;
use super::value::{CommandLine, Gate, IssuePrefix};

/// Widest line of a comment, in characters.
const WIDTH_MAX: usize = 96;
/// The section of the set-up command.
const WORKTREE: &str = "worktree";
/// The key of the base branch.
const BASE_BRANCH: &str = "base_branch";

/// The keys that the file sets itself, and those that have no use as a commented default.
const NOT_DEFAULTS: &[&str] = &[
    "$schema",
    "prefix",
    "turn_timeout_ms",
    "gates",
    "projects",
    // only for a database on a server
    "state_dir",
];

/// Keys whose values differ from machine to machine: a file that is committed does not offer them.
const OF_ONE_MACHINE: &[&str] = &[
    "database",
    "max_concurrent_agents",
    "providers",
    "vault",
    "notify",
    "workspaces_dir",
];

/// What `init` found out about the repository.
#[derive(Debug, Clone)]
pub struct InitFile {
    /// The prefix of the project's identifiers.
    pub prefix: IssuePrefix,
    /// Where gates and set-up come from.
    pub checks: InitChecks,
    /// Who reads the file.
    pub readers: FileReaders,
    /// The branch that work starts from and is merged into; `None` if the repository does not show which it is.
    pub base_branch: Option<String>,
}

/// Where the gates and the set-up command of a new file come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InitChecks {
    /// `init` proposes them; there may be none.
    Proposed {
        /// The command that makes a fresh checkout ready.
        setup: Option<Remarked<CommandLine>>,
        /// The gates.
        gates: Vec<Remarked<Gate>>,
    },
    /// The setup wizard keeps them in the database: what the file says would win over them.
    Wizard,
}

/// A setting, with what a person should know of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remarked<T> {
    /// The setting.
    pub value: T,
    /// A comment in front of it: one or two sentences.
    pub remark: Option<String>,
}

impl<T> From<T> for Remarked<T> {
    fn from(value: T) -> Self {
        Self {
            value,
            remark: None,
        }
    }
}

/// Who reads a configuration file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FileReaders {
    /// One person: git ignores the file.
    #[default]
    OnePerson,
    /// Everybody who clones the repository: the file is committed.
    Team,
}

impl InitFile {
    /// Writes the text of the file: the project's prefix, time limit, gates and set-up, then every
    /// other key as a comment that shows its default, so that deleting two slashes is all it takes.
    pub fn render(&self) -> String {
        let mut text = String::from(
            "// Symphony's configuration of this project. Comments and trailing commas are allowed,\n\
             // and `symphony config set KEY VALUE` keeps them. `symphony config check` finds what is wrong,\n\
             // `symphony config show` prints every value and where it comes from. Durations are in milliseconds.\n",
        );
        if self.readers == FileReaders::Team {
            let keys = OF_ONE_MACHINE.join("`, `");
            let said = format!(
                "This file is meant to be committed, so that everyone who clones the repository uses it. Values that \
                 differ from machine to machine belong in ~/.config/symphony/config.json: `{keys}`."
            );
            let mut lines = vec!["//".to_owned()];
            push_doc("// ", &said, &mut lines);
            push_lines("", &lines, &mut text);
        }
        text.push_str("{\n");
        self.push_settings(&mut text);
        text.push_str(
            "\n  // Everything below is a default, or an example where it says \"For example\".\n  // To change one, remove the two slashes in front of it.\n",
        );
        let mut lines = Vec::new();
        for key in KEYS.iter().filter(|key| self.offers(key)) {
            lines.push(String::new());
            push_key(key, &mut lines);
        }
        push_lines("  ", &lines, &mut text);
        text.push_str("}\n");
        text
    }

    /// Returns whether a key is in the file as a comment.
    fn offers(&self, key: &Key) -> bool {
        let is_set = match (&self.checks, key.name) {
            (_, BASE_BRANCH) => self.base_branch.is_some(),
            (InitChecks::Proposed { setup, .. }, WORKTREE) => setup.is_some(),
            _ => false,
        };
        let elsewhere = self.readers == FileReaders::Team && OF_ONE_MACHINE.contains(&key.name);
        !is_set && !elsewhere && !NOT_DEFAULTS.contains(&key.name)
    }

    fn push_settings(&self, text: &mut String) {
        let settings = format!(
            "  // Prefix of the issues' identifiers: {prefix}-1, {prefix}-2 …\n  \"prefix\": \"{prefix}\",\n\n{base}  \
             // Time limit of a run: half an hour. The default, ten minutes, is too short for real work:\n  \
             // an agent reads, changes, builds, tests and corrects itself before it opens a pull request.\n  \
             \"turn_timeout_ms\": {INIT_TURN_TIMEOUT_MS},\n\n  \
             // Commands that must succeed on a commit before it is reviewed. A text runs with `sh -c`,\n  \
             // a list is an argv. Optional: \"required\" ({GATE_REQUIRED}), \"timeout_ms\" ({GATE_TIMEOUT_MS}).\n",
            prefix = self.prefix,
            base = self.base_branch.as_deref().map_or_else(String::new, |branch| format!(
                "  // Branch that work starts from and is merged into, whatever you have checked out.\n  {}: {},\n\n",
                json_text(BASE_BRANCH),
                json_text(branch),
            )),
        );
        text.push_str(&settings);
        match &self.checks {
            InitChecks::Wizard => text.push_str(
                "  // The setup wizard keeps them in the database; `symphony config show gates` prints them.\n  // Gates in this file replace those of the wizard:\n  // \"gates\": [{ \"name\": \"test\", \"command\": \"make test\" }],\n",
            ),
            InitChecks::Proposed { gates, .. } if gates.is_empty() => text.push_str(
                "  // There is none yet, so nothing verifies what agents do. Add your own, or let an agent find\n  // \
                 them with `symphony init --wizard`; gates in this file replace those that it finds.\n  // \"gates\": \
                 [{ \"name\": \"test\", \"command\": \"make test\" }],\n",
            ),
            InitChecks::Proposed { gates, .. } => push_gates(gates, text),
        }
        if let InitChecks::Proposed {
            setup: Some(setup), ..
        } = &self.checks
        {
            push_setup(setup, text);
        }
    }
}

fn push_gates(gates: &[Remarked<Gate>], text: &mut String) {
    text.push_str("  \"gates\": [\n");
    for gate in gates {
        let mut lines = Vec::new();
        if let Some(remark) = &gate.remark {
            push_doc("// ", remark, &mut lines);
        }
        lines.push(format!("{},", gate_json(&gate.value)));
        push_lines("    ", &lines, text);
    }
    text.push_str("  ],\n");
}

/// Writes the section of the worktree with its set-up command; its other keys are comments in it.
fn push_setup(setup: &Remarked<CommandLine>, text: &mut String) {
    let Some(key) = Key::find(KEYS, WORKTREE) else {
        return;
    };
    let Kind::Section(keys) = key.kind else {
        return;
    };
    let mut lines = vec![String::new()];
    push_doc("// ", key.doc, &mut lines);
    lines.push(format!("{}: {{", json_text(key.name)));
    for key in keys {
        let mut below = Vec::new();
        push_doc("// ", &doc(key), &mut below);
        if key.name == "setup" {
            below = Vec::new();
            push_doc("// ", key.doc, &mut below);
            if let Some(remark) = &setup.remark {
                push_doc("// ", remark, &mut below);
            }
            let command = serde_json::to_value(&setup.value).unwrap_or_default();
            below.push(format!("{}: {command},", json_text(key.name)));
        } else {
            below.push(format!("// {}: {},", json_text(key.name), key.shown_json()));
        }
        lines.extend(below.into_iter().map(|line| format!("  {line}")));
    }
    lines.push("},".to_owned());
    push_lines("  ", &lines, text);
}

/// Adds lines behind an indentation; an empty one stays empty.
fn push_lines(indentation: &str, lines: &[String], text: &mut String) {
    for line in lines {
        if !line.is_empty() {
            text.push_str(indentation);
            text.push_str(line);
        }
        text.push('\n');
    }
}

fn gate_json(gate: &Gate) -> String {
    let command = serde_json::to_value(&gate.command).unwrap_or_default();
    let mut text = format!(
        "{{ \"name\": {}, \"command\": {command}",
        json_text(&gate.name)
    );
    if gate.required != GATE_REQUIRED {
        let _infallible = write!(text, ", \"required\": {}", gate.required);
    }
    if gate.timeout_ms.get() != GATE_TIMEOUT_MS {
        let _infallible = write!(text, ", \"timeout_ms\": {}", gate.timeout_ms.get());
    }
    text.push_str(" }");
    text
}

fn json_text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Adds a key of the top level as commented lines: its doc, then `// "key": default,`.
fn push_key(key: &'static Key, lines: &mut Vec<String>) {
    let name = json_text(key.name);
    let Kind::Section(below) = key.kind else {
        push_doc("// ", &doc(key), lines);
        lines.push(format!("// {name}: {},", key.shown_json()));
        return;
    };
    push_doc("// ", key.doc, lines);
    lines.push(format!("// {name}: {{"));
    for key in below {
        push_doc("//   // ", &doc(key), lines);
        // An example stays a comment when the section around it is taken into use.
        let marker = if is_example(key) { "//   // " } else { "//   " };
        let value = if let Kind::Section(keys) = key.kind {
            inline_defaults(keys)
        } else {
            key.shown_json()
        };
        lines.push(format!("{marker}{}: {value},", json_text(key.name)));
    }
    lines.push("// },".to_owned());
}

fn is_example(key: &Key) -> bool {
    matches!(key.default, DefaultValue::Unset(_))
}

/// Writes a section inside a section in one line, with those of its keys that have a default.
fn inline_defaults(keys: &'static [Key]) -> String {
    let values: Vec<String> = keys
        .iter()
        .filter(|key| !is_example(key))
        .map(|key| format!("{}: {}", json_text(key.name), key.shown_json()))
        .collect();
    if values.is_empty() {
        "{}".to_owned()
    } else {
        format!("{{ {} }}", values.join(", "))
    }
}

/// Returns what a key means, which values it has, and whether what follows is an example.
fn doc(key: &'static Key) -> String {
    let mut doc = key.doc.to_owned();
    match key.kind {
        Kind::Leaf(leaf @ (Leaf::Choice([_, _, ..]) | Leaf::Text(TextRule::Provider))) => {
            let _infallible = write!(doc, " It is {}.", expected(leaf));
        }
        Kind::Section(keys) => {
            let optional: Vec<&str> = keys
                .iter()
                .filter(|key| is_example(key))
                .map(|key| key.name)
                .collect();
            if !optional.is_empty() {
                let _infallible = write!(doc, " Optional: `{}`.", optional.join("`, `"));
            }
        }
        Kind::Leaf(_) | Kind::Map(..) | Kind::List(_) | Kind::Projects => {}
    }
    if is_example(key) {
        doc.push_str(" For example:");
    }
    doc
}

/// Adds a text as wrapped comment lines after a marker. It may contain the output of a command: every line break is
/// replaced, or the rest would be read as a setting.
fn push_doc(marker: &str, doc: &str, lines: &mut Vec<String>) {
    let mut line = String::new();
    let words = doc.split(|c: char| c.is_whitespace() || c.is_control());
    for word in words.filter(|word| !word.is_empty()) {
        let width = marker.len() + line.chars().count() + 1 + word.chars().count();
        if !line.is_empty() && width > WIDTH_MAX {
            lines.push(format!("{marker}{line}"));
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(format!("{marker}{line}"));
}
