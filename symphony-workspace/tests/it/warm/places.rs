//! What is in a checkout that starts with a generation, and what keeps it from doing so.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use symphony_core::Timestamp;
use symphony_core::warm::ColdReason;
use symphony_workspace::{Generation, PackageMarks};

use super::harness::{Warm, later};
use crate::project::{executable, git, read, write};

/// Makes a generation whose build output is made by hand.
fn made_by_hand(warm: &Warm) -> Generation {
    let donor = warm.cold(&warm.base);
    write(donor.path().join("target/debug/.fingerprint/k/lib"), "1");
    write(donor.path().join("target/debug/deps/k"), "built\n");
    warm.donate(&donor, &PackageMarks::default()).unwrap()
}

fn status(checkout: &Path) -> String {
    git(checkout, &["status", "--porcelain", "--ignored"])
}

#[test]
fn what_a_gate_did_to_tracked_files_and_to_git_is_not_handed_on() {
    let warm = Warm::new();
    let donor = warm.cold(&warm.base);
    let root = donor.path();
    write(root.join("target/debug/.fingerprint/k/lib"), "1");
    let source = root.join("dep/src/lib.rs");
    let before = fs::metadata(&source).unwrap();
    git(root, &["update-index", "--skip-worktree", "dep/src/lib.rs"]);
    git(root, &["config", "core.checkStat", "minimal"]);
    git(root, &["config", "core.trustctime", "false"]);
    // of the same size, with the same time
    write(&source, "pub const ONE: i32 = 3;\n");
    let time = filetime::FileTime::from_last_modification_time(&before);
    filetime::set_file_mtime(&source, time).unwrap();
    executable(
        &root.join(".git/hooks/post-checkout"),
        "#!/bin/sh\ntouch hooked\n",
    );
    write(root.join(".git/info/exclude"), "hidden\n");
    write(root.join("hidden"), "x");
    git(root, &["init", "-q", "nested"]);
    write(root.join("nested/file"), "x");
    write(root.join("src/__pycache__/a.pyc"), "x");
    let generation = warm.donate(&donor, &PackageMarks::default()).unwrap();

    let seeded = warm.seeded(&generation, &warm.base).unwrap();
    let root = seeded.path();
    assert_eq!(
        read(root.join("dep/src/lib.rs")),
        "pub const ONE: i32 = 1;\n"
    );
    assert_ne!(
        fs::metadata(root.join("dep/src/lib.rs"))
            .unwrap()
            .mtime_nsec(),
        before.mtime_nsec(),
        "it is newer than the build"
    );
    assert_eq!(status(root), "!! target/");
    for gone in [
        "hooked",
        "hidden",
        "nested",
        "src/__pycache__",
        ".git/hooks/post-checkout",
    ] {
        assert!(!root.join(gone).exists(), "{gone}");
    }
    assert_eq!(
        git(root, &["config", "--local", "--get-regexp", "core.*"]),
        git(
            warm.cold(&warm.base).path(),
            &["config", "--local", "--get-regexp", "core.*"]
        )
    );
}

#[test]
fn a_checkout_looks_like_a_pristine_one_but_for_what_is_kept() {
    let warm = Warm::new();
    let generation = made_by_hand(&warm);
    let commit = warm.commit(&[
        ("src/main.rs", Some("fn main() {}\n")),
        ("assets/b", None),
        ("assets/c", Some("c\n")),
    ]);
    let seeded = warm.seeded(&generation, &commit).unwrap();
    let cold = warm.cold(&commit);
    let listed = |root: &Path| git(root, &["ls-files", "-s"]);
    assert_eq!(listed(seeded.path()), listed(cold.path()));
    assert_eq!(status(seeded.path()), "!! target/");
    assert_eq!(status(cold.path()), "");
    assert_eq!(seeded.commit(), &commit);
    assert_eq!(read(seeded.path().join("target/debug/deps/k")), "built\n");
    // it is restored like one
    write(seeded.path().join("src/main.rs"), "changed\n");
    let restored = warm.repository.restore_tracked(&seeded).unwrap();
    assert_eq!(restored, ["src/main.rs"]);
}

