//! What projects are made of, told from real folders.

use std::fs;
use std::path::Path;

use symphony_workspace::{DetectedProject, detect_project};

/// Files with their texts, and the name and the stack that are told from them.
type Row = (
    &'static [(&'static str, &'static str)],
    &'static str,
    &'static str,
);

/// Makes a folder `app` with files.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("app");
    fs::create_dir(&root).unwrap();
    for (name, text) in files {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    place
}

fn detect(files: &[(&str, &str)]) -> DetectedProject {
    detect_project(&folder(files).path().join("app"), None)
}

/// Says a stack as `Label=value; …`.
fn stack(project: &DetectedProject) -> String {
    let pairs = project.tech_stack.iter();
    let texts: Vec<String> = pairs
        .map(|(label, value)| format!("{label}={value}"))
        .collect();
    texts.join("; ")
}

#[test]
fn a_bun_project_has_the_stack_and_the_patterns_of_the_specification() {
    let package = r#"{
        "name": "symphony", "description": "Claude Code Parallel Session Orchestrator",
        "scripts": {"build": "bun build src/index.ts --outdir dist", "test": "bun test"},
        "dependencies": {"ink": "^5", "react": "^18"},
        "devDependencies": {"@types/bun": "latest", "typescript": "^5"}
    }"#;
    let expected = DetectedProject {
        name: "symphony".to_owned(),
        description: "Claude Code Parallel Session Orchestrator".to_owned(),
        tech_stack: [
            ("Runtime", "bun"),
            ("Language", "typescript"),
            ("Framework", "None"),
            ("UI", "Ink (Terminal UI)"),
            ("Testing", "Bun Test"),
            ("Build", "Bun Bundler"),
            ("Package Manager", "bun"),
        ]
        .map(|(label, value)| (label.to_owned(), value.to_owned()))
        .to_vec(),
        patterns: [
            "Use Bun APIs (Bun.file, Bun.serve, etc.) instead of Node.js equivalents",
            "Use bun:sqlite for database operations if SQLite is needed",
            "Use TypeScript with proper type annotations",
            "Write tests using describe/it/expect pattern",
        ]
        .map(str::to_owned)
        .to_vec(),
    };
    assert_eq!(
        detect(&[("package.json", package), ("bun.lock", "")]),
        expected
    );
}

