//! A certificate for loopback, and the authority that signed it.

use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

/// What a server shows and what its clients trust.
pub(super) struct Certificate {
    pub(super) config: Arc<ServerConfig>,
    /// The certificate of the authority, as PEM.
    pub(super) authority: String,
}

impl Certificate {
    /// Makes an authority, and a certificate for `127.0.0.1` and `localhost`.
    pub(super) fn make() -> Self {
        let authority_key = KeyPair::generate().expect("a key can be made");
        let mut authority = CertificateParams::new(Vec::new()).expect("no names are valid names");
        authority
            .distinguished_name
            .push(DnType::CommonName, "Authority of a fake forge");
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let root = authority
            .self_signed(&authority_key)
            .expect("a key signs its own certificate");
        let issuer = Issuer::new(authority, authority_key);
        let key = KeyPair::generate().expect("a key can be made");
        let names = ["127.0.0.1".to_owned(), "localhost".to_owned()];
        let mut leaf = CertificateParams::new(names).expect("both are valid names");
        leaf.distinguished_name
            .push(DnType::CommonName, "Fake forge");
        let leaf = leaf
            .signed_by(&key, &issuer)
            .expect("an authority signs certificates");
        let secret = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("ring knows the versions of TLS")
            .with_no_client_auth()
            .with_single_cert(vec![leaf.der().clone()], secret)
            .expect("the key is the certificate's");
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Self {
            config: Arc::new(config),
            authority: root.pem(),
        }
    }
}
