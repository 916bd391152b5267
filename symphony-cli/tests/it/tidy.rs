//! The order of the workspace: which crate may depend on which, what pure crates may use, sizes and docs of files.

#[cfg(test)]
mod circles;
mod features;
mod guards;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package};

/// What each crate may depend on; dev-dependencies follow the same arrows.
const ARROWS: &[(&str, &[&str])] = &[
    ("symphony-core", &[]),
    ("symphony-learning", &["symphony-core"]),
    ("symphony-prompt", &["symphony-core", "symphony-learning"]),
    ("symphony-tracker", &["symphony-core"]),
    ("symphony-forge", &["symphony-core", "symphony-tracker"]),
    (
        "symphony-store",
        &[
            "symphony-core",
            "symphony-learning",
            "symphony-tracker",
            "symphony-forge",
        ],
    ),
    (
        "symphony-sync",
        &[
            "symphony-core",
            "symphony-tracker",
            "symphony-forge",
            "symphony-workflow",
            "symphony-fakes",
        ],
    ),
    ("symphony-temporal", &["symphony-core"]),
    ("symphony-fakes", &["symphony-core"]),
    ("symphony-workflow", &["symphony-core"]),
    ("symphony-workspace", &["symphony-core"]),
    (
        "symphony-mcp",
        &[
            "symphony-core",
            "symphony-learning",
            "symphony-store",
            "symphony-workspace",
        ],
    ),
    ("symphony-proxy", &[]),
    ("symphony-sandbox", &["symphony-proxy"]),
    ("symphony-scripted", &[]),
    (
        "symphony-runner",
        &[
            "symphony-core",
            "symphony-learning",
            "symphony-prompt",
            "symphony-store",
            "symphony-workspace",
            "symphony-mcp",
            "symphony-proxy",
            "symphony-sandbox",
            "symphony-scripted",
            "symphony-sync",
            "symphony-temporal",
            "symphony-tracker",
            "symphony-forge",
        ],
    ),
    (
        "symphony-service",
        &[
            "symphony-core",
            "symphony-store",
            "symphony-workflow",
            "symphony-workspace",
            "symphony-sync",
            "symphony-runner",
            "symphony-fakes",
        ],
    ),
    (
        "symphony-view",
        &[
            "symphony-core",
            "symphony-forge",
            "symphony-learning",
            "symphony-prompt",
            "symphony-store",
            "symphony-workspace",
            "symphony-runner",
        ],
    ),
    (
        "symphony-web",
        &[
            "symphony-core",
            "symphony-forge",
            "symphony-prompt",
            "symphony-store",
            "symphony-workspace",
            "symphony-mcp",
            "symphony-runner",
            "symphony-view",
        ],
    ),
    (
        "symphony-cli",
        &[
            "symphony-core",
            "symphony-learning",
            "symphony-prompt",
            "symphony-store",
            "symphony-workspace",
            "symphony-mcp",
            "symphony-runner",
            "symphony-sandbox",
            "symphony-scripted",
            "symphony-service",
            "symphony-temporal",
            "symphony-view",
            "symphony-web",
            "symphony-fakes",
        ],
    ),
];

/// Crates that do no I/O at all.
const PURE: &[&str] = &[
    "symphony-core",
    "symphony-learning",
    "symphony-prompt",
    "symphony-tracker",
    "symphony-forge",
    "symphony-workflow",
];

/// What a library of a pure crate brings although it is on the list below, and why it does no harm.
const EXCUSED: &[(&str, &str, &str)] = &[
    (
        "symphony-workflow",
        "time",
        "liquid's dates; nothing that a template can use reads the clock (`no_template_reads_the_clock`)",
    ),
    (
        "symphony-workflow",
        "libc",
        "the parser of liquid grows its stack; it calls no system function that reads or writes",
    ),
];

/// Crates that do I/O, or make it easy: nothing of them comes near a pure crate.
const IMPURE: &[&str] = &[
    "anstream",
    "anyhow",
    "async-std",
    "camino",
    "chrono",
    "clap",
    "dirs",
    "getrandom",
    "git2",
    "ignore",
    "indicatif",
    "libc",
    "mio",
    "nix",
    "notify",
    "rand",
    "reqwest",
    "rmcp",
    "rusqlite",
    "rustix",
    "smol",
    "socket2",
    "tempfile",
    "time",
    "tokio",
    "tracing",
    "tracing-subscriber",
    "ureq",
    "uuid",
    "walkdir",
    "which",
];

/// Longest source file, in lines; tests are free.
const LINES_MAX: usize = 500;

