//! What sources import, if no manifest shows it.

use super::folder::Manifests;

/// Most files that are read: an import that counts is in more than one of a large project.
const FILES_MAX: usize = 400;
/// Most entries that are visited.
const ENTRIES_MAX: usize = 4_000;
/// Folders of what is built, which hold other people's sources.
const BUILT: [&str; 5] = ["dist", "build", "out", "coverage", "target"];
const EXTENSIONS: [&str; 5] = [".ts", ".tsx", ".js", ".mjs", ".jsx"];

/// Returns whether a TypeScript or JavaScript source below a folder imports a module. Files are read from the top down,
/// and not all of a large project.
pub(super) fn imports(folder: &Manifests<'_>, module: &str) -> bool {
    let quoted = [format!("\"{module}\""), format!("'{module}'")];
    let mut folders = vec![String::new()];
    let (mut files, mut seen) = (0, 0);
    while !folders.is_empty() {
        let mut below = Vec::new();
        for path in folders.iter().flat_map(|at| folder.entries(at)) {
            seen += 1;
            if seen > ENTRIES_MAX {
                return false;
            }
            let name = path.rsplit('/').next().unwrap_or(&path);
            if EXTENSIONS.iter().any(|extension| name.ends_with(extension)) {
                files += 1;
                if files > FILES_MAX {
                    return false;
                }
                let text = folder.text(&path).unwrap_or_default();
                if quoted.iter().any(|quoted| text.contains(quoted.as_str())) {
                    return true;
                }
            } else if !BUILT.contains(&name) && folder.has_folder(&path) {
                below.push(path);
            }
        }
        folders = below;
    }
    false
}
