//! Signing in and out.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Extension, Query};
use axum::http::StatusCode;
use axum::http::header::{self, HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{MethodRouter, get};
use maud::{Markup, html};
use symphony_core::Timestamp;

use crate::access::{Scheme, Secret, is_own_origin, user_of};
use crate::page::bare;
use crate::server::{DoorsError, Failure, Fields, Reader, Site, failed, session_of};

/// The address that a link signs in at.
pub const SIGN_IN: &str = "/sign-in";

/// Seconds that a browser keeps the cookie; the session ends on the server.
const COOKIE_SECONDS: u32 = 30 * 24 * 60 * 60;

/// Returns the path that signs a browser in, once.
pub fn sign_in_path(link: &Secret) -> String {
    format!("{SIGN_IN}?link={}", link.reveal())
}

/// The route of the sign-in page: a link signs in by being opened, a user by a token in the form.
pub(crate) fn sign_in(site: &Arc<Site>) -> MethodRouter {
    let by_link = Arc::clone(site);
    let by_token = Arc::clone(site);
    get(
        move |headers: HeaderMap, Query(query): Query<BTreeMap<String, String>>| async move {
            match query.get("link") {
                None => form(None).into_response(),
                Some(link) => with_link(&by_link, &headers, link),
            }
        },
    )
    // who only asks whether the link is there must not use it up
    .head(async || StatusCode::METHOD_NOT_ALLOWED)
    .post(
        move |headers: HeaderMap, Extension(fields): Extension<Fields>| async move {
            with_token(&by_token, &headers, &fields)
        },
    )
}

/// The route that ends the session of a browser.
pub(crate) fn sign_out(site: &Arc<Site>) -> MethodRouter {
    let site = Arc::clone(site);
    axum::routing::post(move |headers: HeaderMap| async move {
        if let Some(session) = session_of(&headers, site.cookie()).secret()
            && let Err(error) = site.doors.end(session)
        {
            return unusable(&error);
        }
        let mut response = Redirect::to(SIGN_IN).into_response();
        set_cookie(&site, &mut response, "", 0);
        response
    })
}

fn with_link(site: &Site, headers: &HeaderMap, link: &str) -> Response {
    let former = session_of(headers, site.cookie());
    let now = Timestamp::now();
    let session = match Secret::parse(link) {
        Some(link) => site.doors.redeem(&link, former.secret(), now),
        None => Ok(None),
    };
    match session {
        Ok(Some(session)) => welcome(site, &session),
        Ok(None) => wrong(
            site,
            "This link was used before, or is older than ten minutes. `symphony serve url` prints a new one.",
        ),
        Err(error) => unusable(&error),
    }
}

fn with_token(site: &Site, headers: &HeaderMap, fields: &Fields) -> Response {
    let text = |name: header::HeaderName| {
        headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
    };
    let scheme = site.access.hosts.scheme();
    // a page of another site must not sign a browser in as somebody else
    if !is_own_origin(text(header::ORIGIN), scheme, text(header::HOST)) {
        return (
            StatusCode::FORBIDDEN,
            "The form does not belong to this server.",
        )
            .into_response();
    }
    let token = Secret::parse(fields.text("token"));
    let users = match site.users() {
        Ok(users) => users,
        Err(failure) => return failed(&failure, None),
    };
    let user = token.and_then(|token| user_of(&users, &token));
    let Some(user) = user else {
        return wrong(site, "No user has this token.");
    };
    // the cookie is replaced: a session that nobody has any more must not stay good for whoever has copied it
    let former = session_of(headers, site.cookie());
    match (site.doors).begin(user, former.secret(), Timestamp::now()) {
        Ok(session) => welcome(site, &session),
        Err(error) => unusable(&error),
    }
}

/// Answers with a page that goes on to the board by itself. A redirect would not do: after a link in another program, browsers do not
/// send a strict cookie along the redirects of the same click.
fn welcome(site: &Site, session: &Secret) -> Response {
    let mut response = bare(
        "Signed in",
        &html! {
            meta http-equiv="refresh" content="0; url=/";
            h1 { "Signed in" }
            p { a href="/" { "Go to the board" } }
        },
    )
    .into_response();
    set_cookie(site, &mut response, session.reveal(), COOKIE_SECONDS);
    response
}

fn set_cookie(site: &Site, response: &mut Response, value: &str, seconds: u32) {
    let secure = match site.access.hosts.scheme() {
        Scheme::Https => "; Secure",
        Scheme::Http => "",
    };
    let cookie = format!(
        "{}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}{secure}",
        site.cookie()
    );
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
}

fn wrong(site: &Site, why: &str) -> Response {
    if !site.answers_wrong_secret() {
        return Reader::Person.failed(&Failure::TooManyAttempts, None);
    }
    (StatusCode::UNAUTHORIZED, form(Some(why))).into_response()
}

fn unusable(error: &DoorsError) -> Response {
    tracing::error!(%error, "a visitor could not sign in or out");
    let text = html! { h1 { "Not signed in" } p { (error) } };
    (
        StatusCode::INTERNAL_SERVER_ERROR,
        bare("Not signed in", &text),
    )
        .into_response()
}

/// The page for whoever is not signed in.
pub(crate) fn form(why: Option<&str>) -> Markup {
    bare(
        "Sign in",
        &html! {
            h1 { "Sign in to Symphony" }
            @if let Some(why) = why { p .notice .bad role="alert" { (why) } }
            p { "Open the link that " code { "symphony serve" } " printed when it started, or type " code { "symphony serve url" }
                " in the project for a new one. A link works once." }
            form method="post" action=(SIGN_IN) .stack {
                // password managers keep a token under a name
                input type="text" autocomplete="username" value="symphony" hidden;
                label for="token" { "Or use the token that your administrator gave you" }
                input #token type="password" name="token" autocomplete="current-password" required;
                button .btn .pri { "Sign in" }
            }
        },
    )
}
