//! Every address of the site, with who may ask for it: one table for what is read, one for what is done.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{Extension, Query, RawPathParams};
use axum::http::Uri;
use axum::http::header::CONTENT_TYPE;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{MethodRouter, get, post};
use maud::Markup;
use symphony_runner::RunnerError;
use symphony_runner::order::SecretCheck;
use symphony_runner::session::Session;

use crate::access::{Entrance, Role};
use crate::act;
use crate::api::{self, DocumentFn};
use crate::asked::Asked;
use crate::page;
use crate::server::{
    FORM_TOKEN_FIELD, Failure, Fields, Guarded, Reader, Site, Turn, blocking, check_scope, failed,
    guarded, page as show, project_at, with_headers,
};
use crate::{assets, door};

/// What is done is followed by a page, which says what was done.
#[derive(Debug)]
pub(crate) struct Done {
    /// The page.
    pub(crate) to: String,
    /// What was done, in a sentence.
    pub(crate) said: String,
}

/// The parts of an address that are not fixed.
type Params = Result<RawPathParams, RawPathParamsRejection>;

type PageFn = fn(&mut Session, &Turn, &Asked) -> Result<Markup, Failure>;
type ActFn = fn(&mut Session, &Turn, &str, &Fields) -> Result<Done, Failure>;

/// What is read.
pub(crate) const PAGES: &[(&str, PageFn)] = &[
    ("/", page::board),
    ("/inbox", page::inbox),
    ("/issues/new", page::new_issue),
    ("/issues/{id}", page::issue),
    ("/runs", page::runs),
    ("/runs/{id}", page::run),
    ("/runs/{id}/lines", page::run_lines),
    ("/prs", page::pull_requests),
    ("/prs/{id}", page::pull_request),
    ("/plans", page::plans),
    ("/plans/{id}", page::plan),
    ("/learnings", page::learnings),
    ("/spending", page::spending),
    ("/health", page::health),
];

/// What is done, and who may do it.
pub(crate) const ACTS: &[(&str, Role, ActFn)] = &[
    ("/issues", Role::Reviewer, act::add_issue),
    ("/issues/{id}/comment", Role::Reviewer, act::comment),
    ("/issues/{id}/edit", Role::Reviewer, act::edit),
    ("/issues/{id}/move", Role::Reviewer, act::move_issue),
    ("/issues/{id}/close", Role::Reviewer, act::close),
    ("/issues/{id}/retry", Role::Reviewer, act::retry),
    ("/issues/{id}/approve", Role::Reviewer, act::approve_phase),
    ("/issues/{id}/reject", Role::Reviewer, act::reject_phase),
    ("/prs/{id}/approve", Role::Reviewer, act::approve),
    ("/prs/{id}/reject", Role::Reviewer, act::reject),
    ("/prs/{id}/confirm", Role::Reviewer, act::confirm),
    ("/prs/{id}/reply", Role::Reviewer, act::reply),
    ("/prs/{id}/close-point", Role::Reviewer, act::close_point),
    ("/prs/{id}/reopen-point", Role::Reviewer, act::reopen_point),
    ("/prs/{id}/merge", Role::Admin, act::merge),
    ("/prs/{id}/check", Role::Reviewer, act::check),
    ("/plans/{id}/retry", Role::Reviewer, act::retry_plan),
    ("/plans/{id}/skip", Role::Reviewer, act::skip_phase),
    ("/plans/{id}/pause", Role::Reviewer, act::pause_plan),
    ("/plans/{id}/resume", Role::Reviewer, act::resume_plan),
    ("/plans/{id}/abort", Role::Admin, act::abort_plan),
    ("/notices/{id}/dismiss", Role::Admin, act::dismiss_notice),
    ("/learnings/{id}/edit", Role::Reviewer, act::edit_learning),
    (
        "/learnings/{id}/retire",
        Role::Reviewer,
        act::retire_learning,
    ),
    (
        "/learnings/{id}/restore",
        Role::Reviewer,
        act::restore_learning,
    ),
    ("/issues/{id}/say", Role::Reviewer, act::say_to_issue),
    ("/runs/{id}/say", Role::Reviewer, act::say_to_run),
    (
        "/messages/{id}/withdraw",
        Role::Reviewer,
        act::withdraw_message,
    ),
    ("/issues/{id}/release", Role::Reviewer, act::release),
    ("/runs/{id}/cancel", Role::Admin, act::cancel_run),
    ("/health/check", Role::Reviewer, act::check_health),
    ("/pause", Role::Admin, act::pause),
    ("/resume", Role::Admin, act::resume),
];

