//! What another server has at an address that an API gave: asked without the token.

use std::collections::VecDeque;

use reqwest::Url;
use reqwest::header::LOCATION;
use symphony_tracker::fault::Fault;

use super::answer::shortened;
use super::client::{built, words};
use super::limits::{Options, REDIRECTS_MAX};
use crate::error::SyncError;
use crate::token::Token;

/// Largest text whose end is looked for, in bytes. A job's log on GitHub can have hundreds of MiB, but what fails is rarely there.
const BYTES_MAX: u64 = 256 * 1024 * 1024;

/// A client without a token. Addresses can have a signature that lets everyone read: no error repeats them.
#[derive(Debug)]
pub(crate) struct Plain {
    http: reqwest::Client,
    /// Only to remove it from texts.
    token: Token,
    /// Whether an address without TLS is asked: only where the API itself has none.
    takes_http: bool,
}

impl Plain {
    /// Prepares requests to whatever server an API names.
    pub(crate) fn new(endpoint: &str, token: Token, options: &Options) -> Result<Self, SyncError> {
        let http = built(endpoint, None, options).map_err(|error| error.redacted(&token))?;
        Ok(Self {
            http,
            token,
            takes_http: endpoint.starts_with("http://"),
        })
    }

    /// Reads the end of a text, at most `bytes_max` bytes. `None` if it does not exist, may not be read, or is too large.
    pub(crate) async fn end_of(
        &self,
        url: Url,
        bytes_max: usize,
    ) -> Result<Option<Vec<u8>>, Fault> {
        let mut url = url;
        for _ in 0..=REDIRECTS_MAX {
            if url.scheme() != "https" && !(self.takes_http && url.scheme() == "http") {
                return Err(Fault::Unreadable {
                    detail: "the tracker redirects to an address without TLS".to_owned(),
                });
            }
            let sent = self.http.get(url.clone()).send().await;
            let response = sent.map_err(|error| self.unreachable(&error))?;
            let next = response.headers().get(LOCATION);
            let next = next
                .and_then(|value| value.to_str().ok())
                .and_then(|text| url.join(text).ok());
            match (response.status().as_u16(), next) {
                (200 | 206, _) => return self.end(response, bytes_max).await,
                (301 | 302 | 303 | 307 | 308, Some(next)) => url = next,
                (401 | 403 | 404 | 410, _) => return Ok(None),
                (status, _) => {
                    return Err(Fault::Failed {
                        status,
                        detail: "the server that has the text did not send it".to_owned(),
                    });
                }
            }
        }
        Err(Fault::Unreadable {
            detail: format!("the address of a text redirects more than {REDIRECTS_MAX} times"),
        })
    }

    async fn end(
        &self,
        mut response: reqwest::Response,
        bytes_max: usize,
    ) -> Result<Option<Vec<u8>>, Fault> {
        let mut end = VecDeque::new();
        let mut seen = 0_u64;
        while let Some(chunk) = response
            .chunk()
            .await
            .map_err(|error| self.unreachable(&error))?
        {
            seen += chunk.len() as u64;
            if seen > BYTES_MAX {
                return Ok(None);
            }
            end.extend(chunk);
            let excess = end.len().saturating_sub(bytes_max);
            end.drain(..excess);
        }
        Ok(Some(end.into()))
    }

    fn unreachable(&self, error: &reqwest::Error) -> Fault {
        let detail = if error.is_timeout() {
            "no complete answer within the time limit".to_owned()
        } else {
            words(error)
        };
        Fault::Unreachable {
            detail: shortened(&detail, &self.token),
        }
    }
}
