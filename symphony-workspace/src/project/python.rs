//! `pyproject.toml` and `requirements.txt`.

use toml::{Table, Value};

use super::ecosystem::{Ecosystem, Meanings, Packages, Stack, all, first, one_of};
use super::folder::Manifests;
use super::rust::{text, value};

const FRAMEWORKS: &Meanings = &[
    ("django", "Django"),
    ("fastapi", "FastAPI"),
    ("flask", "Flask"),
    ("litestar", "Litestar"),
    ("pyramid", "Pyramid"),
    ("tornado", "Tornado"),
    ("starlette", "Starlette"),
    ("aiohttp", "aiohttp"),
];

const UIS: &Meanings = &[
    ("textual", "Textual (Terminal UI)"),
    ("streamlit", "Streamlit"),
    ("gradio", "Gradio"),
    ("pyside6", "Qt"),
    ("pyqt6", "Qt"),
    ("pyqt5", "Qt"),
];

const TESTS: &Meanings = &[("pytest", "pytest"), ("nose2", "nose2")];

const DATABASES: &Meanings = &[
    ("sqlalchemy", "SQLAlchemy"),
    ("sqlmodel", "SQLModel"),
    ("peewee", "Peewee"),
    ("tortoise-orm", "Tortoise ORM"),
    ("psycopg", "PostgreSQL"),
    ("psycopg2", "PostgreSQL"),
    ("psycopg2-binary", "PostgreSQL"),
    ("asyncpg", "PostgreSQL"),
    ("mysqlclient", "MySQL"),
    ("pymysql", "MySQL"),
    ("aiosqlite", "SQLite"),
    ("pymongo", "MongoDB"),
    ("motor", "MongoDB"),
    ("redis", "Redis"),
];

/// What a build backend's module begins with.
const BACKENDS: &[(&str, &str)] = &[
    ("hatchling", "Hatch"),
    ("poetry", "Poetry"),
    ("setuptools", "setuptools"),
    ("flit", "Flit"),
    ("pdm", "PDM"),
    ("maturin", "maturin"),
    ("uv_build", "uv"),
    ("scikit_build_core", "scikit-build"),
];

/// Reads `pyproject.toml` and `requirements.txt`.
pub(super) fn detect(folder: &Manifests<'_>) -> Option<Ecosystem> {
    let project = folder.text("pyproject.toml");
    let requirements = folder.text("requirements.txt");
    if project.is_none() && requirements.is_none() {
        return None;
    }
    let manifest: Table =
        toml::from_str(project.as_deref().unwrap_or_default()).unwrap_or_default();
    let mut packages = packages(&manifest);
    let lines = requirements.iter().flat_map(|text| text.lines());
    packages.extend(lines.filter_map(package_name));
    let is_pytest = folder.has("pytest.ini")
        || folder.has("conftest.py")
        || value(&manifest, &["tool", "pytest"]).is_some();
    let named = all(&packages, TESTS);
    let poetry = |key| text(&manifest, &["tool", "poetry", key]);
    Some(Ecosystem {
        name: text(&manifest, &["project", "name"]).or_else(|| poetry("name")),
        description: text(&manifest, &["project", "description"]).or_else(|| poetry("description")),
        stack: Stack {
            runtime: vec!["python"],
            language: vec!["python"],
            framework: first(&packages, FRAMEWORKS),
            ui: first(&packages, UIS),
            testing: if named.is_empty() {
                one_of([(is_pytest, "pytest")])
            } else {
                named
            },
            database: all(&packages, DATABASES),
            build: build(&manifest),
            package_manager: one_of([
                (folder.has("uv.lock"), "uv"),
                (folder.has("poetry.lock"), "poetry"),
                (folder.has("pdm.lock"), "pdm"),
                (folder.has("Pipfile.lock"), "pipenv"),
                (true, "pip"),
            ]),
        },
    })
}

fn build(manifest: &Table) -> Vec<&'static str> {
    let backend = text(manifest, &["build-system", "build-backend"]).unwrap_or_default();
    let known = BACKENDS
        .iter()
        .find(|(module, _)| backend.starts_with(module));
    known.map(|(_, name)| *name).into_iter().collect()
}

fn packages(manifest: &Table) -> Packages {
    let mut found = Packages::new();
    let mut take = |list: Option<&Value>| {
        let items = list.and_then(Value::as_array).into_iter().flatten();
        found.extend(items.filter_map(|item| package_name(item.as_str()?)));
    };
    take(value(manifest, &["project", "dependencies"]));
    for path in [
        &["project", "optional-dependencies"][..],
        &["dependency-groups"],
    ] {
        let groups = value(manifest, path).and_then(Value::as_table);
        for (_, list) in groups.into_iter().flatten() {
            take(Some(list));
        }
    }
    take(value(manifest, &["tool", "uv", "dev-dependencies"]));
    let mut take_keys = |table: Option<&Table>| {
        let names = table.into_iter().flat_map(Table::keys);
        found.extend(names.filter_map(|name| package_name(name)));
    };
    for key in ["dependencies", "dev-dependencies"] {
        take_keys(value(manifest, &["tool", "poetry", key]).and_then(Value::as_table));
    }
    let groups = value(manifest, &["tool", "poetry", "group"]).and_then(Value::as_table);
    for (_, group) in groups.into_iter().flatten() {
        take_keys(group.get("dependencies").and_then(Value::as_table));
    }
    found
}

/// Returns the normal form of the package that a requirement begins with.
fn package_name(requirement: &str) -> Option<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let requirement = requirement.trim();
    let name = requirement.split(|c| !is_part(c)).next()?;
    (!name.is_empty() && !name.starts_with('-'))
        .then(|| name.to_ascii_lowercase().replace(['_', '.'], "-"))
}
