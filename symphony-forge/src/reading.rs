//! Whether a conversation was read to its end.

use symphony_core::Timestamp;

/// How long after a change the next one has another time: a forge counts in whole seconds, and its servers' clocks differ a little.
const APART_MS: i64 = 2_000;

/// Returns whether whoever reads a conversation now has all that was written in the second of its last change. `answered_at` is the
/// forge's own time before the reading; without it, there is always more to come.
pub fn is_settled(changed_at: Timestamp, answered_at: Option<Timestamp>) -> bool {
    answered_at.is_some_and(|now| now.as_millisecond() - changed_at.as_millisecond() >= APART_MS)
}
