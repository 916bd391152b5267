//! Plan files: phases, their dependencies and what they pass on (spec: plan).

mod artifact;
mod phase;

pub use artifact::{Artifact, ArtifactKind};
pub use phase::{Complexity, Phase, RequiredContext};
