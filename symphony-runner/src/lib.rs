//! Agent providers, process supervision, stream parsing, dispatch, exit handling, the tick.

pub mod environment;
pub mod output;
pub mod process;
pub mod provider;
pub mod scripted;
pub mod stream;
