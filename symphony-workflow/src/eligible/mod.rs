//! Which tickets an agent works on, and when its run ends or is tried again (sections 7 and 8), as functions of values.
//!
//! Here the agent itself moves its ticket: nothing is written to the tracker. [`plan_dispatch`] chooses tickets,
//! [`plan_refresh`] and [`stalled`] look after runs, and [`after_exit`] and [`plan_retry`] say when one begins again.

mod dispatch;
mod reconcile;
mod retry;
mod rules;
mod state;

pub use dispatch::{Dispatch, Waiting, plan_dispatch};
pub use reconcile::{NextTurn, Refresh, after_turn, plan_refresh, stale_workspaces, stalled};
pub use retry::{
    CONTINUATION_DELAY, Exit, FIRST_BACKOFF, Found, NO_SLOTS, POLL_FAILED, RetryStep, after_exit,
    backoff, plan_retry,
};
pub use rules::{Rules, Standing};
pub use state::{Retry, Running, State};

#[cfg(test)]
mod tests;
