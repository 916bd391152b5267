//! Bounds of a proxy or an endpoint.

use std::time::Duration;

/// How much one listener does at a time, and how long it waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Connections that are open at the same time; more get the answer 503. Default 256: package
    /// managers open up to 50.
    pub connections: usize,
    /// Time for the whole head of a request. Default 10 s.
    pub head: Duration,
    /// Time to find the addresses of a host, and again to connect to one. Default 10 s.
    pub connect: Duration,
    /// Time without a byte in either direction. Default 600 s: the longest that clients of model
    /// APIs wait for an answer that is not streamed.
    pub idle: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 256,
            head: Duration::from_secs(10),
            connect: Duration::from_secs(10),
            idle: Duration::from_mins(10),
        }
    }
}
