//! What phases produce: read from what an agent wrote, merged, and passed on to other phases.

mod merge;
mod pass_on;
mod reported;

pub use merge::merge_artifacts;
pub use pass_on::{SOURCE_PHASE, pass_on};
pub use reported::{
    ARTIFACT_CONTENT_BYTES_MAX, ARTIFACT_MARKER, ARTIFACTS_MAX, RefusedArtifact, ReportedArtifacts,
    check_artifacts, parse_markers, parse_output_lines,
};
