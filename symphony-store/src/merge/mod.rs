//! Merges: made by Symphony, made outside, and published.

pub(crate) mod base_look;
pub(crate) mod intent;
pub(crate) mod notice;
pub(crate) mod outside;
pub(crate) mod publication;
pub(crate) mod under_way;
