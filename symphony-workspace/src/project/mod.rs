//! The technology of a project, detected from its manifests and lock files (spec: plan, "Project detection").
//!
//! A file for each ecosystem; what several of them say is joined, in the order of the table below. Only files are
//! read, beneath the project and bounded; what cannot be read says nothing. The members of a workspace count too, and
//! take from its root what they leave open.

mod deno;
mod ecosystem;
mod elixir;
mod folder;
mod go;
mod jvm;
mod members;
mod model;
mod net;
mod node;
mod node_packages;
mod patterns;
mod php;
mod python;
mod ruby;
mod rust;
mod sources;

use std::collections::BTreeSet;
use std::path::Path;

use ecosystem::{Ecosystem, Stack};
use folder::Manifests;
use members::members;
pub use model::DetectedProject;

type Detector = fn(&Manifests<'_>) -> Option<Ecosystem>;

/// The ecosystems, in the order in which they count.
const DETECTORS: [Detector; 10] = [
    node::detect,
    deno::detect,
    rust::detect,
    python::detect,
    go::detect,
    jvm::detect,
    ruby::detect,
    php::detect,
    elixir::detect,
    net::detect,
];

/// Tells what the project in a folder is made of, the members of its workspaces included. Where no manifest is known,
/// only its name is there.
///
/// A project whose manifests do not name it is called `name_otherwise`, and without that as its folder: worktrees
/// have names of their own.
pub fn detect_project(root: &Path, name_otherwise: Option<&str>) -> DetectedProject {
    let at_root = detect(&Manifests::new(root));
    let mut stacks = stacks_of(&at_root);
    for member in members(&Manifests::new(root)) {
        stacks.extend(stacks_within(root, &member, &at_root));
    }
    described(root, name_otherwise, &at_root, stacks)
}

/// Detects the technology of the part of a project that the paths, relative to its root, are in: for each path the
/// nearest parent folder with a manifest. Without paths, the whole project.
pub fn detect_part(root: &Path, name_otherwise: Option<&str>, paths: &[&str]) -> DetectedProject {
    let at_root = detect(&Manifests::new(root));
    let folders: BTreeSet<String> = paths
        .iter()
        .filter_map(|path| nearest_manifest(root, path))
        .collect();
    if folders.is_empty() {
        return detect_project(root, name_otherwise);
    }
    let parts = folders.iter().map(|folder| match folder.as_str() {
        "" => stacks_of(&at_root),
        folder => stacks_within(root, folder, &at_root),
    });
    let stacks: Vec<Part> = parts.flatten().collect();
    described(root, name_otherwise, &at_root, stacks)
}

/// What the detectors found in a folder, in their order.
type Detected = [Option<Ecosystem>; DETECTORS.len()];

fn detect(manifests: &Manifests<'_>) -> Detected {
    DETECTORS.map(|detect| detect(manifests))
}

/// A stack, with the position of its ecosystem.
type Part = (usize, Stack);

fn stacks_of(found: &Detected) -> Vec<Part> {
    let found = found.iter().enumerate();
    found
        .filter_map(|(at, one)| Some((at, one.as_ref()?.stack.clone())))
        .collect()
}

/// Returns the stacks of a folder in a project, completed by what the project's root has of the same ecosystem.
fn stacks_within(root: &Path, folder: &str, at_root: &Detected) -> Vec<Part> {
    let path = root.join(folder);
    let manifests = Manifests::within(&path, root);
    let found = detect(&manifests);
    let parts = stacks_of(&found).into_iter();
    parts
        .map(|(at, stack)| match at_root.get(at) {
            Some(Some(above)) if !manifests.has_lock() => (at, stack.within(&above.stack)),
            _ => (at, stack),
        })
        .collect()
}

/// Returns the nearest parent folder of a path that has a manifest; an empty text for the root, `None` for a path
/// outside.
fn nearest_manifest(root: &Path, path: &str) -> Option<String> {
    let parts: Vec<&str> = path
        .split('/')
        .filter(|part| !matches!(*part, "" | "."))
        .collect();
    if path.starts_with(['/', '~']) || parts.contains(&"..") {
        return None;
    }
    // what follows a wildcard could be anywhere
    let is_plain = |part: &&&str| !part.contains(['*', '?', '[', '{']);
    let plain = parts.iter().take_while(is_plain).count();
    let folders = (1..=plain).rev().map(|length| {
        let folder = parts.get(..length).unwrap_or_default();
        folder.join("/")
    });
    let mut folders = folders.filter(|folder| Manifests::new(root).has_folder(folder));
    let nearest = folders.find(|folder| {
        let path = root.join(folder);
        Manifests::new(&path).has_manifest()
    });
    Some(nearest.unwrap_or_default())
}

fn described(
    root: &Path,
    name_otherwise: Option<&str>,
    at_root: &Detected,
    mut stacks: Vec<Part>,
) -> DetectedProject {
    stacks.sort_by_key(|(ecosystem, _)| *ecosystem);
    let mut found = at_root.iter().flatten();
    let name = found.clone().find_map(|one| one.name.as_deref());
    let description = found.find_map(|one| one.description.as_deref());
    let joined = stacks
        .iter()
        .fold(Stack::default(), |joined, (_, one)| joined.join(one))
        .without_stand_ins();
    DetectedProject {
        name: name
            .or(name_otherwise)
            .map_or_else(|| folder::name_of(root), model::shortened),
        description: description.map_or_else(String::new, model::shortened),
        patterns: patterns::infer(&joined),
        tech_stack: if stacks.is_empty() {
            Vec::new()
        } else {
            joined.pairs()
        },
    }
}
