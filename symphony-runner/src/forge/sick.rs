//! A pull request that cannot be exchanged, and the others that can.

use symphony_core::pull_request::PullRequest;
use symphony_forge::fault::{About, about, is_answer};

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
            Err(Stop::Fault(fault)) => match about(&fault) {
                About::One => fault.to_string(),
                About::Forge => return Err(fault.into()),
                About::Unclear => {
                    match self.client.rules(&pr.base).await {
                        Err(silence) if !is_answer(&silence) => return Err(silence.into()),
                        _ => {}
                    }
                    fault.to_string()
                }
            },
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
}
