//! What projects are made of, told from real folders.

use std::fs;
use std::path::Path;

use symphony_workspace::{DetectedProject, detect_part, detect_project};

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

/// A monorepo: an npm workspace with a web client in TypeScript, and a Cargo workspace beside it.
const MONOREPO: &[(&str, &str)] = &[
    (
        "package.json",
        r#"{"name": "shop", "packageManager": "pnpm@9.1.0", "devDependencies": {"turbo": "2"}}"#,
    ),
    (
        "pnpm-workspace.yaml",
        "# ours\npackages:\n  - 'packages/*'\n  - \"!packages/old\"\ncatalog: {}\n",
    ),
    (
        "packages/web/package.json",
        r#"{"dependencies": {"next": "15", "react": "19"}, "devDependencies": {"vitest": "3", "typescript": "5"}}"#,
    ),
    ("packages/web/src/page.tsx", ""),
    (
        "packages/db/package.json",
        r#"{"dependencies": {"drizzle-orm": "1"}}"#,
    ),
    (
        "packages/old/package.json",
        r#"{"dependencies": {"gatsby": "5"}}"#,
    ),
    (
        "Cargo.toml",
        "[workspace]\nmembers = [\"crates/*\"]\nexclude = [\"crates/spike\"]\n",
    ),
    (
        "crates/api/Cargo.toml",
        "[package]\nname = \"api\"\n[dependencies]\naxum = \"0.8\"\ntokio = \"1\"\nsqlx = \"0.8\"\n",
    ),
    ("crates/api/src/lib.rs", ""),
    (
        "crates/spike/Cargo.toml",
        "[package]\nname = \"s\"\n[dependencies]\nbevy = \"0.15\"\n",
    ),
    ("tools/report/package-lock.json", "{}"),
    (
        "tools/report/package.json",
        r#"{"dependencies": {"pg": "8"}}"#,
    ),
];

#[test]
fn the_members_of_workspaces_count() {
    assert_eq!(
        stack(&detect(MONOREPO)),
        "Runtime=node, tokio; Language=typescript, rust; Framework=Next.js, Axum; UI=React; \
         Testing=Vitest, cargo test; Database=Drizzle, SQLx; Build=Turborepo, Cargo; Package Manager=pnpm, cargo"
    );
    for (files, expected) in [
        (
            &[
                (
                    "package.json",
                    r#"{"workspaces": {"packages": ["apps/**"]}}"#,
                ),
                ("bun.lock", ""),
                (
                    "apps/a/b/package.json",
                    r#"{"dependencies": {"hono": "4"}}"#,
                ),
                (
                    "apps/node_modules/x/package.json",
                    r#"{"dependencies": {"koa": "2"}}"#,
                ),
            ][..],
            "Runtime=bun; Language=javascript; Framework=Hono; Testing=Bun Test; Package Manager=bun",
        ),
        (
            &[
                (
                    "pyproject.toml",
                    "[project]\nname = \"p\"\n[tool.uv.workspace]\nmembers = [\"libs/*\"]\n[dependency-groups]\nci = [\"pytest\"]\n",
                ),
                ("uv.lock", ""),
                (
                    "libs/api/pyproject.toml",
                    "[project]\nname = \"api\"\ndependencies = [\"fastapi>=0.1\"]\n",
                ),
            ],
            "Runtime=python; Language=python; Framework=FastAPI; Testing=pytest; Package Manager=uv",
        ),
        (
            &[(
                "pyproject.toml",
                "[tool.poetry.group.quality.dependencies]\npytest = \"*\"\n",
            )],
            "Runtime=python; Language=python; Framework=None; Testing=pytest; Package Manager=pip",
        ),
        (
            &[
                ("go.work", "go 1.22\n\nuse (\n\t./api\n\t./../out\n)\n"),
                (
                    "api/go.mod",
                    "module example.com/api\nrequire github.com/gin-gonic/gin v1\n",
                ),
            ],
            "Runtime=go; Language=go; Framework=Gin; Testing=go test; Build=go build; Package Manager=go modules",
        ),
        (
            &[(
                "package.json",
                r#"{"workspaces": ["../outside", "/etc", "packages/*"]}"#,
            )],
            "Runtime=node; Language=javascript; Framework=None; Package Manager=npm",
        ),
    ] {
        assert_eq!(stack(&detect(files)), expected, "{files:?}");
    }
}

#[test]
fn a_part_of_a_project_has_the_stack_of_its_folders() {
    let place = folder(MONOREPO);
    let root = place.path().join("app");
    for (paths, expected) in [
        (
            &["packages/web/src/page.tsx", "packages/web/**/*.css"][..],
            "Runtime=node; Language=typescript; Framework=Next.js; UI=React; Testing=Vitest; Package Manager=pnpm",
        ),
        (
            &["crates/api/src/new.rs"],
            "Runtime=tokio; Language=rust; Framework=Axum; Testing=cargo test; Database=SQLx; Build=Cargo; Package Manager=cargo",
        ),
        (
            &["tools/report/index.js"],
            "Runtime=node; Language=javascript; Framework=None; Database=PostgreSQL; Package Manager=npm",
        ),
        (
            &["README.md"],
            "Runtime=node, native; Language=javascript, rust; Framework=None; Testing=cargo test; Build=Turborepo, Cargo; Package Manager=pnpm, cargo",
        ),
    ] {
        let found = detect_part(&root, None, paths);
        assert_eq!(found.name, "shop");
        assert_eq!(stack(&found), expected, "{paths:?}");
    }
    for paths in [&[][..], &["/etc/passwd", "../x"]] {
        assert_eq!(detect_part(&root, None, paths), detect_project(&root, None));
    }
}

#[test]
fn deno_and_the_database_of_bun_are_seen() {
    for (files, expected) in [
        (
            &[(
                "deno.json",
                "{\n  // ours\n  \"name\": \"@a/b\",\n  \"imports\": {\"oak\": \"jsr:@oak/oak@^17\", \"pg\": \"npm:pg@8/lib\"},\n}",
            )][..],
            "Runtime=deno; Language=typescript; Framework=Oak; Testing=Deno Test; Database=PostgreSQL; Package Manager=deno",
        ),
        (
            &[
                (
                    "package.json",
                    r#"{"scripts": {"start": "bun run src/index.ts"}}"#,
                ),
                (
                    "src/store/db.ts",
                    "import { Database } from \"bun:sqlite\";\n",
                ),
            ],
            "Runtime=bun; Language=javascript; Framework=None; Testing=Bun Test; Database=SQLite; Package Manager=bun",
        ),
        (
            &[
                (
                    "package.json",
                    r#"{"scripts": {"start": "bun run src/index.ts"}}"#,
                ),
                ("README.md", "We do not use \"bun:sqlite\"."),
                ("dist/db.js", "import \"bun:sqlite\""),
            ],
            "Runtime=bun; Language=javascript; Framework=None; Testing=Bun Test; Package Manager=bun",
        ),
    ] {
        assert_eq!(stack(&detect(files)), expected, "{files:?}");
    }
}
