//! The process that exchanges news with trackers: started by a tick, or the command itself.

use symphony_core::Timestamp;
use symphony_core::config::TrackerSettings;
use symphony_store::{Context, Project, Store};
use symphony_tracker::fault::Fault;
use symphony_tracker::remote::Cursor;

use super::client::{TrackerLimits, client_of};
use super::due::{configured, due_of, observed_trackers};
use super::mirror::{Mirror, hold_tracker};
use super::place::place_of;
use super::report::{RefusedWish, SyncReport, SyncWish};
use crate::error::RunnerError;
use crate::installation::Installation;
use crate::outreach::helper::Helper;
use crate::process::{DetachedSupervisor, RunLock};
use crate::runtime::block_on;
use crate::session::Session;
use crate::tick::Observed;

/// Starts the helper if a tracker is due, unless one is running, which takes what is new too.
///
/// # Errors
/// When the database cannot be read, or the helper cannot be started.
pub(crate) fn start_sync(
    installation: &Installation,
    store: &Store,
    observed: &Observed,
    now: Timestamp,
) -> Result<Option<DetachedSupervisor>, RunnerError> {
    let trackers = observed_trackers(observed);
    if trackers.is_empty() || due_of(store, trackers, now)?.is_empty() {
        return Ok(None);
    }
    Helper::Sync.start(installation)
}

/// Exchanges news with every tracker that is due: the body of the hidden helper. Takes the lock from standard input.
///
/// # Errors
/// When the lock was not handed over, or the database cannot be read or written.
pub fn sync_due(installation: &Installation) -> Result<(), RunnerError> {
    let _lock = Helper::Sync.begin(installation)?;
    let store = installation.require_store()?;
    let trackers = configured(installation, &store)?;
    let due = due_of(&store, trackers, Timestamp::now())?;
    exchange(
        installation,
        due,
        SyncWish::default(),
        &TrackerLimits::default(),
    )?;
    Ok(())
}

/// Exchanges news with the trackers of a project now, whether they are due or not; `name` is one of them. Waits for a helper
/// that is at work, after it called `on_wait` once.
///
/// # Errors
/// When the database cannot be read or written, or another process is at work for too long.
pub fn sync_now(
    session: &Session,
    name: Option<&str>,
    wish: SyncWish,
    on_wait: &dyn Fn(),
) -> Result<Vec<SyncReport>, RunnerError> {
    let lock = Helper::Sync.take(&session.installation, on_wait)?;
    sync_holding(&lock, session, name, wish, &TrackerLimits::default())
}

/// As [`sync_now`], with other limits than those of real trackers.
///
/// # Errors
/// As [`sync_now`].
pub fn sync_within(
    session: &Session,
    name: Option<&str>,
    wish: SyncWish,
    limits: &TrackerLimits,
) -> Result<Vec<SyncReport>, RunnerError> {
    let lock = Helper::Sync.take(&session.installation, &|| {})?;
    sync_holding(&lock, session, name, wish, limits)
}

/// Exchanges news while this process is the only one that does.
fn sync_holding(
    _lock: &RunLock,
    session: &Session,
    name: Option<&str>,
    wish: SyncWish,
    limits: &TrackerLimits,
) -> Result<Vec<SyncReport>, RunnerError> {
    let installation = &session.installation;
    let store = installation.require_store()?;
    let mut trackers = configured(installation, &store)?;
    trackers.retain(|(project, settings)| {
        project.id == session.project.id && name.is_none_or(|name| settings.name == name)
    });
    exchange(installation, trackers, wish, limits)
}

/// Does a round with each of these trackers. One that cannot be asked delays no other.
fn exchange(
    installation: &Installation,
    trackers: Vec<(Project, TrackerSettings)>,
    wish: SyncWish,
    limits: &TrackerLimits,
) -> Result<Vec<SyncReport>, RunnerError> {
    let mut reports = Vec::new();
    let mut failed = None;
    for (project, settings) in trackers {
        let mut session = Session {
            installation: installation.clone(),
            store: installation.require_store()?,
            project,
        };
        match one_round(&mut session, &settings, wish, limits) {
            Ok(report) => reports.push(report),
            // One project's fault must not keep the others from their trackers; the first one is the answer.
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    failed.map_or(Ok(reports), Err)
}

fn one_round(
    session: &mut Session,
    settings: &TrackerSettings,
    wish: SyncWish,
    limits: &TrackerLimits,
) -> Result<SyncReport, RunnerError> {
    let context = Context::tracker(None, Timestamp::now());
    let place = place_of(settings);
    let project = session.project.id.clone();
    let names = configured_names(session);
    let mut record =
        session
            .store
            .ensure_tracker(&context, &project, (&settings.name, &place), &names)?;
    let report = SyncReport {
        tracker: settings.name.clone(),
        ..SyncReport::default()
    };
    if record.place != place && wish.is_moved {
        session.store.move_tracker(&context, record.id, &place)?;
        record.place.clone_from(&place);
    }
    if record.place != place {
        // Read as another place, its issues would overwrite those of this one, or come in a second time.
        let fault = Fault::Moved {
            tracker: settings.name.clone(),
            from: record.place.clone(),
            to: place,
        };
        let hold = Some(hold_tracker(&mut session.store, &record, fault)?);
        return Ok(SyncReport { hold, ..report });
    }
    if wish.is_all {
        session.store.rewind_tracker(&context, record.id)?;
        record.cursor = Cursor::default();
    }
    match wish.refused {
        RefusedWish::Keep => {}
        RefusedWish::Retry => drop(session.store.retry_refused(&context, record.id)?),
        RefusedWish::Forget => drop(session.store.forget_refused(&context, record.id)?),
    }
    let installation = session.installation.clone();
    let client = match client_of(&installation, settings, limits) {
        Ok(client) => client,
        Err(fault) => {
            let hold = Some(hold_tracker(&mut session.store, &record, fault)?);
            return Ok(SyncReport { hold, ..report });
        }
    };
    let mut mirror = Mirror {
        client: client.as_ref(),
        session,
        settings,
        record,
        report,
        has_all_comments: false,
    };
    block_on(&installation.root, mirror.round())??;
    Ok(mirror.report)
}

/// The names of the project's trackers; a configuration that cannot be read is reported elsewhere.
fn configured_names(session: &Session) -> Vec<String> {
    let trackers = session.config().map(|config| config.trackers);
    let names = trackers.unwrap_or_default().into_iter();
    names.map(|settings| settings.name).collect()
}
