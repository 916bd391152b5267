//! Handshakes, with the newest certificate.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::client::verify_server_name;
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::server::{ClientHello, ParsedCertificate, ResolvesServerCert};
use tokio_rustls::rustls::sign::CertifiedKey;
use tokio_rustls::rustls::version::{TLS12, TLS13};
use tokio_rustls::server::TlsStream;

use super::error::{Part, TlsError};
use super::pair::{Files, Stamp};

/// Time between two looks at the files.
const LOOK: Duration = Duration::from_mins(1);

/// The protocol that is spoken inside.
const PROTOCOL: &[u8] = b"http/1.1";

/// What a look at the files found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Renewed {
    /// They are as they were, or were looked at within the last minute.
    Unchanged,
    /// Another pair, which is used from now on.
    Another,
    /// Something that cannot be used: the pair before it is kept.
    Unusable,
}

/// A certificate with its key, and the rules of handshakes.
#[derive(Debug)]
pub struct Tls {
    files: Files,
    provider: Arc<CryptoProvider>,
    acceptor: Arc<ServerConfig>,
    newest: Arc<Newest>,
    seen: Mutex<Seen>,
}

/// The pair that new handshakes use.
#[derive(Debug)]
struct Newest(Mutex<Arc<CertifiedKey>>);

/// What is known of the files.
#[derive(Debug)]
struct Seen {
    looked_at: Instant,
    stamp: Stamp,
    /// What was wrong at the last look. It is logged once, and the files are read again although they look the same: permissions
    /// may have changed.
    problem: Option<String>,
}

impl ResolvesServerCert for Newest {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let newest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Some(Arc::clone(&newest))
    }
}

