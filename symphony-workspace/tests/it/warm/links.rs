//! Writes through hard links, and builds of several checkouts side by side.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use symphony_core::warm::ColdReason;
use symphony_workspace::PackageMarks;

use super::harness::Warm;
use crate::project::{read, write};

#[test]
fn a_write_through_a_hard_link_into_a_generation_shows() {
    let warm = Warm::new();
    let donor = warm.cold(&warm.base);
    // as package managers link files of a store
    let store = warm.project.root.parent().unwrap().join("store");
    write(&store, "built\n");
    write(donor.path().join("target/debug/.fingerprint/k/lib"), "1");
    let linked = "target/debug/deps/k";
    fs::create_dir_all(donor.path().join("target/debug/deps")).unwrap();
    fs::hard_link(&store, donor.path().join(linked)).unwrap();
    let generation = warm.donate(&donor, &PackageMarks::default()).unwrap();

    let seeded = warm.seeded(&generation, &warm.base).unwrap();
    assert_eq!(fs::metadata(seeded.path().join(linked)).unwrap().nlink(), 1);
    fs::write(seeded.path().join(linked), "other\n").unwrap();
    assert_eq!(read(&store), "built\n");
    assert!(warm.seeded(&generation, &warm.base).is_ok());

    let before = fs::metadata(&store).unwrap();
    fs::write(&store, "forge\n").unwrap();
    let time = filetime::FileTime::from_last_modification_time(&before);
    filetime::set_file_mtime(&store, time).unwrap();
    let refused = warm.seeded(&generation, &warm.base).unwrap_err();
    assert_eq!(refused, ColdReason::Altered);
}

#[test]
fn a_link_out_of_a_checkout_gives_a_program_no_way_into_the_generation() {
    let warm = Warm::new();
    let donor = warm.cold(&warm.base);
    write(donor.path().join("target/debug/.fingerprint/k/lib"), "1");
    let outside = warm.project.root.parent().unwrap().join("outside");
    write(&outside, "1\n");
    fs::create_dir_all(donor.path().join("target/debug/deps")).unwrap();
    let link = "target/debug/deps/link";
    std::os::unix::fs::symlink(&outside, donor.path().join(link)).unwrap();
    let generation = warm.donate(&donor, &PackageMarks::default()).unwrap();
    let seeded = warm.seeded(&generation, &warm.base).unwrap();
    let found = seeded.path().join(link);
    assert_eq!(fs::read_link(found).unwrap(), outside, "it is a link again");
}

/// With one folder for the output of several checkouts, one that is older than the last build passes with the other's output.
#[test]
fn a_build_in_one_checkout_does_not_reach_another_one_of_the_same_generation() {
    let warm = Warm::new();
    let generation = warm.generation();
    let broken = warm.commit(&[("dep/src/lib.rs", Some("pub const ONE: i32 = 2;\n"))]);
    let older = warm.seeded(&generation, &broken).unwrap();
    let good = warm.seeded(&generation, &warm.base).unwrap();
    assert!(warm.test(&good).passed);
    let ran = warm.test(&older);
    assert!(!ran.passed, "{}", ran.output);
    assert!(
        ran.output.contains("test value ... FAILED"),
        "{}",
        ran.output
    );
    // and what failed there does not reach the next one
    let next = warm.seeded(&generation, &warm.base).unwrap();
    assert!(warm.test(&next).passed);
}
