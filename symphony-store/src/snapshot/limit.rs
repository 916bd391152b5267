//! How much is read of each project.

use symphony_core::tick::CANDIDATES_MAX;

/// How many candidates are read per project, as an SQLite value.
#[expect(clippy::cast_possible_wrap, reason = "a small constant")]
pub(super) const CANDIDATES_LIMIT: i64 = CANDIDATES_MAX as i64;
