//! Which gates and which set-up command the files of a commit suggest.

use symphony_core::config::{CommandLine, Gate};
use symphony_workspace::proposal::{ProjectFiles, Proposal, propose};

/// Names of files with their texts.
type Files<'a> = &'a [(&'a str, &'a str)];
/// Names of gates with their commands.
type Gates<'a> = &'a [(&'a str, &'a str)];

const NPM: &str = r#"{"scripts": {"test": "jest"}, "devDependencies": {"jest": "1"}}"#;
const MAKE: &str = "CC := gcc\nall: build\n\n.PHONY: test\ntest: build\n\t./run\n";

fn of(files: Files<'_>) -> Proposal {
    let all = files
        .iter()
        .fold(ProjectFiles::default(), |all, (path, text)| {
            all.with_text(*path, *text)
        });
    propose(&all)
}

#[track_caller]
fn assert_proposes(files: Files<'_>, setup: &str, gates: Gates<'_>) {
    let found = of(files);
    let expected: Vec<Gate> = gates
        .iter()
        .map(|(name, command)| Gate::new(*name, CommandLine::Shell((*command).to_owned())))
        .collect();
    let names = files.iter().map(|(name, _)| *name).collect::<Vec<_>>();
    assert_eq!(found.gates, expected, "{names:?}");
    let found = found.setup.map(|line| line.to_string()).unwrap_or_default();
    assert_eq!(found, setup, "{names:?}");
}

