//! What `doctor` finds, for programs.

use axum::extract::Extension;
use axum::http::StatusCode;
use axum::response::Response;
use symphony_runner::session::Session;
use symphony_view::text::{Document, List};

use super::answer::{json, json_failed};
use crate::asked::Asked;
use crate::server::{Checkup, Failure, Turn, blocking};

fn document(found: &Checkup) -> Response {
    let items = found.checks.clone();
    json(StatusCode::OK, &Document::of(&List { items }))
}

/// Answers with the last result.
pub(super) fn last(_: &mut Session, turn: &Turn, _: &Asked) -> Result<Response, Failure> {
    let kept = turn.site.checkups.last().ok_or_else(|| {
        let none =
            "nothing has been checked since the server started: a POST to this address runs the checks";
        Failure::NotFound(none.to_owned())
    })?;
    Ok(document(&kept.found))
}

/// Runs the checks, and answers with what they find.
pub(crate) async fn check(Extension(turn): Extension<Turn>) -> Response {
    let ran = blocking(turn, |_session, turn| turn.site.checkups.run());
    match ran.await {
        Ok(kept) => document(&kept.found),
        Err(failure) => json_failed(&failure),
    }
}
