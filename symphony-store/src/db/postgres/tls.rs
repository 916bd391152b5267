//! TLS to a server: rustls with the system's authorities, or those of one file. The certificate and its name are always checked.

use std::future::Future;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::Socket;
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// How PostgreSQL names its protocol inside of TLS (its manual, "Protocol Flow", ALPN).
const PROTOCOL: &[u8] = b"postgresql";

/// Connects with TLS.
#[derive(Clone)]
pub(crate) struct Tls(TlsConnector);

impl Tls {
    /// Loads the authorities: those of the file, or the system's.
    ///
    /// # Errors
    /// In words: none can be read.
    pub(crate) fn load(root_certificate: Option<&Path>) -> Result<Self, String> {
        let roots = match root_certificate {
            Some(path) => roots_of(path)?,
            None => system_roots()?,
        };
        let provider = Arc::new(ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| format!("TLS cannot be set up: {error}"))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        Ok(Self(TlsConnector::from(Arc::new(config))))
    }
}

fn system_roots() -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    let (_, _unreadable) = roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        return Err(
            "the system has no certificates of authorities: install `ca-certificates`, or name a file with `sslrootcert`"
                .to_owned(),
        );
    }
    Ok(roots)
}

fn roots_of(path: &Path) -> Result<RootCertStore, String> {
    let failed = |reason: String| format!("the sslrootcert {} {reason}", path.display());
    let mut roots = RootCertStore::empty();
    let certificates = CertificateDer::pem_file_iter(path)
        .map_err(|error| failed(format!("cannot be read: {error}")))?;
    for certificate in certificates {
        let certificate = certificate.map_err(|error| failed(format!("is invalid: {error}")))?;
        roots
            .add(certificate)
            .map_err(|error| failed(format!("is invalid: {error}")))?;
    }
    if roots.is_empty() {
        return Err(failed("has no certificate".to_owned()));
    }
    Ok(roots)
}

/// TLS for one host.
pub(crate) struct ToHost {
    connector: TlsConnector,
    name: ServerName<'static>,
}

impl MakeTlsConnect<Socket> for Tls {
    type Stream = Encrypted;
    type TlsConnect = ToHost;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> io::Result<ToHost> {
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        Ok(ToHost {
            connector: self.0.clone(),
            name,
        })
    }
}

impl TlsConnect<Socket> for ToHost {
    type Stream = Encrypted;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Encrypted>> + Send>>;

    fn connect(self, stream: Socket) -> Self::Future {
        Box::pin(async move {
            let stream = self.connector.connect(self.name, stream).await?;
            Ok(Encrypted(stream))
        })
    }
}

/// A connection with TLS.
pub(crate) struct Encrypted(tokio_rustls::client::TlsStream<Socket>);

impl TlsStream for Encrypted {
    fn channel_binding(&self) -> ChannelBinding {
        // The name in a checked certificate already says who answers.
        ChannelBinding::none()
    }
}

impl AsyncRead for Encrypted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl AsyncWrite for Encrypted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
