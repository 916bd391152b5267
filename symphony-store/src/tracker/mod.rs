//! Trackers that issues are mirrored with: up to where each was read, which issues are linked, and the outbox
//! (design 0046).
//!
//! This module decides nothing: `symphony-tracker` does, and `symphony-runner` composes both.

pub(crate) mod comment;
pub(crate) mod link;
pub(crate) mod linked;
pub(crate) mod outbox;
mod part;
pub(crate) mod record;
pub(crate) mod refused;
mod taking;
