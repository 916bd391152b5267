//! Python: uv, Poetry, PDM, Pipenv, and a separate virtual environment if no lock file names a tool.

use toml::Table;

use super::folder::Folder;
use super::model::ProposalNote;
use super::package::{Coverage, Package, Role};
use super::python_ci::{self, CiCheck};
use super::python_requirements::{Optional, Requirements};

/// Files that say that this is a package of Python.
const MANIFESTS: &[&str] = &[
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "requirements.txt",
    "Pipfile",
    "manage.py",
    "pytest.ini",
    "tox.ini",
    "conftest.py",
    "tests/conftest.py",
];
/// The interpreter of the virtual environment that the set-up makes.
const PYTHON: &str = ".venv/bin/python";

/// What manages the environment of the tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tool {
    Uv,
    Poetry,
    Pdm,
    Pipenv,
    /// `python3 -m venv` and pip.
    Venv,
}

impl Tool {
    fn of(folder: &Folder<'_>, manifest: &Table) -> Self {
        let has_table = |name: &str| {
            let tools = manifest.get("tool");
            tools.is_some_and(|tools| tools.get(name).is_some())
        };
        if folder.has("uv.lock") {
            Self::Uv
        } else if folder.has("poetry.lock") || has_table("poetry") {
            Self::Poetry
        } else if folder.has("pdm.lock") {
            Self::Pdm
        } else if folder.has("Pipfile.lock") {
            Self::Pipenv
        } else {
            Self::Venv
        }
    }

    /// Returns what is before `pytest` in the gate.
    const fn runner(self) -> &'static str {
        match self {
            Self::Uv => "uv run",
            Self::Poetry => "poetry run",
            Self::Pdm => "pdm run",
            Self::Pipenv => "PIPENV_VENV_IN_PROJECT=1 pipenv run",
            Self::Venv => "",
        }
    }

    /// Returns how it runs a tool that the workflows run.
    const fn in_ci(self) -> python_ci::Runner<'static> {
        let before = match self {
            Self::Uv => "uv run ",
            Self::Poetry => "poetry run ",
            Self::Pdm => "pdm run ",
            Self::Pipenv => "PIPENV_VENV_IN_PROJECT=1 pipenv run ",
            Self::Venv => ".venv/bin/python -m ",
        };
        python_ci::Runner {
            before,
            environment: "PIPENV_VENV_IN_PROJECT=1 ",
        }
    }
}

/// A package of Python.
pub(super) fn detect(folder: &Folder<'_>, notes: &mut Vec<ProposalNote>) -> Option<Package> {
    let file = folder.first(MANIFESTS)?;
    let manifest = folder.toml("pyproject.toml", notes).unwrap_or_default();
    let tool = Tool::of(folder, &manifest);
    let is_workspace = manifest
        .get("tool")
        .and_then(|tools| tools.get("uv")?.get("workspace"))
        .is_some();
    let mut package = Package::new("python", folder.path).fills(".venv");
    if is_workspace {
        package = package.covers(Coverage::Except(Vec::new()));
    }
    let names_pytest = names_pytest(folder);
    let ci = python_ci::checks(&folder.ci_commands(), tool.in_ci());
    if folder.has("manage.py") && !names_pytest {
        let setup = set_up(folder, &manifest, tool, Runner::Django, is_workspace);
        let python = match tool {
            Tool::Venv => PYTHON.to_owned(),
            other => format!("{} python", other.runner()),
        };
        let test = format!("{python} manage.py test");
        package = package.set_up(setup).check(Role::Test, test);
        return Some(with_ci(package, tool, &ci));
    }
    if !names_pytest && !has_test_files(folder) {
        if !ci.is_empty() {
            let setup = set_up(folder, &manifest, tool, Runner::Workflow, is_workspace);
            return Some(with_ci(package.set_up(setup), tool, &ci));
        }
        notes.push(folder.note(file, "neither pytest nor files `test_*.py` were found"));
        return Some(package);
    }
    let test = match tool {
        Tool::Venv => format!("{PYTHON} -m pytest"),
        Tool::Uv if !names_pytest => "uv run --with pytest pytest".to_owned(),
        other => format!("{} pytest", other.runner()),
    };
    let setup = set_up(folder, &manifest, tool, Runner::Pytest, is_workspace);
    Some(with_ci(
        package.set_up(setup).check(Role::Test, test),
        tool,
        &ci,
    ))
}

