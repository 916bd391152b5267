//! The members of a workspace: the folders that a root manifest names.

use std::collections::BTreeSet;

use globset::{GlobBuilder, GlobMatcher};
use serde_json::Value;
use toml::Table;

use super::folder::Manifests;
use super::rust::value;

/// Most members whose manifests are read: larger workspaces use what the first of them do.
const MEMBERS_MAX: usize = 200;
/// How deep `**` looks.
const DEPTH_MAX: usize = 5;

/// Returns the workspace folders that the manifests of a project's root name, sorted, without those that a later
/// pattern excludes.
pub(super) fn members(root: &Manifests<'_>) -> Vec<String> {
    let mut found = BTreeSet::new();
    for (patterns, excluded) in [cargo(root), node(root), uv(root), go(root)] {
        let excluded: Vec<GlobMatcher> = excluded.iter().filter_map(|text| glob(text)).collect();
        for pattern in &patterns {
            let mut folders = Vec::new();
            expand(root, "", &parts(pattern), 0, &mut folders);
            let is_kept = |folder: &String| !excluded.iter().any(|out| out.is_match(folder));
            found.extend(folders.into_iter().filter(is_kept));
        }
    }
    found.into_iter().take(MEMBERS_MAX).collect()
}

/// Patterns of folders, and patterns of folders that do not count.
type Patterns = (Vec<String>, Vec<String>);

fn toml_patterns(root: &Manifests<'_>, file: &str, section: &[&str]) -> Patterns {
    let text = root.text(file).unwrap_or_default();
    let manifest: Table = toml::from_str(&text).unwrap_or_default();
    let list = |key: &str| -> Vec<String> {
        let path: Vec<&str> = section.iter().copied().chain([key]).collect();
        let items = value(&manifest, &path).and_then(toml::Value::as_array);
        let items = items.into_iter().flatten();
        items
            .filter_map(|item| item.as_str().map(str::to_owned))
            .collect()
    };
    (list("members"), list("exclude"))
}

fn cargo(root: &Manifests<'_>) -> Patterns {
    toml_patterns(root, "Cargo.toml", &["workspace"])
}

fn uv(root: &Manifests<'_>) -> Patterns {
    toml_patterns(root, "pyproject.toml", &["tool", "uv", "workspace"])
}

/// Reads the workspaces of npm, Yarn, Bun, pnpm and Deno.
fn node(root: &Manifests<'_>) -> Patterns {
    let json = |file: &str| -> Value {
        let text = root.text(file).unwrap_or_default();
        super::deno::parse(&text).unwrap_or_default()
    };
    let package = json("package.json");
    let workspaces = package.get("workspaces");
    let lists = [
        workspaces,
        workspaces.and_then(|workspaces| workspaces.get("packages")),
        json("deno.json").get("workspace"),
        json("deno.jsonc").get("workspace"),
    ]
    .map(|list| list.and_then(Value::as_array).cloned());
    let texts = lists.into_iter().flatten().flatten();
    let mut patterns: Vec<String> = texts
        .filter_map(|item| item.as_str().map(str::to_owned))
        .collect();
    patterns.extend(pnpm(&root.text("pnpm-workspace.yaml").unwrap_or_default()));
    let (out, kept): (Vec<String>, Vec<String>) =
        patterns.into_iter().partition(|text| text.starts_with('!'));
    let out = out
        .iter()
        .map(|text| text.trim_start_matches('!').to_owned());
    (kept, out.collect())
}

/// Parses the list `packages` of a `pnpm-workspace.yaml`, whose items are on lines of their own.
fn pnpm(text: &str) -> Vec<String> {
    let lines = text
        .lines()
        .skip_while(|line| line.trim_end() != "packages:");
    let items = lines.skip(1).map(str::trim);
    let items = items.take_while(|line| line.is_empty() || line.starts_with(['-', '#']));
    items
        .filter_map(|line| line.strip_prefix('-'))
        .map(|item| item.trim().trim_matches(['"', '\'']).to_owned())
        .collect()
}

/// Reads the `use` directives of a `go.work`.
fn go(root: &Manifests<'_>) -> Patterns {
    let text = root.text("go.work").unwrap_or_default();
    let mut patterns = Vec::new();
    let mut is_block = false;
    for line in text.lines().map(str::trim) {
        match line.strip_prefix("use") {
            Some(rest) if rest.trim() == "(" => is_block = true,
            Some(rest) if rest.starts_with(' ') => patterns.push(rest.trim().to_owned()),
            _ if line == ")" => is_block = false,
            _ if is_block && line.starts_with(['.', '/']) => patterns.push(line.to_owned()),
            _ => {}
        }
    }
    (patterns, Vec::new())
}

fn parts(pattern: &str) -> Vec<&str> {
    let parts = pattern.split('/');
    parts.filter(|part| !matches!(*part, "" | ".")).collect()
}

fn glob(text: &str) -> Option<GlobMatcher> {
    let text = parts(text).join("/");
    let glob = GlobBuilder::new(&text).literal_separator(true).build();
    glob.ok().map(|glob| glob.compile_matcher())
}

/// Finds the folders of a pattern, part by part: links are not followed, and nothing outside is visited.
fn expand(root: &Manifests<'_>, at: &str, parts: &[&str], depth: usize, found: &mut Vec<String>) {
    let Some((part, rest)) = parts.split_first() else {
        found.extend((!at.is_empty()).then(|| at.to_owned()));
        return;
    };
    if found.len() >= MEMBERS_MAX || *part == ".." {
        return;
    }
    if !part.contains(['*', '?', '[', '{']) {
        let below = join(at, part);
        if root.has_folder(&below) {
            expand(root, &below, rest, depth, found);
        }
        return;
    }
    let is_deep = *part == "**";
    if is_deep {
        expand(root, at, rest, depth, found);
    }
    let Some(matcher) = glob(part).filter(|_| depth < DEPTH_MAX) else {
        return;
    };
    for below in root.entries(at) {
        let name = below.rsplit('/').next().unwrap_or(&below);
        if (is_deep || matcher.is_match(name)) && root.has_folder(&below) {
            expand(
                root,
                &below,
                if is_deep { parts } else { rest },
                depth + 1,
                found,
            );
        }
    }
}

fn join(at: &str, part: &str) -> String {
    if at.is_empty() {
        part.to_owned()
    } else {
        format!("{at}/{part}")
    }
}
