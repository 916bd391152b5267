//! Gates: commands that must succeed on a commit, run where nobody's working tree has a say.
//!
//! - [`GateCheckout`]: a pristine checkout of one commit with the project's configuration files and
//!   its set-up command, and any command run in it. Whoever needs to know what a commit is worth
//!   uses it: the gates of a pull request, a merge, the checks of a plan's phase, `init` and `doctor`.
//! - [`ForegroundJob`]: the lock and the note of a checkout that no run owns, so that the next tick
//!   removes what a killed command left.

mod checkout;
mod foreground;
mod result;
mod run;

pub(crate) use checkout::clear_left_checkout;
pub use checkout::{CheckoutRequest, GateCheckout, SET_UP_GATE};
pub use foreground::ForegroundJob;
