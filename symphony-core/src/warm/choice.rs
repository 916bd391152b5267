//! Which generation a checkout may start with.

use std::fmt;

use super::key::{GenerationKey, KeyPart};
use super::mount::Mount;

/// What is known before a generation is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Circumstances<'a> {
    /// Whether the configuration asks for warm checkouts.
    pub is_asked: bool,
    /// Whether a cold run disagreed with a warm one since a person looked.
    pub is_disabled: bool,
    /// Whether this is the cold run that a warm one is compared with, or a second try of a gate that failed.
    pub must_be_cold: bool,
    /// Where commands see their checkout.
    pub mount: &'a Mount,
}

/// A generation that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate<'a> {
    /// What has to be equal.
    pub key: &'a GenerationKey,
    /// Whether the base branch still has its commit.
    pub is_merged: bool,
    /// When it was made, as a number that grows.
    pub made: i64,
}

/// Why a checkout starts with nothing but the files of its commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColdReason {
    /// The configuration does not ask for warm checkouts.
    NotAsked,
    /// It must be independent of all earlier runs.
    MustBeCold,
    /// A cold run disagreed with a warm one.
    Disabled,
    /// Commands see each checkout at a path of its own.
    NoNamespace,
    /// A setting of the sandbox shows a folder that contains the canonical path.
    Covered {
        /// The folder.
        by: String,
    },
    /// No generation exists yet.
    NoGeneration,
    /// Something that the build depends on is different now.
    OtherKey(KeyPart),
    /// The base branch no longer has the commit that it was made on.
    NotMerged,
    /// The commit has files below a folder that would be kept: they could be made to look like build output.
    TracksKept {
        /// The folder.
        folder: String,
    },
    /// The clock is not clearly past everything in the generation, so a changed file could look older than its build.
    ClockBehind,
    /// What is in the generation is not what was put there.
    Altered,
    /// No folder of it can be kept for this commit.
    NothingKept,
    /// Something is in the copy that is neither of the commit nor below a kept folder.
    Unclean,
    /// The copy could not be made.
    Failed {
        /// Why not.
        why: String,
    },
}

