//! A client that keeps its connection, as browsers do.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

/// A connection to a server.
#[derive(Debug)]
pub(crate) struct Client {
    stream: BufReader<TcpStream>,
    /// What each request says.
    headers: String,
}

/// An answer whose body was not read yet.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) status: u16,
    /// What the server wants to be sent from now on.
    pub(crate) cookie: Option<String>,
    /// Bytes of the head itself.
    pub(crate) bytes: usize,
    /// Bytes of the body.
    pub(crate) length: usize,
}

impl Client {
    pub(crate) fn connect(port: u16, headers: String) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self {
            stream: BufReader::with_capacity(64 * 1024, stream),
            headers,
        }
    }

    /// Asks for something, and reads the head of the answer.
    pub(crate) fn ask(&mut self, path: &str) -> Head {
        let request = format!("GET {path} HTTP/1.1\r\n{}\r\n", self.headers);
        self.stream.get_mut().write_all(request.as_bytes()).unwrap();
        let mut head = Head {
            status: 0,
            cookie: None,
            bytes: 0,
            length: 0,
        };
        loop {
            let mut line = String::new();
            head.bytes += self.stream.read_line(&mut line).unwrap();
            let line = line.trim_end();
            if line.is_empty() {
                return head;
            }
            match line.split_once(": ") {
                None => head.status = line.split(' ').nth(1).unwrap().parse().unwrap(),
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    head.length = value.parse().unwrap();
                }
                Some((name, value)) if name.eq_ignore_ascii_case("set-cookie") => {
                    head.cookie = value.split(';').next().map(str::to_owned);
                }
                Some(_) => {}
            }
        }
    }

    /// Reads as many bytes of a body as fit.
    pub(crate) fn read(&mut self, bytes: &mut [u8]) {
        self.stream.read_exact(bytes).unwrap();
    }

    /// Reads the next line of an answer without an end.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).unwrap();
        line
    }

    /// Gets something whole; it has to be there.
    pub(crate) fn get(&mut self, path: &str) -> Vec<u8> {
        let head = self.ask(path);
        assert_eq!(head.status, 200, "{path}");
        let mut body = vec![0; head.length];
        self.read(&mut body);
        body
    }
}
