//! Integration tests of symphony-store.
