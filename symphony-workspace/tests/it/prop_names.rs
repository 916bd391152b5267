//! Properties of names: keys never collide and stay below their folder, branch names are git's.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use proptest::prelude::*;
use symphony_workspace::{BranchName, WorktreeKey};

use crate::project::git_in;

proptest! {
    #[test]
    fn a_key_is_one_plain_part_of_a_path(identifier in any::<String>()) {
        let key = WorktreeKey::of(&identifier);
        let parts: Vec<Component<'_>> = Path::new(key.as_str()).components().collect();
        prop_assert!(matches!(parts.as_slice(), [Component::Normal(_)]), "{key}");
        prop_assert!(key.as_str().len() <= 64);
        prop_assert!(!key.as_str().starts_with(['.', '-']));
        prop_assert!(key.as_str().chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c)));
        prop_assert_eq!(WorktreeKey::from_folder(key.as_str()), key);
    }

    #[test]
    fn different_identifiers_have_different_keys(
        identifiers in proptest::collection::btree_set("[-./A-Za-z0-9_ é]{0,70}", 0..40)
    ) {
        let mut keys = BTreeMap::new();
        for identifier in &identifiers {
            if let Some(other) = keys.insert(WorktreeKey::of(identifier), identifier) {
                prop_assert!(false, "{other:?} and {identifier:?}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_branch_name_is_one_for_git(name in "[-@a-b./~^:?*\\[{} ]{0,6}|[a-z]{1,3}(/[a-z.]{1,6}){0,2}(\\.lock)?") {
        if BranchName::parse(&name).is_ok() {
            let checked = git_in(Path::new("/"), &["check-ref-format", "--branch", &name]);
            prop_assert!(checked.status.success(), "{name}");
        }
    }
}
