//! A secret value is found wherever it stands in base64, and a branch without it is clean.

use proptest::prelude::*;

use crate::project::{Project, commit_file, made, write};

const STANDARD: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Base64 as its definition says, bit by bit: another way than the one under test.
fn base64(bytes: &[u8]) -> String {
    let bits: Vec<u8> = bytes
        .iter()
        .flat_map(|byte| (0..8).rev().map(move |shift| (byte >> shift) & 1))
        .collect();
    let mut text: String = bits
        .chunks(6)
        .map(|chunk| {
            let value = (0..6).fold(0, |sum, at| {
                sum * 2 + usize::from(*chunk.get(at).unwrap_or(&0))
            });
            STANDARD
                .get(value)
                .map(|digit| char::from(*digit))
                .unwrap_or_default()
        })
        .collect();
    while !text.len().is_multiple_of(4) {
        text.push('=');
    }
    text
}

proptest! {
    // Each case is a repository, a commit and a scan.
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn a_value_is_found_at_every_place_in_base64(
        value in "[a-zA-Z0-9+/=!?_-]{8,40}",
        before in proptest::collection::vec(any::<u8>(), 0..7),
        after in proptest::collection::vec(any::<u8>(), 0..7),
    ) {
        let project = Project::new();
        write(project.root.join(".env"), &format!("KEY='{value}'\n"));
        let repository = project.open();
        let worktree = made(&repository);
        let base = project.head("main");
        let clean = commit_file(worktree.path(), "clean.txt", "nothing of it\n");
        let scan = repository.scan_secrets(Some(&worktree), &base, &clean).unwrap();
        prop_assert_eq!(scan.leaks.len(), 0);
        let hidden = base64(&[&before, value.as_bytes(), &after].concat());
        let head = commit_file(worktree.path(), "hidden.txt", &hidden);
        let scan = repository.scan_secrets(Some(&worktree), &base, &head).unwrap();
        prop_assert_eq!(scan.leaks.len(), 1, "{}", hidden);
    }
}