/// Adds the checks that the workflows make and that the package does not have yet. A virtual environment of its own
/// gets their tools.
fn with_ci(mut package: Package, tool: Tool, ci: &[CiCheck]) -> Package {
    let has = |package: &Package, role| package.checks.iter().any(|check| check.role == role);
    let mut missing = Vec::new();
    for check in ci {
        if has(&package, check.role) {
            continue;
        }
        if check.is_installed && !missing.contains(&check.tool) {
            missing.push(check.tool);
        }
        package = package.check(check.role, check.command.clone());
    }
    if tool == Tool::Venv
        && !missing.is_empty()
        && let Some(setup) = package.setup.take()
    {
        let tools = missing.join(" ");
        package = package.set_up(format!("{setup} && {PYTHON} -m pip install -q {tools}"));
    }
    package
}

fn names_pytest(folder: &Folder<'_>) -> bool {
    let texts = [
        "pyproject.toml",
        "setup.cfg",
        "setup.py",
        "tox.ini",
        "Pipfile",
    ];
    folder.has_any(&["pytest.ini", "conftest.py", "tests/conftest.py"])
        || texts
            .iter()
            .any(|file| folder.text(file).contains("pytest"))
        || Requirements::of(folder).have_pytest
}

fn has_test_files(folder: &Folder<'_>) -> bool {
    folder.files().any(|file| {
        let name = file.rsplit('/').next().unwrap_or_default();
        let stem = name.strip_suffix(".py").unwrap_or_default();
        stem.starts_with("test_") || stem.ends_with("_test")
    })
}

/// What runs the tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Runner {
    Pytest,
    Django,
    /// Only what the workflows run.
    Workflow,
}

fn set_up(
    folder: &Folder<'_>,
    manifest: &Table,
    tool: Tool,
    runner: Runner,
    is_workspace: bool,
) -> String {
    let optional = Optional::of(folder, manifest);
    let flags = |flag: &str, names: &[String]| -> String {
        names
            .iter()
            .flat_map(|name| [" ", flag, " ", name])
            .collect()
    };
    let extras = flags("--extra", &optional.extras);
    match tool {
        Tool::Uv => {
            // the group `dev` is a default
            let groups: Vec<String> = optional
                .groups
                .iter()
                .filter(|group| *group != "dev")
                .cloned()
                .collect();
            let all = if is_workspace { " --all-packages" } else { "" };
            format!("uv sync --locked{all}{extras}{}", flags("--group", &groups))
        }
        // in the checkout: elsewhere each one would leave an environment behind
        Tool::Poetry => format!(
            "POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --no-interaction{}",
            flags("--extras", &optional.extras)
        ),
        Tool::Pdm => "pdm sync -G :all".to_owned(),
        Tool::Pipenv => "PIPENV_VENV_IN_PROJECT=1 pipenv sync --dev".to_owned(),
        Tool::Venv => set_up_venv(folder, manifest, &optional, runner),
    }
}

fn set_up_venv(
    folder: &Folder<'_>,
    manifest: &Table,
    optional: &Optional,
    runner: Runner,
) -> String {
    let requirements = Requirements::of(folder);
    let mut arguments: Vec<String> = requirements
        .files
        .iter()
        .map(|file| format!("-r {file}"))
        .collect();
    let is_installable = folder.has("setup.py")
        || manifest.contains_key("build-system")
        || manifest.contains_key("project");
    // files of requirements for tests make extras unnecessary
    let extras = if requirements.have_pytest {
        &[][..]
    } else {
        &optional.extras
    };
    if is_installable && !(requirements.have_project && extras.is_empty()) {
        arguments.push(match extras {
            [] => "-e .".to_owned(),
            extras => format!("-e '.[{}]'", extras.join(",")),
        });
    }
    let groups = if requirements.have_pytest {
        &[][..]
    } else {
        &optional.groups
    };
    arguments.extend(groups.iter().map(|group| format!("--group {group}")));
    if runner == Runner::Pytest && !requirements.have_pytest && !optional.have_pytest {
        arguments.push("pytest".to_owned());
    }
    let mut commands = vec!["python3 -m venv .venv".to_owned()];
    if !groups.is_empty() {
        // older ones do not know groups
        commands.push(format!("{PYTHON} -m pip install -q 'pip>=25.1'"));
    }
    if !arguments.is_empty() {
        let arguments = arguments.join(" ");
        commands.push(format!("{PYTHON} -m pip install -q {arguments}"));
    }
    commands.join(" && ")
}
