//! Habits that follow from what a project is made of.

use super::ecosystem::Stack;

/// What follows from a runtime.
const OF_RUNTIMES: [(&str, &[&str]); 1] = [(
    "bun",
    &[
        "Use Bun APIs (Bun.file, Bun.serve, etc.) instead of Node.js equivalents",
        "Use bun:sqlite for database operations if SQLite is needed",
    ],
)];

/// What follows from a language.
const OF_LANGUAGES: [(&str, &[&str]); 4] = [
    (
        "typescript",
        &["Use TypeScript with proper type annotations"],
    ),
    (
        "rust",
        &[
            "Return errors as Result values; do not panic on input",
            "Keep the code formatted with rustfmt and free of clippy warnings",
        ],
    ),
    ("python", &["Use type hints for function signatures"]),
    (
        "go",
        &["Return errors as values and keep the code formatted with gofmt"],
    ),
];

/// Test frameworks whose tests are nested blocks with expectations.
const EXPECTING: [&str; 5] = ["Bun Test", "Vitest", "Jest", "Mocha", "RSpec"];

/// Infers the habits of a project: of its runtimes, its languages, its tests.
pub(super) fn infer(stack: &Stack) -> Vec<String> {
    let of = |names: &[&'static str], table: &[(&str, &[&str])]| -> Vec<String> {
        table
            .iter()
            .filter(|(name, _)| names.contains(name))
            .flat_map(|(_, habits)| habits.iter().map(|habit| (*habit).to_owned()))
            .collect()
    };
    let mut habits = of(&stack.runtime, &OF_RUNTIMES);
    habits.extend(of(&stack.language, &OF_LANGUAGES));
    if stack.testing.iter().any(|name| EXPECTING.contains(name)) {
        habits.push("Write tests using describe/it/expect pattern".to_owned());
    }
    let others = stack.testing.iter();
    let others = others.filter(|name| !EXPECTING.contains(name));
    habits.extend(others.map(|name| format!("Write tests that run with {name}")));
    habits
}