/// Chooses the generation that a checkout may start with: the newest one that fits. Returns its place in the list.
///
/// # Errors
/// When none fits; with the reason that is the nearest to a fit.
pub fn choose(
    circumstances: Circumstances<'_>,
    wanted: &GenerationKey,
    candidates: &[Candidate<'_>],
) -> Result<usize, ColdReason> {
    let Circumstances {
        is_asked,
        is_disabled,
        must_be_cold,
        mount,
    } = circumstances;
    if !is_asked {
        return Err(ColdReason::NotAsked);
    }
    match mount {
        Mount::Canonical => {}
        Mount::NoNamespace => return Err(ColdReason::NoNamespace),
        Mount::Covered { by } => return Err(ColdReason::Covered { by: by.clone() }),
    }
    if is_disabled {
        return Err(ColdReason::Disabled);
    }
    if must_be_cold {
        return Err(ColdReason::MustBeCold);
    }
    let differences = candidates
        .iter()
        .map(|candidate| candidate.key.differs_in(wanted));
    let fits: Vec<usize> = differences
        .clone()
        .enumerate()
        .filter_map(|(index, part)| part.is_none().then_some(index))
        .collect();
    if fits.is_empty() {
        // The parts are in the order in which they are compared: the last one is the nearest to a fit.
        let nearest = differences.flatten().max();
        return Err(nearest.map_or(ColdReason::NoGeneration, ColdReason::OtherKey));
    }
    let made = |index: &usize| candidates.get(*index).map(|candidate| candidate.made);
    let is_merged = |index: &usize| {
        let candidate = candidates.get(*index);
        candidate.is_some_and(|candidate| candidate.is_merged)
    };
    let newest = fits.into_iter().filter(is_merged).max_by_key(made);
    newest.ok_or(ColdReason::NotMerged)
}

impl fmt::Display for ColdReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAsked => f.write_str("`worktree.warm` is off"),
            Self::MustBeCold => f.write_str("this run checks an earlier one"),
            Self::Disabled => f.write_str("a cold run disagreed with a warm one"),
            Self::NoNamespace => {
                f.write_str("only the level `namespace` shows each checkout at the same path")
            }
            Self::Covered { by } => write!(
                f,
                "the sandbox shows `{by}`, which contains the path of warm checkouts"
            ),
            Self::NoGeneration => f.write_str("no gates have passed on the base yet"),
            Self::OtherKey(part) => {
                write!(f, "{part} changed since gates last passed on the base")
            }
            Self::NotMerged => {
                f.write_str("the base no longer has the commit on which gates passed")
            }
            Self::TracksKept { folder } => write!(f, "the commit has files below `{folder}`"),
            Self::ClockBehind => f.write_str("the clock is behind the files of the last build"),
            Self::Altered => f.write_str("something changed the kept build output"),
            Self::NothingKept => f.write_str("none of the kept folders fits the commit"),
            Self::Unclean => {
                f.write_str("the copy had files that are neither the commit's nor build output")
            }
            Self::Failed { why } => write!(f, "the copy could not be made: {why}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::key::tests::key;
    use super::*;

    fn ready(mount: &Mount) -> Circumstances<'_> {
        Circumstances {
            is_asked: true,
            is_disabled: false,
            must_be_cold: false,
            mount,
        }
    }

    #[test]
    fn a_checkout_is_warm_only_where_nothing_speaks_against_it() {
        let canonical = Mount::Canonical;
        let covered = Mount::Covered { by: "/".to_owned() };
        let key = key();
        let there = [Candidate {
            key: &key,
            is_merged: true,
            made: 1,
        }];
        for (circumstances, expected) in [
            (ready(&canonical), Ok(0)),
            (
                Circumstances {
                    is_asked: false,
                    ..ready(&canonical)
                },
                Err(ColdReason::NotAsked),
            ),
            (ready(&Mount::NoNamespace), Err(ColdReason::NoNamespace)),
            (
                ready(&covered),
                Err(ColdReason::Covered { by: "/".to_owned() }),
            ),
            (
                Circumstances {
                    is_disabled: true,
                    ..ready(&canonical)
                },
                Err(ColdReason::Disabled),
            ),
            (
                Circumstances {
                    must_be_cold: true,
                    ..ready(&canonical)
                },
                Err(ColdReason::MustBeCold),
            ),
        ] {
            assert_eq!(
                choose(circumstances, &key, &there),
                expected,
                "{circumstances:?}"
            );
        }
    }

    #[test]
    fn the_newest_merged_one_with_an_equal_key_is_taken() {
        let (mount, same) = (Mount::Canonical, key());
        let ground = GenerationKey {
            ground: "other".to_owned(),
            ..key()
        };
        let gates = GenerationKey {
            gates: "other".to_owned(),
            ..key()
        };
        let of = |key, is_merged, made| Candidate {
            key,
            is_merged,
            made,
        };
        for (candidates, expected) in [
            (vec![], Err(ColdReason::NoGeneration)),
            (
                vec![of(&ground, true, 1)],
                Err(ColdReason::OtherKey(KeyPart::Ground)),
            ),
            (
                vec![of(&ground, true, 1), of(&gates, true, 2)],
                Err(ColdReason::OtherKey(KeyPart::Gates)),
            ),
            (vec![of(&same, false, 3)], Err(ColdReason::NotMerged)),
            (
                vec![
                    of(&same, true, 1),
                    of(&same, true, 5),
                    of(&same, false, 9),
                    of(&ground, true, 8),
                ],
                Ok(1),
            ),
        ] {
            assert_eq!(choose(ready(&mount), &same, &candidates), expected);
        }
    }

    proptest! {
        #[test]
        fn what_is_chosen_has_the_wanted_key_and_is_merged(
            all in proptest::collection::vec((0..3_u8, any::<bool>(), 0..9_i64), 0..8),
        ) {
            let keys: Vec<GenerationKey> = all
                .iter()
                .map(|(kind, ..)| GenerationKey { ground: kind.to_string(), ..key() })
                .collect();
            let candidates: Vec<Candidate<'_>> = all
                .iter()
                .zip(&keys)
                .map(|((_, is_merged, made), key)| Candidate { key, is_merged: *is_merged, made: *made })
                .collect();
            let wanted = GenerationKey { ground: "0".to_owned(), ..key() };
            let fits = |candidate: &Candidate<'_>| candidate.is_merged && *candidate.key == wanted;
            match choose(ready(&Mount::Canonical), &wanted, &candidates) {
                Ok(index) => {
                    prop_assert!(fits(&candidates[index]));
                    let newest = candidates.iter().filter(|it| fits(it)).map(|it| it.made).max();
                    prop_assert_eq!(Some(candidates[index].made), newest);
                }
                Err(_) => prop_assert!(!candidates.iter().any(fits)),
            }
        }
    }
}
