//! Faults by script.

use std::time::Duration;

use serde_json::Value;

use super::message::{Answer, Request};

/// Which requests a fault is for, and how many of them.
#[derive(Debug, Clone, Default)]
pub struct On {
    method: Option<String>,
    text: Option<String>,
    skip: usize,
    times: Option<usize>,
}

impl On {
    /// Every request.
    pub fn any() -> Self {
        Self::default()
    }

    /// Requests with this method.
    pub fn method(method: &str) -> Self {
        Self {
            method: Some(method.to_owned()),
            ..Self::default()
        }
    }

    /// Only those whose path, query or body has this text.
    #[must_use]
    pub fn with(mut self, text: &str) -> Self {
        self.text = Some(text.to_owned());
        self
    }

    /// Not the first ones.
    #[must_use]
    pub const fn after(mut self, skip: usize) -> Self {
        self.skip = skip;
        self
    }

    /// Only this many.
    #[must_use]
    pub const fn times(mut self, times: usize) -> Self {
        self.times = Some(times);
        self
    }

    /// Whether the fault happens to this request; counts.
    fn takes(&mut self, request: &Request) -> bool {
        let has_method = self
            .method
            .as_ref()
            .is_none_or(|method| *method == request.method);
        let has_text = self.text.as_ref().is_none_or(|text| {
            request.target.contains(text) || String::from_utf8_lossy(&request.body).contains(text)
        });
        if !has_method || !has_text {
            return false;
        }
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        match &mut self.times {
            None => true,
            Some(0) => false,
            Some(left) => {
                *left -= 1;
                true
            }
        }
    }
}

/// What goes wrong.
#[derive(Debug, Clone)]
pub enum Fault {
    /// This answer comes instead; nothing is applied.
    Answer {
        /// The status.
        status: u16,
        /// Headers.
        headers: Vec<(String, String)>,
        /// The body.
        body: String,
    },
    /// The connection is cut before anything is applied.
    CutBefore,
    /// The request is applied, and the connection is cut before the answer.
    CutAfter,
    /// The request is applied, and only the first half of the answer comes.
    Half,
    /// The request is applied, and its answer says one length and is shorter JSON than that: cut text, complete by HTTP.
    TruncatedJson,
    /// The request is applied, and the answer comes a byte at a time, with this pause before each.
    Trickle(Duration),
    /// The request is applied, and no answer ever comes.
    Silence,
    /// The answer never ends: this many bytes, or until the client hangs up.
    Flood(u64),
    /// Every item of a list comes twice.
    Duplicated,
    /// The items of a list come in the opposite order.
    Reversed,
}

impl Fault {
    /// Makes a refusal with a JSON message.
    pub fn status(status: u16, message: &str) -> Self {
        Self::Answer {
            status,
            headers: vec![("content-type".to_owned(), "application/json".to_owned())],
            body: serde_json::json!({ "message": message }).to_string(),
        }
    }

    /// Adds a header to an [`Fault::Answer`].
    #[must_use]
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        if let Self::Answer { headers, .. } = &mut self {
            headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }
}

/// The planned faults of a server.
#[derive(Debug, Default)]
pub(crate) struct Script(Vec<(On, Fault)>);

impl Script {
    pub(crate) fn plan(&mut self, on: On, fault: Fault) {
        self.0.push((on, fault));
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns what happens to a request: the first plan that is for it. Plans before it count it too.
    pub(crate) fn fault(&mut self, request: &Request) -> Option<Fault> {
        let mut plans = self.0.iter_mut();
        let found = plans.find_map(|(on, fault)| on.takes(request).then_some(fault));
        found.cloned()
    }
}

/// Changes the list that an answer is or holds.
pub(crate) fn rearranged(answer: Answer, change: impl Fn(&mut Vec<Value>)) -> Answer {
    let Ok(mut value) = serde_json::from_str::<Value>(&answer.body) else {
        return answer;
    };
    change_lists(&mut value, &change);
    Answer {
        body: value.to_string(),
        ..answer
    }
}

/// Changes the outermost lists only: a list of labels within an issue stays.
fn change_lists(value: &mut Value, change: &impl Fn(&mut Vec<Value>)) {
    match value {
        Value::Array(items) => change(items),
        Value::Object(fields) => {
            for value in fields.values_mut() {
                change_lists(value, change);
            }
        }
        _ => {}
    }
}
