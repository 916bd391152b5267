//! The own settings of an agent's CLI, and which of them its copy in a sandbox gets. Pure.

use std::ffi::OsString;
use std::path::PathBuf;

use serde_json::{Map, Value};

/// Where a CLI has its settings, and what a run in a sandbox needs of them.
#[derive(Debug)]
pub struct OwnSettings {
    /// The variable that names its folder.
    pub folder_variable: &'static str,
    /// That folder otherwise, in the home folder.
    pub folder: &'static str,
    /// Its files in that folder, JSON with comments. A later one wins.
    pub files: &'static [&'static str],
    /// The variable that names one more file, which wins.
    pub file_variable: Option<&'static str>,
    /// The copy, in the home of the sandbox.
    pub inside: &'static str,
    /// The places that the copy has; the rest may have secrets, or start programs.
    pub kept: &'static [&'static str],
    /// How it names the servers of its models.
    pub form: SettingsForm,
    /// Variables that would lead past the copy.
    pub removed: &'static [&'static str],
}

/// How settings name the servers of models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingsForm {
    /// `provider.NAME.options` has an address and a key; the login has keys by the same names (opencode).
    Providers,
    /// Members called `baseUrl` have an address. Keys are in variables.
    Addresses,
}

impl OwnSettings {
    /// Returns the files that an environment leads to, the last one wins.
    pub(crate) fn paths(&self, variable: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
        let path = |name: &str| {
            let value = variable(name).filter(|value| !value.is_empty());
            value.map(PathBuf::from)
        };
        let own = path(self.folder_variable);
        let folder = own.or_else(|| Some(path("HOME")?.join(self.folder)));
        let files = folder
            .iter()
            .flat_map(|folder| self.files.iter().map(|file| folder.join(file)));
        files.chain(self.file_variable.and_then(path)).collect()
    }

    /// Joins the documents of all files, and leaves out what the copy does not have.
    pub(crate) fn joined(&self, documents: impl IntoIterator<Item = Value>) -> Value {
        let mut whole = Value::Object(Map::new());
        for document in documents {
            lay_over(&mut whole, document);
        }
        let mut kept = Value::Object(Map::new());
        for place in self.kept {
            if let Some(value) = whole.pointer(place) {
                lay_over(&mut kept, nested(place, value.clone()));
            }
        }
        kept
    }
}

/// Lays a document over another one: members of objects are joined, all else is replaced.
fn lay_over(below: &mut Value, above: Value) {
    match (below, above) {
        (Value::Object(below), Value::Object(above)) => {
            for (name, value) in above {
                lay_over(below.entry(name).or_insert(Value::Null), value);
            }
        }
        (below, above) => *below = above,
    }
}

/// Puts a value at its place in an empty document.
fn nested(place: &str, value: Value) -> Value {
    place
        .rsplit('/')
        .filter(|name| !name.is_empty())
        .fold(value, |value, name| {
            Value::Object(Map::from_iter([(name.to_owned(), value)]))
        })
}

/// Replaces `{env:NAME}` and `{file:PATH}` in all texts of a document, as opencode does. What is not there is empty.
pub(crate) fn fill_in(value: &mut Value, look_up: &dyn Fn(&str, &str) -> Option<String>) {
    match value {
        Value::String(text) => *text = filled(text, look_up),
        Value::Array(items) => items.iter_mut().for_each(|item| fill_in(item, look_up)),
        Value::Object(members) => members
            .values_mut()
            .for_each(|member| fill_in(member, look_up)),
        _ => {}
    }
}

fn filled(text: &str, look_up: &dyn Fn(&str, &str) -> Option<String>) -> String {
    let mut whole = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        whole.push_str(before);
        let reference = after.split_once('}').and_then(|(inner, after)| {
            let (kind, name) = inner.split_once(':')?;
            matches!(kind, "env" | "file").then_some((kind, name, after))
        });
        if let Some((kind, name, after)) = reference {
            whole.push_str(&look_up(kind, name.trim()).unwrap_or_default());
            rest = after;
        } else {
            whole.push('{');
            rest = after;
        }
    }
    whole + rest
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::opencode;
    use super::*;

    fn settings() -> &'static OwnSettings {
        opencode::CLI.own_settings.as_ref().unwrap()
    }

    #[test]
    fn a_copy_has_the_models_and_nothing_that_starts_programs() {
        let documents = [
            json!({ "model": "a/b", "mcp": { "x": { "command": ["y"] } }, "provider": { "a": { "npm": "n", "options": { "apiKey": "k" } } } }),
            json!({ "model": "c/d", "plugin": ["p"], "provider": { "a": { "options": { "baseURL": "u" } }, "c": {} } }),
        ];
        assert_eq!(
            settings().joined(documents),
            json!({ "model": "c/d", "provider": { "a": { "npm": "n", "options": { "apiKey": "k", "baseURL": "u" } }, "c": {} } })
        );
        assert_eq!(settings().joined([json!([1])]), json!({}));
    }

    #[test]
    fn the_files_are_where_the_environment_says() {
        let paths = |set: &[(&str, &str)]| {
            let paths = settings().paths(|name| {
                let found = set.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).into())
            });
            let last = paths.last().map(|path| path.display().to_string());
            (paths.len(), last.unwrap_or_default())
        };
        let home = ("HOME", "/h");
        assert_eq!(
            paths(&[home]),
            (3, "/h/.config/opencode/opencode.jsonc".to_owned())
        );
        assert_eq!(
            paths(&[home, ("XDG_CONFIG_HOME", "/c")]),
            (3, "/c/opencode/opencode.jsonc".to_owned())
        );
        assert_eq!(
            paths(&[home, ("OPENCODE_CONFIG", "/o.json")]),
            (4, "/o.json".to_owned())
        );
        assert_eq!(paths(&[]), (0, String::new()));
    }

    #[test]
    fn references_are_filled_in() {
        let look_up = |kind: &str, name: &str| (name == "A").then(|| format!("<{kind}>"));
        let mut value = json!({ "a": ["{env:A}", "x{file: A}y{env:B}z", "{a}", "{env:A"], "b": 1 });
        fill_in(&mut value, &look_up);
        assert_eq!(
            value,
            json!({ "a": ["<env>", "x<file>yz", "{a}", "{env:A"], "b": 1 })
        );
    }
}
