//! Where a pull request is shown to people elsewhere: published by a command, and at the project's forge.

use symphony_core::publication::{Publication, PublicationState};
use symphony_store::ForgePull;

use crate::pull_request::short;
use crate::text::Page;
use crate::{ForgePullView, PrView};

impl PrView {
    /// Adds how it was last published elsewhere.
    #[must_use]
    pub fn with_publication(self, publication: Option<Publication>) -> Self {
        Self {
            publication,
            ..self
        }
    }

    /// Adds the pull request at the project's forge.
    #[must_use]
    pub fn with_forge(self, pull: Option<ForgePull>) -> Self {
        Self {
            forge: pull.map(ForgePullView::from),
            ..self
        }
    }

    pub(crate) fn write_publication(&self, page: &mut Page) {
        let Some(publication) = &self.publication else {
            return;
        };
        let Publication {
            commit,
            state,
            url,
            output,
            ..
        } = publication;
        let url = url.as_deref().unwrap_or_default();
        page.field("published", &format!("{state}, {} {url}", short(commit)));
        if *state == PublicationState::Failed {
            page.block(output);
        }
    }
}
