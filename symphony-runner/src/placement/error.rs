//! Why runs cannot be handed over.

/// Why a run was not handed over.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlacementError {
    /// The service cannot be reached, or refuses.
    #[cfg(feature = "temporal")]
    #[error(transparent)]
    Temporal(symphony_temporal::TemporalError),
    /// The service could not be reached for another run of the same tick, so it was not asked: why, in words.
    #[cfg(feature = "temporal")]
    #[error("{0}")]
    Away(String),
    /// The service has no such namespace.
    #[error("Temporal at {address} has no namespace `{namespace}`")]
    NoNamespace {
        /// Its address.
        address: String,
        /// The namespace that is configured.
        namespace: String,
    },
    /// `placement: temporal` has no address.
    #[error("`placement` is `temporal`, and `temporal.address` names no service")]
    NoAddress,
    /// This program was built without what the placement needs.
    #[error("`placement` is `temporal`, but this Symphony was built without Temporal support")]
    NotBuilt,
}