#[test]
fn each_ecosystem_has_its_set_up_and_its_tests() {
    let php = r#"{"scripts": {"test": ["phpunit"]}}"#;
    let cases: &[(Files<'_>, &str, &str)] = &[
        (
            &[("Cargo.toml", "[package]\nname = \"a\"\n")],
            "cargo fetch",
            "cargo test",
        ),
        (
            &[("Cargo.toml", "[package]\n"), ("Cargo.lock", "")],
            "cargo fetch --locked",
            "cargo test",
        ),
        (
            &[("Cargo.toml", "[workspace]\n")],
            "cargo fetch",
            "cargo test",
        ),
        (
            &[("Cargo.toml", "[package]\n[workspace]\n")],
            "cargo fetch",
            "cargo test --workspace",
        ),
        (
            &[("Cargo.toml", "[workspace]\ndefault-members = [\"a\"]\n")],
            "cargo fetch",
            "cargo test --workspace",
        ),
        (
            &[("go.mod", "module a\n")],
            "go mod download",
            "go test ./...",
        ),
        (
            &[("Gemfile", ""), (".rspec", "")],
            "bundle install",
            "bundle exec rspec",
        ),
        (
            &[("Gemfile", ""), ("Rakefile", ""), ("test/a.rb", "")],
            "bundle install",
            "bundle exec rake test",
        ),
        (
            &[("composer.json", php)],
            "composer install --no-interaction",
            "composer test",
        ),
        (
            &[("composer.json", "{}"), ("phpunit.xml.dist", "")],
            "composer install --no-interaction",
            "vendor/bin/phpunit",
        ),
        (&[("mix.exs", "")], "mix deps.get", "mix test"),
        (
            &[("Package.swift", "")],
            "swift package resolve",
            "swift test",
        ),
        (
            &[("App.sln", ""), ("src/App/App.csproj", "")],
            "dotnet restore",
            "dotnet test",
        ),
        (
            &[("pom.xml", ""), ("mvnw", ""), ("core/pom.xml", "")],
            "./mvnw -q -B dependency:go-offline",
            "./mvnw -B test",
        ),
        (
            &[("build.gradle.kts", ""), ("gradlew", "")],
            "",
            "./gradlew --no-daemon test",
        ),
        (
            &[("deno.json", r#"{"tasks": {"test": "deno test -A"}}"#)],
            "deno install",
            "deno task test",
        ),
        (
            &[("deno.json", "{}"), ("src/a_test.ts", "")],
            "deno install",
            "deno test",
        ),
        (&[("Makefile", MAKE)], "", "make test"),
        (
            &[("justfile", "test filter:\n  ./run {{filter}}\n")],
            "",
            "just test",
        ),
        (&[("Makefile", "all:\ncheck: all\n")], "", "make check"),
        (
            &[("Makefile", MAKE), ("go.mod", "")],
            "go mod download",
            "go test ./...",
        ),
    ];
    for (files, setup, test) in cases {
        assert_proposes(files, setup, &[("test", test)]);
    }
}

#[test]
fn nothing_is_proposed_where_nothing_checks() {
    let cases: &[Files<'_>] = &[
        &[],
        &[("README.md", "")],
        &[("Makefile", "test := x\nlatest: all\n")],
        &[("package.json", "{ broken")],
        &[("package.json", "[]")],
        &[
            ("pyproject.toml", "[project]\nname = \"a\"\n"),
            ("a.py", ""),
        ],
        &[("deno.json", "{}"), ("main.ts", "")],
        &[("Gemfile", "")],
        // examples and fixtures are not the project
        &[
            ("examples/web/package.json", NPM),
            ("tests/fixtures/a/Cargo.toml", "[package]"),
        ],
        &[("a/b/c/d/e/go.mod", "")],
    ];
    for files in cases {
        assert_proposes(files, "", &[]);
    }
}

#[test]
fn the_manager_of_node_packages_follows_from_the_lock_file() {
    let modern = "# This file is generated\n__metadata:\n  version: 8\n";
    let named = r#"{"packageManager": "yarn@4.1.0", "scripts": {"test": "jest"}, "dependencies": {"a": "1"}}"#;
    let cases: &[(Files<'_>, &str, &str)] = &[
        (
            &[("package.json", NPM), ("package-lock.json", "")],
            "npm ci",
            "npm test",
        ),
        (
            &[("package.json", NPM), ("npm-shrinkwrap.json", "")],
            "npm ci",
            "npm test",
        ),
        // a lock file that the install would write looks like the agent's work
        (
            &[("package.json", NPM)],
            "npm install --no-package-lock",
            "npm test",
        ),
        (
            &[("package.json", NPM), ("pnpm-lock.yaml", "")],
            "pnpm install --frozen-lockfile",
            "pnpm test",
        ),
        (
            &[("package.json", NPM), ("yarn.lock", "# yarn lockfile v1\n")],
            "yarn install --frozen-lockfile",
            "yarn test",
        ),
        (
            &[("package.json", NPM), ("yarn.lock", modern)],
            "yarn install --immutable",
            "yarn test",
        ),
        (
            &[("package.json", named), ("yarn.lock", "")],
            "yarn install --immutable",
            "yarn test",
        ),
        (
            &[("package.json", NPM), ("bun.lock", "")],
            "bun install --frozen-lockfile",
            "bun run test",
        ),
        // nothing to install
        (
            &[("package.json", r#"{"scripts": {"test": "node --test"}}"#)],
            "",
            "npm test",
        ),
        // its hooks are not for worktrees
        (
            &[
                (
                    "package.json",
                    r#"{"scripts": {"test": "node --test", "prepare": "husky"}, "devDependencies": {"husky": "9"}}"#,
                ),
                ("package-lock.json", ""),
            ],
            "HUSKY=0 npm ci",
            "npm test",
        ),
        (
            &[
                ("package.json", r#"{"packageManager": "bun@1.2.0"}"#),
                ("a.test.ts", ""),
            ],
            "",
            "bun test",
        ),
    ];
    for (files, setup, test) in cases {
        assert_proposes(files, setup, &[("test", test)]);
    }
}

#[test]
fn a_script_that_does_not_end_or_checks_nothing_is_no_gate() {
    let bins = "PATH=\"$PWD/node_modules/.bin:$PATH\"";
    let cases: &[(&str, &str)] = &[
        (
            r#""test": "echo \"Error: no test specified\" && exit 1""#,
            "",
        ),
        (r#""test": "echo ok""#, ""),
        (r#""test": " ""#, ""),
        (r#""pretest": "x""#, ""),
        (r#""test": "mocha""#, "npm test"),
        (r#""test": "vitest run""#, "npm test"),
        (r#""test": "vitest""#, "CI=true npm test"),
        (r#""test": "react-scripts test""#, "CI=true npm test"),
        (
            r#""test": "react-scripts test --watchAll=false""#,
            "npm test",
        ),
        (r#""test": "ng test""#, "npm test -- --watch=false"),
        (r#""test": "karma start""#, "npm test -- --single-run"),
        (
            r#""test": "jest --watch --coverage""#,
            &format!("{bins} jest --coverage"),
        ),
        (r#""test": "vitest watch""#, &format!("{bins} vitest run")),
        (r#""test": "mocha -w spec""#, &format!("{bins} mocha spec")),
        (
            r#""test": "tsx watch test.ts""#,
            &format!("{bins} tsx test.ts"),
        ),
        (r#""test": "nodemon --exec mocha""#, ""),
        (r#""test": "build && jest --watch""#, ""),
        (
            r#""test": "jest --watch", "test:ci": "jest --ci""#,
            "npm run test:ci",
        ),
        (
            r#""test": "npm run test:watch", "test:watch": "jest --watchAll""#,
            &format!("{bins} jest"),
        ),
        (r#""test": "npm run unit", "unit": "jest""#, "npm test"),
        (r#""test": "npm run test""#, "npm test"),
        (r#""test": "jest --fix""#, ""),
    ];
    for (scripts, test) in cases {
        let manifest = format!("{{\"scripts\": {{{scripts}}}}}");
        let expected = [("test", *test)];
        let expected = if test.is_empty() { &[][..] } else { &expected };
        assert_proposes(&[("package.json", &manifest)], "", expected);
    }
    let found = of(&[("package.json", r#"{"scripts": {"test": "nodemon x"}}"#)]);
    let notes: Vec<String> = found.notes.iter().map(ToString::to_string).collect();
    assert_eq!(
        notes,
        ["package.json: the script `test` watches files and does not end on its own"]
    );
}

#[test]
fn checks_of_types_and_style_come_from_scripts_that_exist() {
    let scripts = |scripts: &str| format!("{{\"scripts\": {{{scripts}}}}}");
    assert_proposes(
        &[(
            "package.json",
            &scripts(
                r#""test": "jest", "lint": "eslint .", "typecheck": "tsc --noEmit", "build": "tsc""#,
            ),
        )],
        "",
        &[
            ("test", "npm test"),
            ("lint", "npm run lint"),
            ("types", "npm run typecheck"),
        ],
    );
    assert_proposes(
        &[(
            "package.json",
            &scripts(r#""test": "jest", "lint": "eslint --fix .""#),
        )],
        "",
        &[("test", "npm test")],
    );
    assert_proposes(
        &[("package.json", &scripts(r#""build": "tsc""#))],
        "",
        &[("build", "npm run build")],
    );
}

#[test]
fn tests_of_python_get_an_environment_of_their_own() {
    const VENV: &str = "python3 -m venv .venv";
    const PIP: &str = ".venv/bin/python -m pip install -q";
    const GATE: &str = ".venv/bin/python -m pytest";
    let ini = "[tool.pytest.ini_options]\n[build-system]\n[project]\nname = \"a\"\n";
    let extra = "[build-system]\n[project.optional-dependencies]\ndocs = [\"sphinx\"]\ntest = [\"pytest>=7\"]\n";
    let group =
        "[project]\nname = \"a\"\n[dependency-groups]\nlint = [\"ruff\"]\ntests = [\"pytest\"]\n";
    let cfg = "[metadata]\n[options.extras_require]\ndocs =\n    sphinx\ntesting =\n    pytest\n    mock\n[flake8]\n";
    let setup_py = "setup(extras_require={'docs': ['sphinx'], 'dev': ['pytest']})";
    let cases: &[(Files<'_>, String, &str)] = &[
        // of the kind of requests: the requirements install the project too
        (
            &[
                ("setup.py", "setup()"),
                ("pyproject.toml", "[tool.pytest.ini_options]\n"),
                (
                    "requirements-dev.txt",
                    "-e .[socks]\npytest>=2.8.0,<9\npytest-httpbin==2.1.0\n",
                ),
            ],
            format!("{VENV} && {PIP} -r requirements-dev.txt"),
            GATE,
        ),
        (
            &[("pyproject.toml", ini)],
            format!("{VENV} && {PIP} -e . pytest"),
            GATE,
        ),
        (
            &[("pyproject.toml", extra)],
            format!("{VENV} && {PIP} -e '.[test]'"),
            GATE,
        ),
        (
            &[("pyproject.toml", group)],
            format!("{VENV} && {PIP} 'pip>=25.1' && {PIP} -e . --group tests"),
            GATE,
        ),
        (
            &[("setup.py", ""), ("setup.cfg", cfg)],
            format!("{VENV} && {PIP} -e '.[testing]'"),
            GATE,
        ),
        (
            &[("setup.py", setup_py)],
            format!("{VENV} && {PIP} -e '.[dev]'"),
            GATE,
        ),
        (
            &[("requirements.txt", "flask\n"), ("tests/test_app.py", "")],
            format!("{VENV} && {PIP} -r requirements.txt pytest"),
            GATE,
        ),
        (
            &[
                ("requirements.txt", "flask\n"),
                ("requirements/test.txt", "-r ../requirements.txt\npytest\n"),
            ],
            format!("{VENV} && {PIP} -r requirements/test.txt"),
            GATE,
        ),
        (
            &[
                ("requirements.txt", "flask\n"),
                ("requirements-dev.txt", "pytest\n"),
            ],
            format!("{VENV} && {PIP} -r requirements.txt -r requirements-dev.txt"),
            GATE,
        ),
        (
            &[("tests/conftest.py", "")],
            format!("{VENV} && {PIP} pytest"),
            GATE,
        ),
        (
            &[("manage.py", ""), ("requirements.txt", "django\n")],
            format!("{VENV} && {PIP} -r requirements.txt"),
            ".venv/bin/python manage.py test",
        ),
    ];
    for (files, setup, test) in cases {
        assert_proposes(files, setup, &[("test", test)]);
    }
}

#[test]
fn a_lock_file_of_python_names_the_tool() {
    let dev = "[dependency-groups]\ndev = [\"pytest\"]\n";
    let extra = "[project.optional-dependencies]\ntest = [\"pytest\"]\n";
    let workspace = "[dependency-groups]\ndev = [\"pytest\"]\n[tool.uv.workspace]\nmembers = [\"packages/*\"]\n";
    let cases: &[(Files<'_>, &str, &str)] = &[
        (
            &[("pyproject.toml", dev), ("uv.lock", "")],
            "uv sync --locked",
            "uv run pytest",
        ),
        (
            &[("pyproject.toml", extra), ("uv.lock", "")],
            "uv sync --locked --extra test",
            "uv run pytest",
        ),
        (
            &[
                ("pyproject.toml", ""),
                ("uv.lock", ""),
                ("tests/test_a.py", ""),
            ],
            "uv sync --locked",
            "uv run --with pytest pytest",
        ),
        (
            &[
                ("pyproject.toml", workspace),
                ("uv.lock", ""),
                ("packages/a/pyproject.toml", dev),
            ],
            "uv sync --locked --all-packages",
            "uv run pytest",
        ),
        (
            &[
                ("pyproject.toml", "[tool.poetry]\n[tool.pytest]\n"),
                ("poetry.lock", ""),
            ],
            "POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --no-interaction",
            "poetry run pytest",
        ),
        (
            &[("pyproject.toml", "[tool.pytest]\n"), ("pdm.lock", "")],
            "pdm sync -G :all",
            "pdm run pytest",
        ),
        (
            &[("Pipfile", "pytest = \"*\"\n"), ("Pipfile.lock", "")],
            "PIPENV_VENV_IN_PROJECT=1 pipenv sync --dev",
            "PIPENV_VENV_IN_PROJECT=1 pipenv run pytest",
        ),
    ];
    for (files, setup, test) in cases {
        assert_proposes(files, setup, &[("test", test)]);
    }
}

#[test]
fn several_stacks_have_gates_of_their_own_in_their_folders() {
    let workspace = "[workspace]\nmembers = [\"crates/*\"]\nexclude = [\"tool\"]\n";
    assert_proposes(
        &[
            ("Cargo.lock", ""),
            ("Cargo.toml", workspace),
            ("crates/a/Cargo.toml", "[package]\n"),
            ("tool/Cargo.toml", "[package]\n"),
            ("web/package-lock.json", ""),
            ("web/package.json", NPM),
        ],
        "cargo fetch --locked && (cd tool && cargo fetch) && (cd web && npm ci)",
        &[
            ("test-rust", "cargo test"),
            ("test-tool", "cd tool && cargo test"),
            ("test-web", "cd web && npm test"),
        ],
    );
    assert_proposes(
        &[
            ("package.json", NPM),
            ("package-lock.json", ""),
            ("pyproject.toml", "[tool.pytest]\n"),
            ("uv.lock", ""),
        ],
        "npm ci && uv sync --locked",
        &[("test-node", "npm test"), ("test-python", "uv run pytest")],
    );
    // the same name twice, two ecosystems in one folder, and a name that the shell would take apart
    assert_proposes(
        &[
            ("a/api/go.mod", ""),
            ("b/api/go.mod", ""),
            ("c/go.mod", ""),
            ("c/Cargo.toml", ""),
            ("my web/package.json", r#"{"scripts": {"test": "jest"}}"#),
        ],
        "(cd a/api && go mod download) && (cd b/api && go mod download) && (cd c && cargo fetch) && (cd c && go mod download)",
        &[
            ("test-a-api", "cd a/api && go test ./..."),
            ("test-b-api", "cd b/api && go test ./..."),
            ("test-c-rust", "cd c && cargo test"),
            ("test-c-go", "cd c && go test ./..."),
            ("test-my-web", "cd './my web' && npm test"),
        ],
    );
}

#[test]
fn members_of_a_workspace_are_checked_from_its_root() {
    let root = r#"{"workspaces": ["packages/*"]}"#;
    let tested =
        r#"{"workspaces": {"packages": ["packages/*"]}, "scripts": {"test": "turbo test"}}"#;
    let member = ("packages/a/package.json", NPM);
    let cases: &[(Files<'_>, &str, Gates<'_>)] = &[
        (
            &[("package.json", root), ("package-lock.json", ""), member],
            "npm ci",
            &[("test", "npm test --workspaces --if-present")],
        ),
        (
            &[("package.json", tested), ("package-lock.json", ""), member],
            "npm ci",
            &[("test", "npm test")],
        ),
        (
            &[
                ("package.json", "{}"),
                (
                    "pnpm-workspace.yaml",
                    "packages:\n  # all\n  - 'packages/*'\n",
                ),
                ("pnpm-lock.yaml", ""),
                member,
            ],
            "pnpm install --frozen-lockfile",
            &[("test", "pnpm -r test")],
        ),
        // a package that no workspace takes has a set-up of its own
        (
            &[
                ("package.json", tested),
                ("package-lock.json", ""),
                member,
                ("site/package.json", NPM),
                ("site/yarn.lock", ""),
            ],
            "npm ci && (cd site && yarn install --frozen-lockfile)",
            &[
                ("test-node", "npm test"),
                ("test-site", "cd site && yarn test"),
            ],
        ),
    ];
    for (files, setup, gates) in cases {
        assert_proposes(files, setup, gates);
    }
}

#[test]
fn what_set_up_and_gates_fill_is_named() {
    let found = of(&[
        ("Cargo.toml", ""),
        ("web/package.json", NPM),
        ("pyproject.toml", "[tool.pytest]\n"),
    ]);
    assert_eq!(found.fills, ["target/", ".venv/", "web/node_modules/"]);
    let committed = of(&[
        ("composer.json", "{}"),
        ("phpunit.xml", ""),
        ("vendor/a.php", ""),
    ]);
    assert_eq!(committed.fills, [""; 0]);
}

#[test]
fn what_the_workflows_run_is_proposed_too() {
    let workflow = "jobs:\n  a:\n    steps:\n    - run: cargo fmt --all -- --check\n    - run: cargo clippy --all-targets -- -D warnings\n    - run: npm run check:format\n";
    let ci = (".github/workflows/ci.yml", workflow);
    assert_proposes(
        &[("Cargo.toml", "[package]\n"), ci],
        "cargo fetch",
        &[
            ("test", "cargo test"),
            ("lint", "cargo clippy --all-targets -- -D warnings"),
            ("format", "cargo fmt --all -- --check"),
        ],
    );
    let scripts = r#"{"scripts": {"test": "jest", "check:format": "prettier --check ."}, "devDependencies": {"jest": "1"}}"#;
    for (files, has_format) in [(&[ci][..], true), (&[], false)] {
        let files = [&[("package.json", scripts)], files].concat();
        let gates = of(&files).gates;
        let found = gates.iter().any(|gate| gate.name == "format");
        assert_eq!(found, has_format, "{gates:?}");
    }
    let python = "defaults:\n  run:\n    working-directory: api\njobs:\n  a:\n    steps:\n    - run: pip install -e . && ruff check .\n    - run: |\n        ruff format --check .\n        mypy src\n";
    let python = (".github/workflows/ci.yml", python);
    assert_proposes(
        &[
            ("api/requirements.txt", "pytest\n"),
            ("api/src/a.py", ""),
            python,
        ],
        "(cd api && python3 -m venv .venv && .venv/bin/python -m pip install -q -r requirements.txt && .venv/bin/python -m pip install -q ruff mypy)",
        &[
            ("test", "cd api && .venv/bin/python -m pytest"),
            ("lint", "cd api && .venv/bin/python -m ruff check ."),
            (
                "format",
                "cd api && .venv/bin/python -m ruff format --check .",
            ),
            ("types", "cd api && .venv/bin/python -m mypy src"),
        ],
    );
    let nox =
        "jobs:\n  a:\n    steps:\n    - run: uv run nox -s tests\n    - run: uv run ruff check\n";
    assert_proposes(
        &[
            ("pyproject.toml", "[project]\n"),
            ("uv.lock", ""),
            (".github/workflows/ci.yml", nox),
        ],
        "uv sync --locked",
        &[
            ("test", "uv run nox -s tests"),
            ("lint", "uv run ruff check"),
        ],
    );
    // a package below the root has workflows of its own, or none
    let below = of(&[("web/Cargo.toml", "[package]\n"), ci]);
    assert_eq!(below.gates.len(), 1, "{below:?}");
}
