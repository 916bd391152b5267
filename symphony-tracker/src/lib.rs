//! Pure decisions of the sync with issue trackers (the specification's `trackers.md`; design 0046).
//!
//! A tracker's issue and Symphony's are mirrored in both directions. This crate decides what each side has to change; it
//! reads no network, database or clock. `symphony-sync` speaks to the trackers, `symphony-store` keeps links and the outbox,
//! and `symphony-runner` composes them.
//!
//! [`remote`] has what a tracker says of an issue, [`change`] what Symphony asks a tracker to change, [`fault`] how a tracker
//! refuses. [`base`] is what both sides had when they last agreed, [`linked`] what ours has now. [`arrival`] decides what a tracker's
//! issue changes here, [`taking`] what a death left of that, [`departure`] what ours changes there, and [`confirm`] what both agree on once that is applied.
//! [`comment`] and [`command`] read what people write there, [`milestone`] and [`sub_issue`] write what is new here, and [`wait`]
//! decides when to ask again. [`marker`] ties what was created there to its change, and [`quote`] makes agents' texts harmless there.

pub mod arrival;
pub mod base;
pub mod change;
pub mod command;
pub mod comment;
pub mod confirm;
pub mod departure;
pub mod fault;
pub mod filter;
pub mod linked;
pub mod marker;
pub mod milestone;
pub mod quote;
pub mod relations;
pub mod remote;
pub mod sub_issue;
pub mod taking;
pub mod wait;

mod labels;
mod merge;
mod priority;
mod state;
mod step;
mod text;
