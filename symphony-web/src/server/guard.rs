//! Runs before every route to check who asks, from where, and with which form, and after it to add the headers of every answer.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::Uri;
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use symphony_core::Timestamp;

use super::answer::Reader;
use super::failure::Failure;
use super::site::{Site, Turn};
use crate::access::{
    Admission, Credentials, Entrance, Facts, FetchSite, Refusal, Secret, Visitor, admit,
};

/// Bytes of a form: a description may have 64 KiB, and each byte may take three in a form.
const FORM_BYTES_MAX: usize = 1024 * 1024;

/// Bytes of the form of the sign-in page, which everybody may send.
const SIGN_IN_BYTES_MAX: usize = 4 * 1024;

/// Time for a form to arrive.
const FORM_TIME: Duration = Duration::from_secs(20);

/// The field of forms that proves that they are of a page of this session.
pub(crate) const FORM_TOKEN_FIELD: &str = "form_token";

/// The header that does so for requests of scripts.
const FORM_TOKEN_HEADER: &str = "x-form-token";
/// What a page sends when it asks for itself again.
const REFRESH_HEADER: &str = "x-symphony-refresh";

/// What a route is guarded with.
#[derive(Debug, Clone)]
pub(crate) struct Guarded {
    pub(crate) site: Arc<Site>,
    pub(crate) entrance: Entrance,
}

/// The fields of a form that was let in.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fields(pub(crate) Vec<(String, String)>);

impl Fields {
    /// Returns a field, without spaces around it; empty where it is missing.
    pub(crate) fn text(&self, name: &str) -> &str {
        let mut fields = self.0.iter();
        fields
            .find(|(field, _)| field == name)
            .map_or("", |(_, value)| value.trim())
    }

    /// Returns a field of several lines, which browsers send with `\r\n`.
    pub(crate) fn prose(&self, name: &str) -> String {
        self.text(name).replace("\r\n", "\n")
    }

    /// Returns a field; none where it is missing or empty.
    pub(crate) fn given(&self, name: &str) -> Option<&str> {
        Some(self.text(name)).filter(|text| !text.is_empty())
    }

    /// Returns every value of a field.
    pub(crate) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        let fields = self.0.iter();
        fields
            .filter(move |(field, _)| field == name)
            .map(|(_, value)| value.trim())
    }

    pub(crate) fn parse(bytes: &[u8]) -> Self {
        let pairs = form_urlencoded::parse(bytes);
        Self(
            pairs
                .map(|(name, value)| (name.into_owned(), value.into_owned()))
                .collect(),
        )
    }
}

/// Lets a request in, or turns it away.
pub(crate) async fn guarded(
    State(guarded): State<Guarded>,
    mut request: Request,
    next: Next,
) -> Response {
    let site = guarded.site;
    let now = Timestamp::now();
    let reader = Reader::of(request.uri().path());
    let visitor = match identify(&site, guarded.entrance, &request, now) {
        Ok(visitor) => visitor,
        Err(failure) => return turned_away(&site, reader, &failure),
    };
    if matches!(guarded.entrance, Entrance::Write(_))
        || request.method() == axum::http::Method::POST
    {
        let (parts, body) = request.into_parts();
        let bytes_max = match guarded.entrance {
            Entrance::SignIn => SIGN_IN_BYTES_MAX,
            _ => FORM_BYTES_MAX,
        };
        let bytes = match read_form(body, bytes_max).await {
            Ok(bytes) => bytes,
            Err(failure) => return reader.failed(&failure, None),
        };
        let fields = Fields::parse(&bytes);
        if let Some(visitor) = &visitor
            && let Err(refusal) = check_form(visitor, &parts.headers, &fields)
        {
            return turned_away(&site, reader, &refusal.into());
        }
        request = Request::from_parts(parts, Body::empty());
        request.extensions_mut().insert(fields);
    }
    if let Some(visitor) = visitor {
        let page = request.uri().path().to_owned();
        let turn = Turn {
            site,
            visitor,
            page,
            is_refresh: request.headers().contains_key(REFRESH_HEADER),
            now,
        };
        request.extensions_mut().insert(turn);
    }
    next.run(request).await
}

fn check_form(visitor: &Visitor, headers: &HeaderMap, fields: &Fields) -> Result<(), Refusal> {
    let header = headers
        .get(FORM_TOKEN_HEADER)
        .and_then(|value| value.to_str().ok());
    visitor.check_form(header.or_else(|| fields.given(FORM_TOKEN_FIELD)))
}

