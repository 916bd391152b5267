//! Changes on their way to a tracker.

use crate::closed_set::closed_set;

closed_set!(
    /// How far a change came.
    OutboxState, "state of a change", {
        /// It is to be sent, or its answer is not known.
        Waiting = "waiting",
        /// The tracker has it.
        Applied = "applied",
        /// The tracker refused it for good.
        Refused = "refused",
        /// Something newer took its place before it was sent.
        Withdrawn = "withdrawn",
    }
);
