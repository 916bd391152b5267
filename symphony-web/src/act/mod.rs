//! What visitors do: each function carries out one order by the function that the command line calls, and says what was done.

mod health;
mod inbox;
mod issue;
mod learning;
mod plan;
mod points;
mod pull_request;
mod run;

pub(crate) use health::check_health;
pub(crate) use inbox::dismiss_notice;
pub(crate) use issue::{
    add_issue, approve_phase, close, comment, edit, move_issue, reject_phase, release, retry,
    say_to_issue,
};
pub(crate) use learning::{edit_learning, restore_learning, retire_learning};
pub(crate) use plan::{abort_plan, pause_plan, resume_plan, retry_plan, skip_phase};
pub(crate) use points::{close_point, reopen_point, reply};
pub(crate) use pull_request::{approve, check, confirm, merge, reject};
pub(crate) use run::{cancel_run, pause, resume, say_to_run, withdraw_message};
