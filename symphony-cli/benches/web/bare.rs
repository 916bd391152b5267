//! The limits: a server that does nothing but send bytes, and one that only copies a file.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::PathBuf;

use axum::body::Bytes;
use axum::extract::Path;

/// More bytes than any page has.
const BYTES_MAX: usize = 16 * 1024 * 1024;

/// Starts an `axum` server with one thread that answers `/N` with N bytes; returns its port. It ends with this process.
pub(crate) fn axum() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    listener.set_nonblocking(true).unwrap();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let bytes = Bytes::from(vec![b'x'; BYTES_MAX]);
        let answer = move |Path(count): Path<usize>| async move { bytes.slice(..count) };
        let router = axum::Router::new().route("/{count}", axum::routing::get(answer));
        runtime.unwrap().block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            let listener = axum::serve::ListenerExt::tap_io(listener, |stream| {
                stream.set_nodelay(true).unwrap();
            });
            axum::serve(listener, router).await.unwrap();
        });
    });
    port
}

/// Starts a server with one thread that answers everything with a file, copied by the system; returns its port.
pub(crate) fn file(path: PathBuf) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut requests = BufReader::new(stream.try_clone().unwrap()).lines();
            while let Some(Ok(line)) = requests.next() {
                if line.is_empty() {
                    let mut file = File::open(&path).unwrap();
                    let length = file.metadata().unwrap().len();
                    write!(
                        stream,
                        "HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n"
                    )
                    .unwrap();
                    std::io::copy(&mut file, &mut stream).unwrap();
                }
            }
        }
    });
    port
}
