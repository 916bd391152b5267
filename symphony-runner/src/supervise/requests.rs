//! The limits on an agent's requests to its models, as its endpoints count them. Pure.
//!
//! Some CLIs retry a failed request for minutes without a word, or for ever: opencode asked ten times a second where the
//! stream of each answer was cut.

use std::fmt;
use std::time::Duration;

use symphony_core::failure::ErrorClass;
use symphony_core::wording::counted;
use symphony_proxy::{Failing, Failure, ModelTraffic};

/// How long requests may fail one after the other (spec: agents, "Agent Client Protocol"). Only the time from the first
/// failure to the last one counts: an answer that is still on its way may be the one that works.
const FAILING_MAX: Duration = Duration::from_mins(1);
/// Fewer failures in a row are no retries.
const FAILURES_MIN: u64 = 3;

/// Why an agent may make no more requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestFault {
    /// More within a minute than allowed. If they fail, the last failure.
    TooMany {
        recent: u64,
        max: u64,
        failing: Option<Failing>,
    },
    /// One after the other failed, for too long.
    NoProgress(Failing),
}

/// Returns why an agent must be ended, by what one of its endpoints carried.
pub(crate) fn request_fault(traffic: &ModelTraffic, per_minute_max: u64) -> Option<RequestFault> {
    let failing = traffic
        .failing
        .filter(|failing| failing.requests >= FAILURES_MIN);
    if traffic.recent > per_minute_max {
        return Some(RequestFault::TooMany {
            recent: traffic.recent,
            max: per_minute_max,
            failing,
        });
    }
    failing
        .filter(|failing| failing.span >= FAILING_MAX)
        .map(RequestFault::NoProgress)
}

impl RequestFault {
    /// Returns the class of the run's error: the server's fault where requests fail, the agent's where they do not.
    pub(crate) const fn class(self) -> ErrorClass {
        match self {
            Self::TooMany {
                failing: Some(failing),
                ..
            }
            | Self::NoProgress(failing) => class_of(failing.last),
            Self::TooMany { failing: None, .. } => ErrorClass::Looping,
        }
    }
}

const fn class_of(failure: Failure) -> ErrorClass {
    match failure {
        Failure::Cut => ErrorClass::Network,
        Failure::Status(401 | 403) => ErrorClass::AuthFailed,
        Failure::Status(402) => ErrorClass::CreditExhausted,
        Failure::Status(413) => ErrorClass::PromptTooLong,
        Failure::Status(429) => ErrorClass::RateLimited,
        Failure::Status(503 | 529) => ErrorClass::Overloaded,
        Failure::Status(400 | 404..=428) => ErrorClass::InvalidRequest,
        Failure::Status(_) => ErrorClass::ProviderError,
    }
}

impl fmt::Display for RequestFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooMany {
                recent,
                max,
                failing,
            } => {
                write!(
                    f,
                    "it sent {} to its model within a minute (model_requests_per_minute: {max})",
                    counted(*recent, "request")
                )?;
                failing.map_or(Ok(()), |failing| {
                    write!(f, "; the last {} failed: ", failing.requests)?;
                    write_failure(f, failing.last)
                })
            }
            Self::NoProgress(failing) => {
                let (count, seconds) =
                    (counted(failing.requests, "request"), failing.span.as_secs());
                write!(
                    f,
                    "{count} to its model failed one after the other, for {seconds} s: "
                )?;
                write_failure(f, failing.last)
            }
        }
    }
}

fn write_failure(f: &mut fmt::Formatter<'_>, failure: Failure) -> fmt::Result {
    match failure {
        Failure::Cut => f.write_str("the last answer ended before its end"),
        Failure::Status(status) => write!(f, "the last answer had the status {status}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failing(requests: u64, seconds: u64, last: Failure) -> Failing {
        Failing {
            requests,
            span: Duration::from_secs(seconds),
            last,
        }
    }

    #[test]
    fn requests_that_are_too_many_or_fail_for_too_long_end_a_run() {
        use ErrorClass::{Looping, Network, Overloaded, RateLimited};
        let overloaded = Failure::Status(529);
        for (recent, failing, expected) in [
            (300, None, None),
            (301, None, Some(Looping)),
            // a few failures among many requests
            (301, Some(failing(2, 5, Failure::Cut)), Some(Looping)),
            (301, Some(failing(250, 28, Failure::Cut)), Some(Network)),
            (10, Some(failing(9, 59, overloaded)), None),
            (10, Some(failing(9, 60, overloaded)), Some(Overloaded)),
            (
                10,
                Some(failing(9, 90, Failure::Status(429))),
                Some(RateLimited),
            ),
            // two answers that were cut late are no retries
            (2, Some(failing(2, 300, Failure::Cut)), None),
            (3, Some(failing(3, 300, Failure::Cut)), Some(Network)),
        ] {
            let traffic = ModelTraffic {
                recent,
                failing,
                ..ModelTraffic::default()
            };
            let found = request_fault(&traffic, 300).map(RequestFault::class);
            assert_eq!(found, expected, "{recent} {failing:?}");
        }
    }

    #[test]
    fn each_status_has_a_class() {
        for (status, class) in [
            (400, ErrorClass::InvalidRequest),
            (401, ErrorClass::AuthFailed),
            (402, ErrorClass::CreditExhausted),
            (404, ErrorClass::InvalidRequest),
            (413, ErrorClass::PromptTooLong),
            (429, ErrorClass::RateLimited),
            (500, ErrorClass::ProviderError),
            (502, ErrorClass::ProviderError),
            (503, ErrorClass::Overloaded),
        ] {
            assert_eq!(class_of(Failure::Status(status)), class, "{status}");
        }
    }

    #[test]
    fn the_failure_says_why() {
        let too_many = RequestFault::TooMany {
            recent: 301,
            max: 300,
            failing: Some(failing(250, 28, Failure::Cut)),
        };
        assert_eq!(
            too_many.to_string(),
            "it sent 301 requests to its model within a minute (model_requests_per_minute: 300); the last 250 failed: the last \
             answer ended before its end"
        );
        let fault = RequestFault::NoProgress(failing(9, 64, Failure::Status(529)));
        assert_eq!(
            fault.to_string(),
            "9 requests to its model failed one after the other, for 64 s: the last answer had the status 529"
        );
    }
}