impl Tls {
    /// Reads a certificate and its key.
    ///
    /// # Errors
    /// When they cannot be used.
    pub fn load(certificate: PathBuf, key: PathBuf, now: Instant) -> Result<Arc<Self>, TlsError> {
        let files = Files { certificate, key };
        let provider = Arc::new(ring::default_provider());
        // before the files are read: what is written meanwhile is seen at the next look
        let stamp = files.stamp();
        let pair = files.read(&provider)?;
        let newest = Arc::new(Newest(Mutex::new(Arc::new(pair))));
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[&TLS13, &TLS12])
            .map_err(|source| TlsError::Unusable {
                part: Part::Key,
                path: files.key.clone(),
                source,
            })?;
        let mut config = builder
            .with_no_client_auth()
            .with_cert_resolver(Arc::clone(&newest) as Arc<dyn ResolvesServerCert>);
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        Ok(Arc::new(Self {
            files,
            provider,
            acceptor: Arc::new(config),
            newest,
            seen: Mutex::new(Seen {
                looked_at: now,
                stamp,
                problem: None,
            }),
        }))
    }

    /// Returns whether the certificate is good for a name, without a port. What cannot be a name is not looked for.
    pub fn is_for(&self, name: &str) -> bool {
        let newest = self.newest.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(certificate) = newest.cert.first() else {
            return false;
        };
        let name = name.trim_start_matches('[').trim_end_matches(']');
        match (
            ParsedCertificate::try_from(certificate),
            ServerName::try_from(name),
        ) {
            (Ok(certificate), Ok(name)) => verify_server_name(&certificate, &name).is_ok(),
            (Ok(_), Err(_)) => true,
            (Err(_), _) => false,
        }
    }

    /// Takes a connection through the handshake, with the newest certificate.
    ///
    /// # Errors
    /// When the client does not speak TLS as the server does, or ends early.
    pub(crate) async fn accept<S>(
        self: &Arc<Self>,
        stream: S,
        now: Instant,
    ) -> std::io::Result<TlsStream<S>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        if self.is_due(now) {
            let tls = Arc::clone(self);
            // a file may be on a disk that does not answer: then others go on with the pair that is there
            let _looked = tokio::task::spawn_blocking(move || tls.renew()).await;
        }
        TlsAcceptor::from(Arc::clone(&self.acceptor))
            .accept(stream)
            .await
    }

    /// Returns whether a look at the files is due, and counts it as taken.
    fn is_due(&self, now: Instant) -> bool {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = now.saturating_duration_since(seen.looked_at) >= LOOK;
        if is_due {
            seen.looked_at = now;
        }
        is_due
    }

    /// Reads the files again if they have changed. A pair that cannot be used is logged, and the one before it kept.
    fn renew(&self) -> Renewed {
        let stamp = self.files.stamp();
        {
            let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            if seen.stamp == stamp && seen.problem.is_none() {
                return Renewed::Unchanged;
            }
        }
        let read = self.files.read(&self.provider);
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.stamp = stamp;
        match read {
            Ok(pair) => {
                *self.newest.0.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(pair);
                seen.problem = None;
                tracing::info!(certificate = %self.files.certificate.display(), "the certificate was read again");
                Renewed::Another
            }
            Err(error) => {
                let problem = error.to_string();
                if seen.problem.as_ref() != Some(&problem) {
                    tracing::warn!(%error, "a changed certificate is not used; the one before it is kept");
                }
                seen.problem = Some(problem);
                Renewed::Unusable
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;

    use rcgen::generate_simple_self_signed;
    use tokio::io::duplex;
    use tokio_rustls::TlsConnector;
    use tokio_rustls::rustls::pki_types::CertificateDer;
    use tokio_rustls::rustls::{ClientConfig, RootCertStore, SupportedProtocolVersion};

    use super::*;

    const NAME: &str = "symphony.example.org";

    /// Writes a new pair, and returns its certificate.
    fn write_pair(folder: &Path) -> CertificateDer<'static> {
        let made = generate_simple_self_signed([NAME.to_owned()]).unwrap();
        write(folder, &made.cert.pem(), &made.signing_key.serialize_pem());
        made.cert.der().clone()
    }

    /// Writes files in the place of those before them, as tools that renew certificates do.
    fn write(folder: &Path, certificate: &str, key: &str) {
        for (name, text) in [("cert.pem", certificate), ("key.pem", key)] {
            let new = folder.join("new");
            fs::write(&new, text).unwrap();
            fs::set_permissions(&new, fs::Permissions::from_mode(0o600)).unwrap();
            fs::rename(&new, folder.join(name)).unwrap();
        }
    }

    fn load(folder: &Path, now: Instant) -> Result<Arc<Tls>, TlsError> {
        Tls::load(folder.join("cert.pem"), folder.join("key.pem"), now)
    }

    /// Connects as a client that trusts one certificate; returns the version and the protocol inside.
    async fn shake(
        tls: &Arc<Tls>,
        now: Instant,
        trusted: &CertificateDer<'static>,
        versions: &[&'static SupportedProtocolVersion],
    ) -> Result<(String, Vec<u8>), String> {
        let mut roots = RootCertStore::empty();
        roots.add(trusted.clone()).unwrap();
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let builder = builder.with_protocol_versions(versions).unwrap();
        let mut config = builder.with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let (near, far) = duplex(64 * 1024);
        let connector = TlsConnector::from(Arc::new(config));
        let name = ServerName::try_from(NAME).unwrap();
        let (client, _server) = tokio::join!(connector.connect(name, near), tls.accept(far, now));
        let client = client.map_err(|error| error.to_string())?;
        let (_, connection) = client.get_ref();
        Ok((
            format!("{:?}", connection.protocol_version().unwrap()),
            connection.alpn_protocol().unwrap_or_default().to_vec(),
        ))
    }

    fn runtime() -> tokio::runtime::Runtime {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_all().build().unwrap()
    }

    #[test]
    fn clients_speak_http_over_tls_1_2_or_1_3() {
        let folder = tempfile::tempdir().unwrap();
        let certificate = write_pair(folder.path());
        let now = Instant::now();
        let tls = load(folder.path(), now).unwrap();
        runtime().block_on(async {
            for (version, expected) in [(&TLS12, "TLSv1_2"), (&TLS13, "TLSv1_3")] {
                let shaken = shake(&tls, now, &certificate, &[version]).await;
                assert_eq!(shaken, Ok((expected.to_owned(), PROTOCOL.to_vec())));
            }
        });
    }

    #[test]
    fn a_renewed_certificate_is_used_within_a_minute_and_a_bad_one_never() {
        let folder = tempfile::tempdir().unwrap();
        let first = write_pair(folder.path());
        let begun = Instant::now();
        let at = |minutes: u64| begun + Duration::from_mins(minutes);
        let tls = load(folder.path(), begun).unwrap();
        let versions = &[&TLS13];
        runtime().block_on(async {
            let second = write_pair(folder.path());
            let soon = begun + Duration::from_secs(59);
            assert!(shake(&tls, soon, &first, versions).await.is_ok());
            assert!(shake(&tls, at(1), &second, versions).await.is_ok());
            assert!(shake(&tls, at(1), &first, versions).await.is_err());
            // a key that is not there yet, and one of another certificate
            fs::remove_file(folder.path().join("key.pem")).unwrap();
            assert!(shake(&tls, at(2), &second, versions).await.is_ok());
            let other = generate_simple_self_signed([NAME.to_owned()]).unwrap();
            let another = generate_simple_self_signed([NAME.to_owned()]).unwrap();
            let another = another.signing_key.serialize_pem();
            write(folder.path(), &other.cert.pem(), &another);
            assert!(shake(&tls, at(3), &second, versions).await.is_ok());
            let third = write_pair(folder.path());
            // what others may read must not be used, until its permissions are right
            let key = folder.path().join("key.pem");
            fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
            assert!(shake(&tls, at(4), &second, versions).await.is_ok());
            fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
            assert!(shake(&tls, at(5), &third, versions).await.is_ok());
        });
        assert_eq!(tls.renew(), Renewed::Unchanged);
    }

    #[test]
    fn a_certificate_is_for_the_names_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let names = [
            "symphony.example.org",
            "*.team.example",
            "192.168.1.5",
            "fd00::5",
        ];
        let made = generate_simple_self_signed(names.map(str::to_owned)).unwrap();
        write(
            folder.path(),
            &made.cert.pem(),
            &made.signing_key.serialize_pem(),
        );
        let tls = load(folder.path(), Instant::now()).unwrap();
        for (name, expected) in [
            ("symphony.example.org", true),
            ("Symphony.Example.org", true),
            ("page.team.example", true),
            ("192.168.1.5", true),
            ("[fd00::5]", true),
            ("example.org", false),
            ("192.168.1.6", false),
        ] {
            assert_eq!(tls.is_for(name), expected, "{name}");
        }
    }
}
