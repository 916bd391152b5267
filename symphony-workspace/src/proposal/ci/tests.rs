//! Workflows as real projects have them, and what is read of each.

use super::*;

/// Commands as `folder: command`, the root as `.`.
fn read(workflow: &str) -> Vec<String> {
    let found = of_workflow(workflow).into_iter();
    found
        .map(|(folder, command)| {
            let folder = if folder.is_empty() { "." } else { &folder };
            format!("{folder}: {command}")
        })
        .collect()
}

#[test]
fn commands_of_their_own_are_read_and_nothing_else() {
    let workflow = "jobs:
  check:
    steps:
    - uses: actions/checkout@v4
    - run: cargo fmt -- --check
    - name: Clippy
      run: cargo clippy --locked --all-targets ${{ env.FEATURES }}
    - run: |
        cargo test

        echo \"x=$Y\" >> $GITHUB_OUTPUT
        cargo build | tee log
    - run: \"npm run lint\"
    - run: >
        tox
        run
    - with:
        run-it: no
";
    assert_eq!(
        read(workflow),
        [
            ".: cargo fmt -- --check",
            ".: cargo clippy --locked --all-targets",
            ".: cargo test",
            ".: npm run lint",
            ".: tox run",
        ]
    );
}

#[test]
fn workflows_of_real_projects_are_read_with_their_folders() {
    let table: [(&str, &str, &[&str]); 8] = [
        (
            "a folder of a step, before and after its script",
            "jobs:
  web:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/setup-node@v4
        with:
          node-version: 22
      - name: Lint
        working-directory: ./web
        run: npm run lint
      - run: npm test
        working-directory: web/
      - run: cargo test
",
            &["web: npm run lint", "web: npm test", ".: cargo test"],
        ),
        (
            "defaults of a job, and one step elsewhere",
            "on: [push]
defaults:
  run:
    shell: bash
jobs:
  backend:
    defaults:
      run:
        working-directory: backend
    steps:
      - run: uv sync --locked
      - run: uv run ruff check .
      - run: uv run mypy .
        working-directory: backend/api
  docs:
    steps:
      - run: mkdocs build
",
            &[
                "backend: uv sync --locked",
                "backend: uv run ruff check .",
                "backend/api: uv run mypy .",
                ".: mkdocs build",
            ],
        ),
        (
            "defaults of the whole workflow",
            "defaults:
  run:
    working-directory: 'app'
jobs:
  test:
    steps:
      - run: pytest -q  # fast ones
",
            &["app: pytest -q"],
        ),
        (
            "commands joined by &&, and a script that goes into a folder",
            "jobs:
  test:
    steps:
      - run: pip install -r requirements.txt && pip install ruff && ruff check src
      - run: |
          cd services/api
          python -m pip install -e .
          pytest --maxfail=1 \\
            --strict-markers
      - run: cd web && npm ci && npm run lint
",
            &[
                ".: pip install -r requirements.txt",
                ".: pip install ruff",
                ".: ruff check src",
                "services/api: python -m pip install -e .",
                "services/api: pytest --maxfail=1 --strict-markers",
                "web: npm ci",
                "web: npm run lint",
            ],
        ),
        (
            "what runs in some cases only is not read, nor what follows a variable",
            "jobs:
  test:
    steps:
      - run: |
          if [ -f tox.ini ]; then
            tox
          fi
      - run: |
          ruff check .
          export PYTHONPATH=src
          pytest
      - run: cd ${{ matrix.package }} && pytest
      - run: |
          cat <<EOF > conf
          pytest
          EOF
",
            &[".: ruff check ."],
        ),
        (
            "a matrix that ends a word, or is a folder",
            "jobs:
  test:
    steps:
      - run: tox -e py${{ matrix.python }}
      - run: nox -s tests -- ${{ matrix.args }}
      - run: pytest
        working-directory: packages/${{ matrix.package }}
",
            &[".: nox -s tests --"],
        ),
        (
            "another shell, and a list in the column of its key",
            "jobs:
  win:
    steps:
    - shell: pwsh
      run: pytest
    - run: mypy src
    - shell: bash -el {0}
      run: pytest tests
",
            &[".: mypy src", ".: pytest tests"],
        ),
        (
            "a folder outside of the project",
            "jobs:
  test:
    steps:
      - run: cd .. && pytest
      - run: pytest
        working-directory: /tmp/x
",
            &[],
        ),
    ];
    for (name, workflow, expected) in table {
        assert_eq!(read(workflow), expected, "{name}");
    }
}
