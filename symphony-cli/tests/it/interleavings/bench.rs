//! A project whose database is as new for each case.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde_json::{Value, json};
use symphony_fakes::{FakeGithub, FakeLinear};
use symphony_runner::installation::Installation;
use symphony_runner::prompts::library::{PromptText, ShippedPrompts};
use symphony_runner::session::Session;
use symphony_workspace::config_file::ConfigPaths;

use crate::support::Project;

const NO_PROMPT: PromptText = PromptText {
    file: "none.md",
    text: "",
};
/// No case starts an agent.
const NO_PROMPTS: ShippedPrompts = ShippedPrompts {
    profiles: &[],
    contracts: &[],
    wizard: NO_PROMPT,
    background_research: NO_PROMPT,
    background_scan: NO_PROMPT,
    plan_worker: NO_PROMPT,
};

/// A project that one case after the other takes place in.
pub(super) struct Bench {
    pub(super) project: Project,
    database: PathBuf,
    /// The database and the notes of how far it has come, as they were before the first case.
    pristine: Vec<(PathBuf, Vec<u8>)>,
}

impl Bench {
    pub(super) fn new() -> Self {
        let mut project = Project::recorded();
        project.set_variable("GITHUB_TOKEN", FakeGithub::TOKEN);
        project.set_variable("LINEAR_API_KEY", FakeLinear::TOKEN);
        let config = installation(&project).config;
        let database = config.database.file().unwrap().to_owned();
        let notes = [
            project.root.join(".git/symphony-mark.json"),
            database.with_extension("mark.json"),
        ];
        let pristine = [database.clone()].into_iter().chain(notes);
        let pristine = pristine.map(|path| {
            let bytes = std::fs::read(&path).unwrap();
            (path, bytes)
        });
        let pristine = pristine.collect();
        Self {
            project,
            database,
            pristine,
        }
    }

    /// Puts the database back to what it was before the first case, with a tracker in the configuration.
    pub(super) fn begin(&self, tracker: &Value) -> Session {
        for end in ["-wal", "-shm"] {
            let beside = self.database.with_file_name(format!(
                "{}{end}",
                self.database.file_name().unwrap().to_str().unwrap()
            ));
            if beside.exists() {
                std::fs::remove_file(beside).unwrap();
            }
        }
        for (path, bytes) in &self.pristine {
            std::fs::write(path, bytes).unwrap();
        }
        let nothing = json!({ "command": { "command": "true" } });
        self.project.configure(&json!({
            "prefix": "SYM", "provider": "command", "providers": nothing, "gates": [],
            "trackers": { "there": tracker },
        }));
        let installation = installation(&self.project);
        let store = installation.require_store().unwrap();
        let project = store.projects().unwrap().remove(0);
        Session {
            installation,
            store,
            project,
        }
    }

    /// Opens the database beside the store, for what the store does not show.
    pub(super) fn connection(&self) -> Connection {
        let connection = Connection::open(&self.database).unwrap();
        connection
            .busy_timeout(std::time::Duration::from_secs(10))
            .unwrap();
        connection
    }
}

fn installation(project: &Project) -> Installation {
    let variables: [(&str, OsString); 5] = [
        ("HOME", project.home.clone().into()),
        ("PATH", std::env::var_os("PATH").expect("tests have a PATH")),
        ("GIT_CONFIG_NOSYSTEM", "1".into()),
        ("GITHUB_TOKEN", FakeGithub::TOKEN.into()),
        ("LINEAR_API_KEY", FakeLinear::TOKEN.into()),
    ];
    let variables: BTreeMap<OsString, OsString> = variables
        .into_iter()
        .map(|(name, value)| (name.into(), value))
        .collect();
    let home: &Path = &project.home;
    let paths = ConfigPaths::new(None, None, Some(home), &project.root);
    let program = PathBuf::from(env!("CARGO_BIN_EXE_symphony"));
    Installation::load(program, project.root.clone(), paths, NO_PROMPTS, variables).unwrap()
}
