//! `go.mod`.

use super::ecosystem::{Ecosystem, Meanings, Stack, mentioned};
use super::folder::Manifests;

const FRAMEWORKS: &Meanings = &[
    ("github.com/gin-gonic/gin", "Gin"),
    ("github.com/labstack/echo", "Echo"),
    ("github.com/gofiber/fiber", "Fiber"),
    ("github.com/go-chi/chi", "chi"),
    ("github.com/gorilla/mux", "gorilla/mux"),
    ("google.golang.org/grpc", "gRPC"),
];

const UIS: &Meanings = &[
    (
        "github.com/charmbracelet/bubbletea",
        "Bubble Tea (Terminal UI)",
    ),
    ("github.com/rivo/tview", "tview (Terminal UI)"),
    ("fyne.io/fyne", "Fyne"),
];

const TESTS: &Meanings = &[("github.com/stretchr/testify", "testify")];

const DATABASES: &Meanings = &[
    ("gorm.io/gorm", "GORM"),
    ("entgo.io/ent", "ent"),
    ("github.com/jackc/pgx", "PostgreSQL"),
    ("github.com/lib/pq", "PostgreSQL"),
    ("github.com/go-sql-driver/mysql", "MySQL"),
    ("github.com/mattn/go-sqlite3", "SQLite"),
    ("modernc.org/sqlite", "SQLite"),
    ("go.mongodb.org/mongo-driver", "MongoDB"),
    ("github.com/redis/go-redis", "Redis"),
];

/// Reads `go.mod`; what other modules bring along does not count.
pub(super) fn detect(folder: &Manifests<'_>) -> Option<Ecosystem> {
    let text = folder.text("go.mod")?;
    let direct: Vec<&str> = text
        .lines()
        .filter(|line| !line.contains("// indirect"))
        .collect();
    let module = direct.iter().find_map(|line| line.strip_prefix("module "));
    let text = direct.join("\n");
    let mut testing = vec!["go test"];
    testing.extend(mentioned(&text, TESTS));
    Some(Ecosystem {
        name: module.and_then(module_name),
        description: None,
        stack: Stack {
            runtime: vec!["go"],
            language: vec!["go"],
            framework: mentioned(&text, FRAMEWORKS).into_iter().take(1).collect(),
            ui: mentioned(&text, UIS).into_iter().take(1).collect(),
            testing,
            database: mentioned(&text, DATABASES),
            build: vec!["go build"],
            package_manager: vec!["go modules"],
        },
    })
}

/// Returns the last part of a module's path that is not a version.
fn module_name(path: &str) -> Option<String> {
    let is_version = |part: &str| {
        let digits = part.strip_prefix('v').unwrap_or_default();
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let path = path.split("//").next()?.trim().trim_matches('"');
    let mut parts = path.rsplit('/').filter(|part| !is_version(part));
    parts
        .next()
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
}