/// Macros that stand for code that does not exist.
const PLACEHOLDERS: &[&str] = &["todo!(", "unimplemented!("];
/// Words that begin a comment on what is still to be done.
const MARKS: &[&str] = &["TODO", "FIXME", "XXX", "HACK"];

/// Says whether a line of source stands for work that is not done.
fn is_unfinished(line: &str) -> bool {
    let comment = line
        .split_once("//")
        .map(|(_, comment)| comment.trim_start_matches(['/', '!', ' ']));
    PLACEHOLDERS.iter().any(|word| line.contains(word))
        || MARKS
            .iter()
            .any(|mark| comment.is_some_and(|comment| comment.starts_with(mark)))
}

/// Returns the workspace as it is built here: what other platforms need may not be at hand.
fn metadata() -> Metadata {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
    let platform = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    MetadataCommand::new()
        .manifest_path(manifest)
        .other_options(["--offline", "--locked", "--filter-platform", &platform].map(str::to_owned))
        .exec()
        .unwrap()
}

fn package<'a>(metadata: &'a Metadata, name: &str) -> &'a Package {
    metadata
        .packages
        .iter()
        .find(|package| package.name.as_str() == name)
        .unwrap_or_else(|| panic!("{name}"))
}

fn allowed(name: &str) -> &'static [&'static str] {
    ARROWS
        .iter()
        .find(|(from, _)| *from == name)
        .unwrap_or_else(|| panic!("{name} is not in the table of arrows"))
        .1
}

