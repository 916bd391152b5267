//! Integration tests of symphony-workspace.
