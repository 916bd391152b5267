//! Writes of what belongs to one run, which fail no other run's.

use symphony_core::id::RunId;

use crate::database::context::Context;
use crate::database::open::Store;
use crate::db::Transaction;
use crate::error::StoreError;

impl Store {
    /// Runs one write of what belongs to a run and depends on no other row than the run's. On a server it locks that row, so that no one
    /// takes the run away meanwhile, and it is not serializable: runs that start at the same moment would fail each other, and most of
    /// all a claim, which reads all of them.
    ///
    /// What it writes has to change the run's row, or be read by no serializable write that changes it: such a write began with an older
    /// state, and that the row was locked meanwhile does not make it begin again.
    pub(crate) fn write_of_run<T>(
        &mut self,
        context: &Context,
        run: &RunId,
        mut work: impl FnMut(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        debug_assert!(
            context.guard().is_none_or(|key| key.run == *run),
            "the author is another run"
        );
        self.repeat(|store| store.write_once(context, Some(run), &mut work))
    }
}
