//! Runs that hosts take from a pool: begun once, alive by their beats, and given up by the database's clock (`docs/design/0051`).
//!
//! Times here are the database's own. Hosts send none: their clocks may differ, and a run must not live longer for that.

pub(crate) mod beat;
pub(crate) mod handed;
pub(crate) mod promote;
pub(crate) mod protocol;
pub(crate) mod result;
pub(crate) mod run_log;
pub(crate) mod silent;
pub(crate) mod take;
pub(crate) mod worker;