#[test]
fn crates_depend_along_the_arrows_only() {
    let metadata = metadata();
    let members: BTreeSet<&str> = metadata
        .workspace_packages()
        .iter()
        .map(|p| p.name.as_str())
        .collect();
    let known: BTreeSet<&str> = ARROWS.iter().map(|(name, _)| *name).collect();
    assert_eq!(
        members, known,
        "every crate of the workspace has a row in the table"
    );
    let mut wrong = Vec::new();
    for package in metadata.workspace_packages() {
        for dependency in package
            .dependencies
            .iter()
            .filter(|d| members.contains(d.name.as_str()))
        {
            if !allowed(&package.name).contains(&dependency.name.as_str()) {
                wrong.push(format!(
                    "{} -> {} ({})",
                    package.name, dependency.name, dependency.kind
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A time of another type would be written in another form, which does not sort as text.
#[test]
fn one_crate_knows_the_library_of_times() {
    let metadata = metadata();
    let users: Vec<&str> = metadata
        .packages
        .iter()
        .filter(|package| package.name.starts_with("symphony-"))
        .filter(|package| package.dependencies.iter().any(|d| d.name == "jiff"))
        .map(|package| package.name.as_str())
        .collect();
    assert_eq!(users, ["symphony-core"]);
}

/// Returns everything that a crate is built from when nothing optional is asked for, build scripts and macros apart.
fn built_from(metadata: &Metadata, name: &str) -> BTreeSet<String> {
    let resolve = metadata.resolve.as_ref().unwrap();
    let names: BTreeMap<_, _> = metadata.packages.iter().map(|p| (&p.id, p)).collect();
    let optional: BTreeSet<&str> = package(metadata, name)
        .dependencies
        .iter()
        .filter(|d| d.optional)
        .map(|d| d.name.as_str())
        .collect();
    let is_macro = |p: &Package| p.targets.iter().any(cargo_metadata::Target::is_proc_macro);
    let mut found = BTreeSet::new();
    let mut open = vec![&package(metadata, name).id];
    while let Some(id) = open.pop() {
        let node = resolve.nodes.iter().find(|node| node.id == *id).unwrap();
        for dependency in &node.deps {
            let normal = dependency
                .dep_kinds
                .iter()
                .any(|kind| kind.kind == DependencyKind::Normal && kind.target.is_none());
            let target = names[&dependency.pkg];
            let left_out =
                id == &package(metadata, name).id && optional.contains(target.name.as_str());
            if normal && !left_out && !is_macro(target) && found.insert(target.name.to_string()) {
                open.push(&target.id);
            }
        }
    }
    found
}

#[test]
fn pure_crates_are_built_from_pure_crates() {
    let metadata = metadata();
    for name in PURE {
        let built = built_from(&metadata, name);
        let impure: Vec<_> = IMPURE
            .iter()
            .filter(|impure| built.contains(**impure))
            .filter(|impure| {
                let is_excused = |of: &str, library: &str| of == *name && library == **impure;
                !EXCUSED
                    .iter()
                    .any(|(of, library, _)| is_excused(of, library))
            })
            .collect();
        assert!(
            impure.is_empty(),
            "{name} is built from {impure:?}: {built:?}"
        );
    }
}

#[test]
fn pure_crates_have_a_fence_of_lints() {
    let metadata = metadata();
    for name in PURE {
        let folder = package(&metadata, name).manifest_path.parent().unwrap();
        let fence = std::fs::read_to_string(folder.join("clippy.toml"))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        for word in [
            "disallowed-methods",
            "disallowed-types",
            "std::fs",
            "std::env",
            "std::time::SystemTime",
            "HashMap",
        ] {
            assert!(
                fence.contains(word),
                "{name}/clippy.toml says nothing of {word}"
            );
        }
    }
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Returns the sources of all crates below a folder of each, with their texts.
fn texts(folders: &[&str]) -> Vec<(String, String)> {
    let metadata = metadata();
    let root = metadata.workspace_root.as_std_path();
    let mut found = Vec::new();
    for package in metadata.workspace_packages() {
        let folder = package.manifest_path.parent().unwrap().as_std_path();
        for name in folders {
            sources(&folder.join(name), &mut found);
        }
    }
    found.sort();
    let shown = |path: &Path| path.strip_prefix(root).unwrap().display().to_string();
    found
        .iter()
        .map(|path| (shown(path), std::fs::read_to_string(path).unwrap()))
        .collect()
}

/// Lines that a program needs to build a prompt of its own: the interface stays that small.
const EMBEDDING_LINES: usize = 40;

/// Counts lines up to the unit tests.
fn lines_of_code(text: &str) -> usize {
    text.lines()
        .take_while(|line| *line != "#[cfg(test)]")
        .count()
}

#[test]
fn source_files_are_small() {
    let long: Vec<_> = texts(&["src"])
        .into_iter()
        .map(|(path, text)| (lines_of_code(&text), path))
        .filter(|(lines, path)| *lines > LINES_MAX && !path.ends_with("tests.rs"))
        .collect();
    assert!(long.is_empty(), "longer than {LINES_MAX} lines: {long:#?}");
}

#[test]
fn embedding_the_prompts_takes_few_lines() {
    let example =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/embed-prompt/src/main.rs");
    let lines = std::fs::read_to_string(example).unwrap().lines().count();
    assert!(lines < EMBEDDING_LINES, "{lines} lines");
}

#[test]
fn every_file_says_what_it_is_for() {
    let silent: Vec<_> = texts(&["src", "tests", "benches", "examples"])
        .into_iter()
        .filter(|(_, text)| !text.starts_with("//!"))
        .map(|(path, _)| path)
        .collect();
    assert!(silent.is_empty(), "no `//!` at the top: {silent:#?}");
}

/// The most files that a recipe of CONTRIBUTING.md sends a reader to.
const RECIPE_FILES_MAX: usize = 5;

#[test]
fn recipes_name_a_few_files_that_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let text = std::fs::read_to_string(root.join("CONTRIBUTING.md")).unwrap();
    let recipes: Vec<&str> = text
        .split("\n## ")
        .filter(|section| section.starts_with("Adding ") || section.starts_with("Changing "))
        .collect();
    assert!(!recipes.is_empty(), "CONTRIBUTING.md has no recipe");
    for recipe in recipes {
        let title = recipe.lines().next().unwrap();
        let quoted = recipe.split('`').skip(1).step_by(2);
        let files: BTreeSet<&str> = quoted.filter(|word| word.contains('/')).collect();
        let lost: Vec<_> = files
            .iter()
            .filter(|file| !root.join(file).exists())
            .collect();
        assert!(lost.is_empty(), "{title}: {lost:?} are not there");
        assert!(
            (1..=RECIPE_FILES_MAX).contains(&files.len()),
            "{title}: {files:?}"
        );
    }
}

/// The project's own `Context` takes verb phrases; that of `anyhow` would show them as facts.
#[test]
fn what_a_command_was_doing_is_added_in_one_way() {
    let files = texts(&["src"]).into_iter();
    let named = files.filter(|(_, text)| text.contains(concat!("anyhow::", "Context")));
    let named: Vec<String> = named.map(|(path, _)| path).collect();
    assert_eq!(named, ["symphony-cli/src/failure/context.rs"]);
}

#[test]
fn nothing_is_left_unfinished() {
    let mut found = Vec::new();
    for (path, text) in texts(&["src", "tests", "benches", "examples"]) {
        let lines = text
            .lines()
            .zip(1..)
            .filter(|(line, _)| is_unfinished(line));
        found.extend(lines.map(|(line, number)| format!("{path}:{number}: {}", line.trim())));
    }
    // this table names the words themselves
    found.retain(|place| !place.starts_with("symphony-cli/tests/it/tidy.rs"));
    assert!(found.is_empty(), "{found:#?}");
}
