//! A pull request that cannot be exchanged, and the others that can.

use symphony_core::pull_request::PullRequest;
use symphony_forge::fault::{About, about, is_answer};
use symphony_tracker::fault::Fault;

use super::fault::as_forge;
use super::round::Round;
use crate::error::RunnerError;
use crate::outreach::stop::Stop;

impl Round<'_> {
    /// Decides whether the look goes on after a pull request's exchange. What is about this one alone is its problem: one that the
    /// forge fails for must not keep all others from being exchanged, however long that lasts.
    pub(super) async fn go_on(
        &mut self,
        pr: &PullRequest,
        done: Result<(), Stop>,
    ) -> Result<(), Stop> {
        let problem = match done {
            Ok(()) => return Ok(()),
            // git refuses something about this branch; the database says nothing about one pull request alone
            Err(Stop::Error(error @ RunnerError::Workspace(_))) => error.with_causes(),
            Err(Stop::Error(error)) => return Err(error.into()),
            Err(Stop::Fault(fault)) => self.of_one(&fault).await?,
        };
        self.report
            .problems
            .push(format!("{}: {problem}", pr.reference()));
        let store = &mut self.session.store;
        if let Some(mut pull) = store.forge_pull_of(pr.id)? {
            pull.problem = Some(problem);
            store.save_forge_pull(&as_forge(), &pr.of, &pull, &[])?;
        }
        Ok(())
    }

    /// Returns the words of a fault that is about one pull request alone.
    ///
    /// # Errors
    /// The fault, if it is about the forge, and what the forge says if it does not answer any more.
    pub(super) async fn of_one(&self, fault: &Fault) -> Result<String, Fault> {
        match about(fault) {
            About::One => Ok(fault.to_string()),
            About::Forge => Err(fault.clone()),
            About::Unclear => match self.ask_something_else().await {
                Err(silence) if !is_answer(&silence) => Err(silence),
                _ => Ok(fault.to_string()),
            },
        }
    }

    /// Asks for something that is about no pull request: the rules of a base that this look has read, or the repository.
    async fn ask_something_else(&self) -> Result<(), Fault> {
        match self.record.rules.keys().next() {
            Some(base) => self.client.rules(base).await.map(drop),
            None => self.client.repository().await.map(drop),
        }
    }
}
