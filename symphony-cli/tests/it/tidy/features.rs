//! The features that crates are built with. Where tests need more of them than the program, whoever tries the program
//! and then runs its tests builds everything twice.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Returns the crates of a build, each with its version and features, one a line. Cargo downloads those that only more features need, as it
/// did the others for this test: on a new machine they are not there.
#[expect(clippy::disallowed_methods, reason = "a test asks cargo")]
fn crates(selection: &[&str]) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
        .args(["tree", "--locked", "--prefix", "none"])
        .args(["--format", "{p} with {f}"])
        .args(selection)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    // what was listed before is marked
    let lines = text.lines().map(|line| line.trim_end_matches(" (*)"));
    lines.map(str::to_owned).collect()
}

#[test]
fn a_program_that_was_tried_is_not_built_again_for_its_tests() {
    let program = crates(&["--package", "symphony-cli", "--edges", "normal,build"]);
    let tests = crates(&["--workspace", "--edges", "normal,build,dev"]);
    assert!(program.len() > 200, "{}", program.len());
    let differ: Vec<&String> = program.difference(&tests).collect();
    assert!(
        differ.is_empty(),
        "`cargo test --workspace` builds these with more features than `cargo run -p symphony-cli`. Add the features \
         in Cargo.toml or symphony-cli/Cargo.toml: {differ:#?}"
    );
}

#[test]
fn only_symphony_itself_is_built_again_with_more_features() {
    let edges = ["--workspace", "--edges", "normal,build,dev"];
    let few = crates(&edges);
    let features = "symphony-cli/postgres,symphony-prompt/tokenizer";
    let more = crates(&[edges.as_slice(), &["--features", features]].concat());
    assert!(more.len() > few.len(), "{} {}", more.len(), few.len());
    let differ: Vec<&String> = few
        .difference(&more)
        .filter(|line| !line.starts_with("symphony-"))
        .collect();
    assert!(
        differ.is_empty(),
        "`{features}` builds these once more, and what needs them. Add what they have there in Cargo.toml or \
         symphony-cli/Cargo.toml: {differ:#?}"
    );
}
