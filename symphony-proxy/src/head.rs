//! Checks the head of a request before any library reads it.
//!
//! Two programs that disagree on where a request ends can be made to see different requests
//! (request smuggling). So whatever RFC 9112 leaves to a reader's leniency is refused here: the
//! check is stricter than the grammar, and no client of agents needs the difference.

use crate::host::{HostFault, Target};

/// Longest head, in bytes with the empty line at its end.
pub const HEAD_BYTES_MAX: usize = 16 * 1024;
/// Most header lines; the limit of `hyper` for a server.
pub const HEADERS_MAX: usize = 100;

/// What is known of a head that passed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Head {
    /// Bytes up to and with the empty line.
    pub(crate) bytes: usize,
    /// The method as it was sent.
    pub(crate) method: String,
    /// The target as it was sent.
    pub(crate) target: String,
    /// Whether a body follows.
    pub(crate) has_body: bool,
}

/// Says why a head is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum HeadFault {
    #[error("the head is longer than {HEAD_BYTES_MAX} bytes or has more than {HEADERS_MAX} lines")]
    Long,
    #[error("a line does not end with CR LF, or has a control character")]
    Control,
    #[error("the request line is not `METHOD TARGET HTTP/1.1`")]
    RequestLine,
    #[error("a header line is folded or is not `name: value`")]
    HeaderLine,
    #[error("the length of the body is given twice or in an unknown form")]
    Framing,
    #[error("there is more than one `Host`, or it is not a host")]
    Host,
    #[error("there is a body after `CONNECT`, or a second request after the first")]
    Surplus,
}

/// Reads the head at the start of `bytes`; `None` if its end has not come yet.
///
/// # Errors
///
/// The first fault. What has come so far is checked as well, so that a bad head is refused early.
pub(crate) fn scan(bytes: &[u8]) -> Result<Option<Head>, HeadFault> {
    let within = bytes.get(..HEAD_BYTES_MAX).unwrap_or(bytes);
    let end = memchr::memmem::find(within, b"\r\n\r\n");
    let (head, _) = within.split_at(end.unwrap_or(within.len()));
    check_characters(head)?;
    let Some(end) = end else {
        return if within.len() < HEAD_BYTES_MAX {
            Ok(None)
        } else {
            Err(HeadFault::Long)
        };
    };
    let text = std::str::from_utf8(head).or(Err(HeadFault::Control))?;
    let mut lines = text.split("\r\n");
    let (method, target, version) = request_line(lines.next().unwrap_or_default())?;
    let has_body = check_headers(lines, version)?;
    let head = Head {
        bytes: end + 4,
        method: method.to_owned(),
        target: target.to_owned(),
        has_body,
    };
    let is_connect = method == "CONNECT";
    let has_more = bytes.len() > head.bytes;
    // what follows `CONNECT` belongs to the tunnel and is never read as a request
    if (is_connect && has_body) || (!is_connect && !has_body && has_more) {
        return Err(HeadFault::Surplus);
    }
    Ok(Some(head))
}

/// Checks that a head is ASCII without control characters, with CR and LF only together.
fn check_characters(head: &[u8]) -> Result<(), HeadFault> {
    let mut rest = head.iter().peekable();
    while let Some(byte) = rest.next() {
        let is_fine = match byte {
            // a CR at the end may be half of what has come so far
            b'\r' => rest.next_if(|next| **next == b'\n').is_some() || rest.peek().is_none(),
            b'\t' => true,
            byte => (b' '..=b'~').contains(byte),
        };
        if !is_fine {
            return Err(HeadFault::Control);
        }
    }
    Ok(())
}

fn request_line(line: &str) -> Result<(&str, &str, &str), HeadFault> {
    let mut parts = line.split(' ');
    let (Some(method), Some(target), Some(version), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(HeadFault::RequestLine);
    };
    let is_version = matches!(version, "HTTP/1.1" | "HTTP/1.0");
    if !is_token(method) || target.is_empty() || target.contains('\t') || !is_version {
        return Err(HeadFault::RequestLine);
    }
    Ok((method, target, version))
}

/// Checks the header lines and says whether a body follows.
fn check_headers<'a>(
    lines: impl Iterator<Item = &'a str>,
    version: &str,
) -> Result<bool, HeadFault> {
    let (mut length, mut encoding, mut host) = (None, None, None);
    for (number, line) in lines.enumerate() {
        if number >= HEADERS_MAX {
            return Err(HeadFault::Long);
        }
        let (name, value) = line.split_once(':').ok_or(HeadFault::HeaderLine)?;
        if !is_token(name) {
            return Err(HeadFault::HeaderLine);
        }
        let value = value.trim_matches([' ', '\t']);
        let (known, fault) = match name.to_ascii_lowercase().as_str() {
            "content-length" => (&mut length, HeadFault::Framing),
            "transfer-encoding" => (&mut encoding, HeadFault::Framing),
            "host" => (&mut host, HeadFault::Host),
            _ => continue,
        };
        if known.replace(value).is_some() {
            return Err(fault);
        }
    }
    if let Some(host) = host {
        check_host(host)?;
    }
    match (length, encoding) {
        (None, None) => Ok(false),
        (Some(digits), None) => {
            // 18 digits fit into every reader's number
            let is_number = (1..=18).contains(&digits.len())
                && digits.bytes().all(|byte| byte.is_ascii_digit());
            if !is_number {
                return Err(HeadFault::Framing);
            }
            Ok(digits.bytes().any(|byte| byte != b'0'))
        }
        (None, Some(encoding))
            if encoding.eq_ignore_ascii_case("chunked") && version == "HTTP/1.1" =>
        {
            Ok(true)
        }
        _ => Err(HeadFault::Framing),
    }
}

