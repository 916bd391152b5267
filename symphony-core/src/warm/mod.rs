//! Warm checkouts: build output that a checkout starts with, and when it goes without.
//!
//! A gate that passed on a commit of the base branch leaves a *generation*: the files of its checkout with what the build
//! and the set-up left. A later checkout that starts with a copy builds only what changed. A copy that does not fit makes
//! a gate pass that would fail, so everything here decides for a cold checkout whenever something is not known.
//!
//! - [`GenerationKey`]: everything that has to be equal between the build of a generation and its use.
//! - [`choose`] and [`plan_seed`]: warm or cold, and why.
//! - [`FOLDERS`]: which folders are kept, for which ecosystem, and which changes forbid it.
//! - [`to_touch`]: the files whose times must be newer than the build.
//! - [`is_sampled`] and [`compare_with_cold`]: the check by a cold run.

mod choice;
mod folder;
mod key;
mod mount;
mod own_source;
mod path;
mod sample;
mod seed;
mod touch;

pub use choice::{Candidate, Circumstances, ColdReason, choose};
pub use folder::{Ecosystem, FOLDERS, KeptFolder, folders_of};
pub use key::{GenerationKey, KeyPart};
pub use mount::{Mount, canonical_path, mount_of};
pub use own_source::{
    PythonOrigin, has_own_backend, is_copied_by_node, is_made_by_script, is_only_a_link,
    origin_of_python,
};
pub use sample::{ColdComparison, SAMPLE_ONE_IN, compare_with_cold, is_sampled};
pub use seed::{CLOCK_GRAIN_MS, SeedFacts, SeedPlan, plan_seed};
pub use touch::{Change, to_touch};
