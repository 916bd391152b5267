//! The page and the API on the loopback (section 13.7). They show and ask; the work does not depend on them.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};
use symphony_core::Timestamp;
use tokio::net::TcpListener;

use super::board::{Board, NoSnapshot};
use super::error::ServiceError;
use super::page;

/// The server, in a thread of its own. It ends with the process.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
}

impl Server {
    /// Listens on a port of 127.0.0.1; 0 takes a free one.
    ///
    /// # Errors
    /// When the port is taken, or the system refuses.
    pub fn start(port: u16, board: Arc<Board>) -> Result<Self, ServiceError> {
        let failed = |source| ServiceError::Port { port, source };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(failed)?;
        let listener = runtime
            .block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, port)))
            .map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let serve = move || {
            let served = runtime.block_on(async { axum::serve(listener, routes(board)).await });
            if let Err(error) = served {
                tracing::warn!(%error, "the page is no longer served");
            }
        };
        std::thread::Builder::new()
            .name("page".to_owned())
            .spawn(serve)
            .map_err(failed)?;
        Ok(Self { address })
    }

    /// Returns where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// Returns the routes.
pub(super) fn routes(board: Arc<Board>) -> Router {
    Router::new()
        .route("/", get(dashboard).fallback(method_not_allowed))
        .route("/page.css", get(style).fallback(method_not_allowed))
        .route("/api/v1/state", get(state).fallback(method_not_allowed))
        .route(
            "/api/v1/refresh",
            post(refresh).fallback(method_not_allowed),
        )
        .route(
            "/api/v1/{identifier}",
            get(issue).fallback(method_not_allowed),
        )
        .fallback(not_found)
        .layer(middleware::from_fn(guard))
        .with_state(board)
}

/// Lets only this machine's own pages and programs in: a foreign page that resolves its name to 127.0.0.1 names another
/// host, and one that posts a form names another origin.
async fn guard(request: Request, next: Next) -> Result<Response, Infallible> {
    let headers = request.headers();
    if !is_own_host(headers) {
        return Ok(error(
            StatusCode::FORBIDDEN,
            "forbidden",
            "open the page at 127.0.0.1 or localhost",
        ));
    }
    if request.method() == Method::POST && !is_own_origin(headers) {
        return Ok(error(
            StatusCode::FORBIDDEN,
            "forbidden",
            "requests of other pages are refused",
        ));
    }
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    let policy = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    Ok(response)
}

fn is_own_name(host: &str) -> bool {
    let name = host.rsplit_once(':').map_or(host, |(name, _port)| name);
    matches!(name, "127.0.0.1" | "localhost")
}

fn is_own_host(headers: &HeaderMap) -> bool {
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    host.is_some_and(is_own_name)
}

fn is_own_origin(headers: &HeaderMap) -> bool {
    let Some(origin) = headers.get(header::ORIGIN) else {
        // programs send none
        return true;
    };
    let origin = origin
        .to_str()
        .ok()
        .and_then(|origin| origin.strip_prefix("http://"));
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    origin.is_some() && origin == host
}

fn json_answer(status: StatusCode, value: &Value) -> Response {
    let headers = [(header::CONTENT_TYPE, "application/json")];
    (status, headers, format!("{value}\n")).into_response()
}

fn error(status: StatusCode, code: &str, message: &str) -> Response {
    json_answer(
        status,
        &json!({"error": {"code": code, "message": message}}),
    )
}

fn no_snapshot(why: NoSnapshot) -> Response {
    match why {
        NoSnapshot::Unavailable => error(
            StatusCode::SERVICE_UNAVAILABLE,
            "snapshot_unavailable",
            "the service has just started",
        ),
        NoSnapshot::Timeout => error(
            StatusCode::SERVICE_UNAVAILABLE,
            "snapshot_timeout",
            "the loop has not reported for minutes",
        ),
    }
}

async fn dashboard(State(board): State<Arc<Board>>) -> Response {
    match board.snapshot() {
        Ok(snapshot) => page::dashboard(&snapshot).into_response(),
        Err(why) => no_snapshot(why),
    }
}

async fn style() -> Response {
    ([(header::CONTENT_TYPE, "text/css")], page::STYLE).into_response()
}

async fn state(State(board): State<Arc<Board>>) -> Response {
    match board.snapshot() {
        Ok(snapshot) => match serde_json::to_value(&*snapshot) {
            Ok(value) => json_answer(StatusCode::OK, &value),
            Err(failure) => error(
                StatusCode::INTERNAL_SERVER_ERROR,
                "snapshot_unavailable",
                &failure.to_string(),
            ),
        },
        Err(why) => no_snapshot(why),
    }
}

async fn issue(State(board): State<Arc<Board>>, Path(identifier): Path<String>) -> Response {
    match board.snapshot() {
        Ok(snapshot) => snapshot.issue(&identifier).map_or_else(
            || {
                error(
                    StatusCode::NOT_FOUND,
                    "issue_not_found",
                    "the service knows no such issue",
                )
            },
            |value| json_answer(StatusCode::OK, &value),
        ),
        Err(why) => no_snapshot(why),
    }
}

async fn refresh(State(board): State<Arc<Board>>) -> Response {
    let is_coalesced = board.want_turn();
    json_answer(
        StatusCode::ACCEPTED,
        &json!({
            "queued": true,
            "coalesced": is_coalesced,
            "requested_at": Timestamp::now(),
            "operations": ["poll", "reconcile"],
        }),
    )
}

