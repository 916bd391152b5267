//! Encrypted connections, as they are off this machine: the development server has none, so a gate before it ends them.

use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use symphony_core::config::{TemporalAddress, TemporalSettings};
use symphony_temporal::{Control, Edition, Offers, Submitted, TemporalError};
use tempfile::TempDir;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};

use crate::support::{Service, offered, pool, run, times};

/// Lets those through to a service that have a certificate of its authority.
struct Gate {
    port: u16,
    folder: TempDir,
}

impl Gate {
    /// Opens one before a port of this machine. Its files are `ca.pem`, `me.pem` and `me.key`, and `other.pem` of an authority that signed nothing.
    fn before(service: u16) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: String| {
            std::fs::write(folder.path().join(name), text).unwrap();
        };
        let (authority, issuer) = authority();
        let (leaf, key) = signed("localhost", &issuer);
        let (client, client_key) = signed("host-1", &issuer);
        write("ca.pem", authority.pem());
        write("me.pem", client.pem());
        write("me.key", client_key.serialize_pem());
        write("other.pem", self::authority().0.pem());
        let mut roots = RootCertStore::empty();
        roots.add(authority.der().clone()).unwrap();
        let provider = Arc::new(default_provider());
        let verifier =
            WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
                .build()
                .unwrap();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_client_cert_verifier(verifier)
            .with_single_cert(vec![leaf.der().clone()], key)
            .unwrap();
        config.alpn_protocols = vec![b"h2".to_vec()];
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        // it ends with the test's process
        std::thread::spawn(move || serve(listener, config, service));
        Self { port, folder }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// What a host needs that the authority has given a certificate.
    fn settings(&self) -> TemporalSettings {
        TemporalSettings {
            address: TemporalAddress::parse(&format!("https://localhost:{}", self.port)).unwrap(),
            namespace: "default".to_owned(),
            authority: Some(self.file("ca.pem")),
            certificate: Some((self.file("me.pem"), self.file("me.key"))),
            api_key: None,
        }
    }
}

fn authority() -> (rcgen::Certificate, Issuer<'static, KeyPair>) {
    let key = KeyPair::generate().unwrap();
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    let root = authority.self_signed(&key).unwrap();
    (root, Issuer::new(authority, key))
}

fn signed(name: &str, issuer: &Issuer<'static, KeyPair>) -> (rcgen::Certificate, KeyPair) {
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
    (params.signed_by(&key, issuer).unwrap(), key)
}

#[tokio::main(flavor = "current_thread")]
async fn serve(listener: std::net::TcpListener, config: ServerConfig, service: u16) {
    let listener = TcpListener::from_std(listener).unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    loop {
        let (client, _) = listener.accept().await.unwrap();
        let acceptor = acceptor.clone();
        tokio::spawn(async move {
            // whoever has no certificate is turned away here
            let Ok(mut client) = acceptor.accept(client).await else {
                return;
            };
            let mut server = TcpStream::connect((Ipv4Addr::LOCALHOST, service))
                .await
                .unwrap();
            let _ended = tokio::io::copy_bidirectional(&mut client, &mut server).await;
        });
    }
}

#[test]
fn a_host_with_a_certificate_is_let_in_and_its_service_is_checked() {
    let service = Service::start(Edition::Recent);
    drop(service.control());
    let gate = Gate::before(service.server.port());
    let mut control = Control::connect(&gate.settings(), "control").unwrap();
    control.check().unwrap();
    let submitted = control.submit(&run(1), &pool(), times()).unwrap();
    assert_eq!(submitted, Submitted::Now);
    let worker = Offers::open(gate.settings(), pool(), "h1".to_owned(), times()).unwrap();
    worker.want(1);
    assert_eq!(offered(&worker), run(1));
    // without a certificate, and to a service that another authority vouches for
    let nameless = TemporalSettings {
        certificate: None,
        ..gate.settings()
    };
    let misled = TemporalSettings {
        authority: Some(gate.file("other.pem")),
        ..gate.settings()
    };
    // it is turned away after the handshake, by the end of the connection
    for (settings, expected) in [(nameless, ""), (misled, "invalid peer certificate")] {
        let error = Control::connect(&settings, "control").unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, TemporalError::Unreachable { .. }), "{text}");
        assert!(text.contains(expected), "{text}");
        assert!(!text.contains("Status {"), "for a person: {text}");
    }
}
