//! What an endpoint carried to a model and back: the requests, how they came out, and what they used.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use http_body_util::BodyExt as _;
use hyper::body::{Body, Bytes, Frame, SizeHint};
use hyper::header::{self, HeaderMap};
use hyper::{Method, Response};

use crate::counts::TokenUse;
use crate::exchange::AnswerBody;
use crate::usage::{AnswerForm, UsageReader};

/// The time in which requests are counted as recent.
const RECENT: Duration = Duration::from_mins(1);
/// Most requests that are counted as recent. Far above what any limit allows.
const RECENT_MAX: usize = 10_000;

/// What an endpoint carried to a model and back so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ModelTraffic {
    /// What the answers used.
    pub tokens: TokenUse,
    /// Requests to the model.
    pub requests: u64,
    /// Answers that said what they used.
    pub counted: u64,
    /// Answers that came to their end and said nothing of what they used.
    pub uncounted: u64,
    /// Requests that were refused or got no whole answer.
    pub failed: u64,
    /// Requests of the last minute.
    pub recent: u64,
    /// The failures since the last answer that was whole; `None` if there are none.
    pub failing: Option<Failing>,
}

/// Requests that fail one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failing {
    /// How many did.
    pub requests: u64,
    /// The time from the first of them to the last one.
    pub span: Duration,
    /// How the last one failed.
    pub last: Failure,
}

/// How a request failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// The server answered with this status.
    Status(u16),
    /// The answer ended before its end.
    Cut,
}

/// The counts of an endpoint; its connections share it.
#[derive(Debug, Default)]
pub(crate) struct Traffic(Mutex<Counted>);

#[derive(Debug, Default)]
struct Counted {
    numbers: ModelTraffic,
    recent: VecDeque<Instant>,
    failing_since: Option<Instant>,
}

impl Counted {
    fn forget(&mut self, now: Instant) {
        while let Some(first) = self.recent.front()
            && (now.duration_since(*first) >= RECENT || self.recent.len() > RECENT_MAX)
        {
            self.recent.pop_front();
        }
    }
}

impl Traffic {
    /// Returns what was carried so far.
    pub(crate) fn at(&self, now: Instant) -> ModelTraffic {
        let mut counted = self.counted();
        counted.forget(now);
        ModelTraffic {
            recent: counted.recent.len() as u64,
            ..counted.numbers
        }
    }

    fn request(&self, now: Instant) {
        let mut counted = self.counted();
        counted.numbers.requests += 1;
        counted.recent.push_back(now);
        counted.forget(now);
    }

    fn failed(&self, last: Failure, now: Instant) {
        let mut counted = self.counted();
        counted.numbers.failed += 1;
        let first = *counted.failing_since.get_or_insert(now);
        let known = counted.numbers.failing;
        counted.numbers.failing = Some(Failing {
            requests: known.map_or(0, |it| it.requests) + 1,
            span: now.duration_since(first),
            last,
        });
    }

    fn answered(&self, has_counts: bool) {
        let mut counted = self.counted();
        counted.failing_since = None;
        let numbers = &mut counted.numbers;
        numbers.failing = None;
        if has_counts {
            numbers.counted += 1;
        } else {
            numbers.uncounted += 1;
        }
    }

    /// Replaces what an answer used until now by what it used until a moment ago.
    fn grow(&self, before: TokenUse, after: TokenUse) {
        let sum = &mut self.counted().numbers.tokens;
        for (sum, before, after) in [
            (&mut sum.input, before.input, after.input),
            (&mut sum.output, before.output, after.output),
            (&mut sum.cache_read, before.cache_read, after.cache_read),
            (
                &mut sum.cache_creation,
                before.cache_creation,
                after.cache_creation,
            ),
        ] {
            *sum = sum.saturating_sub(before).saturating_add(after);
        }
    }

    fn counted(&self) -> MutexGuard<'_, Counted> {
        // counts are whole after each statement, also if a holder panicked
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns whether a request asks a model for an answer, by its path.
fn is_for_model(method: &Method, path: &str) -> bool {
    let ends = [
        "/messages",
        "/responses",
        "/responses/compact",
        "/chat/completions",
        "/completions",
        ":generateContent",
        ":streamGenerateContent",
    ];
    *method == Method::POST && ends.iter().any(|end| path.ends_with(end))
}

/// A request to a model, from before it is sent until its answer was passed on.
pub(crate) struct ModelRequest {
    traffic: Arc<Traffic>,
    /// How it came out, unless that is recorded already.
    pending: bool,
}

impl ModelRequest {
    /// Counts a request, if it is one to a model.
    pub(crate) fn begin(traffic: &Arc<Traffic>, method: &Method, path: &str) -> Option<Self> {
        is_for_model(method, path).then(|| {
            traffic.request(Instant::now());
            Self {
                traffic: Arc::clone(traffic),
                pending: true,
            }
        })
    }

