//! Random secrets, and the hashes under which they are kept.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// Random bytes of a secret: 256 bits cannot be guessed, so that a plain hash protects them on disk.
const SECRET_BYTES: usize = 32;

/// A secret of a visitor, as hexadecimal digits. It is never kept and never logged.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Makes a secret of random bytes.
    pub fn of_bytes(bytes: [u8; SECRET_BYTES]) -> Self {
        Self(hex(&bytes))
    }

    /// Takes a text that a visitor sent; none where it cannot be a secret.
    pub fn parse(text: &str) -> Option<Self> {
        let is_hex =
            text.len() == 2 * SECRET_BYTES && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hex.then(|| Self(text.to_ascii_lowercase()))
    }

    /// Returns its digits, to give it to the visitor.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Returns the hash that is kept.
    pub fn hash(&self) -> SecretHash {
        SecretHash(hex(&Sha256::digest(self.0.as_bytes())))
    }

    /// Returns the token that forms of this session carry. A page of another site cannot read it, as it cannot read the pages.
    #[must_use]
    pub fn form_token(&self) -> Self {
        let mut hash = Sha256::new();
        hash.update(b"symphony form token\0");
        hash.update(self.0.as_bytes());
        Self(hex(&hash.finalize()))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// The SHA-256 of a secret.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SecretHash(String);

impl SecretHash {
    /// Takes a hash as it is configured: 64 hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        Secret::parse(text).map(|digits| Self(digits.0))
    }
}

impl SecretHash {
    /// Returns its digits, as they are configured.
    pub fn digits(&self) -> &str {
        &self.0
    }
}

impl PartialEq for SecretHash {
    /// Compares in a time that says nothing of where they differ.
    fn eq(&self, other: &Self) -> bool {
        self.0.as_bytes().ct_eq(other.0.as_bytes()).into()
    }
}

impl Eq for SecretHash {}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or('0');
        text.push(digit(byte >> 4));
        text.push(digit(byte & 15));
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_read_as_it_was_given_and_kept_as_a_hash() {
        let secret = Secret::of_bytes([0xa5; SECRET_BYTES]);
        assert_eq!(secret.reveal(), "a5".repeat(32));
        assert_eq!(Secret::parse(secret.reveal()), Some(secret.clone()));
        assert_eq!(
            secret.hash(),
            Secret::parse(secret.reveal()).unwrap().hash()
        );
        assert!(!format!("{secret:?}{:?}", secret.hash()).contains("a5a5"));
        assert_ne!(secret.form_token(), secret);
        for wrong in ["", "a5", &"g".repeat(64), &"a".repeat(65), &"é".repeat(32)] {
            assert!(Secret::parse(wrong).is_none(), "{wrong}");
        }
    }
}