async fn method_not_allowed() -> Response {
    error(
        StatusCode::METHOD_NOT_ALLOWED,
        "method_not_allowed",
        "this address does not accept this method",
    )
}

async fn not_found() -> Response {
    error(
        StatusCode::NOT_FOUND,
        "not_found",
        "there is nothing at this address",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::snapshot::tests::snapshot;
    use std::io::{Read as _, Write as _};
    use std::net::TcpStream;

    fn ask(address: SocketAddr, request: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(address).unwrap();
        stream
            .write_all(request.replace('\n', "\r\n").as_bytes())
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        let body = answer.split_once("\r\n\r\n").unwrap().1.to_owned();
        (status, body)
    }

    fn get_of(address: SocketAddr, path: &str) -> (u16, Value) {
        let request = format!("GET {path} HTTP/1.1\nHost: {address}\nConnection: close\n\n");
        let (status, body) = ask(address, &request);
        (status, serde_json::from_str(&body).unwrap_or(Value::Null))
    }

    fn code(value: &Value) -> &str {
        value["error"]["code"].as_str().unwrap_or_default()
    }

    #[test]
    fn the_routes_have_the_forms_of_the_specification() {
        let board = Arc::new(Board::default());
        let address = Server::start(0, Arc::clone(&board)).unwrap().address();
        assert!(address.ip().is_loopback());
        let (status, body) = get_of(address, "/api/v1/state");
        assert_eq!((status, code(&body)), (503, "snapshot_unavailable"));
        board.publish(snapshot());
        let (status, body) = get_of(address, "/api/v1/state");
        assert_eq!(status, 200);
        assert_eq!(body["counts"], json!({"running": 1, "retrying": 1}));
        assert_eq!(body["running"][0]["session_id"], "t-u");
        assert_eq!(body["running"][0]["tokens"]["total_tokens"], 11);
        assert_eq!(
            body["retrying"][0]["error"],
            "no available orchestrator slots"
        );
        assert_eq!(body["codex_totals"]["seconds_running"], 4.5);
        let (status, body) = get_of(address, "/api/v1/MT-1");
        assert_eq!((status, &body["status"]), (200, &json!("running")));
        assert_eq!(
            body["attempts"],
            json!({"restart_count": 1, "current_retry_attempt": 2})
        );
        assert_eq!(body["recent_events"][0]["event"], "notification");
        let (status, body) = get_of(address, "/api/v1/MT-2");
        assert_eq!((status, &body["status"]), (200, &json!("retrying")));
        let (status, body) = get_of(address, "/api/v1/MT-9");
        assert_eq!((status, code(&body)), (404, "issue_not_found"));
        let (status, body) = get_of(address, "/nothing");
        assert_eq!((status, code(&body)), (404, "not_found"));
        let (status, body) = get_of(address, "/api/v1/refresh");
        assert_eq!((status, code(&body)), (405, "method_not_allowed"));
        let (status, _) = ask(
            address,
            &format!("DELETE /api/v1/state HTTP/1.1\nHost: {address}\nConnection: close\n\n"),
        );
        assert_eq!(status, 405);
    }

    #[test]
    fn a_refresh_is_asked_for_once_until_it_is_taken() {
        let board = Arc::new(Board::default());
        let address = Server::start(0, Arc::clone(&board)).unwrap().address();
        let post = |origin: &str| {
            let request = format!(
                "POST /api/v1/refresh HTTP/1.1\nHost: {address}\n{origin}Content-Length: 0\nConnection: close\n\n"
            );
            let (status, body) = ask(address, &request);
            (
                status,
                serde_json::from_str::<Value>(&body).unwrap()["coalesced"].clone(),
            )
        };
        assert_eq!(post(""), (202, json!(false)));
        assert_eq!(
            post(&format!("Origin: http://{address}\n")),
            (202, json!(true))
        );
        assert!(board.take_wish() && !board.take_wish());
        assert_eq!(post("Origin: http://evil.example\n").0, 403);
        assert_eq!(post("Origin: null\n").0, 403);
        assert!(!board.take_wish());
    }

    #[test]
    fn other_hosts_are_refused_and_what_trackers_write_is_text() {
        let board = Arc::new(Board::default());
        let address = Server::start(0, Arc::clone(&board)).unwrap().address();
        board.publish(snapshot());
        for host in ["evil.example", "127.0.0.1.evil.example:80", ""] {
            let request = format!("GET / HTTP/1.1\nHost: {host}\nConnection: close\n\n");
            assert!(ask(address, &request).0 >= 400, "{host}");
        }
        let request = format!(
            "GET / HTTP/1.1\nHost: localhost:{}\nConnection: close\n\n",
            address.port()
        );
        let (status, body) = ask(address, &request);
        assert_eq!(status, 200);
        assert!(body.contains("MT-1") && body.contains("&lt;script&gt;"));
        assert!(!body.contains("<script"));
        // what Linear has are tickets; issues are Symphony's own
        assert!(body.contains("<th>Ticket</th>") && !body.contains("Issue"));
    }

    #[test]
    fn a_port_that_is_taken_is_named() {
        let taken = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = taken.local_addr().unwrap().port();
        let error = Server::start(port, Arc::default()).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("cannot listen on 127.0.0.1:{port}")
        );
    }
}
