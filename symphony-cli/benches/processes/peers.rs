//! The peers: what is compiled or installed to be measured beside.

use std::path::{Path, PathBuf};
use std::process::Command;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers")
}

/// Compiles a single file; the compiler is there, since this was compiled.
pub(crate) fn compile(name: &str, source: &Path) -> PathBuf {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut rustc = Command::new("rustc");
    rustc.args(["-O", "--edition", "2024", "-o"]);
    let status = rustc.arg(&program).arg(source).status().unwrap();
    assert!(status.success(), "{rustc:?}: {status}");
    program
}

/// A program that does nothing: what starting a process costs at the least.
pub(crate) fn empty() -> PathBuf {
    let source = Path::new(env!("CARGO_TARGET_TMPDIR")).join("empty.rs");
    std::fs::write(&source, "fn main() {}\n").unwrap();
    compile("empty", &source)
}

/// The least that answers an MCP client.
pub(crate) fn minimal() -> PathBuf {
    compile("minimal", &folder().join("minimal.rs"))
}

pub(crate) fn script(name: &str) -> PathBuf {
    folder().join(name)
}

/// Says whether a program can be started; says so when it cannot.
pub(crate) fn has(program: &str) -> bool {
    let there = Command::new(program)
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success());
    if !there {
        println!("  NOT MEASURED: {program} is missing");
    }
    there
}

/// Installs the packages of the lock file in a folder of their own; `None` when that cannot be done, which is said.
pub(crate) fn packages() -> Option<PathBuf> {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("peers");
    std::fs::create_dir_all(&place).unwrap();
    for file in ["package.json", "package-lock.json", "mcp-server.ts"] {
        std::fs::copy(folder().join(file), place.join(file)).unwrap();
    }
    if !place.join("node_modules/.package-lock.json").exists() {
        if !has("npm") {
            return None;
        }
        let mut npm = Command::new("npm");
        npm.args(["ci", "--no-audit", "--no-fund", "--loglevel=error"]);
        let output = npm.current_dir(&place).output().unwrap();
        if !output.status.success() {
            println!("  NOT MEASURED: {npm:?}: {output:?}");
            return None;
        }
    }
    Some(place)
}
