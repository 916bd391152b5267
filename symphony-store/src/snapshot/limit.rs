//! How much one look at a project reads.

use symphony_core::tick::CANDIDATES_MAX;

/// Candidates read per project, as SQLite holds it.
#[expect(clippy::cast_possible_wrap, reason = "a small constant")]
pub(super) const CANDIDATES_LIMIT: i64 = CANDIDATES_MAX as i64;
