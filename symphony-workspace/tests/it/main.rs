//! Integration tests of symphony-workspace.

mod config_file;
mod main_job;
mod project;
