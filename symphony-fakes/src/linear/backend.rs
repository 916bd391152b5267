//! Requests: the key, the quota, then the query.

use serde_json::Value;
use symphony_core::Timestamp;

use super::graphql::{Problem, execute};
use super::world::LinearWorld;
use crate::http::message::{Answer, Backend, Request};

impl Backend for LinearWorld {
    const NAME: &'static str = "linear";

    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn answer(&mut self, request: &Request) -> Answer {
        if request.method != "POST" || request.segments != ["graphql"] {
            return Answer::empty(404);
        }
        let user = request.token().and_then(|token| self.tokens.get(token));
        let Some(user) = user.cloned() else {
            return refused(&Problem {
                status: 401,
                code: "AUTHENTICATION_ERROR",
                message: "Authentication required, not authenticated".to_owned(),
            });
        };
        self.viewer = user;
        let answer = match &mut self.quota {
            Some((0, _)) => refused(&Problem {
                status: 400,
                code: "RATELIMITED",
                message: "Rate limit exceeded".to_owned(),
            }),
            quota => {
                if let Some((left, _)) = quota {
                    *left -= 1;
                }
                self.executed(request)
            }
        };
        self.with_limits(answer)
    }
}

impl LinearWorld {
    fn executed(&mut self, request: &Request) -> Answer {
        let body = request.json().unwrap_or(Value::Null);
        match execute(self, &body) {
            Ok(data) => Answer::json(200, &data),
            Err(problem) => refused(&problem),
        }
    }

    fn with_limits(&self, answer: Answer) -> Answer {
        let (left, reset) = self.quota.unwrap_or((4999, self.clock.now()));
        answer
            .with("x-complexity", "10")
            .with("x-ratelimit-requests-limit", "5000")
            .with("x-ratelimit-requests-remaining", left.to_string())
            .with(
                "x-ratelimit-requests-reset",
                reset.as_millisecond().to_string(),
            )
            .with("x-ratelimit-complexity-remaining", "3000000")
    }
}

fn refused(problem: &Problem) -> Answer {
    Answer::json(problem.status, &problem.answer())
}
