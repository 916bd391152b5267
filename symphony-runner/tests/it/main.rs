//! Integration tests of symphony-runner.
