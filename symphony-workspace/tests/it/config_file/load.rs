//! What holds where, and what a broken file stops.

use std::path::{Path, PathBuf};

use serde_json::json;
use symphony_core::config::{KeyPath, Millis, ProjectConfig};
use symphony_core::id::ProjectId;
use symphony_workspace::config_file::{
    CONFIG_FILE_NAME, ConfigFileError, ConfigPaths, LoadedConfig, ProjectSettings, load,
};
use tempfile::{TempDir, tempdir};

use super::{shown, write};

/// A home with a global file, and two projects.
struct Installation {
    folder: TempDir,
}

impl Installation {
    fn new(global: &str, api: &str, web: &str) -> Self {
        let folder = tempdir().expect("a temporary folder");
        let installation = Self { folder };
        for (path, text) in [
            (installation.at("home/.config/symphony/config.json"), global),
            (installation.at("api").join(CONFIG_FILE_NAME), api),
            (installation.at("web").join(CONFIG_FILE_NAME), web),
        ] {
            if text.is_empty() {
                std::fs::create_dir_all(path.parent().expect("a folder"))
                    .expect("a temporary folder");
            } else {
                write(&path, text);
            }
        }
        installation
    }

    fn at(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    /// Loads as from a project's root.
    fn load(&self, from: &str) -> LoadedConfig {
        let home = self.at("home");
        let paths = ConfigPaths::new(None, None, Some(&home), self.folder.path());
        load(&paths, &self.at(from)).expect("the files can be read")
    }

    fn project(&self, from: &str, id: &str) -> Result<ProjectSettings, ConfigFileError> {
        let id = ProjectId::parse(id).expect("an id");
        self.load(from)
            .project(Some(&id), &self.at(id.as_str()), None)
    }

    fn shown(&self, error: &impl ToString) -> String {
        shown(error, self.folder.path())
    }
}

#[test]
fn without_any_file_the_defaults_hold() {
    let installation = Installation::new("", "", "");
    let root = installation.at("api");
    let loaded = installation.load("api");
    assert_eq!(loaded.problems(), []);
    let settings = installation.project("api", "api").unwrap();
    assert_eq!(settings.config, ProjectConfig::defaults(&root));
    assert_eq!(settings.file, None);
    let config = loaded.installation().unwrap().config;
    assert_eq!(config.database, root.join(".symphony/symphony.db").into());
}

#[test]
fn a_project_has_the_same_configuration_wherever_the_command_runs() {
    let installation = Installation::new(
        r#"{ "database": "~/s.db", "max_retries": 3, "projects": { "web": { "max_retries": 4, "model": "m" } } }"#,
        r#"{ "max_retries": 5, "turn_timeout_ms": 1000 }"#,
        r#"{ "model": "own" }"#,
    );
    for from in ["api", "web"] {
        let loaded = installation.load(from);
        let config = loaded.installation().unwrap().config;
        assert_eq!(
            config.database,
            installation.at("home/s.db").into(),
            "{from}"
        );
        let api = installation.project(from, "api").unwrap();
        assert_eq!(api.config.max_retries, 5, "{from}");
        assert_eq!(api.config.turn_timeout_ms, Millis::new(1000));
        assert_eq!(
            api.file,
            Some(installation.at("api").join(CONFIG_FILE_NAME))
        );
        let web = installation.project(from, "web").unwrap().config;
        assert_eq!(
            (web.max_retries, web.model.as_deref()),
            (4, Some("own")),
            "{from}"
        );
        assert_eq!(web.turn_timeout_ms, Millis::new(600_000), "{from}");
        assert_eq!(
            web.workspaces_dir,
            installation.at("web/.symphony-workspaces")
        );
    }
}

#[test]
fn an_explicit_file_stands_in_the_place_of_every_own_file() {
    let installation = Installation::new("", r#"{ "max_retries": 5 }"#, r#"{ "max_retries": 6 }"#);
    let explicit = installation.at("other/x.json");
    write(
        &explicit,
        r#"{ "model": "m", "projects": { "web": { "model": "w" } }, "database": "x.db" }"#,
    );
    let paths = ConfigPaths {
        explicit: Some(explicit.clone()),
        ..ConfigPaths::default()
    };
    let loaded = load(&paths, &installation.at("api")).unwrap();
    for (id, model) in [("api", "m"), ("web", "w")] {
        let id = ProjectId::parse(id).unwrap();
        let settings = loaded
            .project(Some(&id), &installation.at(id.as_str()), None)
            .unwrap();
        assert_eq!(settings.config.max_retries, 15, "{id}");
        assert_eq!(settings.config.model.as_deref(), Some(model), "{id}");
        assert_eq!(settings.file.as_deref(), Some(explicit.as_path()));
    }
    assert_eq!(
        loaded.installation().unwrap().config.database,
        installation.at("other/x.db").into()
    );
}

#[test]
fn what_the_wizard_stored_yields_to_the_file() {
    let installation = Installation::new(
        "",
        "{\n  \"gates\": [{ \"name\": \"own\", \"command\": \"o\" }]\n}",
        "",
    );
    let root = installation.at("api");
    let stored = json!({
        "gates": [{ "name": "w", "command": "w" }],
        "risk": { "medium": { "files": 1 } },
    });
    let settings = installation
        .load("api")
        .project(None, &root, Some(&stored))
        .unwrap();
    assert_eq!(settings.config.gates[0].name, "own");
    assert_eq!(settings.config.risk.medium.files, 1);
    let origin = |key: &str| {
        let entry = settings.effective.get(&KeyPath::of(key)).unwrap();
        installation.shown(&entry.origin())
    };
    assert_eq!(origin("gates"), "DIR/api/symphony.config.json:2:12");
    assert_eq!(origin("risk.medium.files"), "database");
    assert_eq!(origin("risk.high.files"), "default");
    let broken = json!({ "gates": "cargo test" });
    let error = installation
        .load("api")
        .project(None, &root, Some(&broken))
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "database: gates: expected a list of objects, found the text \"cargo test\""
    );
}

#[test]
fn a_broken_project_stops_itself_only() {
    let broken_own = "{ \"max_retries\": \"many\", \"model\": 7 }";
    let global = r#"{ "database": "~/s.db" }"#;
    for api in [broken_own, "{ oops", "[]"] {
        let installation = Installation::new(global, api, "{}");
        for from in ["api", "web"] {
            assert!(
                installation.project(from, "api").is_err(),
                "{api} from {from}"
            );
            assert!(
                installation.project(from, "web").is_ok(),
                "{api} from {from}"
            );
            assert!(
                installation.load(from).installation().is_ok(),
                "{api} from {from}"
            );
        }
    }
    let installation = Installation::new(global, broken_own, "");
    let error = installation.project("web", "api").unwrap_err();
    assert_eq!(
        installation.shown(&error),
        "DIR/api/symphony.config.json:1:18: max_retries: expected a whole number from 1 to 10000, found the text \"many\" (and 1 more)"
    );
    assert_eq!(error.problems().len(), 2);
}

#[test]
fn a_broken_section_stops_its_project_only() {
    let global = r#"{ "database": "~/s.db", "projects": { "api": { "modle": "m" }, "web": {} } }"#;
    let installation = Installation::new(global, "", "");
    assert!(installation.load("web").installation().is_ok());
    assert!(installation.project("api", "web").is_ok());
    let error = installation.project("web", "api").unwrap_err();
    assert_eq!(
        installation.shown(&error),
        "DIR/home/.config/symphony/config.json:1:48: projects.api.modle: unknown key; did you mean `model`?"
    );
}

#[test]
fn a_problem_of_the_installation_stops_everything() {
    for (global, api) in [
        (r#"{ "max_retrys": 1 }"#, "{}"),
        ("{ oops", "{}"),
        ("", r#"{ "databse": "x" }"#),
        ("", r#"{ "max_concurrent_agents": -1 }"#),
        (
            r#"{ "database": "x" }"#,
            r#"{ "profiles": { "judge": 1 } }"#,
        ),
        ("", "{ oops"),
    ] {
        let installation = Installation::new(global, api, "{}");
        let error = installation.load("api").installation().unwrap_err();
        assert!(
            matches!(error, ConfigFileError::Invalid { .. }),
            "{global} {api}"
        );
    }
    let harmless = Installation::new("", r#"{ "model": 7 }"#, "{}");
    assert!(harmless.load("api").installation().is_ok());
}

#[test]
fn paths_start_from_the_file_that_names_them() {
    let installation = Installation::new(
        r#"{ "prompts_dir": "prompts", "vault": { "path": "~/notes" }, "workspaces_dir": "wt" }"#,
        r#"{ "providers": { "scripted": { "scenario": "s/x.json" } } }"#,
        "",
    );
    let config = installation.project("web", "api").unwrap().config;
    assert_eq!(
        config.prompts_dir,
        installation.at("home/.config/symphony/prompts")
    );
    assert_eq!(config.vault.unwrap().path, installation.at("home/notes"));
    assert_eq!(config.workspaces_dir, installation.at("api/wt"));
    assert_eq!(
        config.providers.scenario,
        Some(installation.at("api/s/x.json"))
    );
}

#[test]
fn a_section_of_the_main_file_holds_for_a_project_elsewhere() {
    let main = r#"{ "model": "api", "projects": { "web": { "model": "web" }, "api": {} } }"#;
    let installation = Installation::new("", main, "");
    let web = installation.project("api", "web").unwrap();
    assert_eq!(web.config.model.as_deref(), Some("web"));
    assert_eq!(web.file, None);
    assert_eq!(
        installation.project("web", "web").unwrap().config.model,
        None
    );
    let loaded = installation.load("api");
    let (_, problems) = loaded
        .inspect_project(None, Path::new("/nowhere"), None)
        .unwrap();
    assert_eq!(problems, []);
}

#[test]
fn times_that_make_no_lease_stop_every_command_at_their_line() {
    let installation = Installation::new(
        "{\n  \"lease\": {\n    \"dead_ms\": 70000\n  }\n}",
        r#"{ "max_retries": 3 }"#,
        "",
    );
    let loaded = installation.load("api");
    let error = loaded.installation().unwrap_err();
    let problems = error.problems();
    assert_eq!(problems, loaded.problems());
    let text = installation.shown(&problems[0]);
    let at = "home/.config/symphony/config.json:3:16: lease.dead_ms: expected more than";
    assert!(text.contains(at), "{text}");
}

#[test]
fn a_pool_with_a_database_in_a_file_stops_its_project_only() {
    let installation = Installation::new(
        r#"{ "database": "~/s.db" }"#,
        r#"{ "pool": "linux" }"#,
        r#"{ "model": "own" }"#,
    );
    for from in ["api", "web"] {
        assert!(installation.load(from).installation().is_ok(), "{from}");
        assert!(installation.project(from, "web").is_ok(), "{from}");
        let error = installation.project(from, "api").unwrap_err();
        let text = installation.shown(&error.problems()[0]);
        assert!(
            text.contains("symphony.config.json:1:11: pool: expected a database"),
            "{text}"
        );
        assert!(text.contains("home/s.db"), "{text}");
    }
    let server = r#"{ "database": "postgres://me@db.example/team" }"#;
    let installation = Installation::new(server, r#"{ "pool": "linux" }"#, "");
    let settings = installation.project("api", "api").unwrap();
    assert!(settings.config.pool.is_some());
}
