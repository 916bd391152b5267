//! TLS with the authorities that the system trusts.

use std::sync::Arc;

use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::error::SyncError;

/// Which certificates a client trusts.
pub(super) enum Roots {
    /// The system's, also those that `SSL_CERT_FILE` and `SSL_CERT_DIR` name.
    System,
    /// None: the address needs no TLS, and nothing else is ever asked.
    None,
}

/// Makes the settings of TLS.
pub(super) fn config(endpoint: &str, roots: &Roots) -> Result<ClientConfig, SyncError> {
    let mut store = RootCertStore::empty();
    if matches!(roots, Roots::System) {
        let found = rustls_native_certs::load_native_certs();
        let (_, unreadable) = store.add_parsable_certificates(found.certs);
        if store.is_empty() {
            let problems = found.errors.len() + unreadable;
            return Err(SyncError::NoRoots { problems });
        }
    }
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| SyncError::Client {
            endpoint: endpoint.to_owned(),
            detail: error.to_string(),
        })?
        .with_root_certificates(store)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}
