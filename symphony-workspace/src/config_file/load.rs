//! Loads configuration files and puts their layers in order.

use std::path::{Path, PathBuf};

use serde_json::Value;
use symphony_core::config::key::Key;
use symphony_core::config::{
    Config, ConfigDocument, ConfigProblem, Effective, FileInput, FileRole, INSTALLATION_KEYS, KEYS,
    KeyPath, Layer, Place, ProjectConfig, Segment, Source, parse_file, parse_project_row,
};
use symphony_core::id::ProjectId;

use super::change::Edit;
use super::error::ConfigFileError;
use super::lookup::{ConfigPaths, find_upward};
use super::read::read_text;
use super::text::parse_text;

/// A configuration file that was read and checked.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfigFile {
    /// Its absolute path.
    pub path: PathBuf,
    /// What it says, without what is wrong.
    pub document: ConfigDocument,
    /// What is wrong with it, in the order of its lines.
    pub problems: Vec<ConfigProblem>,
}

impl ConfigFile {
    fn source(&self, project: Option<&ProjectId>) -> Source {
        Source::File {
            path: self.path.clone(),
            project: project.cloned(),
        }
    }

    fn top_layer(&self) -> Layer<'_> {
        Layer {
            source: self.source(None),
            settings: &self.document.top,
        }
    }

    fn section_layer(&self, id: Option<&ProjectId>) -> Option<Layer<'_>> {
        let settings = self.document.projects.get(id?)?;
        Some(Layer {
            source: self.source(id),
            settings,
        })
    }

    fn is_in(&self, folder: &Path) -> bool {
        self.path.parent() == Some(folder)
    }
}

/// Reads and checks a file; nothing when it does not exist.
///
/// # Errors
/// When it exists but cannot be read as text. What is wrong with its contents, syntax errors
/// included, is in [`ConfigFile::problems`].
pub fn read_file(path: &Path, role: FileRole) -> Result<Option<ConfigFile>, ConfigFileError> {
    Ok(read_text(path)?.map(|text| check_text(path, role, &text)))
}

/// Checks the text of a file.
pub(super) fn check_text(path: &Path, role: FileRole, text: &str) -> ConfigFile {
    let file = path.display().to_string();
    let mut parsed = parse_text(&file, text);
    let input = FileInput {
        value: &parsed.value,
        role,
        file: &file,
        positions: &parsed.positions,
    };
    let (document, problems) = parse_file(&input);
    parsed.problems.extend(problems);
    parsed.problems.sort_by_key(|problem| problem.position);
    ConfigFile {
        path: path.to_path_buf(),
        document,
        problems: parsed.problems,
    }
}

/// The configuration files that apply to a command.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedConfig {
    /// The global file, when there is one.
    pub global: Option<ConfigFile>,
    /// The main file, when there is one.
    pub main: Option<ConfigFile>,
    /// Files above that were skipped because another user owns them.
    pub skipped: Vec<PathBuf>,
    explicit: bool,
    root: PathBuf,
    home: Option<PathBuf>,
}

/// What holds for the installation.
#[derive(Debug, Clone)]
pub struct InstallationSettings {
    /// The typed values.
    pub config: Config,
    /// Every value with its source.
    pub effective: Effective,
    /// Values of the installation's own keys that are right by themselves, and do not fit together.
    pub at_odds: Vec<ConfigProblem>,
}

/// What holds for a project.
#[derive(Debug, Clone)]
pub struct ProjectSettings {
    /// The typed values.
    pub config: ProjectConfig,
    /// Every value with its source.
    pub effective: Effective,
    /// The project's own file, when it has one.
    pub file: Option<PathBuf>,
}

/// Loads the global and the main file; `root` is the repository's root, or the current folder
/// outside of one, as an absolute path.
///
/// # Errors
/// When a file that was named does not exist, or a file cannot be read. Problems of the contents fail only where they
/// matter: see [`LoadedConfig::installation`].
pub fn load(paths: &ConfigPaths, root: &Path) -> Result<LoadedConfig, ConfigFileError> {
    let global = match &paths.global {
        Some(path) => read_file(path, FileRole::Global)?,
        None => None,
    };
    let (main, skipped) = match &paths.explicit {
        Some(path) => {
            let file = read_file(path, FileRole::Project)?;
            (
                Some(file.ok_or_else(|| ConfigFileError::NotFound { path: path.clone() })?),
                Vec::new(),
            )
        }
        None => read_nearest(root)?,
    };
    Ok(LoadedConfig {
        global,
        main,
        skipped,
        explicit: paths.explicit.is_some(),
        root: root.to_path_buf(),
        home: paths.home.clone(),
    })
}

