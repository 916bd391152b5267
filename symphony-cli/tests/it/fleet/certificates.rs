//! An authority of the fleet, which vouches for its servers and its hosts.

use rcgen::{
    BasicConstraints, Certificate, CertificateParams, IsCa, Issuer, KeyPair, KeyUsagePurpose,
};

/// An authority of its own.
pub(super) struct Authority {
    certificate: Certificate,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    pub(super) fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        Self {
            certificate: params.self_signed(&key).unwrap(),
            issuer: Issuer::new(params, key),
        }
    }

    /// Returns the certificate by which clients know what the authority signed.
    pub(super) const fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    /// Signs a certificate for an address or a host; returns it with its key.
    pub(super) fn sign(&self, name: &str) -> (Certificate, KeyPair) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        (params.signed_by(&key, &self.issuer).unwrap(), key)
    }
}
