//! The tools that download packages: which a project uses, what they are asked, and where their settings are.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use symphony_workspace::DetectedProject;

/// A tool that downloads packages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Tool {
    Cargo,
    Npm,
    Yarn,
    Python,
    Go,
    Maven,
    Gradle,
    Bundler,
    Composer,
    Hex,
    Nuget,
    Deno,
}

/// What a tool is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ToolQuestion {
    /// The program.
    pub(super) program: &'static str,
    /// Its arguments.
    pub(super) arguments: &'static [&'static str],
    /// Variables that keep it from downloading, and from starting what the project names.
    pub(super) variables: &'static [(&'static str, &'static str)],
}

/// The label of the entry of a project with its package managers.
const PACKAGE_MANAGER: &str = "Package Manager";

/// The names of package managers, and what they download with.
const NAMES: &[(&str, Tool)] = &[
    ("cargo", Tool::Cargo),
    ("npm", Tool::Npm),
    ("pnpm", Tool::Npm),
    ("bun", Tool::Npm),
    ("yarn", Tool::Yarn),
    ("pip", Tool::Python),
    ("uv", Tool::Python),
    ("poetry", Tool::Python),
    ("pdm", Tool::Python),
    ("pipenv", Tool::Python),
    ("go modules", Tool::Go),
    ("maven", Tool::Maven),
    ("gradle", Tool::Gradle),
    ("bundler", Tool::Bundler),
    ("composer", Tool::Composer),
    ("hex", Tool::Hex),
    ("nuget", Tool::Nuget),
    ("deno", Tool::Deno),
];

/// Returns the tools that a project uses.
pub(super) fn tools_of(project: &DetectedProject) -> BTreeSet<Tool> {
    let managers = project
        .tech_stack
        .iter()
        .filter(|(label, _)| label == PACKAGE_MANAGER)
        .flat_map(|(_, names)| names.split(", "));
    managers
        .filter_map(|name| NAMES.iter().find(|(known, _)| *known == name))
        .map(|(_, tool)| *tool)
        .collect()
}

impl Tool {
    /// Its name in records.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Cargo => "cargo",
            Self::Npm => "npm",
            Self::Yarn => "yarn",
            Self::Python => "python",
            Self::Go => "go",
            Self::Maven => "maven",
            Self::Gradle => "gradle",
            Self::Bundler => "bundler",
            Self::Composer => "composer",
            Self::Hex => "hex",
            Self::Nuget => "nuget",
            Self::Deno => "deno",
        }
    }

    /// The hosts that it downloads from unless it is configured otherwise.
    pub(super) const fn defaults(self) -> &'static [&'static str] {
        match self {
            Self::Cargo => &["index.crates.io", "static.crates.io"],
            Self::Npm => &["registry.npmjs.org"],
            Self::Yarn => &["registry.yarnpkg.com", "registry.npmjs.org"],
            Self::Python => &["pypi.org", "files.pythonhosted.org"],
            Self::Go => &["proxy.golang.org", "sum.golang.org"],
            Self::Maven => &["repo.maven.apache.org", "repo1.maven.org"],
            Self::Gradle => &[
                "repo.maven.apache.org",
                "repo1.maven.org",
                "plugins.gradle.org",
                "plugins-artifacts.gradle.org",
                "services.gradle.org",
            ],
            Self::Bundler => &["rubygems.org", "index.rubygems.org"],
            Self::Composer => &["repo.packagist.org", "packagist.org"],
            Self::Hex => &["repo.hex.pm", "hex.pm", "builds.hex.pm"],
            Self::Nuget => &["api.nuget.org"],
            Self::Deno => &["deno.land", "jsr.io", "npm.jsr.io", "registry.npmjs.org"],
        }
    }

    /// What it is asked; `None` for one that prints nothing, or that would run a program of the project.
    pub(super) const fn question(self) -> Option<ToolQuestion> {
        match self {
            // Yarn reads npm's settings as well, and its own program may be one of the project's.
            Self::Npm | Self::Yarn => Some(ToolQuestion {
                program: "npm",
                arguments: &["config", "list", "--json"],
                variables: &[
                    ("COREPACK_ENABLE_NETWORK", "0"),
                    ("npm_config_offline", "true"),
                    ("npm_config_update_notifier", "false"),
                ],
            }),
            Self::Python => Some(ToolQuestion {
                program: "pip",
                arguments: &["config", "list"],
                variables: &[
                    ("PIP_DISABLE_PIP_VERSION_CHECK", "1"),
                    ("PIP_NO_INPUT", "1"),
                ],
            }),
            Self::Go => Some(ToolQuestion {
                program: "go",
                arguments: &["env", "GOPROXY", "GOSUMDB"],
                // otherwise it downloads the version of itself that the project asks for
                variables: &[("GOTOOLCHAIN", "local")],
            }),
            _ => None,
        }
    }

    /// Prefixes of the variables that configure it.
    pub(super) const fn variables(self) -> &'static [&'static str] {
        match self {
            Self::Cargo => &["CARGO_REGISTRIES_", "CARGO_HOME"],
            Self::Npm | Self::Yarn => &["npm_config_", "NPM_CONFIG_", "YARN_"],
            Self::Python => &["PIP_", "UV_", "PYENV_VERSION"],
            Self::Go => &["GOPROXY", "GOSUMDB", "GOENV", "GOFLAGS", "GOPRIVATE"],
            _ => &[],
        }
    }

    /// The files that configure it: those that it reads, and those that its answer depends on.
    pub(super) fn files(self, project: &Path, place: &Places) -> Vec<PathBuf> {
        let home = |path: &str| place.home.as_ref().map(|home| home.join(path));
        let settings = |path: &str| place.settings.as_ref().map(|folder| folder.join(path));
        let found = match self {
            Self::Cargo => {
                let cargo = place.cargo_home.clone().or_else(|| home(".cargo"));
                let of_cargo = |name: &str| cargo.as_ref().map(|folder| folder.join(name));
                vec![
                    Some(project.join(".cargo/config.toml")),
                    Some(project.join(".cargo/config")),
                    of_cargo("config.toml"),
                    of_cargo("config"),
                ]
            }
            Self::Npm | Self::Yarn => vec![
                Some(project.join(".npmrc")),
                Some(project.join(".yarnrc.yml")),
                home(".npmrc"),
                home(".yarnrc.yml"),
                Some("/etc/npmrc".into()),
            ],
            Self::Python => vec![
                Some(project.join("pyproject.toml")),
                Some(project.join("uv.toml")),
                Some(project.join("Pipfile")),
                settings("uv/uv.toml"),
                settings("pip/pip.conf"),
                home(".pip/pip.conf"),
                Some("/etc/pip.conf".into()),
            ],
            Self::Go => vec![settings("go/env")],
            _ => Vec::new(),
        };
        found.into_iter().flatten().collect()
    }
}

