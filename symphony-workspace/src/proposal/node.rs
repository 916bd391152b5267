//! `package.json`: npm, pnpm, Yarn and Bun.

use serde_json::Value;

use super::folder::Folder;
use super::model::ProposalNote;
use super::node_manager::Manager;
use super::node_script::{Usable, Verdict, judge};
use super::package::{Coverage, Package, Role};
use super::pattern::is_member;

/// Scripts that test without watching, where `test` itself is of no use.
const OTHER_TESTS: &[&str] = &["test:ci", "test:run", "test:once", "test:unit", "tests"];
/// Scripts that check how the code is formatted, where workflows run them.
const FORMAT: &[&str] = &[
    "format:check",
    "check:format",
    "format-check",
    "check-format",
    "prettier:check",
    "fmt:check",
];
/// Scripts that check types.
const TYPES: &[&str] = &["typecheck", "type-check", "check-types", "check:types"];

/// A package of npm, or the root of a workspace.
pub(super) fn detect(folder: &Folder<'_>, notes: &mut Vec<ProposalNote>) -> Option<Package> {
    let manifest = folder.json("package.json", notes)?;
    let manager = Manager::of(folder, &manifest);
    let members = workspaces(folder, &manifest);
    let mut package = Package::new("node", folder.path).fills("node_modules");
    if needs_install(folder, &manifest, &members) {
        package = package.set_up(install(folder, &manifest, manager));
    }
    let test = test_command(folder, &manifest, manager, notes)
        .or_else(|| test_of_members(folder, &members, manager));
    if let Some(command) = test {
        package = package.check(Role::Test, command);
    }
    let check = |script: &str| match judge(&manifest, script) {
        Verdict::Usable(usable) => Some(usable.command(manager)),
        Verdict::Missing | Verdict::Placeholder | Verdict::Watches | Verdict::Changes => None,
    };
    if let Some(command) = check("lint") {
        package = package.check(Role::Lint, command);
    }
    let ci = folder.ci_commands();
    let in_ci = |script: &&&str| {
        let is_it = |line: &String| line.split_whitespace().any(|word| word == **script);
        ci.iter().any(is_it)
    };
    if let Some(command) = FORMAT.iter().filter(in_ci).find_map(|script| check(script)) {
        package = package.check(Role::Format, command);
    }
    if let Some(command) = TYPES.iter().find_map(|script| check(script)) {
        package = package.check(Role::Types, command);
    }
    if package.checks.is_empty()
        && let Some(command) = check("build")
    {
        package = package.check(Role::Build, command);
    }
    Some(package.covers(Coverage::Matching(members)))
}

/// Returns the command of the package's own tests, or adds a note on why there is none.
fn test_command(
    folder: &Folder<'_>,
    manifest: &Value,
    manager: Manager,
    notes: &mut Vec<ProposalNote>,
) -> Option<String> {
    let own = judge(manifest, "test");
    let runs_as_it_is = matches!(&own, Verdict::Usable(Usable { runs, .. }) if runs.is_as_it_is());
    if !runs_as_it_is {
        let other = OTHER_TESTS
            .iter()
            .find_map(|script| match judge(manifest, script) {
                Verdict::Usable(usable) if usable.runs.is_as_it_is() => Some(usable),
                _ => None,
            });
        if let Some(other) = other {
            return Some(other.command(manager));
        }
    }
    let problem = match own {
        Verdict::Usable(usable) => return Some(usable.command(manager)),
        Verdict::Missing if manager == Manager::Bun && has_bun_tests(folder) => {
            return Some("bun test".to_owned());
        }
        Verdict::Missing => return None,
        Verdict::Placeholder => "the script `test` only prints text, so it checks nothing",
        Verdict::Watches => "the script `test` watches files and does not end on its own",
        Verdict::Changes => "the script `test` changes files, so it is not a check",
    };
    notes.push(folder.note("package.json", problem));
    None
}

fn has_bun_tests(folder: &Folder<'_>) -> bool {
    folder.files().any(|file| {
        [".test.ts", ".test.tsx", ".test.js", "_test.ts", ".spec.ts"]
            .iter()
            .any(|end| file.ends_with(end))
    })
}

/// Returns the command that tests the members, when one of them has a test that a gate can run.
fn test_of_members(folder: &Folder<'_>, members: &[String], manager: Manager) -> Option<String> {
    let inner = folder.folders_with("package.json");
    let tested = inner.into_iter().any(|member| {
        let text = folder.text(&format!("{member}/package.json"));
        let manifest: Value = serde_json::from_str(text).unwrap_or_default();
        is_member(members, member) && matches!(judge(&manifest, "test"), Verdict::Usable(_))
    });
    tested.then(|| manager.test_members().to_owned())
}

/// Returns the patterns of a workspace's members, from wherever its manager has them.
fn workspaces(folder: &Folder<'_>, manifest: &Value) -> Vec<String> {
    let texts = |value: &Value| -> Vec<String> {
        let items = value.as_array().into_iter().flatten();
        items
            .filter_map(|item| item.as_str().map(str::to_owned))
            .collect()
    };
    let own = manifest.get("workspaces").map(|found| match found {
        Value::Object(fields) => fields.get("packages").map(texts).unwrap_or_default(),
        list => texts(list),
    });
    let lerna: Value = serde_json::from_str(folder.text("lerna.json")).unwrap_or_default();
    let lerna = lerna.get("packages").map(texts);
    let pnpm = folder
        .has("pnpm-workspace.yaml")
        .then(|| list_of_yaml(folder.text("pnpm-workspace.yaml"), "packages:"));
    own.or(pnpm).or(lerna).unwrap_or_default()
}

/// Returns the items of a list at the top level of a plain YAML file: lines `- 'text'` below its key.
fn list_of_yaml(text: &str, key: &str) -> Vec<String> {
    let below = text
        .lines()
        .skip_while(|line| line.trim_end() != key)
        .skip(1);
    below
        .filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
        .map_while(|line| line.trim_start().strip_prefix("- "))
        .map(|item| item.trim().trim_matches(['\'', '"']).to_owned())
        .collect()
}

fn needs_install(folder: &Folder<'_>, manifest: &Value, members: &[String]) -> bool {
    let kinds = ["dependencies", "devDependencies", "optionalDependencies"];
    let has_dependencies = kinds.iter().any(|kind| {
        let packages = manifest.get(kind).and_then(Value::as_object);
        packages.is_some_and(|packages| !packages.is_empty())
    });
    let locks = [
        "package-lock.json",
        "npm-shrinkwrap.json",
        "pnpm-lock.yaml",
        "yarn.lock",
        "bun.lock",
        "bun.lockb",
    ];
    has_dependencies || !members.is_empty() || folder.has_any(&locks)
}

/// Returns the install command. Husky would set `core.hooksPath` in the git configuration that all worktrees share.
fn install(folder: &Folder<'_>, manifest: &Value, manager: Manager) -> String {
    let command = manager.install(folder);
    let prepares = ["prepare", "postinstall"].iter().any(|script| {
        let script = manifest.pointer(&format!("/scripts/{script}"));
        script
            .and_then(Value::as_str)
            .is_some_and(|script| script.contains("husky"))
    });
    if prepares {
        format!("HUSKY=0 {command}")
    } else {
        command.to_owned()
    }
}
