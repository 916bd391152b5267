//! A request of HTTP without a client: what other programs send.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::Value;

/// Sends JSON to an address, and reads the JSON that comes back.
pub(crate) fn post(address: &str, authorization: &str, body: &Value) -> (u16, Value) {
    let rest = address.strip_prefix("http://").unwrap();
    let (host, path) = rest.split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    let body = body.to_string();
    write!(
        stream,
        "POST /{path} HTTP/1.1\r\nhost: {host}\r\nauthorization: {authorization}\r\ncontent-type: application/json\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    // a body in chunks has lines with their lengths around it
    let begin = body.find('{').unwrap_or(0);
    let end = body.rfind('}').map_or(0, |end| end + 1);
    let json = body.get(begin..end).filter(|json| !json.is_empty());
    (
        status,
        serde_json::from_str(json.unwrap_or("null")).unwrap(),
    )
}