/// Loads the files as they would be after an edit: the edited file replaces its old version, or the file from further
/// up that applied before.
///
/// # Errors
/// As [`load`]; the edited file itself need not exist yet.
pub fn load_edited(
    paths: &ConfigPaths,
    root: &Path,
    edit: &Edit,
) -> Result<LoadedConfig, ConfigFileError> {
    let file = check_text(&edit.path, edit.role, &edit.after);
    match edit.role {
        FileRole::Global => {
            let mut loaded = load(paths, root)?;
            loaded.global = Some(file);
            Ok(loaded)
        }
        FileRole::Project => {
            let others = ConfigPaths {
                explicit: None,
                ..paths.clone()
            };
            let mut loaded = load(&others, root)?;
            loaded.main = Some(file);
            loaded.explicit = paths.explicit.is_some();
            Ok(loaded)
        }
    }
}

fn read_nearest(root: &Path) -> Result<(Option<ConfigFile>, Vec<PathBuf>), ConfigFileError> {
    let found = find_upward(root)?;
    let file = match found.file {
        Some(path) => read_file(&path, FileRole::Project)?,
        None => None,
    };
    Ok((file, found.skipped))
}

impl LoadedConfig {
    /// Makes the configuration of a project in which one file is all there is.
    pub(super) fn of_one_file(file: ConfigFile, root: &Path, home: Option<PathBuf>) -> Self {
        Self {
            global: None,
            main: Some(file),
            skipped: Vec::new(),
            explicit: true,
            root: root.to_path_buf(),
            home,
        }
    }

    /// Returns all problems of the files, the global one's first, then the installation's values that do not fit together.
    pub fn problems(&self) -> Vec<ConfigProblem> {
        let files = self.global.iter().chain(&self.main);
        files
            .flat_map(|file| file.problems.iter().cloned())
            .chain(self.inspect_installation().at_odds)
            .collect()
    }

    /// Returns what holds for the installation.
    ///
    /// # Errors
    /// [`ConfigFileError::Invalid`] when a problem concerns the installation: any problem of the global file outside of
    /// `projects`; in the main file one of [`INSTALLATION_KEYS`], or a syntax error if only this file could name the
    /// database; and values of these keys that do not fit together.
    pub fn installation(&self) -> Result<InstallationSettings, ConfigFileError> {
        let database_named = self.global.as_ref().is_some_and(|file| {
            file.document
                .top
                .iter()
                .any(|(path, _)| *path == KeyPath::of("database"))
        });
        let global = self.global.iter().flat_map(|file| &file.problems);
        let main = self.main.iter().flat_map(|file| &file.problems);
        let problems: Vec<ConfigProblem> = global
            .filter(|problem| section_of(problem).is_none())
            .chain(main.filter(|problem| concerns_installation(problem, database_named)))
            .cloned()
            .collect();
        valid(problems)?;
        let settings = self.inspect_installation();
        valid(settings.at_odds.clone())?;
        Ok(settings)
    }

    /// Returns the installation's settings as far as they can be read, for `config show`.
    pub fn inspect_installation(&self) -> InstallationSettings {
        let layers: Vec<Layer<'_>> = self
            .global
            .iter()
            .chain(&self.main)
            .map(ConfigFile::top_layer)
            .collect();
        let effective = Effective::resolve(&layers, self.place(&self.root));
        let (config, mut at_odds) = effective.config();
        at_odds.retain(|problem| concerns_installation(problem, true));
        InstallationSettings {
            config,
            effective,
            at_odds,
        }
    }

