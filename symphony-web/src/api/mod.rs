//! The interface for programs, below `/api/v1`: the documents that the commands print with `--json`, and the state in the form of
//! openai/symphony's SPEC §13.7 (spec: web, "JSON"). `openapi.json` describes it.

mod answer;
mod doctor;
mod documents;
mod feed;
mod peer;
mod query;

use axum::response::Response;
use symphony_runner::session::Session;

pub(crate) use answer::{json_failed, not_allowed};
pub(crate) use doctor::check;
pub(crate) use feed::feed;
pub(crate) use peer::refresh;

use crate::asked::Asked;
use crate::server::{Failure, Turn};

/// Where it is.
pub(crate) const ROOT: &str = "/api/v1/";

/// Returns whether an address is one of the interface, known or not.
pub(crate) fn is_below(path: &str) -> bool {
    let rest = path.strip_prefix(ROOT.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The description of the interface.
pub(crate) const OPENAPI: &str = include_str!("openapi.json");

pub(crate) type DocumentFn = fn(&mut Session, &Turn, &Asked) -> Result<Response, Failure>;

/// What is read.
pub(crate) const DOCUMENTS: &[(&str, DocumentFn)] = &[
    ("/api/v1/state", peer::state),
    ("/api/v1/{id}", peer::issue),
    ("/api/v1/status", documents::status),
    ("/api/v1/board", documents::board),
    ("/api/v1/inbox", documents::inbox),
    ("/api/v1/issues", documents::issues),
    ("/api/v1/issues/{id}", documents::issue),
    ("/api/v1/runs", documents::runs),
    ("/api/v1/runs/{id}", documents::run),
    ("/api/v1/prs", documents::pull_requests),
    ("/api/v1/prs/{id}", documents::pull_request),
    ("/api/v1/plans", documents::plans),
    ("/api/v1/plans/{id}", documents::plan),
    ("/api/v1/learnings", documents::learnings),
    ("/api/v1/spending", documents::spending),
    ("/api/v1/doctor", doctor::last),
    ("/api/v1/events", documents::events),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;

    #[test]
    fn addresses_of_the_interface_are_answered_in_json() {
        for (path, expected) in [
            ("/api/v1", true),
            ("/api/v1/", true),
            ("/api/v1/runs/%ff", true),
            ("/api/v10", false),
            ("/api", false),
            ("/", false),
            ("", false),
        ] {
            assert_eq!(is_below(path), expected, "{path}");
        }
    }

    #[test]
    fn every_address_is_described() {
        let description: Value = serde_json::from_str(OPENAPI).unwrap();
        let described = description["paths"].as_object().unwrap().keys();
        let described: BTreeSet<&str> = described.map(String::as_str).collect();
        let others =
            ["events/stream", "openapi.json", "refresh"].map(|name| format!("{ROOT}{name}"));
        let known = DOCUMENTS.iter().map(|(path, _)| *path);
        let known: BTreeSet<&str> = known.chain(others.iter().map(String::as_str)).collect();
        assert_eq!(described, known);
    }
}
