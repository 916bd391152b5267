//! A value that no one may read in a log.

use std::fmt;

use hyper::header::HeaderValue;

use crate::error::ProxyError;

/// A credential as the value of a header. Neither its `Debug` form nor any error shows it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(HeaderValue);

impl Secret {
    /// Takes the whole value of a header: a key, or `Bearer …` with a token.
    ///
    /// # Errors
    ///
    /// [`ProxyError::CredentialForm`] if it is empty or has characters that a header cannot have.
    pub fn new(value: &str) -> Result<Self, ProxyError> {
        let is_fine = !value.is_empty() && value.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        let header = HeaderValue::from_str(value).ok().filter(|_| is_fine);
        let mut header = header.ok_or(ProxyError::CredentialForm)?;
        header.set_sensitive(true);
        Ok(Self(header))
    }

    pub(crate) fn header(&self) -> HeaderValue {
        self.0.clone()
    }

    /// What an answer must not repeat: the value without its scheme (`Bearer`, `Basic`).
    pub(crate) fn needle(&self) -> &[u8] {
        let bytes = self.0.as_bytes();
        match memchr::memchr(b' ', bytes) {
            Some(at) => bytes
                .get(at + 1..)
                .filter(|rest| !rest.is_empty())
                .unwrap_or(bytes),
            None => bytes,
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_shown() {
        let secret = Secret::new("Bearer sk-very-secret").unwrap();
        assert_eq!(
            format!("{secret:?} {:?}", secret.header()),
            "Secret(..) Sensitive"
        );
        assert_eq!(secret.needle(), b"sk-very-secret");
        for wrong in ["", "a\r\nb: c", "a\0", "kéy"] {
            let error = Secret::new(wrong).unwrap_err();
            assert!(matches!(error, ProxyError::CredentialForm), "{wrong:?}");
        }
    }
}
