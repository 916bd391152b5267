//! Which repository a forge's place is.

use super::fault::as_forge;
use super::round::Round;
use crate::outreach::stop::Stop;

impl Round<'_> {
    /// Asks which repository it is, at the first look and whenever the place has another name: after a rename, what people wrote in
    /// the same repository must not be taken in a second time.
    pub(super) async fn know_place(&mut self) -> Result<(), Stop> {
        let place = self.report.place.clone();
        if self.record.repository.is_some() && self.record.place == place {
            return Ok(());
        }
        let repository = self.client.repository().await?;
        let project = self.record.project.clone();
        let store = &mut self.session.store;
        self.record = store.place_forge(&as_forge(), &project, &place, &repository)?;
        Ok(())
    }
}
