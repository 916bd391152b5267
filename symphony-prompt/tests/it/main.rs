//! Integration tests of symphony-prompt.
