//! Forges that pull requests are mirrored with: whether each can be asked, what its pull requests have, what was read there,
//! and the replies that wait (design 0048).
//!
//! This module decides nothing: `symphony-forge` does, and `symphony-runner` composes both.

mod bases;
mod closed;
pub(crate) mod ends;
pub(crate) mod pull;
pub(crate) mod record;
pub(crate) mod reply;
pub(crate) mod seen;
