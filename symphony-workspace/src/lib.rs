//! Git worktrees, configuration files, artifacts on disk, diffs, auto-commit.

pub mod config_file;
