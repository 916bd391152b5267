//! Integration tests of symphony-cli.
