//! Runs: claimed, watched, ended, and what they cost.

pub(crate) mod claim;
pub(crate) mod claim_refusal;
pub(crate) mod ending;
pub(crate) mod exit_handling;
pub(crate) mod finish;
pub(crate) mod hand_in;
pub(crate) mod hold;
pub(crate) mod hold_lift;
pub(crate) mod hold_scope;
pub(crate) mod hold_trial;
pub(crate) mod left_behind;
pub(crate) mod new_hold;
pub(crate) mod own_write;
pub(crate) mod prompt_set;
pub(crate) mod record;
pub(crate) mod row;
pub(crate) mod spending;
pub(crate) mod take_over;
pub(crate) mod unprepared;
