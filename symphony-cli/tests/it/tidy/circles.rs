//! Files of a crate that import each other in a circle: whoever changes one has to read all of them.

#![expect(
    clippy::string_slice,
    reason = "each place is found in the text that is sliced"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::sources;

/// How many files each circle of a crate has at most, the largest first. These are to become fewer: a new circle is opened instead of
/// listed here. Those of a folder's own file with the files in it are the least of them.
const KNOWN: &[(&str, &[usize])] = &[
    ("symphony-cli", &[2]),
    ("symphony-core", &[2]),
    ("symphony-fakes", &[5, 3]),
    ("symphony-runner", &[80, 14, 2]),
    ("symphony-sandbox", &[4, 3, 2]),
    ("symphony-scripted", &[4]),
    ("symphony-service", &[3]),
    ("symphony-web", &[4]),
];

/// A module: its path below the crate.
type Module = Vec<String>;

/// The files of a crate, by module, without their tests.
fn modules(folder: &Path) -> BTreeMap<Module, String> {
    let mut files = Vec::new();
    sources(folder, &mut files);
    let mut modules = BTreeMap::new();
    for file in files {
        let path = file.strip_prefix(folder).unwrap().with_extension("");
        let mut module: Module = path
            .iter()
            .map(|part| part.to_str().unwrap().to_owned())
            .collect();
        let last = module.last().map(String::as_str);
        if last == Some("tests") {
            continue;
        }
        if matches!(last, Some("mod" | "lib" | "main")) {
            module.pop();
        }
        let text = std::fs::read_to_string(&file).unwrap();
        let end = text.find("#[cfg(test)]\nmod ").unwrap_or(text.len());
        modules.insert(module, text[..end].to_owned());
    }
    modules
}

/// Returns the paths that a text's `use` statements name, each in full and without renaming.
fn used(text: &str) -> Vec<(bool, Vec<String>)> {
    let mut paths = Vec::new();
    for line in text.split(';') {
        let Some(at) = line.rfind("use ").filter(|at| is_statement(&line[..*at])) else {
            continue;
        };
        let is_public =
            line[..at].trim_end().ends_with("pub") || line[..at].trim_end().ends_with(')');
        let tree: String = line[at + 4..]
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        spread(&tree, &[], &mut |path| paths.push((is_public, path)));
    }
    paths
}

/// Returns whether a statement begins where this text ends, after its visibility.
fn is_statement(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default();
    let word = line.split('(').next().unwrap_or_default();
    matches!(word, "" | "pub" | "pub ")
}

/// Writes out the braces of a `use` statement.
fn spread(tree: &str, before: &[String], found: &mut impl FnMut(Vec<String>)) {
    let tree = tree.trim();
    let Some(brace) = tree.find('{') else {
        let tree = tree.split(" as ").next().unwrap_or_default();
        let parts = tree.split("::").map(|part| part.trim().to_owned());
        found(before.iter().cloned().chain(parts).collect());
        return;
    };
    let start = tree[..brace].trim_end_matches("::");
    let parts = start.split("::").filter(|part| !part.is_empty());
    let before: Vec<String> = before
        .iter()
        .cloned()
        .chain(parts.map(str::to_owned))
        .collect();
    let inner = &tree[brace + 1..tree.rfind('}').unwrap_or(tree.len())];
    let mut depth = 0;
    let mut begun = 0;
    for (at, sign) in inner.char_indices() {
        match sign {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                spread(&inner[begun..at], &before, found);
                begun = at + 1;
            }
            _ => {}
        }
    }
    if !inner[begun..].trim().is_empty() {
        spread(&inner[begun..], &before, found);
    }
}

/// Returns the module that a path leads to from another module, and the name in it.
fn resolve<'p>(
    modules: &BTreeMap<Module, String>,
    from: &Module,
    path: &'p [String],
) -> Option<(Module, Option<&'p String>)> {
    let (mut at, mut rest) = match path.first()?.as_str() {
        "crate" => (Vec::new(), &path[1..]),
        "self" => (from.clone(), &path[1..]),
        "super" => (from[..from.len().checked_sub(1)?].to_vec(), &path[1..]),
        first => {
            let mut child = from.clone();
            child.push(first.to_owned());
            modules
                .contains_key(&child)
                .then_some((child, &path[1..]))?
        }
    };
    while let Some(name) = rest.first() {
        if name == "super" {
            at.pop()?;
        } else {
            let mut child = at.clone();
            child.push(name.clone());
            if !modules.contains_key(&child) {
                break;
            }
            at = child;
        }
        rest = &rest[1..];
    }
    modules.contains_key(&at).then_some((at, rest.first()))
}

