//! Projects: what the database and dispatch both know of them.

use crate::closed_set::closed_set;

closed_set!(
    /// How far the setup wizard of a project came.
    WizardState, "wizard state", {
        /// It has not run.
        Pending = "pending",
        /// It configured the project.
        Completed = "completed",
        /// It failed; a human starts it again.
        Failed = "failed",
    }
);