#[test]
fn every_ecosystem_is_told_by_its_manifests() {
    let table: &[Row] = &[
        (
            &[
                (
                    "package.json",
                    r#"{"name": "@a/web", "dependencies": {"next": "15", "react": "19", "pg": "8"}, "devDependencies": {"vitest": "3", "typescript": "5"}}"#,
                ),
                ("pnpm-lock.yaml", ""),
            ],
            "@a/web",
            "Runtime=node; Language=typescript; Framework=Next.js; UI=React; Testing=Vitest; Database=PostgreSQL; Package Manager=pnpm",
        ),
        (
            &[
                (
                    "package.json",
                    r#"{"scripts": {"test": "node --test", "build": "tsc -p ."}, "packageManager": "yarn@4.1.0"}"#,
                ),
                ("package-lock.json", "{}"),
            ],
            "app",
            "Runtime=node; Language=javascript; Framework=None; Testing=Node Test Runner; Build=tsc; Package Manager=yarn",
        ),
        (
            &[("package.json", "{}"), ("deno.jsonc", "{}")],
            "app",
            "Runtime=deno; Language=javascript; Framework=None; Package Manager=npm",
        ),
        (
            &[
                (
                    "Cargo.toml",
                    "[package]\nname = \"api\"\n[dependencies]\naxum = \"0.8\"\ntokio.workspace = true\nrusqlite = { version = \"0.40\" }\n",
                ),
                (".config/nextest.toml", ""),
            ],
            "api",
            "Runtime=tokio; Language=rust; Framework=Axum; Testing=cargo nextest; Database=SQLite; Build=Cargo; Package Manager=cargo",
        ),
        (
            &[(
                "Cargo.toml",
                "[workspace]\nmembers = []\n[workspace.dependencies]\nratatui = \"1\"\n",
            )],
            "app",
            "Runtime=native; Language=rust; Framework=None; UI=Ratatui (Terminal UI); Testing=cargo test; Build=Cargo; Package Manager=cargo",
        ),
        (
            &[
                (
                    "pyproject.toml",
                    "[project]\nname = \"svc\"\ndependencies = [\"FastAPI>=0.1\", \"psycopg[binary]\"]\n[dependency-groups]\ndev = [\"pytest>=8\"]\n[build-system]\nbuild-backend = \"hatchling.build\"\n",
                ),
                ("uv.lock", ""),
            ],
            "svc",
            "Runtime=python; Language=python; Framework=FastAPI; Testing=pytest; Database=PostgreSQL; Build=Hatch; Package Manager=uv",
        ),
        (
            &[
                (
                    "pyproject.toml",
                    "[tool.poetry]\nname = \"old\"\n[tool.poetry.dependencies]\nDjango = \"^5\"\n[build-system]\nbuild-backend = \"poetry.core.masonry.api\"\n",
                ),
                ("poetry.lock", ""),
            ],
            "old",
            "Runtime=python; Language=python; Framework=Django; Build=Poetry; Package Manager=poetry",
        ),
        (
            &[
                (
                    "requirements.txt",
                    "# web\n-r base.txt\nFlask==3.0 # why\nSQLAlchemy\n",
                ),
                ("conftest.py", ""),
            ],
            "app",
            "Runtime=python; Language=python; Framework=Flask; Testing=pytest; Database=SQLAlchemy; Package Manager=pip",
        ),
        (
            &[(
                "go.mod",
                "module example.org/team/tool/v2 // hi\n\nrequire (\n\tgithub.com/go-chi/chi/v5 v5.0.0\n\tgithub.com/lib/pq v1.0.0 // indirect\n)\n",
            )],
            "tool",
            "Runtime=go; Language=go; Framework=chi; Testing=go test; Build=go build; Package Manager=go modules",
        ),
        (
            &[(
                "pom.xml",
                "<project><parent><artifactId>spring-boot-starter-parent</artifactId></parent><artifactId>shop</artifactId><description>A shop</description><dependencies><dependency><artifactId>junit-jupiter</artifactId></dependency><dependency><artifactId>postgresql</artifactId></dependency></dependencies></project>",
            )],
            "shop",
            "Runtime=jvm; Language=java; Framework=Spring Boot; Testing=JUnit; Database=PostgreSQL; Build=Maven; Package Manager=maven",
        ),
        (
            &[
                (
                    "build.gradle.kts",
                    "plugins { kotlin(\"jvm\") }\ndependencies { implementation(\"io.ktor:ktor-server\") }\n",
                ),
                ("settings.gradle.kts", "rootProject.name = \"calls\"\n"),
            ],
            "calls",
            "Runtime=jvm; Language=kotlin; Framework=Ktor; Build=Gradle; Package Manager=gradle",
        ),
        (
            &[
                (
                    "Gemfile",
                    "source 'https://x'\ngem 'rails', '~> 8'\n  gem \"pg\"\ngem('rspec-rails')\n",
                ),
                ("Rakefile", ""),
            ],
            "app",
            "Runtime=ruby; Language=ruby; Framework=Ruby on Rails; Testing=RSpec; Database=PostgreSQL; Build=Rake; Package Manager=bundler",
        ),
        (
            &[(
                "composer.json",
                r#"{"name": "a/b", "require": {"php": ">=8", "laravel/framework": "12"}, "require-dev": {"pestphp/pest": "3"}}"#,
            )],
            "a/b",
            "Runtime=php; Language=php; Framework=Laravel; Testing=Pest; Package Manager=composer",
        ),
        (
            &[(
                "mix.exs",
                "[app: :chat_app, deps: [{:phoenix, \"~> 1\"}, {:phoenix_live_view, \"~> 1\"}, {:postgrex, \"x\"}]]",
            )],
            "chat_app",
            "Runtime=beam; Language=elixir; Framework=Phoenix; UI=Phoenix LiveView; Testing=ExUnit; Database=PostgreSQL; Build=Mix; Package Manager=hex",
        ),
        (
            &[(
                "src/Shop/Shop.csproj",
                "<Project Sdk=\"Microsoft.NET.Sdk.Web\"><PackageReference Include=\"xunit\" /></Project>",
            )],
            "Shop",
            "Runtime=.net; Language=c#; Framework=ASP.NET Core; Testing=xUnit; Build=MSBuild; Package Manager=nuget",
        ),
        (
            &[
                ("Cargo.toml", "[package]\nname = \"engine\"\n"),
                (
                    "package.json",
                    r#"{"name": "ui", "devDependencies": {"vite": "7", "svelte": "5"}}"#,
                ),
            ],
            "ui",
            "Runtime=node, native; Language=javascript, rust; Framework=None; UI=Svelte; Testing=cargo test; Build=Vite, Cargo; Package Manager=npm, cargo",
        ),
        (&[("README.md", "# app")], "app", ""),
    ];
    for (files, name, expected) in table {
        let found = detect(files);
        assert_eq!(
            (found.name.as_str(), stack(&found).as_str()),
            (*name, *expected),
            "{files:?}"
        );
    }
}

#[test]
fn what_can_not_be_read_says_nothing() {
    let place = folder(&[]);
    let root = place.path().join("app");
    fs::write(place.path().join("outside.json"), r#"{"name": "secret"}"#).unwrap();
    std::os::unix::fs::symlink("../outside.json", root.join("package.json")).unwrap();
    fs::write(root.join("Cargo.toml"), b"\xff\xfe not toml [[[").unwrap();
    fs::create_dir(root.join("go.mod")).unwrap();
    let found = detect_project(&root, None);
    assert_eq!(found.name, "app");
    assert_eq!(
        stack(&found),
        "Runtime=native; Language=rust; Framework=None; Testing=cargo test; Build=Cargo; Package Manager=cargo"
    );
    for (otherwise, name) in [(None, "such folder"), (Some("shop"), "shop")] {
        let found = detect_project(Path::new("/no/such folder"), otherwise);
        assert_eq!(found.name, name);
    }
}

#[test]
fn names_and_descriptions_are_one_line_of_bounded_length() {
    let text = "word \\n".repeat(1_000);
    let package = format!(r#"{{"name": "a\n\n## Tasks", "description": "{text}"}}"#);
    let found = detect(&[("package.json", &package)]);
    assert_eq!(found.name, "a ## Tasks");
    assert!(found.description.starts_with("word word word"));
    assert_eq!(found.description.chars().count(), 500);
}
