//! One server, asked with one token.

use std::error::Error;
use std::fmt;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};

use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::header::{DATE, IF_NONE_MATCH, LOCATION};
use reqwest::{Method, Url};
use symphony_core::Timestamp;
use symphony_tracker::fault::Fault;

use super::answer::{Answer, shortened};
use super::date::http_date;
use super::limits::{Options, ProxyUse, REDIRECTS_MAX};
use super::origin::same_origin;
use super::tls::{Roots, config};
use crate::error::SyncError;
use crate::token::Token;

/// What differs between trackers in each request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Headers {
    /// Makes the value of `authorization`.
    pub(crate) authorization: fn(&str) -> String,
    /// What the client accepts.
    pub(crate) accept: &'static str,
    /// A header of this tracker's own.
    pub(crate) own: Option<(&'static str, &'static str)>,
}

/// A request, as it is asked.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: Method,
    pub(crate) url: Url,
    /// JSON.
    pub(crate) body: Option<Vec<u8>>,
    /// The answer is wanted only if it differs from the one with this tag.
    pub(crate) etag: Option<String>,
}

/// A client for one server.
pub(crate) struct Client {
    http: reqwest::Client,
    endpoint: Url,
    token: Token,
    answer_bytes_max: usize,
    /// Until when the tracker asked to be left alone: a request before would only be refused, and counted.
    pause: Mutex<Option<Timestamp>>,
    /// How far the server's clock is ahead of ours, in milliseconds.
    clock_ahead_ms: AtomicI64,
}

impl Client {
    /// Prepares requests to the server of an address.
    pub(crate) fn new(
        endpoint: &str,
        token: Token,
        headers: Headers,
        options: &Options,
    ) -> Result<Self, SyncError> {
        let http = built(endpoint, Some(default_headers(&token, headers)), options)
            .map_err(|error| error.redacted(&token))?;
        Ok(Self {
            http,
            endpoint: endpoint_url(endpoint)?,
            token,
            answer_bytes_max: options.answer_bytes_max,
            pause: Mutex::new(None),
            clock_ahead_ms: AtomicI64::new(0),
        })
    }

    /// Returns the address of the API.
    pub(crate) fn endpoint(&self) -> &Url {
        &self.endpoint
    }

    /// Returns the token, for reading answers that may repeat it.
    pub(crate) fn token(&self) -> &Token {
        &self.token
    }

    /// Remembers that the tracker asked to wait.
    pub(crate) fn pause_until(&self, until: Timestamp) {
        *self.pause.lock().unwrap_or_else(PoisonError::into_inner) = Some(until);
    }

    /// Sends a request and reads the whole answer, whatever its status is.
    pub(crate) async fn send(&self, request: Request) -> Result<Answer, Fault> {
        self.refuse_during_a_pause()?;
        let mut request = request;
        let mut was_moved = false;
        for _ in 0..=REDIRECTS_MAX {
            let mut answer = self.exchange(&request).await?;
            let Some(next) = self.next_address(&request, &answer)? else {
                answer.was_moved = was_moved;
                return Ok(answer);
            };
            request.url = next;
            was_moved = true;
        }
        Err(Fault::Unreadable {
            detail: format!("the tracker redirects in a circle, at least {REDIRECTS_MAX} times"),
        })
    }

    fn refuse_during_a_pause(&self) -> Result<(), Fault> {
        let mut pause = self.pause.lock().unwrap_or_else(PoisonError::into_inner);
        match *pause {
            Some(until) if Timestamp::now() < until => {
                Err(Fault::RateLimited { until: Some(until) })
            }
            _ => {
                *pause = None;
                Ok(())
            }
        }
    }

    /// Returns where the server sends this request; a request that changes something moves only where its method is kept.
    fn next_address(&self, request: &Request, answer: &Answer) -> Result<Option<Url>, Fault> {
        let follows = match answer.status {
            301 | 302 => request.method == Method::GET,
            307 | 308 => true,
            _ => false,
        };
        let Some(location) = answer.header(LOCATION.as_str()).filter(|_| follows) else {
            return Ok(None);
        };
        same_origin(&request.url, location)
            .map(Some)
            .map_err(|host| Fault::Unreadable {
                detail: shortened(
                    &format!(
                        "the tracker redirects to {host}, and the token is not for that server: set it as the endpoint if it is the right one"
                    ),
                    &self.token,
                ),
            })
    }

    /// Sends a request and follows no redirect, for an answer that leads to another server on purpose.
    pub(crate) async fn send_once(&self, request: &Request) -> Result<Answer, Fault> {
        self.refuse_during_a_pause()?;
        self.exchange(request).await
    }

