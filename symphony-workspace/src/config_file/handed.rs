//! The configuration of a project as the control handed it to a worker. It takes the place of all files: those of a clone may say
//! something else, and an agent's change of them must not reach the next run.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use symphony_core::config::{FileRole, INSTALLATION_KEYS};

use super::error::ConfigFileError;
use super::load::{LoadedConfig, check_text};
use super::lookup::CONFIG_FILE_NAME;

/// Keys of a project that mean nothing on a worker: where its runs are placed was decided before.
const OF_PLACEMENT: &[&str] = &["pool", "hub"];

impl LoadedConfig {
    /// Makes the configuration from layers, the weakest first: a list of documents as a project's own file has them. Relative paths start
    /// at the clone's root, and `~/` is the home folder of the worker's user.
    ///
    /// # Errors
    /// [`ConfigFileError::Handed`] when the layers are no list of documents.
    pub fn handed(
        layers: &Value,
        root: &Path,
        home: Option<PathBuf>,
    ) -> Result<Self, ConfigFileError> {
        let mut document = Map::new();
        for layer in layers.as_array().ok_or(ConfigFileError::Handed)? {
            let layer = layer.as_object().ok_or(ConfigFileError::Handed)?;
            lay_over(&mut document, layer);
        }
        for key in OF_PLACEMENT.iter().chain(INSTALLATION_KEYS) {
            document.remove(*key);
        }
        let text = Value::Object(document).to_string();
        let file = check_text(&root.join(CONFIG_FILE_NAME), FileRole::Project, &text);
        Ok(Self::of_one_file(file, root, home))
    }
}

/// Lays a document over another one: objects key by key, anything else as a whole.
fn lay_over(below: &mut Map<String, Value>, above: &Map<String, Value>) {
    for (name, value) in above {
        match (below.get_mut(name), value) {
            (Some(Value::Object(below)), Value::Object(above)) => lay_over(below, above),
            _ => {
                below.insert(name.clone(), value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use symphony_core::config::Millis;
    use symphony_core::id::ProjectId;

    use super::*;

    fn handed(layers: &Value) -> LoadedConfig {
        let home = Some(PathBuf::from("/home/worker"));
        LoadedConfig::handed(layers, Path::new("/data/demo"), home).unwrap()
    }

    #[test]
    fn later_layers_win_and_paths_are_those_of_the_worker() {
        let layers = json!([
            { "base_branch": "trunk", "env": { "A": "1", "B": "1" }, "gates": [{ "name": "a", "command": "a" }, { "name": "b", "command": "b" }], "pool": "linux" },
            { "env": { "B": "2" }, "gates": [{ "name": "c", "command": "c" }], "prompts_dir": "own", "judge_cooldown_ms": 7,
              "database": "/elsewhere.db" },
        ]);
        let loaded = handed(&layers);
        let id = ProjectId::parse("demo").unwrap();
        let settings = loaded.project(Some(&id), Path::new("/data/demo"), None);
        let config = settings.unwrap().config;
        assert_eq!(config.base_branch.as_deref(), Some("trunk"));
        let env: Vec<_> = config
            .env
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        assert_eq!(env, [("A", "1"), ("B", "2")]);
        assert_eq!(config.gates.len(), 1);
        assert_eq!(config.prompts_dir, Path::new("/data/demo/own"));
        assert_eq!(config.judge_cooldown_ms, Millis::new(7));
        assert_eq!(config.pool, None);
    }

    #[test]
    fn what_is_wrong_stops_the_project() {
        let id = ProjectId::parse("demo").unwrap();
        let loaded = handed(&json!([{ "max_retries": "many" }]));
        let problem = loaded.project(Some(&id), Path::new("/data/demo"), None);
        assert!(matches!(problem, Err(ConfigFileError::Invalid { .. })));
        for no_layers in [json!({}), json!([1]), json!(null)] {
            let refused = LoadedConfig::handed(&no_layers, Path::new("/data/demo"), None);
            assert!(
                matches!(refused, Err(ConfigFileError::Handed)),
                "{no_layers}"
            );
        }
    }
}
