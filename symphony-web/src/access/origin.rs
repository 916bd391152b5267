//! Where a request comes from, as the browser says it.

use super::host::Scheme;

/// What the browser says of the page that a request comes from (`Sec-Fetch-Site`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FetchSite {
    /// A page of this server.
    SameOrigin,
    /// Typed, or opened from outside of the browser.
    None,
    /// Any other page.
    Other,
}

impl FetchSite {
    /// Reads the header.
    pub fn parse(value: &str) -> Self {
        match value {
            "same-origin" => Self::SameOrigin,
            "none" => Self::None,
            _ => Self::Other,
        }
    }
}

/// Returns whether an `Origin` is this server under the name that the request has asked for.
pub fn is_own_origin(origin: &str, scheme: Scheme, host: &str) -> bool {
    let of_scheme = origin
        .strip_prefix(scheme.name())
        .and_then(|rest| rest.strip_prefix("://"));
    of_scheme.is_some_and(|name| name.eq_ignore_ascii_case(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_origin_is_the_host_that_was_asked_for() {
        let host = "localhost:7667";
        for (origin, expected) in [
            ("http://localhost:7667", true),
            ("http://LOCALHOST:7667", true),
            ("https://localhost:7667", false),
            ("http://localhost:7668", false),
            ("http://127.0.0.1:7667", false),
            ("http://localhost:7667.evil.example", false),
            ("http://localhost:7667/", false),
            ("null", false),
            ("", false),
        ] {
            assert_eq!(
                is_own_origin(origin, Scheme::Http, host),
                expected,
                "{origin}"
            );
        }
    }
}
