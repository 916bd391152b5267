//! `symphony prompt build`.

use anyhow::Context as _;
use clap::Args;
use symphony_prompt::{PromptInput, build_document};
use symphony_view::text::{Clock, Page};

use crate::app::App;
use crate::document::{DocumentSource, read_document};

/// What a document looks like.
const FORM: &str = "a document is an object whose single key names the kind of dispatch, such as `profile_dispatch`; \
    `symphony prompt schema` prints its JSON Schema";

/// What `prompt build` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "With --json: `system`, `user` and `report`.\n\nExample:\n  symphony prompt build --input dispatch.json --json"
)]
pub(crate) struct BuildArgs {
    #[command(flatten)]
    source: DocumentSource,
}

impl BuildArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let input: PromptInput = read_document(app, &self.source, FORM)?;
        let built = build_document(&input).context("build the prompts")?;
        if app.out.is_json() {
            return app.out.json(&built);
        }
        let mut page = Page::new(None, Clock::system());
        page.heading("System prompt");
        page.verbatim(&built.system);
        page.heading("User prompt");
        page.verbatim(&built.user);
        app.out.write(&page.into_text())
    }
}
