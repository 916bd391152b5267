//! Ecosystems whose set-up and test commands follow from the presence of a few files.

use serde_json::Value;

use super::files::is_solution;
use super::folder::Folder;
use super::model::ProposalNote;
use super::package::{Coverage, Package, Role};

/// A module of Go. Modules in folders below are their own.
pub(super) fn go(folder: &Folder<'_>, _notes: &mut Vec<ProposalNote>) -> Option<Package> {
    folder.has("go.mod").then(|| {
        Package::new("go", folder.path)
            .set_up("go mod download")
            .check(Role::Test, "go test ./...")
    })
}

/// A project of Deno.
pub(super) fn deno(folder: &Folder<'_>, notes: &mut Vec<ProposalNote>) -> Option<Package> {
    let file = folder.first(&["deno.json", "deno.jsonc"])?;
    let package = Package::new("deno", folder.path).covers(Coverage::Except(Vec::new()));
    // a file with comments is not JSON: the tests that are there decide then
    let manifest: Value = serde_json::from_str(folder.text(file)).unwrap_or_default();
    if manifest.pointer("/tasks/test").is_some() {
        return Some(
            package
                .set_up("deno install")
                .check(Role::Test, "deno task test"),
        );
    }
    let is_test = |path: &str| {
        let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
        ["_test", ".test"].iter().any(|end| stem.ends_with(end))
    };
    if folder.files().any(is_test) {
        return Some(
            package
                .set_up("deno install")
                .check(Role::Test, "deno test"),
        );
    }
    notes.push(folder.note(file, "it has no task `test`, and no test files were found"));
    Some(package)
}

/// A project of Ruby with tests of `RSpec` or Rake.
pub(super) fn ruby(folder: &Folder<'_>, notes: &mut Vec<ProposalNote>) -> Option<Package> {
    if !folder.has("Gemfile") {
        return None;
    }
    let package = Package::new("ruby", folder.path).set_up("bundle install");
    let has_folder = |name: &str| folder.files().any(|file| file.starts_with(name));
    if has_folder("bin/rails") && has_folder("test/") {
        return Some(package.check(Role::Test, "bin/rails test"));
    }
    if folder.has(".rspec") || has_folder("spec/") {
        return Some(package.check(Role::Test, "bundle exec rspec"));
    }
    if folder.has("Rakefile") && has_folder("test/") {
        return Some(package.check(Role::Test, "bundle exec rake test"));
    }
    notes.push(folder.note(
        "Gemfile",
        "neither a folder `spec` nor a `Rakefile` with a folder `test` was found",
    ));
    Some(package)
}

/// A project of Composer.
pub(super) fn php(folder: &Folder<'_>, notes: &mut Vec<ProposalNote>) -> Option<Package> {
    let manifest = folder.json("composer.json", notes)?;
    let package = Package::new("php", folder.path)
        .set_up("composer install --no-interaction")
        .fills("vendor");
    let has_script = match manifest.pointer("/scripts/test") {
        Some(Value::String(script)) => !script.trim().is_empty(),
        Some(Value::Array(scripts)) => !scripts.is_empty(),
        _ => false,
    };
    if has_script {
        return Some(package.check(Role::Test, "composer test"));
    }
    if folder.has_any(&["phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"]) {
        return Some(package.check(Role::Test, "vendor/bin/phpunit"));
    }
    notes.push(folder.note(
        "composer.json",
        "it has no script `test`, and there is no phpunit.xml",
    ));
    Some(package)
}

/// A project of Mix; those of an umbrella belong to it.
pub(super) fn elixir(folder: &Folder<'_>, _notes: &mut Vec<ProposalNote>) -> Option<Package> {
    folder.has("mix.exs").then(|| {
        let is_umbrella = folder.text("mix.exs").contains("apps_path");
        Package::new("elixir", folder.path)
            .set_up("mix deps.get")
            .check(Role::Test, "mix test")
            .fills("_build")
            .fills("deps")
            .covers(if is_umbrella {
                Coverage::Except(Vec::new())
            } else {
                Coverage::Nothing
            })
    })
}

/// A package of Swift.
pub(super) fn swift(folder: &Folder<'_>, _notes: &mut Vec<ProposalNote>) -> Option<Package> {
    folder.has("Package.swift").then(|| {
        Package::new("swift", folder.path)
            .set_up("swift package resolve")
            .check(Role::Test, "swift test")
            .fills(".build")
    })
}

/// A solution or project of .NET.
pub(super) fn dotnet(folder: &Folder<'_>, _notes: &mut Vec<ProposalNote>) -> Option<Package> {
    let is_here = |file: &str| !file.contains('/') && is_solution(file);
    folder.files().any(is_here).then(|| {
        Package::new("dotnet", folder.path)
            .set_up("dotnet restore")
            .check(Role::Test, "dotnet test")
            .covers(Coverage::Except(Vec::new()))
    })
}
