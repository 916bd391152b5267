//! `Cargo.toml`.

use toml::Value;

use super::folder::Folder;
use super::model::ProposalNote;
use super::package::{Coverage, Package, Role};

/// A package or workspace of Cargo.
pub(super) fn detect(folder: &Folder<'_>, notes: &mut Vec<ProposalNote>) -> Option<Package> {
    let manifest = folder.toml("Cargo.toml", notes)?;
    let workspace = manifest.get("workspace").and_then(Value::as_table);
    // at a root package, and with default members, plain `cargo test` leaves members out
    let names_all = workspace.is_some_and(|workspace| {
        manifest.contains_key("package") || workspace.contains_key("default-members")
    });
    let test = if names_all {
        "cargo test --workspace"
    } else {
        "cargo test"
    };
    let fetch = if folder.has("Cargo.lock") {
        "cargo fetch --locked"
    } else {
        "cargo fetch"
    };
    let coverage = workspace.map_or(Coverage::Nothing, |workspace| {
        let excluded = workspace.get("exclude").and_then(Value::as_array);
        let excluded = excluded.into_iter().flatten().filter_map(Value::as_str);
        Coverage::Except(excluded.map(str::to_owned).collect())
    });
    let mut package = Package::new("rust", folder.path)
        .set_up(fetch)
        .check(Role::Test, test)
        .fills("target")
        .covers(coverage);
    let ci = folder.ci_commands();
    let run = |is_it: fn(&str) -> bool| ci.iter().find(|command| is_it(command)).cloned();
    if let Some(command) = run(|line| line.starts_with("cargo clippy")) {
        package = package.check(Role::Lint, command);
    }
    if let Some(command) = run(|line| line.starts_with("cargo fmt") && line.contains("--check")) {
        package = package.check(Role::Format, command);
    }
    package.stands_alone = workspace.is_some();
    Some(package)
}
