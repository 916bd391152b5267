//! `symphony run --workflow`.

use std::path::Path;
use std::sync::Arc;

use symphony_service::service::{Board, Server, Start};

use super::args::{WorkflowArgs, open, stop_of};
use crate::app::App;
use crate::failure::{Context as _, Exit};
use crate::interrupt::Interrupts;

impl WorkflowArgs {
    /// Runs the service of a file until Ctrl-C.
    ///
    /// # Errors
    /// When the file cannot be used, another service works with it, or the port is taken.
    pub(crate) fn run(&self, app: &App, workflow: &Path) -> anyhow::Result<Exit> {
        let mut service = open(app, workflow, Start::Loop)?;
        let interrupts = Interrupts::listen().context("listen to Ctrl-C")?;
        let board = Arc::new(Board::default());
        if let Some(port) = self.port.or(service.config().server.port) {
            let server =
                Server::start(port, Arc::clone(&board)).map_err(|error| stop_of(&error))?;
            app.out
                .note(&format!("The page is at http://{}/", server.address()));
        }
        app.out
            .note("Running. Press Ctrl-C to stop; agents continue.");
        let ran = service.run(&board, &|| interrupts.count() > 0);
        ran.map_err(|error| stop_of(&error))?;
        let at_work = board
            .snapshot()
            .map_or(0, |snapshot| snapshot.counts.running);
        if at_work > 0 {
            app.out.note(
                "Agents continue, and the next `run --workflow` or `tick --workflow` takes care of them. \
                 Press Ctrl-C again within three seconds to end them.",
            );
            if interrupts.wait_for_second() {
                app.out.note(
                    "Ending the agents, each with its hook after_run. Press Ctrl-C again to stop waiting.",
                );
                let left = service
                    .quit(&|| interrupts.count() > 2)
                    .map_err(|error| stop_of(&error))?;
                if left > 0 {
                    app.out.note(&format!(
                        "{} still ending. The next `run --workflow` or `tick --workflow` takes care of the rest.",
                        if left == 1 { "1 agent is".to_owned() } else { format!("{left} agents are") }
                    ));
                }
            }
        }
        Ok(Exit::Done)
    }
}
