//! Answers that the proxy gives itself, as text that an agent can act on.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::entry::entry_for;
use crate::host::Target;
use crate::policy::Refusal;
use crate::stream::Stream;

/// Bytes that are read and dropped after an answer: closing with unread bytes would discard it.
const LINGER_BYTES_MAX: usize = 64 * 1024;
/// Time for that.
const LINGER_MAX: Duration = Duration::from_secs(1);

/// A status and a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn new(status: u16, text: impl Into<String>) -> Self {
        Self {
            status,
            text: text.into(),
        }
    }

    /// Says which host was refused, why, and what a person can add to the configuration.
    pub(crate) fn refused(target: &Target, refusal: &Refusal) -> Self {
        let mut text = format!("symphony: the connection to {target} was refused: {refusal}.\n");
        if let Some(entry) = entry_for(target, refusal) {
            text.push_str("A person can allow it: add `");
            text.push_str(&entry);
            text.push_str("` to the key `sandbox.hosts` of the configuration.\n");
        }
        Self { status: 403, text }
    }

    /// Sends the answer and closes the connection.
    pub(crate) async fn send(&self, stream: &mut impl Stream) {
        let reason = match self.status {
            400 => "Bad Request",
            403 => "Forbidden",
            405 => "Method Not Allowed",
            408 => "Request Timeout",
            503 => "Service Unavailable",
            504 => "Gateway Timeout",
            _ => "Bad Gateway",
        };
        let (status, length, text) = (self.status, self.text.len(), &self.text);
        let answer = format!(
            "HTTP/1.1 {status} {reason}\r\nContent-Type: text/plain; charset=utf-8\r\n\
             Content-Length: {length}\r\nConnection: close\r\n\r\n{text}"
        );
        let sent = async {
            stream.write_all(answer.as_bytes()).await?;
            stream.shutdown().await?;
            let mut buffer = vec![0; 4096];
            let mut rest = LINGER_BYTES_MAX;
            while rest > 0 {
                let count = stream.read(&mut buffer).await?;
                if count == 0 {
                    break;
                }
                rest = rest.saturating_sub(count);
            }
            std::io::Result::Ok(())
        };
        // an agent that is gone needs no answer, and one that does not read gets none
        let _sent = tokio::time::timeout(LINGER_MAX, sent).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Allowed;

    #[test]
    fn refusals_name_an_entry_that_opens_the_host() {
        for text in [
            "a.example:443",
            "a.example:22",
            "1.1.1.1:443",
            "[fd00::5]:80",
            "10.0.0.5:1",
        ] {
            let target = Target::parse(text).unwrap();
            let refusal = Allowed::default().admit(&target).unwrap_err();
            let answer = Answer::refused(&target, &refusal);
            assert_eq!(answer.status, 403);
            let entry = answer.text.split('`').nth(1).unwrap();
            let allowed = Allowed::parse([entry]).unwrap();
            assert_eq!(allowed.admit(&target), Ok(()), "{entry}");
        }
        for text in ["[::ffff:1.1.1.1]:443", "169.254.169.254:80"] {
            let target = Target::parse(text).unwrap();
            let refusal = Allowed::default().admit(&target).unwrap_err();
            assert!(!Answer::refused(&target, &refusal).text.contains('`'));
        }
    }
}
