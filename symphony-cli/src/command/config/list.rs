//! The list that an item belongs to which `config set` changes, where another place has it than the key says.

use std::path::Path;

use serde_json::Value;
use symphony_core::config::{Entry, KeyPath, Source};
use symphony_workspace::config_file::load;

use crate::app::App;

/// Where the list of a key really is, so that setting one of its items has an effect.
#[derive(Debug)]
pub(super) struct ListElsewhere {
    /// The key to set: it leads into the list that holds.
    pub(super) key: String,
    /// The path of the list.
    pub(super) path: KeyPath,
    /// The list, where the file does not have it and has to get it as a whole.
    pub(super) value: Option<Value>,
    /// Where the list came from, for a person.
    pub(super) origin: String,
}

impl ListElsewhere {
    /// Looks for the list that a key of the project here leads into; none when the key leads into no list, or `file` has
    /// the list at that place.
    ///
    /// # Errors
    /// When the configuration or the database cannot be read.
    pub(super) fn find(app: &App, file: &Path, key: &str) -> anyhow::Result<Option<Self>> {
        // the step that sets the key reports what is wrong with it
        let Ok(key) = KeyPath::parse(key) else {
            return Ok(None);
        };
        let project = app.surroundings.recorded_project()?;
        let Ok(root) = app.surroundings.root() else {
            return Ok(None);
        };
        // a file that `--config` names need not exist before its first key is set
        let Ok(loaded) = load(&app.surroundings.config_paths(), &root) else {
            return Ok(None);
        };
        let id = project.as_ref().map(|project| &project.id);
        let stored = project.as_ref().map(|project| &project.settings);
        let (settings, _problems) = loaded.inspect_project(id, &root, stored)?;
        let Some((path, entry)) = settings.effective.list_above(&key) else {
            return Ok(None);
        };
        Ok(Self::of(file, &key, path, entry))
    }

    fn of(file: &Path, key: &KeyPath, path: KeyPath, entry: &Entry) -> Option<Self> {
        let is_empty = entry.value.as_array().is_none_or(Vec::is_empty);
        let below: KeyPath = key.below(&path)?.iter().cloned().collect();
        let origin = entry.origin().to_string();
        match &entry.source {
            // a section of the project wins over the top level
            Source::File { path: of, .. } if of == file => (entry.written != path).then(|| Self {
                key: entry.written.join(&below).to_string(),
                path: entry.written.clone(),
                value: None,
                origin,
            }),
            _ if is_empty => None,
            _ => Some(Self {
                key: key.to_string(),
                path,
                value: Some(entry.value.clone()),
                origin,
            }),
        }
    }

    /// Says what else the file has now.
    pub(super) fn note(&self) -> Option<String> {
        self.value.as_ref()?;
        let path = &self.path;
        let from = match self.origin.as_str() {
            "database" => "the setup wizard".to_owned(),
            "default" => "the defaults".to_owned(),
            file => file.to_owned(),
        };
        Some(format!(
            "This file now sets all of `{path}`, so it overrides {from}, which set it before."
        ))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use symphony_core::config::Position;

    use super::*;

    fn found(source: Source, written: &str, value: Value) -> Option<(String, bool)> {
        let entry = Entry {
            value,
            source,
            written: KeyPath::of(written),
            position: Some(Position { line: 1, column: 2 }),
        };
        let key = KeyPath::of("gates").index(1).key("command");
        let list = ListElsewhere::of(Path::new("/p/c.json"), &key, KeyPath::of("gates"), &entry);
        list.map(|list| (list.key, list.value.is_some()))
    }

    #[test]
    fn an_item_is_set_where_its_list_holds() {
        let file = |path: &str| Source::File {
            path: path.into(),
            project: None,
        };
        let two = || json!([{ "name": "a" }, { "name": "b" }]);
        let key = "gates[1].command".to_owned();
        for (source, written, value, expected) in [
            (file("/p/c.json"), "gates", two(), None),
            (
                file("/p/c.json"),
                "projects.api.gates",
                two(),
                Some(("projects.api.gates[1].command".to_owned(), false)),
            ),
            (Source::Database, "gates", two(), Some((key.clone(), true))),
            (Source::Default, "gates", two(), Some((key.clone(), true))),
            (Source::Default, "gates", json!([]), None),
            (
                file("/home/u/.config/symphony/config.json"),
                "gates",
                two(),
                Some((key.clone(), true)),
            ),
        ] {
            assert_eq!(
                found(source.clone(), written, value),
                expected,
                "{source:?} {written}"
            );
        }
    }
}
