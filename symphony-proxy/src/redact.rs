//! Overwrites credentials in an answer while it is passed on.
//!
//! A server that repeats request headers in an error page would give the agent the credential that
//! the proxy added. Each occurrence is replaced by as many `*`, so that lengths stay valid. Only
//! the literal bytes are found: not an encoded, compressed or transformed copy.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::header::HeaderMap;

use crate::secret::Secret;

/// Shortest credential that is searched for: a shorter one would be found in ordinary text.
const NEEDLE_BYTES_MIN: usize = 8;

/// The body of an answer without some byte strings.
pub(crate) struct Redacted {
    inner: Incoming,
    needles: Needles,
    /// The end of what came, which may be the beginning of a credential.
    kept: Vec<u8>,
}

/// What is searched for.
#[derive(Clone, Default)]
pub(crate) struct Needles(Vec<Vec<u8>>);

impl Needles {
    pub(crate) fn of<'a>(secrets: impl IntoIterator<Item = &'a Secret>) -> Self {
        let needles = secrets.into_iter().map(|secret| secret.needle().to_vec());
        Self(
            needles
                .filter(|needle| needle.len() >= NEEDLE_BYTES_MIN)
                .collect(),
        )
    }

    /// Removes the headers that contain a credential.
    pub(crate) fn clean(&self, headers: &mut HeaderMap) {
        let names: Vec<_> = headers
            .iter()
            .filter(|(_, value)| self.are_in(value.as_bytes()))
            .map(|(name, _)| name.clone())
            .collect();
        for name in names {
            headers.remove(name);
        }
    }

    fn are_in(&self, text: &[u8]) -> bool {
        self.0
            .iter()
            .any(|needle| memchr::memmem::find(text, needle).is_some())
    }

    /// Overwrites each occurrence.
    fn overwrite(&self, text: &mut [u8]) {
        for needle in &self.0 {
            let found: Vec<_> = memchr::memmem::find_iter(text, needle).collect();
            for at in found {
                if let Some(place) = text.get_mut(at..at + needle.len()) {
                    place.fill(b'*');
                }
            }
        }
    }

    /// Returns how many bytes at the end of a text may be the beginning of a credential.
    fn pending(&self, text: &[u8]) -> usize {
        let longest = |needle: &Vec<u8>| {
            let length_max = (needle.len() - 1).min(text.len());
            (1..=length_max)
                .rev()
                .find(|length| text.ends_with(needle.split_at(*length).0))
        };
        self.0.iter().filter_map(longest).max().unwrap_or(0)
    }

    /// Takes what came and returns what can be passed on; the rest stays in `kept`.
    fn pass(&self, kept: &mut Vec<u8>, chunk: Bytes) -> Bytes {
        if self.0.is_empty() {
            return chunk;
        }
        if kept.is_empty() && !self.are_in(&chunk) && self.pending(&chunk) == 0 {
            return chunk;
        }
        let mut text = std::mem::take(kept);
        text.extend_from_slice(&chunk);
        self.overwrite(&mut text);
        *kept = text.split_off(text.len() - self.pending(&text));
        Bytes::from(text)
    }
}

impl Redacted {
    pub(crate) fn new(inner: Incoming, needles: Needles) -> Self {
        let kept = Vec::new();
        Self {
            inner,
            needles,
            kept,
        }
    }
}

impl Body for Redacted {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let this = &mut *self;
        loop {
            let Some(frame) = ready!(Pin::new(&mut this.inner).poll_frame(cx)) else {
                let rest = std::mem::take(&mut this.kept);
                let rest = (!rest.is_empty()).then(|| Ok(Frame::data(Bytes::from(rest))));
                return Poll::Ready(rest);
            };
            // trailers are left out: no API needs them, and they could repeat a credential
            if let Ok(chunk) = frame?.into_data() {
                let passed = this.needles.pass(&mut this.kept, chunk);
                if !passed.is_empty() {
                    return Poll::Ready(Some(Ok(Frame::data(passed))));
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.kept.is_empty() && self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let kept = self.kept.len() as u64;
        let inner = self.inner.size_hint();
        let mut hint = SizeHint::new();
        hint.set_lower(inner.lower().saturating_add(kept));
        if let Some(upper) = inner.upper() {
            hint.set_upper(upper.saturating_add(kept));
        }
        hint
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(text: &[u8], sizes: usize) -> String {
        let secrets = ["Bearer sk-secret-123", "other-key-9"].map(|it| Secret::new(it).unwrap());
        let needles = Needles::of(&secrets);
        let mut kept = Vec::new();
        let mut found = Vec::new();
        for chunk in text.chunks(sizes) {
            found.extend(needles.pass(&mut kept, Bytes::copy_from_slice(chunk)));
            assert!(kept.len() < 13);
        }
        found.extend(kept);
        String::from_utf8(found).unwrap()
    }

    #[test]
    fn credentials_are_overwritten_however_they_are_split() {
        let table = [
            ("x: sk-secret-123!", "x: *************!"),
            ("sk-secret-12 sk-secret-12", "sk-secret-12 sk-secret-12"),
            (
                "sk-sk-secret-123sk-secret-123",
                "sk-**************************",
            ),
            ("other-key-9sk-secret-123 s", "************************ s"),
            ("", ""),
        ];
        for (text, expected) in table {
            for sizes in 1..=text.len().max(1) {
                assert_eq!(passed(text.as_bytes(), sizes), expected, "{text} {sizes}");
            }
        }
    }

    #[test]
    fn short_credentials_are_not_searched_for() {
        let needles = Needles::of(&[Secret::new("x").unwrap()]);
        assert!(needles.0.is_empty());
    }
}