async fn read_form(body: Body, bytes_max: usize) -> Result<Bytes, Failure> {
    match tokio::time::timeout(FORM_TIME, to_bytes(body, bytes_max)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(_)) => Err(Failure::TooLarge { bytes_max }),
        Err(_) => Err(Failure::TooSlow),
    }
}

fn identify(
    site: &Site,
    entrance: Entrance,
    request: &Request,
    now: Timestamp,
) -> Result<Option<Visitor>, Failure> {
    let doors = match entrance {
        Entrance::Open | Entrance::SignIn => crate::access::Doors::default(),
        _ => site
            .doors
            .read()
            .map_err(|error| Failure::Internal(error.to_string()))?,
    };
    let headers = request.headers();
    let session = session_of(headers, site.cookie());
    let bearer = bearer_of(headers);
    let facts = Facts {
        host: single(headers, &header::HOST),
        authority: authority(request.uri()),
        origin: headers
            .get(header::ORIGIN)
            .map(|value| value.to_str().unwrap_or("?")),
        site: headers
            .get("sec-fetch-site")
            .map(|value| FetchSite::parse(value.to_str().unwrap_or("?"))),
        credentials: Credentials {
            session: session.secret(),
            bearer: bearer.secret(),
            is_malformed: session == Brought::Malformed || bearer == Brought::Malformed,
        },
    };
    let names_user = session
        .secret()
        .and_then(|secret| doors.session(secret, now))
        .is_some_and(|session| session.user.is_some());
    let asks_who = matches!(entrance, Entrance::Read(_) | Entrance::Write(_));
    let users = if asks_who && (names_user || bearer.secret().is_some()) {
        site.users()?
    } else {
        Vec::new()
    };
    let known = Admission {
        hosts: &site.access.hosts,
        doors: &doors,
        users: &users,
        is_read_only: site.access.is_read_only,
    };
    Ok(admit(&known, entrance, &facts, now)?)
}

/// Returns the value of a header that is there exactly once.
fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    values
        .next()
        .is_none()
        .then(|| value.to_str().ok())
        .flatten()
}

fn authority(uri: &Uri) -> Option<&str> {
    uri.authority().map(axum::http::uri::Authority::as_str)
}

/// What a request brings in the place of a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Brought {
    /// Nothing.
    Nothing,
    /// Something that cannot be a secret.
    Malformed,
    /// What may be one.
    Secret(Secret),
}

impl Brought {
    fn of(text: Option<&str>) -> Self {
        text.map_or(Self::Nothing, |text| {
            Secret::parse(text).map_or(Self::Malformed, Self::Secret)
        })
    }

    /// Returns the secret, if it may be one.
    pub(crate) const fn secret(&self) -> Option<&Secret> {
        match self {
            Self::Secret(secret) => Some(secret),
            Self::Nothing | Self::Malformed => None,
        }
    }
}

/// Reads the session cookie.
pub(crate) fn session_of(headers: &HeaderMap, cookie: &str) -> Brought {
    let cookies = headers.get_all(header::COOKIE).iter();
    let pairs = cookies
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'));
    let mut named = pairs.filter_map(|pair| pair.trim().split_once('='));
    let found = named.find(|(name, _)| *name == cookie);
    Brought::of(found.map(|(_, value)| value))
}

fn bearer_of(headers: &HeaderMap) -> Brought {
    let value = headers.get(header::AUTHORIZATION);
    let text = value.and_then(|value| value.to_str().ok());
    let token = text.and_then(|text| text.split_once(' '));
    let token = token.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    Brought::of(token.map(|(_, token)| token.trim()))
}

fn turned_away(site: &Site, reader: Reader, failure: &Failure) -> Response {
    let is_wrong_secret = matches!(failure, Failure::Refused(Refusal::UnknownSecret));
    if is_wrong_secret && !site.answers_wrong_secret() {
        return reader.failed(&Failure::TooManyAttempts, None);
    }
    reader.failed(failure, None)
}

/// What every answer says to the browser: nothing is loaded from elsewhere, nothing is framed, no script is inline.
const HEADERS: [(&str, &str); 7] = [
    (
        "content-security-policy",
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; \
         base-uri 'none'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    (
        "permissions-policy",
        "camera=(), geolocation=(), microphone=(), payment=()",
    ),
];

/// Adds the headers of every answer.
pub(crate) async fn with_headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        );
    }
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    response
}
