//! `symphony prompt worker`.

use clap::Args;
use symphony_prompt::build_worker_prompt;
use symphony_prompt::worker::WorkerInput;

use crate::app::App;
use crate::document::{DocumentSource, read_document};

/// What the file looks like.
const FORM: &str = "expected an object with at least `phase`; `symphony prompt schema worker` prints the JSON Schema";

/// What `prompt worker` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Prints the exact text of the prompt, and nothing else.\n\nExample:\n  symphony prompt worker --input phase.json"
)]
pub(crate) struct WorkerArgs {
    #[command(flatten)]
    source: DocumentSource,
}

impl WorkerArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let input: WorkerInput = read_document(app, &self.source, FORM)?;
        let prompt = build_worker_prompt(&input);
        if app.out.is_json() {
            return app.out.document(&prompt);
        }
        app.out.write_exact(&prompt.prompt)
    }
}
