//! What phases produce: read from what an agent wrote, merged, and passed on to other phases.

mod claims;
mod merge;
mod pass_on;

pub use claims::{
    ARTIFACT_CONTENT_BYTES_MAX, ARTIFACT_MARKER, CLAIMS_MAX, Claims, RefusedClaim, check_artifacts,
    parse_markers, parse_output_lines,
};
pub use merge::merge_artifacts;
pub use pass_on::{SOURCE_PHASE, pass_on};
