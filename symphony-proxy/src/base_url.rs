//! The base URL of a provider, read strictly.

use std::net::IpAddr;

use crate::error::BaseUrlFault;
use crate::host::{Host, Target};

/// One fixed server with a path below which all requests go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BaseUrl {
    pub(crate) is_tls: bool,
    pub(crate) target: Target,
    /// Empty, or with a `/` at the beginning and none at the end.
    pub(crate) prefix: String,
}

impl BaseUrl {
    pub(crate) fn parse(url: &str) -> Result<Self, BaseUrlFault> {
        let (scheme, rest) = url.split_once("://").ok_or(BaseUrlFault::Scheme)?;
        let (is_tls, default_port) = match scheme.to_ascii_lowercase().as_str() {
            "https" => (true, 443),
            "http" => (false, 80),
            _ => return Err(BaseUrlFault::Scheme),
        };
        let (host, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        let target = Target::parse_or(host, default_port)?;
        if !is_tls && !is_this_machine(&target.host) {
            return Err(BaseUrlFault::PlainText);
        }
        let prefix = path.trim_end_matches('/');
        if !prefix.is_empty() && !is_plain_path(prefix) || path.contains(['?', '#']) {
            return Err(BaseUrlFault::Path);
        }
        let prefix = prefix.to_owned();
        Ok(Self {
            is_tls,
            target,
            prefix,
        })
    }

    /// The value of `Host`, without the scheme's own port.
    pub(crate) fn authority(&self) -> String {
        let is_default = self.target.port == if self.is_tls { 443 } else { 80 };
        if is_default {
            self.target.host.to_string()
        } else {
            self.target.to_string()
        }
    }

    /// Returns the path of a request on the server; `None` for one that could leave the prefix.
    pub(crate) fn place(&self, path: &str, query: Option<&str>) -> Option<String> {
        if !is_plain_path(path) {
            return None;
        }
        let query = query.map_or(String::new(), |query| format!("?{query}"));
        Some(format!("{}{path}{query}", self.prefix))
    }
}

fn is_this_machine(host: &Host) -> bool {
    match host {
        Host::Name(name) => name == "localhost",
        Host::Address(IpAddr::V4(address)) => address.is_loopback(),
        Host::Address(IpAddr::V6(address)) => address.is_loopback(),
    }
}

/// Says whether a path begins with `/` and no server can read `.` or `..` as a step in it.
fn is_plain_path(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    // an encoded separator or dot is decoded by some servers before steps are taken
    let decoded = lower
        .replace("%2f", "/")
        .replace("%5c", "/")
        .replace('\\', "/")
        .replace("%2e", ".");
    // `..;` is a step for servers that cut parameters off
    let is_step = |part: &str| matches!(part.split(';').next(), Some("." | ".."));
    // twice encoded
    path.starts_with('/') && !lower.contains("%25") && !decoded.split('/').any(is_step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::HostFault;

    #[test]
    fn base_urls_are_read() {
        let table = [
            ("https://api.anthropic.com", Ok(("api.anthropic.com", ""))),
            ("https://api.openai.com/v1/", Ok(("api.openai.com", "/v1"))),
            (
                "https://gw.example:8443/a/b",
                Ok(("gw.example:8443", "/a/b")),
            ),
            ("http://127.0.0.1:11434", Ok(("127.0.0.1:11434", ""))),
            ("http://localhost:11434/v1", Ok(("localhost:11434", "/v1"))),
            ("http://[::1]:1/", Ok(("[::1]:1", ""))),
            ("http://10.0.0.5:1", Err(BaseUrlFault::PlainText)),
            ("http://api.anthropic.com", Err(BaseUrlFault::PlainText)),
            ("ftp://a.example", Err(BaseUrlFault::Scheme)),
            ("api.anthropic.com", Err(BaseUrlFault::Scheme)),
            (
                "https://u:p@a.example",
                Err(BaseUrlFault::Host(HostFault::User)),
            ),
            ("https://a.example/x?y", Err(BaseUrlFault::Path)),
            ("https://a.example/../x", Err(BaseUrlFault::Path)),
            ("https://", Err(BaseUrlFault::Host(HostFault::Empty))),
        ];
        for (url, expected) in table {
            let found = BaseUrl::parse(url).map(|it| (it.authority(), it.prefix));
            let expected = expected.map(|(a, b)| (a.to_owned(), b.to_owned()));
            assert_eq!(found, expected, "{url}");
        }
    }

    #[test]
    fn no_path_leaves_the_prefix() {
        let base = BaseUrl::parse("https://gw.example/tenant").unwrap();
        assert_eq!(
            base.place("/v1/messages", Some("beta=true")).unwrap(),
            "/tenant/v1/messages?beta=true"
        );
        assert_eq!(
            base.place("/a..b/.c/%20", None).unwrap(),
            "/tenant/a..b/.c/%20"
        );
        let wrong = [
            "/..",
            "/../x",
            "/a/../../x",
            "/%2e%2e/x",
            "/.%2E/x",
            "/a%2f..%2fx",
            "/..%5cx",
            "/..\\x",
            "/..;/x",
            "/%252e%252e/x",
            "/./x",
            "*",
            "http://a.example/",
        ];
        for path in wrong {
            assert_eq!(base.place(path, None), None, "{path}");
        }
    }
}
