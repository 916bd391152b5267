//! The files of a certificate and its key: what is in them, and whether they belong together.

use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tokio_rustls::rustls::crypto::CryptoProvider;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject as _};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::sign::CertifiedKey;
use tokio_rustls::rustls::{Error, InconsistentKeys};

use super::error::{Found, Part, TlsError};

/// Bytes of a file. A certificate with all that lead to its authority has a few KiB.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Permissions that nobody but the owner may have: to read it as any user, or to change it. The group may read it, as the group
/// `ssl-cert` does on Debian.
const OPEN_KEY: u32 = 0o026;

/// The two files.
#[derive(Debug, Clone)]
pub(super) struct Files {
    pub(super) certificate: PathBuf,
    pub(super) key: PathBuf,
}

/// What changes when a file is replaced or written. Tools that renew certificates exchange a link, or write a new file in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stamp([Option<(SystemTime, u64, u64)>; 2]);

impl Files {
    /// Returns what changes when one of the files does.
    pub(super) fn stamp(&self) -> Stamp {
        let of = |path: &Path| {
            let metadata = fs::metadata(path).ok()?;
            Some((metadata.modified().ok()?, metadata.len(), metadata.ino()))
        };
        Stamp([of(&self.certificate), of(&self.key)])
    }

    /// Reads both, and checks that they belong together.
    ///
    /// # Errors
    /// When one cannot be used.
    pub(super) fn read(&self, provider: &CryptoProvider) -> Result<CertifiedKey, TlsError> {
        let certificates = read(Part::Certificate, &self.certificate)?;
        let key = read(Part::Key, &self.key)?;
        self.parse(&certificates, &key, provider)
    }

    fn parse(
        &self,
        certificates: &[u8],
        key: &[u8],
        provider: &CryptoProvider,
    ) -> Result<CertifiedKey, TlsError> {
        let chain = parse_chain(certificates, &self.certificate)?;
        let key = parse_key(key, &self.key)?;
        let unusable = |part, source| TlsError::Unusable {
            part,
            path: match part {
                Part::Certificate => self.certificate.clone(),
                Part::Key => self.key.clone(),
            },
            source,
        };
        let key = provider.key_provider.load_private_key(key);
        let pair = CertifiedKey::new(chain, key.map_err(|error| unusable(Part::Key, error))?);
        match pair.keys_match() {
            // a key that cannot say what its public part is may be the right one
            Ok(()) | Err(Error::InconsistentKeys(InconsistentKeys::Unknown)) => Ok(pair),
            Err(Error::InconsistentKeys(_)) => Err(TlsError::OtherKey {
                certificate: self.certificate.clone(),
                key: self.key.clone(),
            }),
            Err(error) => Err(unusable(Part::Certificate, error)),
        }
    }
}

fn read(part: Part, path: &Path) -> Result<Vec<u8>, TlsError> {
    let unreadable = |source| TlsError::Unreadable {
        part,
        path: path.to_owned(),
        source,
    };
    let not_a_file = || TlsError::NotAFile {
        part,
        path: path.to_owned(),
    };
    // to open a pipe would wait for who writes to it
    if !fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(not_a_file());
    }
    let file = File::open(path).map_err(unreadable)?;
    let mode = file.metadata().map_err(unreadable)?.mode() & 0o777;
    if part == Part::Key && mode & OPEN_KEY != 0 {
        let path = path.to_owned();
        return Err(TlsError::OpenKey { path, mode });
    }
    let mut bytes = Vec::new();
    let mut part = file.take(FILE_BYTES_MAX + 1);
    let count = part.read_to_end(&mut bytes).map_err(unreadable)?;
    if u64::try_from(count).is_ok_and(|count| count <= FILE_BYTES_MAX) {
        Ok(bytes)
    } else {
        Err(not_a_file())
    }
}

fn parse_chain(text: &[u8], path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let part = Part::Certificate;
    let all: Result<Vec<_>, pem::Error> = CertificateDer::pem_slice_iter(text).collect();
    let path = path.to_owned();
    match all {
        Ok(chain) if chain.is_empty() => Err(TlsError::Missing {
            part,
            path,
            found: found(text),
        }),
        Ok(chain) => Ok(chain),
        Err(source) => Err(TlsError::Damaged { part, path, source }),
    }
}

fn parse_key(text: &[u8], path: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    let part = Part::Key;
    let path = path.to_owned();
    if is_encrypted(text) {
        return Err(TlsError::EncryptedKey { path });
    }
    PrivateKeyDer::from_pem_slice(text).map_err(|error| match error {
        pem::Error::NoItemsFound => TlsError::Missing {
            part,
            path,
            found: found(text),
        },
        source => TlsError::Damaged { part, path, source },
    })
}

/// Returns whether a key is protected by a password: PKCS #8 has a label for it, older forms have a header.
fn is_encrypted(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    let mut lines = text.lines();
    lines.any(|line| {
        line.starts_with("-----BEGIN ENCRYPTED PRIVATE KEY")
            || (line.starts_with("Proc-Type:") && line.contains("ENCRYPTED"))
    })
}

