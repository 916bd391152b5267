//! Where the workflows of GitHub Actions are.

/// The folder of workflows.
pub(super) const FOLDER: &str = ".github/workflows/";

/// Workflows that are read; a project with more configures its gates by hand.
pub(super) const FILES_MAX: usize = 20;
