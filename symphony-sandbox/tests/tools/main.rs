//! Real toolchains in a real sandbox without a network: a project whose dependency the user downloaded before is built.
//!
//! The registries are folders that Python serves on loopback while the user downloads.

#![expect(clippy::disallowed_methods, reason = "tests start tools")]

mod machine;
mod registry;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use symphony_sandbox::{CONFINE_COMMAND, Level};

use machine::{Person, has};

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    if words.next().is_some_and(|word| word == CONFINE_COMMAND) {
        return symphony_sandbox::confine(words);
    }
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    for level in [Level::Namespace, Level::Landlock] {
        for (tool, row) in ROWS {
            // libgit2 refuses to work where it may not read `/etc/gitconfig`
            if *tool == "git" && level == Level::Landlock {
                continue;
            }
            // shown as ignored where the tool is not installed
            let trial = Trial::test(format!("{level}::{tool}"), move || row(level));
            trials.push(trial.with_ignored_flag(!has(tool)));
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

type Row = fn(Level) -> Result<(), Failed>;

const ROWS: &[(&str, Row)] = &[
    ("cargo", cargo),
    ("git", cargo_from_git),
    ("npm", npm),
    ("go", go),
    ("python3", python),
    ("sh", secrets),
];

/// A crate of a registry, downloaded before.
fn cargo(level: Level) -> Result<(), Failed> {
    let person = Person::new()?;
    let served = registry::crates(&person)?;
    person.write(
        "checkout/Cargo.toml",
        "[package]\nname = 'shop'\nversion = '1.0.0'\nedition = '2021'\n[dependencies]\ndep = '1'\n",
    )?;
    person.write(
        "checkout/src/main.rs",
        "fn main() { println!(\"{}\", dep::answer()) }",
    )?;
    person.write(
        "checkout/.cargo/config.toml",
        &registry::crates_settings(&served),
    )?;
    person.outside("cargo", &["fetch"])?;
    drop(served);
    let cache = person.state_of(".cargo/registry")?;
    let printed = person.inside(level, "cargo", &["run", "--quiet"])?;
    expect(&printed, "42")?;
    expect(&person.state_of(".cargo/registry")?, cache.trim())
}

/// A crate of a repository: the sandbox builds with it, then with a commit that is fetched inside.
fn cargo_from_git(level: Level) -> Result<(), Failed> {
    let person = Person::new()?;
    person.write(
        "checkout/dep/Cargo.toml",
        "[package]\nname = 'dep'\nversion = '1.0.0'\nedition = '2021'\n",
    )?;
    person.write("checkout/dep/src/lib.rs", "pub fn answer() -> u8 { 42 }")?;
    let commit = |message: &str| -> Result<(), Failed> {
        person.outside("git", &["-C", "dep", "add", "."])?;
        let words = ["-C", "dep", "-c", "user.name=a", "-c", "user.email=a@b"];
        let rest = ["commit", "-qm", message];
        person.outside("git", &[&words[..], &rest].concat())?;
        Ok(())
    };
    person.outside("git", &["init", "-q", "dep"])?;
    commit("first")?;
    let address = format!("file://{}", person.path("checkout/dep").display());
    person.write(
        "checkout/shop/Cargo.toml",
        &format!("[package]\nname = 'shop'\nversion = '1.0.0'\nedition = '2021'\n[dependencies]\ndep = {{ git = '{address}' }}\n"),
    )?;
    person.write(
        "checkout/shop/src/main.rs",
        "fn main() { println!(\"{}\", dep::answer()) }",
    )?;
    let manifest = ["--manifest-path", "shop/Cargo.toml"];
    person.outside("cargo", &[&["fetch"][..], &manifest].concat())?;
    let cache = person.state_of(".cargo/git")?;
    let run = [&["run", "--quiet", "--offline"][..], &manifest].concat();
    expect(&person.inside(level, "cargo", &run)?, "42")?;
    person.write("checkout/dep/src/lib.rs", "pub fn answer() -> u8 { 43 }")?;
    commit("second")?;
    let script = "cargo update --quiet --manifest-path shop/Cargo.toml && cargo run --quiet --manifest-path shop/Cargo.toml";
    expect(&person.inside(level, "sh", &["-c", script])?, "43")?;
    expect(&person.state_of(".cargo/git")?, cache.trim())
}

/// A package that a lock file names, downloaded before.
fn npm(level: Level) -> Result<(), Failed> {
    let person = Person::new()?;
    let served = registry::packages(&person)?;
    person.write(
        "checkout/package.json",
        "{\"name\": \"shop\", \"version\": \"1.0.0\", \"dependencies\": {\"dep\": \"1.0.0\"}}",
    )?;
    person.write(
        "checkout/.npmrc",
        &format!(
            "registry={}\nomit-lockfile-registry-resolved=false\n",
            served.address
        ),
    )?;
    person.outside("npm", &["install", "--no-audit", "--no-fund"])?;
    drop(served);
    std::fs::remove_dir_all(person.path("checkout/node_modules"))?;
    let cache = person.state_of(".npm/_cacache")?;
    person.inside(level, "npm", &["ci", "--no-audit", "--no-fund"])?;
    expect(
        &person.inside(level, "node", &["-p", "require('dep')"])?,
        "42",
    )?;
    expect(&person.state_of(".npm/_cacache")?, cache.trim())
}

/// A module, downloaded before.
fn go(level: Level) -> Result<(), Failed> {
    let person = Person::new()?;
    let proxy = registry::modules(&person)?;
    person.write(
        "checkout/go.mod",
        "module example.org/shop\ngo 1.19\nrequire example.org/dep v1.0.0\n",
    )?;
    person.write(
        "checkout/main.go",
        "package main\nimport (\"fmt\"; \"example.org/dep\")\nfunc main() { fmt.Println(dep.Answer()) }\n",
    )?;
    let download = format!("GOPROXY={proxy} GONOSUMDB='*' go mod tidy");
    person.outside("sh", &["-c", &download])?;
    let cache = person.state_of("go")?;
    expect(&person.inside(level, "go", &["run", "."])?, "42")?;
    expect(&person.state_of("go")?, cache.trim())
}

/// The interpreter that the user's search path names.
fn python(level: Level) -> Result<(), Failed> {
    let person = Person::new()?;
    let words = ["-c", "import sys, ssl, sqlite3; print(sys.version)"];
    let outside = person.outside("python3", &words)?;
    expect(&person.inside(level, "python3", &words)?, outside.trim())
}

const KEY: &str = "the key of ada";

/// Keys beside toolchains and caches.
fn secrets(level: Level) -> Result<(), Failed> {
    let person = Person::new()?;
    let keys = [
        ".ssh/id_ed25519",
        ".cargo/credentials.toml",
        ".cargo/config.toml",
        ".cargo/git/db/dep-1/FETCH_HEAD",
        ".npmrc",
        ".npm/_logs/debug.log",
        ".netrc",
        ".gitconfig",
        ".claude/.credentials.json",
        ".config/gh/hosts.yml",
        "go/pkg/mod/cache/vcs/1/config",
    ];
    for key in keys {
        person.write(&format!("home/{key}"), KEY)?;
    }
    for folder in [
        ".cargo/bin",
        ".cargo/registry/cache/r",
        ".cargo/git/db/dep-1/objects",
        ".npm/_cacache/content-v2",
        "go/pkg/mod/cache/download",
    ] {
        std::fs::create_dir_all(person.path("home").join(folder))?;
    }
    let home = person.path("home");
    // by its path outside, and at whatever path it may be inside
    let script = format!(
        "for key in {1}; do grep -sh '{KEY}' {0}/$key ~/$key; done; \
         grep -rsh '{KEY}' {0} ~ /run/symphony-caches; true",
        home.display(),
        keys.join(" ")
    );
    let outside = person.outside("sh", &["-c", &script])?;
    if outside.matches(KEY).count() < keys.len() {
        return Err(format!("the script finds no keys outside: {outside}").into());
    }
    expect(&person.inside(level, "sh", &["-c", &script])?, "")
}

fn expect(printed: &str, expected: &str) -> Result<(), Failed> {
    if printed.trim() == expected {
        Ok(())
    } else {
        Err(format!("it printed {printed:?}").into())
    }
}