/// A `Host` decides nothing here, but one that is not a host comes from an injected line.
fn check_host(value: &str) -> Result<(), HeadFault> {
    match Target::parse_or(value, 80) {
        Ok(_) | Err(HostFault::Empty) => Ok(()),
        Err(_) => Err(HeadFault::Host),
    }
}

/// Says whether a text is a token (RFC 9110, section 5.6.2).
fn is_token(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FINE: &str = "CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n";

    #[test]
    fn heads_are_read_when_they_are_whole() {
        for end in 0..FINE.len() {
            assert_eq!(scan(&FINE.as_bytes()[..end]), Ok(None), "{end}");
        }
        let early = format!("{FINE}\x16\x03");
        let head = scan(early.as_bytes()).unwrap().unwrap();
        assert_eq!(head.bytes, FINE.len());
        assert_eq!((&*head.method, &*head.target), ("CONNECT", "a.example:443"));
        assert!(!head.has_body);
    }

    #[test]
    fn what_readers_disagree_on_is_refused() {
        let get = |headers: &str| format!("GET http://a.example/ HTTP/1.1\r\n{headers}\r\n");
        let many = "a: b\r\n".repeat(HEADERS_MAX + 1);
        let long = format!("a: {}\r\n", "b".repeat(HEAD_BYTES_MAX));
        let table = [
            (
                get("Content-Length: 1\r\nContent-Length: 1\r\n"),
                HeadFault::Framing,
            ),
            (get("Content-Length: 1, 1\r\n"), HeadFault::Framing),
            (get("Content-Length: +1\r\n"), HeadFault::Framing),
            (get("Content-Length:\r\n"), HeadFault::Framing),
            (
                get("Content-Length: 9999999999999999999\r\n"),
                HeadFault::Framing,
            ),
            (
                get("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"),
                HeadFault::Framing,
            ),
            (
                get("Transfer-Encoding: gzip, chunked\r\n"),
                HeadFault::Framing,
            ),
            (get("Transfer-Encoding: xchunked\r\n"), HeadFault::Framing),
            (
                get("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
                HeadFault::Framing,
            ),
            (
                get("Transfer-Encoding : chunked\r\n"),
                HeadFault::HeaderLine,
            ),
            (get("a: b\r\n folded\r\n"), HeadFault::HeaderLine),
            (get("a: b\r\n\tfolded\r\n"), HeadFault::HeaderLine),
            (get(" a: b\r\n"), HeadFault::HeaderLine),
            (get("no colon\r\n"), HeadFault::HeaderLine),
            (get(": empty\r\n"), HeadFault::HeaderLine),
            (get("a: b\nc: d\r\n"), HeadFault::Control),
            (get("a: b\rc: d\r\n"), HeadFault::Control),
            (get("a: b\0\r\n"), HeadFault::Control),
            (get("a: \u{1b}[0m\r\n"), HeadFault::Control),
            (get("a: \u{fc}\r\n"), HeadFault::Control),
            (get("Host: a\r\nHost: a\r\n"), HeadFault::Host),
            (get("Host: x HTTP/1.1\r\n"), HeadFault::Host),
            (get(&many), HeadFault::Long),
            (get(&long), HeadFault::Long),
            (get("") + "GET / HTTP/1.1\r\n", HeadFault::Surplus),
            (get("Content-Length: 0\r\n") + "x", HeadFault::Surplus),
            (
                "CONNECT a:1 HTTP/1.1\r\nContent-Length: 1\r\n\r\n".to_owned(),
                HeadFault::Surplus,
            ),
            ("GET  / HTTP/1.1\r\n\r\n".to_owned(), HeadFault::RequestLine),
            ("GET / HTTP/1.1 \r\n\r\n".to_owned(), HeadFault::RequestLine),
            ("GET / HTTP/2\r\n\r\n".to_owned(), HeadFault::RequestLine),
            ("GET / http/1.1\r\n\r\n".to_owned(), HeadFault::RequestLine),
            ("GET /\r\n\r\n".to_owned(), HeadFault::RequestLine),
            ("G(T / HTTP/1.1\r\n\r\n".to_owned(), HeadFault::RequestLine),
            (
                "\r\nGET / HTTP/1.1\r\n\r\n".to_owned(),
                HeadFault::RequestLine,
            ),
            (
                "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n".to_owned(),
                HeadFault::Framing,
            ),
            ("\x16\x03\x01".to_owned(), HeadFault::Control),
        ];
        for (text, expected) in table {
            assert_eq!(scan(text.as_bytes()), Err(expected), "{text:?}");
        }
        let body = get("Content-Length: 1\r\n") + "x";
        assert!(scan(body.as_bytes()).unwrap().unwrap().has_body);
        let injected = "CONNECT a.example:443 HTTP/1.1\r\nHost: x HTTP/1.1\r\nHost: y\r\n\r\n";
        assert_eq!(scan(injected.as_bytes()), Err(HeadFault::Host));
    }
}
