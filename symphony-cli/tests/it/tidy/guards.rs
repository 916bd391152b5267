//! The patches that take a guard of the fleet out, one each: they still apply, and name a test that exists.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The guards without which two hosts could work on one issue, or one could overwrite the other's work.
const GUARDS: &[&str] = &["compare-and-swap", "fence", "lease", "self-fence"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/guards")
}

/// Returns what a line of a patch's head says.
fn head<'p>(patch: &'p str, name: &str) -> Option<&'p str> {
    let (head, _) = patch.split_once("\ndiff --git ")?;
    head.lines().find_map(|line| line.strip_prefix(name))
}

#[test]
fn each_guard_has_a_patch() {
    let entries = std::fs::read_dir(folder()).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort_unstable();
    let expected: Vec<String> = GUARDS.iter().map(|name| format!("{name}.patch")).collect();
    assert_eq!(names, expected);
}

#[test]
fn patches_of_guards_say_what_they_are_for() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fleet/guards.rs");
    let tests = std::fs::read_to_string(tests).unwrap();
    for guard in GUARDS {
        let patch = std::fs::read_to_string(folder().join(format!("{guard}.patch"))).unwrap();
        assert!(patch.starts_with("Takes out "), "{guard}");
        let test = head(&patch, "Test: ").unwrap_or_else(|| panic!("{guard}"));
        assert!(tests.contains(&format!("fn {test}()")), "{guard}: {test}");
        assert!(head(&patch, "Problem: ").is_some(), "{guard}");
    }
}

/// Where a guard has changed, its patch has to follow: without it no one would know whether the tests still need the guard.
#[test]
#[expect(clippy::disallowed_methods, reason = "a test asks git")]
fn patches_of_guards_apply() {
    for guard in GUARDS {
        let output = Command::new("git")
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
            .args(["apply", "--check"])
            .arg(folder().join(format!("{guard}.patch")))
            .output()
            .unwrap();
        let problem = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{guard}: {problem}");
    }
}
