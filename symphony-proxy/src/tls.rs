//! TLS to a provider, with the authorities that the system trusts.

use std::fmt;
use std::io;
use std::sync::Arc;

use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::error::ProxyError;
use crate::host::Target;
use crate::stream::Stream;

/// A TLS client; cheap to clone.
#[derive(Clone)]
pub struct Tls(Arc<ClientConfig>);

impl Tls {
    /// Loads the system's root certificates (also `SSL_CERT_FILE` and `SSL_CERT_DIR`), which takes
    /// milliseconds: once for a process is enough.
    ///
    /// # Errors
    ///
    /// [`ProxyError::NoRoots`] if there is none.
    pub fn system() -> Result<Self, ProxyError> {
        let found = rustls_native_certs::load_native_certs();
        let mut roots = RootCertStore::empty();
        let (_, unreadable) = roots.add_parsable_certificates(found.certs);
        if roots.is_empty() {
            let problems = found.errors.len() + unreadable;
            return Err(ProxyError::NoRoots { problems });
        }
        Self::with_store(roots)
    }

    /// Trusts only the given certificates, each in DER.
    ///
    /// # Errors
    ///
    /// [`ProxyError::Root`] for the first that is not a certificate.
    pub fn with_roots(certificates: impl IntoIterator<Item = Vec<u8>>) -> Result<Self, ProxyError> {
        let mut roots = RootCertStore::empty();
        for certificate in certificates {
            roots
                .add(CertificateDer::from(certificate))
                .map_err(|source| ProxyError::Root { source })?;
        }
        Self::with_store(roots)
    }

    fn with_store(roots: RootCertStore) -> Result<Self, ProxyError> {
        let provider = Arc::new(ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|source| ProxyError::Root { source })?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self(Arc::new(config)))
    }

    /// Makes a connection private and checks whose it is.
    pub(crate) async fn connect<S: Stream>(
        &self,
        target: &Target,
        stream: S,
    ) -> io::Result<TlsStream<S>> {
        let name = ServerName::try_from(target.tls_name()).map_err(io::Error::other)?;
        TlsConnector::from(Arc::clone(&self.0))
            .connect(name, stream)
            .await
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tls(..)")
    }
}
