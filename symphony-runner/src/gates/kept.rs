//! Checkouts that start with kept build output, and those from which it is kept.

use std::sync::PoisonError;

use symphony_core::Timestamp;
use symphony_core::warm::{ColdReason, Mount};
use symphony_workspace::{CommitId, Donation, Generation, PackageMarks, WarmPool};

use super::checkout::{GateCheckout, checkout_key};
use super::request::CheckoutRequest;
use crate::error::RunnerError;

impl<'a> GateCheckout<'a> {
    /// Checks out a commit with build output that was kept, and copies the project's configuration files into it.
    ///
    /// # Errors
    /// [`ColdReason`] when there is none that fits; otherwise as [`GateCheckout::make`].
    pub(super) fn make_seeded(
        request: CheckoutRequest<'a>,
        commit: &CommitId,
    ) -> Result<Result<Self, ColdReason>, RunnerError> {
        if !request.config.worktree.warm {
            return Ok(Err(ColdReason::NotAsked));
        }
        let begun = Self::begin(request)?;
        let pool = WarmPool::of_project(begun.request.repository.root());
        let generation = match begun.request.generation(&begun.mount, &pool)? {
            Ok(generation) => generation,
            Err(reason) => return Ok(Err(reason)),
        };
        let key = checkout_key(begun.request.id);
        let now = Timestamp::now();
        let repository = begun.request.repository;
        match repository.create_seeded(&key, commit, &pool, &generation, now) {
            Ok(pristine) => begun.finish(|_, _| Ok(pristine)).map(Ok),
            Err(reason) => {
                // It would not fit the next time either.
                if reason == ColdReason::Altered {
                    pool.remove(&generation.name);
                }
                Ok(Err(reason))
            }
        }
    }

    /// Notes what the set-up left in folders of packages, if they may be kept.
    pub(super) fn note_packages(&self) {
        if self.request.config.worktree.warm && self.mount == Mount::Canonical {
            let marks = PackageMarks::of(self.path());
            *self
                .after_set_up
                .lock()
                .unwrap_or_else(PoisonError::into_inner) = marks;
        }
    }

    /// Keeps its build output for later checkouts, if it is one of the base and nothing speaks against it. Afterwards the
    /// checkout is used up. The caller answers for it that all configured gates passed in it, and that it did not start with
    /// kept build output.
    ///
    /// # Errors
    /// When git fails, or something cannot be read or written.
    pub(super) fn keep(&self) -> Result<Option<Generation>, RunnerError> {
        let repository = self.request.repository;
        let pool = WarmPool::of_project(repository.root());
        if !self.request.config.worktree.warm
            || self.mount != Mount::Canonical
            || pool.disabled().is_some()
            || !self.request.is_on_base(self.commit())?
        {
            return Ok(None);
        }
        let key = self.request.generation_key()?;
        let is_same = |known: &Generation| known.key == key && known.commit == *self.commit();
        if pool.generations().iter().any(is_same) {
            return Ok(None);
        }
        // What the last gate changed is not restored by a next one.
        self.restore()?;
        let after_set_up = self
            .after_set_up
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let donation = Donation {
            pool: &pool,
            key: &key,
            after_set_up: &after_set_up,
            now: Timestamp::now(),
        };
        Ok(repository.make_generation(&self.pristine, donation)?)
    }
}
