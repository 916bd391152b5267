//! Puts the packages of a repository together: one list of gates with names of their own, one set-up command.

use std::collections::BTreeMap;

use symphony_core::config::{CommandLine, Gate};

use super::model::{Proposal, ProposalNote};
use super::package::{Check, Package};

/// Gates that are proposed; as many as the setup wizard may hand over.
const GATES_MAX: usize = 20;

/// Makes the proposal from packages, each with at least one check, in the order of their gates.
pub(super) fn compose(packages: &[Package], mut notes: Vec<ProposalNote>) -> Proposal {
    let labels = labels(packages);
    let mut gates = Vec::new();
    let mut setup = Vec::new();
    let mut fills = Vec::new();
    for (package, label) in packages.iter().zip(labels) {
        if gates.len() + package.checks.len() > GATES_MAX {
            notes.push(ProposalNote {
                file: place(package),
                text: format!("it has no gate: {GATES_MAX} gates are proposed at most"),
            });
            continue;
        }
        setup.extend(
            package
                .setup
                .as_ref()
                .map(|command| inside(package, command, true)),
        );
        fills.extend(package.fills.iter().map(|folder| {
            let folder = super::files::join(&package.folder, folder);
            format!("{folder}/")
        }));
        gates.extend(package.checks.iter().map(|Check { role, command }| {
            let name = match label.as_str() {
                "" => role.name().to_owned(),
                label => format!("{}-{label}", role.name()),
            };
            Gate::new(name, CommandLine::Shell(inside(package, command, false)))
        }));
    }
    notes.sort();
    notes.dedup();
    Proposal {
        gates,
        setup: (!setup.is_empty()).then(|| CommandLine::Shell(setup.join(" && "))),
        fills,
        notes,
    }
}

fn place(package: &Package) -> String {
    if package.folder.is_empty() {
        ".".to_owned()
    } else {
        package.folder.clone()
    }
}

/// Runs a package's command in its folder: in a subshell if others follow.
fn inside(package: &Package, command: &str, others_follow: bool) -> String {
    if package.folder.is_empty() {
        return command.to_owned();
    }
    let folder = quoted(&package.folder);
    if others_follow {
        format!("(cd {folder} && {command})")
    } else {
        format!("cd {folder} && {command}")
    }
}

/// Quotes a path for the shell if necessary.
fn quoted(path: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./+@".contains(c);
    if path.chars().all(is_plain) && !path.starts_with('-') {
        path.to_owned()
    } else {
        format!("'./{}'", path.replace('\'', r"'\''"))
    }
}

/// Returns labels that distinguish the gates of each package: empty for a single one, else the ecosystem in the root
/// and the folder below it, as short as is unique.
fn labels(packages: &[Package]) -> Vec<String> {
    if packages.len() == 1 {
        return vec![String::new()];
    }
    let leaf = |package: &Package| {
        let leaf = package.folder.rsplit('/').next().unwrap_or_default();
        if leaf.is_empty() {
            package.kind.to_owned()
        } else {
            as_name(leaf)
        }
    };
    let whole = |package: &Package| {
        if package.folder.is_empty() {
            package.kind.to_owned()
        } else {
            as_name(&package.folder)
        }
    };
    let mut labels: Vec<String> = packages.iter().map(leaf).collect();
    replace_shared(&mut labels, packages, whole);
    replace_shared(&mut labels, packages, |package| {
        format!("{}-{}", whole(package), package.kind)
    });
    labels
}

/// Gives every package whose label another one has too a longer one.
fn replace_shared(
    labels: &mut [String],
    packages: &[Package],
    longer: impl Fn(&Package) -> String,
) {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for label in labels.iter() {
        *counts.entry(label.clone()).or_default() += 1;
    }
    for (label, package) in labels.iter_mut().zip(packages) {
        if counts.get(label).is_some_and(|count| *count > 1) {
            *label = longer(package);
        }
    }
}

/// Makes part of a gate's name of a folder's.
fn as_name(folder: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    folder
        .chars()
        .map(|c| if is_plain(c) { c } else { '-' })
        .collect()
}