fn found(text: &[u8]) -> Found {
    /// The first byte of a sequence, which certificates and keys are in DER.
    const SEQUENCE: u8 = 0x30;
    let lossy = String::from_utf8_lossy(text);
    let labels = lossy
        .lines()
        .filter_map(|line| line.strip_prefix("-----BEGIN ")?.strip_suffix("-----"));
    let labels: Vec<String> = labels.map(str::to_owned).collect();
    match text {
        _ if !labels.is_empty() => Found::Blocks(labels),
        [] => Found::Nothing,
        [SEQUENCE, second, ..] if *second >= 0x80 => Found::Der,
        _ => Found::OtherText,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use rcgen::{CertifiedKey as Made, KeyPair, generate_simple_self_signed};
    use tokio_rustls::rustls::crypto::ring::default_provider;

    use super::*;

    fn made() -> Made<KeyPair> {
        generate_simple_self_signed(["symphony.example.org".to_owned()]).unwrap()
    }

    fn files(folder: &Path) -> Files {
        Files {
            certificate: folder.join("cert.pem"),
            key: folder.join("key.pem"),
        }
    }

    fn write(files: &Files, certificate: &[u8], key: &[u8], mode: u32) {
        fs::write(&files.certificate, certificate).unwrap();
        fs::write(&files.key, key).unwrap();
        fs::set_permissions(&files.key, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn what_is_wrong_with_the_files_is_named() {
        let (own, other) = (made(), made());
        let certificate = own.cert.pem();
        let key = own.signing_key.serialize_pem();
        let der = own.cert.der().to_vec();
        let damaged = certificate.replacen("MII", "M!I", 1);
        let not_a_certificate =
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".to_owned();
        let not_a_key = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
        let encrypted =
            "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
        let old_encrypted = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nAAAA\n-----END RSA PRIVATE KEY-----\n";
        let folder = tempfile::tempdir().unwrap();
        let files = files(folder.path());
        let (certificate, key) = (certificate.as_bytes(), key.as_bytes());
        for (certificate, key, expected) in [
            (&b""[..], key, "cert.pem has no certificate: it is empty"),
            (&der, key, "cert.pem has no certificate: it is binary"),
            (
                b"hello\n",
                key,
                "cert.pem has no certificate: it is not PEM",
            ),
            (key, key, "cert.pem has no certificate: it has PRIVATE KEY"),
            (damaged.as_bytes(), key, "cert.pem is damaged"),
            (not_a_certificate.as_bytes(), key, "cert.pem cannot be used"),
            (certificate, b"", "key.pem has no private key: it is empty"),
            (
                certificate,
                &der,
                "key.pem has no private key: it is binary",
            ),
            (
                certificate,
                certificate,
                "key.pem has no private key: it has CERTIFICATE",
            ),
            (certificate, encrypted.as_bytes(), "key.pem is encrypted"),
            (
                certificate,
                old_encrypted.as_bytes(),
                "key.pem is encrypted",
            ),
            (certificate, not_a_key.as_bytes(), "key.pem cannot be used"),
            (
                certificate,
                other.signing_key.serialize_pem().as_bytes(),
                "does not belong to the first certificate in",
            ),
        ] {
            write(&files, certificate, key, 0o600);
            let error = files.read(&default_provider()).unwrap_err().to_string();
            assert!(error.contains(expected), "{expected}: {error}");
            assert!(error.contains(folder.path().to_str().unwrap()), "{error}");
        }
        // both may be in one file, and those that lead to the authority follow
        let both = [key, certificate, other.cert.pem().as_bytes()].concat();
        write(&files, &both, &both, 0o600);
        assert_eq!(files.read(&default_provider()).unwrap().cert.len(), 2);
    }

    #[test]
    fn a_key_that_others_can_read_or_change_is_refused() {
        let own = made();
        let folder = tempfile::tempdir().unwrap();
        let files = files(folder.path());
        for (mode, expected) in [
            (0o400, true),
            (0o600, true),
            (0o640, true),
            (0o700, true),
            (0o644, false),
            (0o660, false),
            (0o604, false),
            (0o602, false),
        ] {
            let key = own.signing_key.serialize_pem();
            write(&files, own.cert.pem().as_bytes(), key.as_bytes(), mode);
            let read = files.read(&default_provider());
            let is_refused =
                matches!(&read, Err(TlsError::OpenKey { mode: found, .. }) if *found == mode);
            assert_eq!(
                (read.is_ok(), is_refused),
                (expected, !expected),
                "{mode:o}"
            );
            fs::remove_file(&files.key).unwrap();
        }
    }

    #[test]
    fn what_is_not_a_file_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let files = files(folder.path());
        let missing = files.read(&default_provider()).unwrap_err().to_string();
        assert!(missing.contains("cert.pem cannot be read"), "{missing}");
        fs::create_dir(&files.certificate).unwrap();
        let read = files.read(&default_provider());
        assert!(matches!(read, Err(TlsError::NotAFile { .. })), "{read:?}");
        fs::remove_dir(&files.certificate).unwrap();
        fs::write(&files.certificate, " ".repeat(1024 * 1024 + 1)).unwrap();
        let read = files.read(&default_provider());
        assert!(matches!(read, Err(TlsError::NotAFile { .. })), "{read:?}");
    }
}
