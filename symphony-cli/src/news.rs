//! What a person hears who waits for a tick or watches the loop: what happened to pull requests, and what begins to wait
//! for them.

use std::collections::BTreeSet;

use symphony_core::inbox::InboxItem;
use symphony_core::news::{PrLook, news};
use symphony_store::{Store, StoreError};
use symphony_view::Elsewhere;
use symphony_view::{InboxView, PrNewsView};

/// What was seen and reported already.
#[derive(Debug)]
pub(crate) struct News {
    prs: PrLook,
    shown: BTreeSet<String>,
}

impl News {
    /// Begins to watch: what happened to pull requests before this is no news.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(crate) fn begin(store: &Store) -> Result<Self, StoreError> {
        Ok(Self {
            prs: store.look_at_prs(None)?,
            shown: BTreeSet::new(),
        })
    }

    /// Returns what happened to pull requests since the last look.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(crate) fn of_prs(&mut self, store: &Store) -> Result<Vec<PrNewsView>, StoreError> {
        let after = store.look_at_prs(Some(&self.prs))?;
        let views = news(&self.prs, &after)
            .iter()
            .map(PrNewsView::from)
            .collect();
        self.prs = after;
        Ok(views)
    }

    /// Returns what waits for a person and did not wait at the last look; what waits another time is new again.
    pub(crate) fn of_inbox(
        &mut self,
        items: Vec<InboxItem>,
        elsewhere: &Elsewhere,
    ) -> Vec<InboxView> {
        let keys = items.iter().map(|item| item.key.clone()).collect();
        let new = items
            .into_iter()
            .filter(|item| !self.shown.contains(&item.key))
            .map(|item| InboxView::new(item, elsewhere))
            .collect();
        self.shown = keys;
        new
    }
}
