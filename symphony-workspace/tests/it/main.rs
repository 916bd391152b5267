//! Integration tests of symphony-workspace.

mod config_file;