/// Makes the site.
pub(crate) fn router(site: &Arc<Site>) -> Router {
    let guard = |entrance, route: MethodRouter| {
        let site = Arc::clone(site);
        route.layer(from_fn_with_state(Guarded { site, entrance }, guarded))
    };
    let mut router = Router::new();
    for (path, make) in PAGES {
        router = router.route(path, guard(Entrance::Read(Role::Viewer), reading(*make)));
    }
    for (path, role, act) in ACTS {
        router = router.route(path, guard(Entrance::Write(*role), acting(*act)));
    }
    for (path, make) in api::DOCUMENTS {
        router = router.route(path, guard(Entrance::Read(Role::Viewer), answering(*make)));
    }
    for (path, asset) in assets::ALL {
        router = router.route(
            path,
            guard(Entrance::Open, get(move || async move { asset.answer() })),
        );
    }
    router
        .route(
            "/runs/{id}/log",
            guard(Entrance::Read(Role::Viewer), get(crate::live::raw_log)),
        )
        .route(
            "/events",
            guard(Entrance::Read(Role::Viewer), get(crate::live::events)),
        )
        .route(
            "/api/v1/events/stream",
            guard(
                Entrance::Read(Role::Viewer),
                get(api::feed).fallback(api::not_allowed),
            ),
        )
        .route(
            "/api/v1/openapi.json",
            guard(
                Entrance::Read(Role::Viewer),
                get(async || ([(CONTENT_TYPE, "application/json")], api::OPENAPI))
                    .fallback(api::not_allowed),
            ),
        )
        .route(
            "/api/v1/refresh",
            guard(
                Entrance::Write(Role::Reviewer),
                post(api::refresh).fallback(api::not_allowed),
            ),
        )
        // beside reading the last result
        .route(
            "/api/v1/doctor",
            guard(Entrance::Write(Role::Reviewer), post(api::check)),
        )
        .route("/sign-in", guard(Entrance::SignIn, door::sign_in(site)))
        .route(
            "/sign-out",
            guard(Entrance::Write(Role::Viewer), door::sign_out(site)),
        )
        .fallback_service(guard(
            Entrance::Read(Role::Viewer),
            axum::routing::any(nothing_here),
        ))
        .layer(from_fn(with_headers))
}

async fn nothing_here(Extension(turn): Extension<Turn>, uri: Uri) -> Response {
    let missing = Failure::NotFound("there is no such page".to_owned());
    Reader::of(uri.path()).failed(&missing, Some(&turn))
}

fn answering(make: DocumentFn) -> MethodRouter {
    get(
        move |Extension(turn): Extension<Turn>,
              params: Params,
              Query(query): Query<BTreeMap<String, String>>| async move {
            let id = match id_of(params) {
                Ok(id) => id,
                Err(failure) => return api::json_failed(&failure),
            };
            let asked = Asked { id, query };
            blocking(turn, move |session, turn| {
                check_scope(session, turn, &asked.id)?;
                make(session, turn, &asked)
            })
            .await
            .unwrap_or_else(|failure| api::json_failed(&failure))
        },
    )
    .fallback(api::not_allowed)
}

fn reading(make: PageFn) -> MethodRouter {
    get(
        move |Extension(turn): Extension<Turn>,
              params: Params,
              Query(query): Query<BTreeMap<String, String>>| async move {
            let id = match id_of(params) {
                Ok(id) => id,
                Err(failure) => return failed(&failure, Some(&turn)),
            };
            let asked = Asked { id, query };
            show(turn, move |session, turn| {
                check_scope(session, turn, &asked.id)?;
                make(session, turn, &asked)
            })
            .await
        },
    )
}

/// Refuses a form with the value of a secret: whatever it is for, agents may come to read it.
fn check_secrets(
    session: &mut Session,
    turn: &Turn,
    id: &str,
    fields: &Fields,
) -> Result<(), Failure> {
    if fields
        .0
        .iter()
        .all(|(name, text)| name == FORM_TOKEN_FIELD || text.is_empty())
    {
        return Ok(());
    }
    let project = project_at(session, turn, id)?;
    let installation = &session.installation;
    let secrets = SecretCheck::of(installation, &project, &installation.environment)?;
    let texts = fields.0.iter().filter(|(name, _)| name != FORM_TOKEN_FIELD);
    for (_, text) in texts {
        secrets.check(text).map_err(RunnerError::from)?;
    }
    Ok(())
}

/// How long a page waits for what it asked for. What takes longer, such as a merge whose gates run again, goes on by itself.
const PATIENCE: Duration = Duration::from_secs(5);

fn acting(act: ActFn) -> MethodRouter {
    post(
        move |Extension(turn): Extension<Turn>,
              Extension(fields): Extension<Fields>,
              params: Params| async move {
            let id = match id_of(params) {
                Ok(id) => id,
                Err(failure) => return failed(&failure, Some(&turn)),
            };
            let order = blocking(turn.clone(), move |session, turn| {
                check_scope(session, turn, &id)?;
                check_secrets(session, turn, &id, &fields)?;
                act(session, turn, &id, &fields)
            });
            let mut order = tokio::spawn(order);
            match tokio::time::timeout(PATIENCE, &mut order).await {
                Ok(Ok(Ok(Done { to, said }))) => {
                    turn.site.leave_message(&turn.visitor, &to, said);
                    Redirect::to(&to).into_response()
                }
                Ok(Ok(Err(failure))) => failed(&failure, Some(&turn)),
                Ok(Err(error)) => failed(&Failure::Internal(error.to_string()), Some(&turn)),
                Err(_) => {
                    let said =
                        "This takes longer. It continues, and the board will show the result.";
                    turn.site.leave_message(&turn.visitor, "/", said.to_owned());
                    tokio::spawn(async move {
                        let said = match order.await {
                            Ok(Ok(done)) => done.said,
                            Ok(Err(failure)) => failure.to_string(),
                            Err(error) => error.to_string(),
                        };
                        turn.site.leave_message(&turn.visitor, "/", said);
                    });
                    Redirect::to("/").into_response()
                }
            }
        },
    )
}

/// Returns the part of an address that names a thing; empty where there is none.
fn id_of(params: Params) -> Result<String, Failure> {
    let params = params.map_err(|_not_text| Failure::Malformed)?;
    let first = params.iter().next();
    Ok(first.map(|(_, value)| value.to_owned()).unwrap_or_default())
}
