//! Gates: commands that must succeed on a commit, run where no working tree has any influence.
//!
//! - [`GateCheckout`]: a pristine checkout of one commit, with the project's configuration files and its set-up
//!   command, in which any command can run. Everything that must know what a commit is worth uses it: the gates of a
//!   pull request, a merge, the checks of a plan's phase, `init` and `doctor`.
//! - [`ForegroundJob`]: the lock and the note of a checkout that belongs to no run, so that the next tick removes what
//!   a killed command left.

mod base_red;
mod checkout;
mod confinement;
mod digest;
mod foreground;
mod job;
mod kept;
mod key;
mod programs;
mod proof;
mod request;
mod result;
mod run;
mod running;
mod sandbox;
mod untried;
mod warm;

pub use base_red::record_trial;
pub(crate) use base_red::{base_hold, naming_setup_log};
pub use checkout::{GateCheckout, configured_gates, shown_gates};
pub(crate) use checkout::{checkout_owner, clear_left_checkout, remove_checkout};
pub(crate) use digest::tried_digest;
pub use foreground::ForegroundJob;
pub use job::check_pr;
pub(crate) use job::{GatesEnded, clear_dead_checkout, end_of_dead, run_gates_job, start_gates};
pub(crate) use key::History;
pub(crate) use proof::{Proof, passes_in_base};
pub use request::CheckoutRequest;
pub use running::running_now;
pub use untried::has_moved;
pub(crate) use untried::{base_gates, untried};
pub use warm::{WarmState, warm_state};
