//! Proposes gates and a set-up command from the files of a commit (spec: config, `gates` and `worktree.setup`).
//!
//! [`propose`] is a pure function of [`ProjectFiles`]: which files the commit has, and the text of its manifests. There
//! is a file for each ecosystem: how its packages are set up and checked; `compose` combines the packages of a
//! repository. Only committed files count: gates run in a checkout of a commit, where an ignored lock file is missing.

mod ci;
mod ci_steps;
mod compose;
mod files;
mod folder;
mod java;
mod make;
mod model;
mod node;
mod node_manager;
mod node_script;
mod other;
mod package;
mod pattern;
mod python;
mod python_ci;
mod python_requirements;
mod read;
mod rust;
mod workflows;

use std::collections::BTreeMap;

pub use files::ProjectFiles;
use folder::Folder;
pub use model::{Proposal, ProposalNote};
use package::Package;

/// Detects a package of one ecosystem in a folder.
type Detector = fn(&Folder<'_>, &mut Vec<ProposalNote>) -> Option<Package>;

/// The ecosystems, in the order in which their gates are listed.
const DETECTORS: [Detector; 11] = [
    rust::detect,
    node::detect,
    python::detect,
    other::go,
    other::deno,
    java::detect,
    other::ruby,
    other::php,
    other::elixir,
    other::swift,
    other::dotnet,
];

/// Proposes gates and a set-up command for a repository with these files.
///
/// A `Makefile` or `justfile` in the root counts only if no package has a check: its target usually runs the same
/// commands. Every proposed gate is required; only a person makes a gate optional.
pub fn propose(files: &ProjectFiles) -> Proposal {
    let mut notes = Vec::new();
    let mut packages: Vec<Package> = Vec::new();
    for path in files.package_folders() {
        let folder = Folder::new(files, &path);
        for detect in DETECTORS {
            let mut said = Vec::new();
            let Some(package) = detect(&folder, &mut said) else {
                continue;
            };
            if package.stands_alone || !packages.iter().any(|above| above.covers_package(&package))
            {
                notes.extend(said);
                packages.push(package);
            }
        }
    }
    packages.retain(|package| !package.checks.is_empty());
    if packages.is_empty() {
        packages.extend(make::detect(&Folder::new(files, "")));
    }
    // stable: the ecosystems of a folder keep their order
    let mut order: BTreeMap<(bool, String), Vec<Package>> = BTreeMap::new();
    for package in packages {
        let place = (!package.folder.is_empty(), package.folder.clone());
        order.entry(place).or_default().push(package);
    }
    let mut proposal = {
        let packages: Vec<Package> = order.into_values().flatten().collect();
        compose::compose(&packages, notes)
    };
    // A folder with committed files is not just a product of the set-up.
    let is_product = |folder: &String| files.beginning_with(folder).next().is_none();
    proposal.fills.retain(is_product);
    proposal
}
