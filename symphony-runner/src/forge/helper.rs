//! The process that exchanges pull requests with forges: started by a tick, or the command itself.

use std::collections::BTreeMap;

use symphony_core::Timestamp;
use symphony_store::{Context, Store};

use super::client::{client_of, place_of, repository_of};
use super::due::{DueForge, configured, due_of, observed_forges};
use super::fault::hold_forge;
use super::report::ForgeReport;
use super::round::Round;
use crate::error::RunnerError;
use crate::installation::Installation;
use crate::outreach::helper::Helper;
use crate::process::DetachedSupervisor;
use crate::runtime::block_on;
use crate::session::Session;
use crate::tick::Observed;

/// Starts the helper if a forge is due, unless one is running, which takes what is new too.
///
/// # Errors
/// When the database cannot be read, or the helper cannot be started.
pub(crate) fn start_forge(
    installation: &Installation,
    store: &Store,
    observed: &Observed,
    now: Timestamp,
) -> Result<Option<DetachedSupervisor>, RunnerError> {
    let forges = observed_forges(observed);
    if forges.is_empty() || due_of(store, forges, now)?.is_empty() {
        return Ok(None);
    }
    Helper::Forge.start(installation)
}

/// Looks at every forge that is due: the body of the hidden helper. Takes the lock from standard input.
///
/// # Errors
/// When the lock was not handed over, or the database cannot be read or written.
pub fn forge_due(installation: &Installation) -> Result<(), RunnerError> {
    let _lock = Helper::Forge.begin(installation)?;
    let store = installation.require_store()?;
    let due = due_of(&store, configured(installation, &store)?, Timestamp::now())?;
    let mut failed = None;
    for forge in due {
        // One project's fault must not keep the others from their forges; the first one is the answer.
        if let Err(error) = look(installation, forge) {
            failed = failed.or(Some(error));
        }
    }
    failed.map_or(Ok(()), Err)
}

/// Looks at the forge of a project now, whether it is due or not. Waits for a helper that is at work, after it called `on_wait`
/// once; `None` without a forge.
///
/// # Errors
/// When the database cannot be read or written, or another process is at work for too long.
pub fn forge_now(
    session: &Session,
    on_wait: &dyn Fn(),
) -> Result<Option<ForgeReport>, RunnerError> {
    let installation = &session.installation;
    let _lock = Helper::Forge.take(installation, on_wait)?;
    let store = installation.require_store()?;
    let mut forges = configured(installation, &store)?.into_iter();
    let Some(forge) = forges.find(|forge| forge.project.id == session.project.id) else {
        return Ok(None);
    };
    look(installation, forge).map(Some)
}

fn look(installation: &Installation, forge: DueForge) -> Result<ForgeReport, RunnerError> {
    let DueForge {
        project,
        config,
        settings,
    } = forge;
    let found = repository_of(installation, &project, &config, &settings);
    let place = match &found {
        Ok(repository) => place_of(&settings, repository),
        Err(_) => settings.kind.to_string(),
    };
    let mut session = Session {
        installation: installation.clone(),
        store: installation.require_store()?,
        project,
    };
    let context = Context::tracker(None, Timestamp::now());
    let project = session.project.id.clone();
    let record = match (&found, session.store.forge(&project)?) {
        // a remote that cannot be read now is no new place
        (Err(_), Some(known)) => known,
        _ => session.store.ensure_forge(&context, &project, &place)?,
    };
    let report = ForgeReport {
        place,
        ..ForgeReport::default()
    };
    let client = found.and_then(|repository| client_of(installation, &settings, &repository));
    let client = match client {
        Ok(client) => client,
        Err(fault) => {
            let hold = Some(hold_forge(&mut session.store, &record, fault)?);
            return Ok(ForgeReport { hold, ..report });
        }
    };
    let mut round = Round {
        session: &mut session,
        config: &config,
        settings: &settings,
        client: client.as_ref(),
        record,
        report,
        kept_bases: BTreeMap::new(),
    };
    block_on(&installation.root, round.run())??;
    Ok(round.report)
}