    /// Reads an answer while it is passed on.
    pub(crate) fn read(mut self, response: Response<AnswerBody>) -> Response<AnswerBody> {
        let status = response.status();
        if !status.is_success() {
            self.fail(Failure::Status(status.as_u16()));
            return response;
        }
        let reader = form_of(response.headers()).map(UsageReader::new);
        response.map(|inner| {
            Read {
                inner,
                reader,
                tokens: TokenUse::default(),
                request: self,
            }
            .boxed()
        })
    }

    fn fail(&mut self, how: Failure) {
        if std::mem::take(&mut self.pending) {
            self.traffic.failed(how, Instant::now());
        }
    }

    fn end(&mut self, has_counts: bool) {
        if std::mem::take(&mut self.pending) {
            self.traffic.answered(has_counts);
        }
    }
}

impl Drop for ModelRequest {
    /// The agent or the server went away.
    fn drop(&mut self) {
        self.fail(Failure::Cut);
    }
}

/// What is compressed although `identity` was asked for cannot be read.
fn form_of(headers: &HeaderMap) -> Option<AnswerForm> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let is_plain = text(header::CONTENT_ENCODING).is_none_or(|coding| coding == "identity");
    let form = text(header::CONTENT_TYPE).map_or(Some(AnswerForm::Json), AnswerForm::of);
    form.filter(|_| is_plain)
}

/// The body of an answer, which is read while it passes.
struct Read {
    inner: AnswerBody,
    reader: Option<UsageReader>,
    /// What it used, as it is in the sum already.
    tokens: TokenUse,
    request: ModelRequest,
}

impl Read {
    fn take(&mut self, bytes: &Bytes) {
        let Some(reader) = &mut self.reader else {
            return;
        };
        reader.read(bytes);
        let tokens = reader.tokens();
        if tokens != self.tokens {
            self.request.traffic.grow(self.tokens, tokens);
            self.tokens = tokens;
        }
    }

    fn is_final(&self) -> bool {
        self.reader.as_ref().is_some_and(UsageReader::is_final)
    }
}

impl Body for Read {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let this = &mut *self;
        let frame = ready!(Pin::new(&mut this.inner).poll_frame(cx));
        match &frame {
            Some(Ok(frame)) => {
                if let Some(bytes) = frame.data_ref() {
                    this.take(bytes);
                }
            }
            Some(Err(_)) => this.request.fail(Failure::Cut),
            None => {
                let has_counts = this.is_final();
                this.request.end(has_counts);
            }
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

impl Drop for Read {
    /// HTTP does not ask for the end of a body that it knows, and agents leave when they have what they want.
    fn drop(&mut self) {
        if self.is_final() {
            self.request.end(true);
        } else if self.inner.is_end_stream() {
            self.request.end(false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_to_a_model_are_known_by_their_paths() {
        for (method, path, expected) in [
            (Method::POST, "/v1/messages", true),
            (Method::POST, "/v1/messages/count_tokens", false),
            (Method::POST, "/v1/responses", true),
            (Method::GET, "/v1/responses/resp_1", false),
            (Method::POST, "/v1/chat/completions", true),
            (
                Method::POST,
                "/v1beta/models/gemini-3-pro:streamGenerateContent",
                true,
            ),
            (Method::GET, "/v1/models", false),
            (Method::GET, "/v1/messages", false),
        ] {
            assert_eq!(is_for_model(&method, path), expected, "{method} {path}");
        }
    }

    #[test]
    fn failures_in_a_row_and_recent_requests_are_counted() {
        let traffic = Traffic::default();
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        traffic.request(at(0));
        traffic.failed(Failure::Status(529), at(1));
        traffic.request(at(40));
        traffic.failed(Failure::Cut, at(41));
        let now = traffic.at(at(55));
        let failing = Failing {
            requests: 2,
            span: Duration::from_secs(40),
            last: Failure::Cut,
        };
        assert_eq!((now.recent, now.failing), (2, Some(failing)));
        traffic.request(at(61));
        traffic.answered(true);
        let now = traffic.at(at(61));
        assert_eq!((now.recent, now.failing), (2, None));
        assert_eq!((now.requests, now.failed, now.counted), (3, 2, 1));
        assert_eq!(traffic.at(at(300)).recent, 0);
    }

    #[test]
    fn the_list_of_recent_requests_is_bounded() {
        let traffic = Traffic::default();
        let now = Instant::now();
        for _ in 0..RECENT_MAX + 10 {
            traffic.request(now);
        }
        assert_eq!(traffic.at(now).recent, RECENT_MAX as u64);
    }
}