#[test]
fn a_generation_that_something_wrote_to_is_not_used() {
    let warm = Warm::new();
    let generation = made_by_hand(&warm);
    let seeded = warm.seeded(&generation, &warm.base).unwrap();
    // what runs in a checkout does not reach the generation
    write(seeded.path().join("target/debug/deps/k"), "other\n");
    let again = warm.seeded(&generation, &warm.base).unwrap();
    assert_eq!(read(again.path().join("target/debug/deps/k")), "built\n");

    let file = warm
        .pool
        .folder()
        .join(&generation.name)
        .join("tree/target/debug/deps/k");
    let before = filetime::FileTime::from_last_modification_time(&fs::metadata(&file).unwrap());
    fs::write(&file, "forge\n").unwrap();
    filetime::set_file_mtime(&file, before).unwrap();
    let refused = warm.seeded(&generation, &warm.base).unwrap_err();
    assert_eq!(refused, ColdReason::Altered);
    warm.pool.remove(&generation.name);
    let refused = warm.seeded(&generation, &warm.base).unwrap_err();
    assert_eq!(refused, ColdReason::NoGeneration);
}

/// `diff-files` lists a file whose looks the index does not know even if the contents are the same.
#[test]
fn the_index_knows_how_files_look_that_were_touched() {
    let warm = Warm::new();
    let generation = made_by_hand(&warm);
    let commit = warm.commit(&[("src/main.rs", Some("fn main() {}\n"))]);
    let seeded = warm.seeded(&generation, &commit).unwrap();
    assert_eq!(git(seeded.path(), &["diff-files", "--name-only"]), "");
}

#[test]
fn a_clock_that_was_set_back_goes_cold() {
    let warm = Warm::new();
    let generation = made_by_hand(&warm);
    let then = Timestamp::from_millisecond(generation.newest_ms).unwrap();
    let refused = warm.seeded_at(&generation, &warm.base, then).unwrap_err();
    assert_eq!(refused, ColdReason::ClockBehind);
    drop(warm.seeded_at(&generation, &warm.base, later()).unwrap());
}

#[test]
fn a_folder_that_the_commit_does_not_ignore_goes_cold() {
    let warm = Warm::new();
    let generation = made_by_hand(&warm);
    let commit = warm.commit(&[(".gitignore", Some("/src/gen.rs\n"))]);
    let refused = warm.seeded(&generation, &commit).unwrap_err();
    assert_eq!(refused, ColdReason::Unclean);
}

#[test]
fn packages_are_kept_only_as_the_set_up_left_them_and_for_equal_lock_files() {
    let warm = Warm::new();
    let with_packages = warm.commit(&[
        ("package.json", Some("{}\n")),
        (".gitignore", Some("/target\n/node_modules\n")),
    ]);
    let make = |unsaved: bool| {
        let donor = warm.cold(&with_packages);
        write(donor.path().join("target/debug/.fingerprint/k/lib"), "1");
        write(donor.path().join("node_modules/a/index.js"), "1\n");
        let after = PackageMarks::of(donor.path());
        if unsaved {
            write(donor.path().join("node_modules/b/index.js"), "1\n");
        }
        warm.donate(&donor, &after).unwrap()
    };
    assert_eq!(make(true).folders, ["target"], "npm install --no-save");
    let generation = make(false);
    assert_eq!(generation.folders, ["target", "node_modules"]);
    let seeded = warm.seeded(&generation, &with_packages).unwrap();
    assert!(seeded.path().join("node_modules/a/index.js").exists());
    for path in ["package.json", "package-lock.json", ".npmrc"] {
        git(
            &warm.project.root,
            &["checkout", "-q", with_packages.as_str()],
        );
        write(warm.project.root.join(path), "{ }\n");
        git(&warm.project.root, &["add", "-A"]);
        git(&warm.project.root, &["commit", "-qm", path]);
        let changed = warm.project.head("HEAD");
        let seeded = warm.seeded(&generation, &changed).unwrap();
        assert!(!seeded.path().join("node_modules").exists(), "{path}");
        assert!(seeded.path().join("target/debug/.fingerprint").exists());
    }
}
