//! Git worktrees, configuration files, artifacts on disk, diffs, auto-commit.
