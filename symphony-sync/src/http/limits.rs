//! How long and how large answers may be.

use std::time::Duration;

/// Longest wait for a connection, in milliseconds.
pub const CONNECT_MS_MAX: u64 = 10_000;

/// Longest wait for a whole answer, in milliseconds, from the connection to its last byte. GitHub itself gives up after 10 s,
/// Linear after 30 s. An answer that trickles in is cut off here too.
pub const ANSWER_MS_MAX: u64 = 45_000;

/// Largest answer, in bytes. A page of 100 issues on GitHub has at most 100 texts of 65,536 characters.
pub const ANSWER_BYTES_MAX: usize = 32 * 1024 * 1024;

/// How often a request follows an address within the same server: a repository that was renamed moves once.
pub const REDIRECTS_MAX: usize = 3;

/// Most of a tracker's words in an error, in characters.
pub const DETAIL_CHARS_MAX: usize = 300;

/// Whether the proxies of the environment (`HTTPS_PROXY`, `NO_PROXY` …) are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProxyUse {
    /// As the environment says.
    Environment,
    /// No proxy.
    Direct,
}

/// The limits of a client; the default is right for every real tracker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Longest wait for a connection.
    pub connect_time_max: Duration,
    /// Longest wait for a whole answer.
    pub answer_time_max: Duration,
    /// Largest answer, in bytes.
    pub answer_bytes_max: usize,
    /// Which proxy is used.
    pub proxy: ProxyUse,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            connect_time_max: Duration::from_millis(CONNECT_MS_MAX),
            answer_time_max: Duration::from_millis(ANSWER_MS_MAX),
            answer_bytes_max: ANSWER_BYTES_MAX,
            proxy: ProxyUse::Environment,
        }
    }
}