    async fn exchange(&self, request: &Request) -> Result<Answer, Fault> {
        let mut sent = self
            .http
            .request(request.method.clone(), request.url.clone());
        if let Some(etag) = &request.etag {
            sent = sent.header(IF_NONE_MATCH, etag);
        }
        if let Some(body) = &request.body {
            sent = sent
                .header(CONTENT_TYPE, "application/json")
                .body(body.clone());
        }
        let mut response = sent
            .send()
            .await
            .map_err(|error| self.unreachable(&error))?;
        let mut body = Vec::new();
        let status = response.status().as_u16();
        self.note_clock(response.headers());
        let headers = std::mem::take(response.headers_mut());
        while let Some(chunk) = response
            .chunk()
            .await
            .map_err(|error| self.unreachable(&error))?
        {
            if body.len() + chunk.len() > self.answer_bytes_max {
                return Err(Fault::Unreadable {
                    detail: format!("the answer is larger than {} bytes", self.answer_bytes_max),
                });
            }
            body.extend_from_slice(&chunk);
        }
        Ok(Answer {
            status,
            headers,
            body,
            was_moved: false,
        })
    }

    /// Returns how far the server's clock is ahead of ours, in milliseconds, by its last answer.
    pub(crate) fn clock_ahead_ms(&self) -> i64 {
        self.clock_ahead_ms.load(Ordering::Relaxed)
    }

    fn note_clock(&self, headers: &HeaderMap) {
        let date = headers.get(DATE).and_then(|value| value.to_str().ok());
        if let Some(there) = date.and_then(http_date) {
            let ahead = there.as_millisecond() - Timestamp::now().as_millisecond();
            self.clock_ahead_ms.store(ahead, Ordering::Relaxed);
        }
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

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("endpoint", &self.endpoint.as_str())
            .finish_non_exhaustive()
    }
}

/// Makes a client for HTTP that follows no redirect: whoever sends compares servers first, so the token never goes to another one.
pub(super) fn built(
    endpoint: &str,
    headers: Option<HeaderMap>,
    options: &Options,
) -> Result<reqwest::Client, SyncError> {
    let roots = match endpoint_url(endpoint)?.scheme() {
        "https" => Roots::System,
        _ => Roots::None,
    };
    let mut builder = reqwest::Client::builder()
        .tls_backend_preconfigured(config(endpoint, &roots)?)
        .default_headers(headers.unwrap_or_default())
        .user_agent(concat!("symphony/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(options.connect_time_max)
        .timeout(options.answer_time_max)
        .redirect(reqwest::redirect::Policy::none())
        .referer(false);
    if options.proxy == ProxyUse::Direct {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|error| SyncError::Client {
        endpoint: endpoint.to_owned(),
        detail: words(&error),
    })
}

/// Reads the address of an API: without user, query or fragment, by HTTP or HTTPS.
fn endpoint_url(endpoint: &str) -> Result<Url, SyncError> {
    let url = Url::parse(endpoint.trim_end_matches('/')).ok();
    url.filter(|url| {
        matches!(url.scheme(), "http" | "https")
            && url.has_host()
            && url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none()
    })
    .ok_or_else(|| SyncError::Endpoint {
        endpoint: endpoint.to_owned(),
    })
}

fn default_headers(token: &Token, headers: Headers) -> HeaderMap {
    let mut map = HeaderMap::new();
    let value = (headers.authorization)(token.reveal());
    let mut value = HeaderValue::from_str(&value).expect("a token has characters of headers only");
    // Debug of the map shows `Sensitive`
    value.set_sensitive(true);
    map.insert(AUTHORIZATION, value);
    map.insert(ACCEPT, HeaderValue::from_static(headers.accept));
    if let Some((name, value)) = headers.own {
        map.insert(
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        );
    }
    map
}

/// Returns an error with its causes: reqwest's own text ends before the reason. The address is left out, the caller has it.
pub(super) fn words(error: &reqwest::Error) -> String {
    let mut parts = Vec::new();
    let mut cause: Option<&dyn Error> = error.source();
    while let Some(inner) = cause {
        parts.push(inner.to_string());
        cause = inner.source();
    }
    if parts.is_empty() {
        parts.push("the request could not be sent".to_owned());
    }
    parts.dedup();
    parts.join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_an_address_of_a_server() {
        for good in [
            "https://api.github.com",
            "https://ghe.example/api/v3/",
            "http://127.0.0.1:4001",
        ] {
            assert!(endpoint_url(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "api.github.com",
            "ftp://x",
            "https://",
            "https://a:b@x",
            "https://x?y=1",
            "https://x#y",
        ] {
            assert!(endpoint_url(bad).is_err(), "{bad}");
        }
    }
}
