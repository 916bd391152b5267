//! Commits that pass where stale build output is taken for theirs. Each fails in a checkout of its own.

use symphony_core::warm::ColdReason;
use symphony_workspace::PackageMarks;

use super::harness::Warm;

/// A change that breaks something, with the test that shows it; `None` where nothing compiles.
struct Trap {
    name: &'static str,
    files: &'static [(&'static str, Option<&'static str>)],
    test: Option<&'static str>,
}

const TRAPS: &[Trap] = &[
    Trap {
        name: "a source, in a commit that is older than the build",
        files: &[(
            "src/lib.rs",
            Some("include!(concat!(env!(\"OUT_DIR\"), \"/g.rs\"));\npub fn v() -> i32 { 2 }\n"),
        )],
        test: Some("value"),
    },
    Trap {
        name: "a source of a dependency in the project",
        files: &[("dep/src/lib.rs", Some("pub const ONE: i32 = 2;\n"))],
        test: Some("value"),
    },
    Trap {
        name: "a program that a test runs",
        files: &[(
            "src/main.rs",
            Some("fn main() { println!(\"{}\", k::v() + 5) }\n"),
        )],
        test: Some("program"),
    },
    Trap {
        name: "a program that is no longer built",
        files: &[("src/bin/tool.rs", None)],
        test: Some("tool"),
    },
    Trap {
        name: "a file that the build script declares",
        files: &[("data.txt", Some("7\n"))],
        test: Some("data"),
    },
    Trap {
        name: "a file that the build script does not declare",
        files: &[("lazy.txt", Some("7\n"))],
        test: Some("lazy"),
    },
    Trap {
        name: "a file that is gone from a folder that the build script lists",
        files: &[("assets/b", None)],
        test: Some("assets"),
    },
    Trap {
        name: "a source that git ignores and that was not committed",
        files: &[(
            "src/lib.rs",
            Some(
                "include!(concat!(env!(\"OUT_DIR\"), \"/g.rs\"));\npub mod gen;\npub fn v() -> i32 { 1 }\n",
            ),
        )],
        test: None,
    },
];

#[test]
fn no_trap_passes_in_a_checkout_that_starts_with_build_output() {
    let warm = Warm::new();
    let donor = warm.cold(&warm.base);
    assert!(warm.test(&donor).passed);
    // what the ignored source of the last trap would be taken from
    std::fs::write(donor.path().join("src/gen.rs"), "pub const G: i32 = 1;\n").unwrap();
    let generation = warm.donate(&donor, &PackageMarks::default()).unwrap();
    for Trap { name, files, test } in TRAPS {
        let commit = warm.commit(files);
        for is_warm in [true, false] {
            let checkout = if is_warm {
                warm.seeded(&generation, &commit).unwrap()
            } else {
                warm.cold(&commit)
            };
            let ran = warm.test(&checkout);
            assert!(!ran.passed, "{name}: it passed (warm: {is_warm})");
            let shown = match test {
                Some(test) => format!("test {test} ... FAILED"),
                None => "error[E0583]".to_owned(),
            };
            assert!(ran.output.contains(&shown), "{name}: {}", ran.output);
        }
    }
}

#[test]
fn an_honest_change_passes_and_builds_only_what_it_touches() {
    // A file of the root may be read by any package below it.
    let warm = Warm::new();
    let generation = warm.generation();
    for (files, fresh) in [
        (&[][..], &["dep", "k"][..]),
        (
            &[(
                "src/main.rs",
                Some("fn main() { print!(\"{}\", k::v()) }\n"),
            )],
            &["dep"],
        ),
        (&[("README.md", Some("other\n"))], &[]),
    ] {
        let commit = if files.is_empty() {
            warm.base.clone()
        } else {
            warm.commit(files)
        };
        let checkout = warm.seeded(&generation, &commit).unwrap();
        let ran = warm.test(&checkout);
        assert!(ran.passed, "{}", ran.output);
        for package in fresh {
            assert!(
                ran.output.contains(&format!("Fresh {package} ")),
                "{files:?}: {}",
                ran.output
            );
        }
    }
}

#[test]
fn a_commit_that_brings_build_output_of_its_own_goes_cold() {
    let warm = Warm::new();
    let generation = warm.generation();
    let forged = "#!/bin/sh\necho 'test result: ok. 7 passed; 0 failed'\n";
    for path in [
        "target/debug/deps/it-0011223344556677",
        "target",
        "Target/a",
    ] {
        let commit = warm.commit(&[(path, Some(forged))]);
        let folder = path.split('/').next().unwrap().to_owned();
        let refused = warm.seeded(&generation, &commit).unwrap_err();
        assert_eq!(refused, ColdReason::TracksKept { folder });
    }
    // and such a commit makes no generation either
    let commit = warm.commit(&[("target/a", Some("x"))]);
    let checkout = warm.cold(&commit);
    assert_eq!(warm.donate(&checkout, &PackageMarks::default()), None);
}
