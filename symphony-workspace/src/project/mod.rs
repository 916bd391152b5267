//! What a project is made of, told from its manifests and lock files (spec: plan, "Project detection").
//!
//! A file for each ecosystem; what several of them say is joined, in the order of the table below. Only files are
//! read, beneath the project and bounded; what can not be read says nothing.

mod ecosystem;
mod elixir;
mod folder;
mod go;
mod jvm;
mod model;
mod net;
mod node;
mod patterns;
mod php;
mod python;
mod ruby;
mod rust;

use std::path::Path;

use ecosystem::{Ecosystem, Stack};
use folder::Manifests;
pub use model::DetectedProject;

/// The ecosystems, in the order in which they count.
const DETECTORS: [fn(&Manifests<'_>) -> Option<Ecosystem>; 9] = [
    node::detect,
    rust::detect,
    python::detect,
    go::detect,
    jvm::detect,
    ruby::detect,
    php::detect,
    elixir::detect,
    net::detect,
];

/// Tells what the project in a folder is made of. Where no manifest is known, only its name is there.
///
/// A project whose manifests do not name it is called `name_otherwise`, and without that as its folder: worktrees
/// have names of their own.
pub fn detect_project(root: &Path, name_otherwise: Option<&str>) -> DetectedProject {
    let manifests = Manifests::new(root);
    let found: Vec<Ecosystem> = DETECTORS
        .iter()
        .filter_map(|detect| detect(&manifests))
        .collect();
    let name = found.iter().find_map(|one| one.name.as_deref());
    let description = found.iter().find_map(|one| one.description.as_deref());
    let stack = found
        .iter()
        .fold(Stack::default(), |joined, one| joined.join(&one.stack));
    DetectedProject {
        name: name
            .or(name_otherwise)
            .map_or_else(|| folder::name_of(root), model::shortened),
        description: description.map_or_else(String::new, model::shortened),
        patterns: patterns::infer(&stack),
        tech_stack: if found.is_empty() {
            Vec::new()
        } else {
            stack.pairs()
        },
    }
}
