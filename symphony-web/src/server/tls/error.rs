//! Why a certificate and its key cannot be used.

use std::fmt;
use std::io;
use std::path::PathBuf;

use tokio_rustls::rustls;
use tokio_rustls::rustls::pki_types::pem;

/// One of the two files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The file of the certificate and those that lead from it to the authority.
    Certificate,
    /// The file of the private key.
    Key,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Certificate => "certificate",
            Self::Key => "private key",
        })
    }
}

/// What a file has in the place of what was looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// No byte.
    Nothing,
    /// Bytes that begin as DER does, the binary form of certificates and keys.
    Der,
    /// No PEM block.
    OtherText,
    /// Blocks with these labels, such as `PRIVATE KEY`.
    Blocks(Vec<String>),
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("it is empty"),
            Self::Der => f.write_str("it is binary, as DER files are, and not PEM"),
            Self::OtherText => f.write_str("it is not PEM: no line begins with `-----BEGIN`"),
            Self::Blocks(labels) => write!(f, "it has {}", labels.join(", ")),
        }
    }
}

/// Why a certificate and its key cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// A file cannot be read.
    #[error("the {part} {} cannot be read: {source}", path.display())]
    Unreadable {
        /// Which.
        part: Part,
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file is a folder, a device or a pipe, or has more bytes than any certificate.
    #[error("the {part} {} is not a regular file, or is too large", path.display())]
    NotAFile {
        /// Which.
        part: Part,
        /// The file.
        path: PathBuf,
    },
    /// A file has something else.
    #[error("{} has no {part}: {found}", path.display())]
    Missing {
        /// What it should have.
        part: Part,
        /// The file.
        path: PathBuf,
        /// What it has.
        found: Found,
    },
    /// A PEM block is damaged.
    #[error("the {part} in {} is damaged: {source}", path.display())]
    Damaged {
        /// Which.
        part: Part,
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: pem::Error,
    },
    /// The key is protected by a password.
    #[error("the private key in {} is encrypted with a password", path.display())]
    EncryptedKey {
        /// The file.
        path: PathBuf,
    },
    /// Others can read the key, or put another one in its place.
    #[error("other users of this machine can read or change the private key {} (mode {mode:03o})", path.display())]
    OpenKey {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// The key is of another certificate.
    #[error("the private key in {} does not belong to the first certificate in {}", key.display(), certificate.display())]
    OtherKey {
        /// The file of the certificate.
        certificate: PathBuf,
        /// The file of the key.
        key: PathBuf,
    },
    /// The TLS library does not take it.
    #[error("the {part} in {} cannot be used: {source}", path.display())]
    Unusable {
        /// Which.
        part: Part,
        /// The file.
        path: PathBuf,
        /// Why.
        source: rustls::Error,
    },
}
