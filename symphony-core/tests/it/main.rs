//! Integration tests of symphony-core.
