//! A program for the tests of `symphony_service::attempt`: it plays the worker of one attempt, since only the first thread of
//! a process can supervise. It reads its order from standard input, and prints one line for each event and one for the end.

#![expect(clippy::print_stdout, reason = "the tests read what is printed")]

use std::error::Error;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use symphony_runner::process::{Supervision, Trampoline, descendants, exec_in_session};
use symphony_service::attempt::{self, AttemptEnd, AttemptInput};
use symphony_sync::linear_polls::LinearPolls;
use symphony_sync::{Options, Token};
use symphony_workflow::config::Place;
use symphony_workflow::{Config, Source, Ticket};
use tokio_util::sync::CancellationToken;

#[derive(Deserialize)]
struct Order {
    /// The whole `WORKFLOW.md`.
    workflow: String,
    endpoint: String,
    token: String,
    root: PathBuf,
    workspace: PathBuf,
    ticket_id: String,
    /// When it is stopped, in milliseconds.
    stop_after_ms: Option<u64>,
}

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|first| first == "exec-agent") {
        return exec_in_session(arguments);
    }
    match work() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("{}", json!({ "broken": error.to_string() }));
            ExitCode::FAILURE
        }
    }
}

fn work() -> Result<(), Box<dyn Error>> {
    let supervision = Supervision::begin()?;
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let order: Order = serde_json::from_str(&text)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(attempt(&order, &supervision))
}

async fn attempt(order: &Order, supervision: &Supervision) -> Result<(), Box<dyn Error>> {
    let config = config(&order.workflow)?;
    let stop = CancellationToken::new();
    if let Some(after) = order.stop_after_ms {
        let stop = stop.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(after)).await;
            stop.cancel();
        });
    }
    let slug = config.tracker.project_slug.clone().unwrap_or_default();
    let input = AttemptInput {
        polls: LinearPolls::connect(
            &order.endpoint,
            Token::first_line(&order.token)?,
            &slug,
            &Options::default(),
        )?,
        config,
        ticket: Ticket {
            id: order.ticket_id.clone(),
            identifier: "ENG-1".to_owned(),
            title: "Say hello".to_owned(),
            state: "Todo".to_owned(),
            ..Ticket::default()
        },
        workspace: order.workspace.clone(),
        root: order.root.clone(),
        prompt: "Do ENG-1.".to_owned(),
        supervision,
        trampoline: Trampoline::new(std::env::current_exe()?, "exec-agent"),
        environment: std::env::vars_os().collect(),
        stop,
    };
    let end = attempt::run(input, &mut |event| println!("{}", json!(event))).await;
    let (class, error) = match end {
        AttemptEnd::Completed { ticket } => ("completed", ticket.state),
        AttemptEnd::Stopped => ("stopped", String::new()),
        AttemptEnd::Failed { class, error } => (class.as_str(), error),
    };
    let pid = i32::try_from(std::process::id())?;
    let left = descendants(pid)?.len();
    println!("{}", json!({ "end": class, "error": error, "left": left }));
    Ok(())
}

fn config(workflow: &str) -> Result<Config, Box<dyn Error>> {
    let place = Place {
        variable: &|_| None,
        home: None,
        temporary: Path::new("/tmp"),
        current: Path::new("/"),
    };
    let reading = Config::read(&Source::parse(workflow)?, &place);
    if reading.problems.is_empty() {
        Ok(reading.config)
    } else {
        Err(format!("{:?}", reading.problems).into())
    }
}