    /// Returns what holds for a project: by its id (nothing when it is not registered yet), its
    /// root, and the object that the setup wizard stored for it, if any.
    ///
    /// # Errors
    /// [`ConfigFileError::Invalid`] when anything that concerns the project is wrong, in any of its
    /// layers: nothing of it must be dispatched then. Also when its own file cannot be read.
    pub fn project(
        &self,
        id: Option<&ProjectId>,
        root: &Path,
        stored: Option<&Value>,
    ) -> Result<ProjectSettings, ConfigFileError> {
        let (settings, problems) = self.inspect_project(id, root, stored)?;
        valid(problems)?;
        Ok(settings)
    }

    /// Returns a project's settings as far as they can be read, with all problems, for `config check` and
    /// `config show`.
    ///
    /// # Errors
    /// When the project's own file cannot be read.
    pub fn inspect_project(
        &self,
        id: Option<&ProjectId>,
        root: &Path,
        stored: Option<&Value>,
    ) -> Result<(ProjectSettings, Vec<ConfigProblem>), ConfigFileError> {
        let main_is_own = self.explicit || self.main.as_ref().is_some_and(|file| file.is_in(root));
        let read = if main_is_own || root == self.root {
            None
        } else {
            read_nearest(root)?.0
        };
        let own = if main_is_own || root == self.root {
            self.main.as_ref()
        } else {
            read.as_ref()
        };
        let shared = self
            .main
            .as_ref()
            .filter(|main| own.is_none_or(|own| own.path != main.path));

        let (stored, mut problems) = parse_project_row(stored.unwrap_or(&Value::Null));
        problems.extend(of_project(self.global.as_ref(), id, true));
        problems.extend(of_project(shared, id, false));
        problems.extend(of_project(own, id, true));

        let mut layers = vec![Layer {
            source: Source::Database,
            settings: &stored,
        }];
        layers.extend(self.global.as_ref().map(ConfigFile::top_layer));
        layers.extend(self.global.as_ref().and_then(|file| file.section_layer(id)));
        layers.extend(shared.and_then(|file| file.section_layer(id)));
        layers.extend(own.map(ConfigFile::top_layer));
        layers.extend(own.and_then(|file| file.section_layer(id)));
        let effective = Effective::resolve(&layers, self.place(root));
        let (config, at_odds) = effective.project_config();
        problems.extend(at_odds);
        // Asked only where it matters: reading the installation's settings again costs as much as the project's.
        if config.pool.is_some() {
            let database = self.inspect_installation().config.database;
            problems.extend(effective.pool_problem(&database));
        }
        let file = own.map(|file| file.path.clone());
        Ok((
            ProjectSettings {
                config,
                effective,
                file,
            },
            problems,
        ))
    }

    fn place(&self, root: &Path) -> Place {
        Place {
            root: root.to_path_buf(),
            home: self.home.clone(),
        }
    }
}

fn valid(problems: Vec<ConfigProblem>) -> Result<(), ConfigFileError> {
    if problems.is_empty() {
        Ok(())
    } else {
        Err(ConfigFileError::Invalid { problems })
    }
}

/// Returns the project whose section a problem is in.
fn section_of(problem: &ConfigProblem) -> Option<&str> {
    match problem.path.segments() {
        [Segment::Key(top), Segment::Key(id), ..] if top == "projects" => Some(id),
        _ => None,
    }
}

/// Selects the problems of a file that concern a project: those of its section, and with `top` those
/// outside of all sections.
fn of_project(
    file: Option<&ConfigFile>,
    id: Option<&ProjectId>,
    top: bool,
) -> impl Iterator<Item = ConfigProblem> {
    let problems = file.map_or(&[][..], |file| &file.problems).iter();
    let concerned = problems.filter(move |problem| match section_of(problem) {
        None => top,
        Some(section) => id.is_none_or(|id| id.as_str() == section),
    });
    concerned.cloned().collect::<Vec<_>>().into_iter()
}

/// Returns whether a problem of the main file makes the installation's settings uncertain.
fn concerns_installation(problem: &ConfigProblem, database_named: bool) -> bool {
    let Some(Segment::Key(top)) = problem.path.segments().first() else {
        return !database_named;
    };
    let known = Key::find(KEYS, top)
        .map(|key| key.name)
        .or_else(|| problem.nearest());
    known.is_some_and(|name| INSTALLATION_KEYS.contains(&name))
}
