//! Traps of a project of Node, with a real npm. Its set-up installs only where there is no folder of packages: what is kept
//! wrongly is not put right by it.

use std::path::Path;

use symphony_core::warm::ColdReason;
use symphony_workspace::{Generation, PackageMarks, Pristine};

use super::harness::{Ran, Warm, shell};
use crate::project::{read, write};

const SET_UP: &str = "test -d node_modules || npm ci --silent";
const GATE: &str = "npm test --silent";

const PACKAGE: &str = r#"{ "name": "app", "version": "1.0.0", "private": true,
  "scripts": { "test": "node test.js" },
  "dependencies": { "dep": "file:vendor/dep-1.0.0.tgz" },
  "devDependencies": { "checker": "file:vendor/checker-1.0.0.tgz" } }
"#;
const TEST: &str = "const check = require('checker');
check(require('dep').one, 1);
check(require('./value').value, 1);
const fs = require('fs'), cache = 'node_modules/.cache/passed';
if (fs.existsSync(cache)) process.exit(0);
check(require('./cached').value, 1);
fs.mkdirSync('node_modules/.cache', { recursive: true });
fs.writeFileSync(cache, '');
";
/// Updates the lock file.
const LOCK: &str = "npm install --package-lock-only --silent";

/// A project whose packages are archives in `vendor`.
fn project() -> Warm {
    Warm::of(|root| {
        let pack = |folder: &str, package: &str, version: &str, text: &str| {
            let source = tempfile::tempdir().unwrap();
            let manifest = format!(r#"{{ "name": "{package}", "version": "{version}" }}"#);
            write(source.path().join("package.json"), &manifest);
            write(source.path().join("index.js"), text);
            let to = root.join(folder);
            std::fs::create_dir_all(&to).unwrap();
            let to = to.display();
            let ran = shell(
                source.path(),
                &format!("npm pack --silent --pack-destination '{to}'"),
            );
            assert!(ran.passed, "npm is needed: {}", ran.output);
        };
        pack("vendor", "dep", "1.0.0", "exports.one = 1;\n");
        pack("vendor", "dep", "2.0.0", "exports.one = 2;\n");
        pack("vendor/other", "dep", "1.0.0", "exports.one = 2;\n");
        pack("vendor", "extra", "1.0.0", "exports.one = 1;\n");
        let check = "module.exports = require('assert').strictEqual;\n";
        pack("vendor", "checker", "1.0.0", check);
        write(root.join("package.json"), PACKAGE);
        write(root.join("test.js"), TEST);
        write(root.join("value.js"), "exports.value = 1;\n");
        write(root.join("cached.js"), "exports.value = 1;\n");
        write(root.join(".gitignore"), "node_modules/\n");
        let ran = shell(root, LOCK);
        assert!(ran.passed, "{}", ran.output);
    })
}

fn test(warm: &Warm, checkout: &Pristine) -> Ran {
    let set_up = warm.sh(checkout, SET_UP);
    if !set_up.passed {
        return set_up;
    }
    warm.sh(checkout, GATE)
}

/// Makes a generation of the base in which a gate also ran this script.
fn generation(warm: &Warm, gate: &str) -> Option<Generation> {
    let donor = warm.cold(&warm.base);
    let set_up = warm.sh(&donor, SET_UP);
    assert!(set_up.passed, "{}", set_up.output);
    let after = PackageMarks::of(donor.path());
    let ran = warm.sh(&donor, &format!("{gate}\n{GATE}"));
    assert!(ran.passed, "{}", ran.output);
    warm.donate(&donor, &after)
}

const TRAPS: &[(&str, &str)] = &[
    ("a source", "echo 'exports.value = 2' >value.js"),
    (
        "a source whose result a cache among the packages has",
        "echo 'exports.value = 2' >cached.js",
    ),
    (
        "another version of a package",
        "sed -i s/dep-1/dep-2/ package.json && npm install --package-lock-only --silent",
    ),
    (
        "another package in the archive of the same name",
        "cp vendor/other/dep-1.0.0.tgz vendor/",
    ),
    (
        "a package that is no longer declared",
        "sed -i '/\"dependencies\"/d' package.json && npm install --package-lock-only --silent",
    ),
    ("settings that leave a package out", "echo omit=dev >.npmrc"),
    ("a lock file that is gone", "rm package-lock.json"),
];

#[test]
fn no_trap_passes_with_kept_packages() {
    let warm = project();
    let generation = generation(&warm, "true").unwrap();
    assert_eq!(generation.folders, ["node_modules"]);
    for (name, script) in TRAPS {
        let commit = warm.commit_by(script);
        let cold = test(&warm, &warm.cold(&commit));
        assert!(!cold.passed, "{name}: it passes cold");
        match warm.seeded(&generation, &commit) {
            Ok(seeded) => {
                let ran = test(&warm, &seeded);
                assert!(!ran.passed, "{name}: {}", ran.output);
            }
            Err(reason) => assert_eq!(reason, ColdReason::NothingKept, "{name}"),
        }
    }
}

#[test]
fn an_honest_change_passes_with_the_packages_that_were_kept() {
    let warm = project();
    let generation = generation(&warm, "true").unwrap();
    let commit = warm.commit_by("echo 'exports.value = 2 - 1' >value.js");
    let seeded = warm.seeded(&generation, &commit).unwrap();
    assert!(seeded.path().join("node_modules/dep/index.js").exists());
    let ran = test(&warm, &seeded);
    assert!(ran.passed, "{}", ran.output);
}

#[test]
fn packages_that_a_gate_changed_are_not_kept() {
    let warm = project();
    for (name, script) in [
        (
            "npm install --no-save",
            "npm install --no-save --silent ./vendor/extra-1.0.0.tgz",
        ),
        (
            "an edit",
            "echo 'exports.one = 1; exports.two = 2' >node_modules/dep/index.js",
        ),
        (
            "an edit that keeps size and time",
            "f=node_modules/dep/index.js; cp -p $f $HOME/kept; sed -i 's/one = 1/one =1 /' $f; \
             touch -r $HOME/kept $f",
        ),
        ("a link", "ln -s ../value.js node_modules/value.js"),
        ("a removed file", "rm node_modules/dep/package.json"),
    ] {
        assert_eq!(generation(&warm, script), None, "{name}");
    }
}

#[test]
fn what_a_program_writes_into_kept_packages_does_not_reach_the_next_checkout() {
    let warm = project();
    let generation = generation(&warm, "true").unwrap();
    let seeded = warm.seeded(&generation, &warm.base).unwrap();
    let edit = "for f in node_modules/*/index.js; do echo broken >>$f; done";
    assert!(warm.sh(&seeded, edit).passed);
    let next = warm.seeded(&generation, &warm.base).unwrap();
    assert_eq!(index(next.path()), "exports.one = 1;\n");
    assert!(test(&warm, &next).passed);
}

fn index(checkout: &Path) -> String {
    read(checkout.join("node_modules/dep/index.js"))
}

#[test]
fn packages_that_read_the_projects_source_when_they_are_installed_are_not_kept() {
    // as a client of a database that is generated from a file of the project
    for (package, scripts) in [
        (
            r#""postinstall": "node copy.js""#,
            "\"test\": \"node test.js\", ",
        ),
        (
            r#""prepare": "node copy.js""#,
            "\"test\": \"node test.js\", ",
        ),
    ] {
        let warm = project();
        let changed = format!(
            "sed -i 's/\"scripts\": {{ \"test\": \"node test.js\"/\"scripts\": {{ {scripts}{package}/' package.json && \
             echo \"require('fs').copyFileSync('value.js', 'node_modules/dep/copied.js')\" >copy.js"
        );
        let commit = warm.commit_by(&changed);
        let donor = warm.cold(&commit);
        let set_up = warm.sh(&donor, SET_UP);
        assert!(set_up.passed, "{}", set_up.output);
        assert!(donor.path().join("node_modules/dep/copied.js").exists());
        let after = PackageMarks::of(donor.path());
        assert_eq!(warm.donate(&donor, &after), None, "{package}");
    }
}