/// Where the user's settings are.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// The home folder.
    pub(super) home: Option<PathBuf>,
    /// The folder of settings (`XDG_CONFIG_HOME`).
    pub(super) settings: Option<PathBuf>,
    /// Cargo's folder, if a variable names it.
    pub(super) cargo_home: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tools_are_those_of_the_project() {
        let project = |managers: &str| DetectedProject {
            tech_stack: vec![
                ("Language".to_owned(), "go".to_owned()),
                (PACKAGE_MANAGER.to_owned(), managers.to_owned()),
            ],
            ..DetectedProject::default()
        };
        for (managers, expected) in [
            ("cargo", vec![Tool::Cargo]),
            (
                "pnpm, uv, go modules",
                vec![Tool::Npm, Tool::Python, Tool::Go],
            ),
            ("something else", vec![]),
        ] {
            let found: Vec<_> = tools_of(&project(managers)).into_iter().collect();
            assert_eq!(found, expected, "{managers}");
        }
        assert!(tools_of(&DetectedProject::default()).is_empty());
    }

    #[test]
    fn what_detection_calls_a_package_manager_is_known() {
        let folder = tempfile::tempdir().unwrap();
        for (file, tool) in [
            ("Cargo.toml", Tool::Cargo),
            ("package.json", Tool::Npm),
            ("pyproject.toml", Tool::Python),
            ("go.mod", Tool::Go),
            ("pom.xml", Tool::Maven),
            ("Gemfile", Tool::Bundler),
            ("composer.json", Tool::Composer),
        ] {
            let root = folder.path().join(file.replace('.', "-"));
            std::fs::create_dir(&root).unwrap();
            let text = match tool {
                Tool::Cargo => "[package]\nname = \"a\"\n",
                Tool::Npm | Tool::Composer => "{}",
                Tool::Go => "module a\n",
                Tool::Python => "[project]\nname = \"a\"\n",
                _ => "source 'x'\n<project></project>\n",
            };
            std::fs::write(root.join(file), text).unwrap();
            let project = symphony_workspace::detect_project(&root, None);
            let found: Vec<_> = tools_of(&project).into_iter().collect();
            assert_eq!(found, [tool], "{file}: {project:?}");
        }
    }
}
