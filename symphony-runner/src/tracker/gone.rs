//! Issues that their tracker does not have any more: they were deleted, or moved to another repository or team.

use std::collections::BTreeSet;

use symphony_store::TrackerLink;
use symphony_tracker::remote::ExternalId;

use super::mirror::{Mirror, as_tracker};
use super::text::noted;
use crate::outreach::stop::Stop;

/// Most issues that one round looks for which a reading of everything did not have. Each costs a request; the next reading goes on.
const LOOKS_MAX: usize = 100;

impl Mirror<'_> {
    /// Ends the link of an issue that is gone, once the place has answered: a token that sees nothing any more makes no issue go.
    pub(super) async fn unlink(&mut self, link: &TrackerLink) -> Result<(), Stop> {
        self.client.check().await?;
        let text = format!(
            "{} no longer exists there: it was deleted, or moved elsewhere. This issue stays as it is and is no longer mirrored",
            link.key
        );
        let entry = noted(&self.settings.name, &text);
        let context = as_tracker();
        self.session.store.unlink_issue(&context, link, &entry)?;
        if let Some(issue) = &link.issue {
            self.report.note_changed(issue);
        }
        self.report.problems.push(format!("{}: {text}", link.key));
        Ok(())
    }

    /// Looks for those linked issues that a reading of everything did not have.
    pub(super) async fn look_for_missing(
        &mut self,
        read: &BTreeSet<ExternalId>,
    ) -> Result<(), Stop> {
        let linked = self.session.store.linked_externals(self.record.id)?;
        let missing = linked.into_iter().filter(|id| !read.contains(id));
        for id in missing.take(LOOKS_MAX) {
            let link = self.session.store.link_of_external(self.record.id, &id)?;
            if let Some(link) = link {
                self.look_again(&link).await?;
            }
        }
        Ok(())
    }
}
