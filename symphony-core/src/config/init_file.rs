//! The commented file that `init` writes, made from the table of keys.

use std::fmt::Write;

use super::defaults::{GATE_REQUIRED, GATE_TIMEOUT_MS, INIT_TURN_TIMEOUT_MS};
use super::key::{DefaultValue, Key, Kind, Leaf};
use super::leaf::expected;
use super::table::KEYS;
use super::value::{Gate, IssuePrefix};

/// Widest line of a comment, in characters.
const WIDTH_MAX: usize = 96;

/// The keys that the file sets itself, and those that have no use as a commented default.
const NOT_DEFAULTS: &[&str] = &["$schema", "prefix", "turn_timeout_ms", "gates", "projects"];

/// What `init` found out about the repository.
#[derive(Debug, Clone)]
pub struct InitFile {
    /// The prefix of the project's identifiers.
    pub prefix: IssuePrefix,
    /// The gates that were detected; may be none.
    pub gates: Vec<Gate>,
}

impl InitFile {
    /// Writes the text of the file: the project's prefix, time limit and gates, then every other
    /// key as a comment that shows its default, so that deleting two slashes is all it takes.
    pub fn render(&self) -> String {
        let mut text = String::from(
            "// Symphony's configuration of this project. Comments and trailing commas are allowed,\n\
             // and `symphony config set KEY VALUE` keeps them. `symphony config check` says what is wrong,\n\
             // `symphony config show` what holds and where it comes from. Durations are in milliseconds.\n\
             {\n",
        );
        self.push_settings(&mut text);
        text.push_str(
            "\n  // Everything below is a default, or an example where it says \"For example\".\n  // To change one, remove the two slashes in front of it.\n",
        );
        let mut lines = Vec::new();
        for key in KEYS.iter().filter(|key| !NOT_DEFAULTS.contains(&key.name)) {
            lines.push(String::new());
            push_key(key, &mut lines);
        }
        for line in lines {
            if line.is_empty() {
                text.push('\n');
            } else {
                text.push_str("  ");
                text.push_str(&line);
                text.push('\n');
            }
        }
        text.push_str("}\n");
        text
    }

    fn push_settings(&self, text: &mut String) {
        let settings = format!(
            "  // Prefix of the issues' identifiers: {prefix}-1, {prefix}-2 …\n  \"prefix\": \"{prefix}\",\n\n  \
             // Time limit of a run: half an hour. The default, ten minutes, is too short for real work:\n  \
             // an agent reads, changes, builds, tests and corrects itself before it opens a pull request.\n  \
             \"turn_timeout_ms\": {INIT_TURN_TIMEOUT_MS},\n\n  \
             // Commands that must succeed on a commit before it is reviewed. A text runs with `sh -c`,\n  \
             // a list is an argv. Optional: \"required\" ({GATE_REQUIRED}), \"timeout_ms\" ({GATE_TIMEOUT_MS}).\n",
            prefix = self.prefix,
        );
        text.push_str(&settings);
        if self.gates.is_empty() {
            text.push_str(
                "  // None is set here: without gates nothing is verified. Add them, or let `symphony init --wizard`\n  // find them; what stands here wins over what it finds.\n  // \"gates\": [{ \"name\": \"test\", \"command\": \"make test\" }],\n",
            );
            return;
        }
        text.push_str("  \"gates\": [\n");
        for gate in &self.gates {
            text.push_str("    ");
            text.push_str(&gate_json(gate));
            text.push_str(",\n");
        }
        text.push_str("  ],\n");
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

/// Says what a key means, which values it has, and whether what follows is an example.
fn doc(key: &'static Key) -> String {
    let mut doc = key.doc.to_owned();
    match key.kind {
        Kind::Leaf(leaf @ Leaf::Choice([_, _, ..])) => {
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

/// Adds a text as comment lines behind a marker, wrapped.
fn push_doc(marker: &str, doc: &str, lines: &mut Vec<String>) {
    let mut line = String::new();
    for word in doc.split(' ') {
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
