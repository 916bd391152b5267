//! Integration tests of the store, on real SQLite.

mod claims;
mod finish;
mod issues;
mod queries;
mod reviews;
mod support;