/// Returns which modules each module imports names of. A name that is only passed on counts as its own file's.
fn imports(modules: &BTreeMap<Module, String>) -> BTreeMap<Module, BTreeSet<Module>> {
    let mut passed: BTreeMap<(Module, String), Module> = BTreeMap::new();
    for (module, text) in modules {
        for (_, path) in used(text).into_iter().filter(|(is_public, _)| *is_public) {
            if let (Some((target, Some(_))), Some(name)) =
                (resolve(modules, module, &path), path.last())
            {
                passed.insert((module.clone(), name.clone()), target);
            }
        }
    }
    let mut imports = BTreeMap::new();
    for (module, text) in modules {
        let mut seen = BTreeSet::new();
        for (is_public, path) in used(text) {
            let Some((mut target, name)) = resolve(modules, module, &path) else {
                continue;
            };
            while let Some(further) =
                name.and_then(|name| passed.get(&(target.clone(), name.clone())))
            {
                if *further == target {
                    break;
                }
                target.clone_from(further);
            }
            // a parent that only hands on what its children have does not use it
            let hands_on = is_public && target.starts_with(module);
            if target != *module && !hands_on {
                seen.insert(target);
            }
        }
        imports.insert(module.clone(), seen);
    }
    imports
}

/// Returns the sets of modules that reach each other, without those of one.
fn circles(imports: &BTreeMap<Module, BTreeSet<Module>>) -> Vec<BTreeSet<Module>> {
    let reached = |from: &Module| -> BTreeSet<Module> {
        let mut seen = BTreeSet::new();
        let mut open = vec![from.clone()];
        while let Some(module) = open.pop() {
            for next in &imports[&module] {
                if seen.insert(next.clone()) {
                    open.push(next.clone());
                }
            }
        }
        seen
    };
    let all: BTreeMap<&Module, BTreeSet<Module>> = imports
        .keys()
        .map(|module| (module, reached(module)))
        .collect();
    let mut circles: Vec<BTreeSet<Module>> = Vec::new();
    for (module, reach) in &all {
        if circles.iter().any(|circle| circle.contains(*module)) {
            continue;
        }
        let circle: BTreeSet<Module> = reach
            .iter()
            .filter(|other| all[other].contains(*module))
            .cloned()
            .collect();
        if circle.len() > 1 {
            circles.push(circle);
        }
    }
    circles
}

#[test]
fn no_file_imports_what_imports_it() {
    let mut found = Vec::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for entry in std::fs::read_dir(root).unwrap() {
        let folder = entry.unwrap().path().join("src");
        let name = folder
            .parent()
            .unwrap()
            .file_name()
            .unwrap()
            .to_string_lossy()
            .into_owned();
        if !name.starts_with("symphony-") || !folder.is_dir() {
            continue;
        }
        let known = KNOWN.iter().find(|(known, _)| *known == name);
        let mut limits = known.map_or(&[][..], |(_, sizes)| sizes).iter();
        let mut circles = circles(&imports(&modules(&folder)));
        circles.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
        for circle in circles {
            if limits.next().is_none_or(|limit| circle.len() > *limit) {
                let names: Vec<String> = circle.iter().map(|module| module.join("::")).collect();
                found.push(format!(
                    "{name}: {} files: {}",
                    names.len(),
                    names.join(", ")
                ));
            }
        }
    }
    found.sort();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn uses_are_read_with_their_braces() {
    let text = "use std::fs;\npub use a::{B, c::{D, E as F}};\npub(crate) use super::x::Y;\nlet use_it = 1;";
    let read: Vec<String> = used(text)
        .iter()
        .map(|(is_public, path)| format!("{is_public} {}", path.join("::")))
        .collect();
    assert_eq!(
        read,
        [
            "false std::fs",
            "true a::B",
            "true a::c::D",
            "true a::c::E",
            "true super::x::Y"
        ]
    );
}
