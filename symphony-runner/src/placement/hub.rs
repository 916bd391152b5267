//! The hub of a project, as the control sees it, and what it hands to workers.

use std::path::Path;

use serde_json::{Value, json};
use symphony_core::config::{Database, INSTALLATION_KEYS, ProjectConfig};
use symphony_core::id::ProjectId;
use symphony_core::placement::CLOCKS_APART_MS_MAX;
use symphony_core::watchdog::Step;
use symphony_store::{Project, Store};
use symphony_workspace::config_file::without_secrets;
use symphony_workspace::{Pushed, SilentHubs};

use super::control::machine_name;
use super::failed_last::failed_last;
use crate::error::RunnerError;
use crate::installation::Installation;
use crate::repository::open_repository;
use crate::tick::Turn;

/// Keys that only the control needs: the rest of a project's configuration goes to its workers.
const OF_THE_CONTROL: &[&str] = &["forge", "trackers", "publish", "notify"];
/// Why a hub is left alone that was not asked itself.
pub(super) const OTHERS_SILENT: &str = "other hubs on its server did not answer";

/// The repository that control and workers share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hub {
    /// Its address, as workers use it.
    pub(crate) address: String,
    /// Whether it is the control's own repository, so that results need not be fetched.
    pub(crate) is_own: bool,
}

impl Hub {
    /// Returns the hub of a project: what its configuration names, or the control's own repository over SSH.
    pub(crate) fn of(project: &Project, config: &ProjectConfig) -> Self {
        Self::named(&project.root, config.hub.as_deref())
    }

    fn named(root: &Path, named: Option<&str>) -> Self {
        let Some(address) = named else {
            return Self {
                address: format!("ssh://{}{}", machine_name(), root.display()),
                is_own: true,
            };
        };
        let path = address.strip_prefix("file://").unwrap_or(address);
        Self {
            address: address.to_owned(),
            is_own: path.starts_with('/') && is_same(Path::new(path), root),
        }
    }
}

/// Returns whether a path is that of a repository, or of the git folder in it.
fn is_same(path: &Path, root: &Path) -> bool {
    let named = path.canonicalize();
    let is_at = |place: &Path| {
        place
            .canonicalize()
            .is_ok_and(|place| named.as_ref().is_ok_and(|named| *named == place))
    };
    is_at(root) || is_at(&root.join(".git"))
}

/// Hands all projects with a pool to their workers: the configuration as it is now, and the hub, which gets the base if it is another repository.
/// Returns what could not be done; the next tick tries again, with what failed last.
///
/// # Errors
/// When the database cannot be read, or its clock and this machine's are far apart.
pub(crate) fn hand_over_projects(
    installation: &Installation,
    store: &mut Store,
    turn: &Turn,
    hubs: &mut SilentHubs,
) -> Result<Vec<String>, RunnerError> {
    let mut problems = Vec::new();
    if matches!(installation.config.database, Database::File(_)) {
        return Ok(problems);
    }
    let mut is_clock_known = false;
    let mut projects = store.projects()?;
    put_in_order(&mut projects, |problem| turn.was_told(problem));
    for project in projects {
        // A broken configuration is reported where the project is observed; its workers go on with the last one.
        let Ok(config) = installation.project_config(&project) else {
            continue;
        };
        if config.pool.is_none() {
            if let Err(error) = take_out(installation, store, &project) {
                problems.push(format!("{}: {error}", problem_of(&project.id)));
            }
            continue;
        }
        if !is_clock_known {
            require_clock(store)?;
            store.require_of_workers(installation.config.lease)?;
            is_clock_known = true;
        }
        turn.enter(Step::Observe);
        let id = &project.id;
        match hand_over(installation, store, &project, &config, hubs) {
            Ok(Handed::Done) => {}
            Ok(Handed::BaseWaits) => problems.push(format!(
                "project {id}: its base waits to be pushed to its hub: {OTHERS_SILENT}"
            )),
            Err(error) => problems.push(format!("{}: {error}", problem_of(id))),
        }
    }
    Ok(problems)
}

/// Returns how a problem with handing a project over begins.
fn problem_of(project: &ProjectId) -> String {
    format!("project {project}: it was not handed to its workers")
}

/// Puts the projects last that the last tick could not hand over: each may wait for a hub that hangs.
fn put_in_order(projects: &mut [Project], was_told: impl Fn(&str) -> bool) {
    failed_last(projects, |project| was_told(&problem_of(&project.id)));
}

/// Refuses to place runs from a machine whose clock is wrong.
fn require_clock(store: &Store) -> Result<(), RunnerError> {
    let ahead = store.clock_ahead_ms()?.unwrap_or(0);
    if ahead.unsigned_abs() <= CLOCKS_APART_MS_MAX {
        return Ok(());
    }
    let way = if ahead > 0 { "ahead of" } else { "behind" };
    Err(RunnerError::refused(format!(
        "the clock of the database's server is {} s {way} this machine's, but runs on several hosts need clocks that agree within {} s: \
         `timedatectl` shows whether they are set by the network",
        ahead.unsigned_abs() / 1000,
        CLOCKS_APART_MS_MAX / 1000
    )))
}

/// Tells the workers of a project that it has left their pool, if there were any. What they have of it may still be at work, so its configuration
/// and its hub stay.
fn take_out(
    installation: &Installation,
    store: &mut Store,
    project: &Project,
) -> Result<(), RunnerError> {
    if let Some(handed) = store.handed_project(&project.id)? {
        let layers = layers_of(installation, project)?;
        store.hand_project(&project.id, &layers, handed.hub.as_deref())?;
    }
    Ok(())
}

/// What came of handing a project over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Handed {
    /// Everything was done that its own hub lets be done.
    Done,
    /// The hub did not get the base, because others on its server did not answer.
    BaseWaits,
}

fn hand_over(
    installation: &Installation,
    store: &mut Store,
    project: &Project,
    config: &ProjectConfig,
    hubs: &mut SilentHubs,
) -> Result<Handed, RunnerError> {
    let hub = Hub::of(project, config);
    let layers = layers_of(installation, project)?;
    store.hand_project(&project.id, &layers, Some(&hub.address))?;
    // That it did not answer is reported already.
    if hub.is_own || hubs.did_not_answer(&hub.address) {
        return Ok(Handed::Done);
    }
    let repository = open_repository(project, config)?;
    let base = repository.base()?;
    if repository.is_published(&base)? {
        return Ok(Handed::Done);
    }
    if hubs.has(&hub.address) {
        return Ok(Handed::BaseWaits);
    }
    let (address, environment) = (hub.address.as_str(), &installation.environment);
    let pushed = hubs.call(&repository, Some((address, environment)), || {
        repository.publish_base(address, environment, &base)
    })?;
    match pushed {
        None | Some(Pushed::Done) => Ok(Handed::Done),
        Some(Pushed::Moved) => Err(RunnerError::refused(format!(
            "the hub's {} has commits that this repository does not have: fetch and merge them",
            base.branch
        ))),
        Some(Pushed::Refused { detail }) => Err(RunnerError::refused(format!(
            "the hub refuses {}: {detail}",
            base.branch
        ))),
    }
}

/// Returns the configuration for workers, as a list with one document: what all layers say together, without what only the control needs, and
/// with the names of secrets in the place of their values.
fn layers_of(installation: &Installation, project: &Project) -> Result<Value, RunnerError> {
    let settings =
        installation
            .loaded()
            .project(Some(&project.id), &project.root, Some(&project.settings))?;
    let mut document = settings.effective.document();
    if let Some(keys) = document.as_object_mut() {
        for key in OF_THE_CONTROL.iter().chain(INSTALLATION_KEYS) {
            keys.remove(*key);
        }
    }
    without_secrets(&mut document);
    Ok(json!([document]))
}

#[cfg(test)]
mod tests {
    use symphony_core::Timestamp;
    use symphony_core::project::WizardState;

    use super::*;

    #[test]
    fn projects_that_were_not_handed_over_in_the_last_tick_come_last() {
        let project = |id: &str| Project {
            id: ProjectId::parse(id).unwrap(),
            name: id.to_owned(),
            root: Path::new("/work").join(id),
            prefix: "P".to_owned(),
            wizard: WizardState::Pending,
            settings: Value::Null,
            created_at: Timestamp::UNIX_EPOCH,
        };
        let cases: [(&[&str], [&str; 4]); 4] = [
            (&[], ["api", "api2", "docs", "web"]),
            (
                &["project api: it was not handed to its workers: the hub refuses main: no"],
                ["api2", "docs", "web", "api"],
            ),
            (
                &[
                    "project web: it was not handed to its workers: `git ls-remote` took too long",
                    "project api2: it was not handed to its workers: `git ls-remote` took too long",
                ],
                ["api", "docs", "api2", "web"],
            ),
            // one that was left alone for others on its server has not failed
            (
                &[
                    "project api: it was not handed to its workers: `git ls-remote` took too long",
                    "project api2: its base waits to be pushed to its hub: other hubs on its server did not answer",
                    "project docs: it was not handed to its workers: `git ls-remote` took too long",
                ],
                ["api2", "web", "api", "docs"],
            ),
        ];
        for (told, expected) in cases {
            let mut projects = ["api", "api2", "docs", "web"].map(project);
            put_in_order(&mut projects, |problem| {
                told.iter().any(|told| told.starts_with(problem))
            });
            let found = projects.each_ref().map(|project| project.id.as_str());
            assert_eq!(found, expected, "{told:?}");
        }
    }

    #[test]
    fn the_hub_is_the_projects_own_repository_unless_it_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir(root.join(".git")).unwrap();
        let shown = root.display();
        for (hub, is_own) in [
            (None, true),
            (Some(format!("{shown}")), true),
            (Some(format!("{shown}/.git")), true),
            (Some(format!("file://{shown}")), true),
            (Some("/elsewhere/api.git".to_owned()), false),
            (Some("ssh://hub.example/api".to_owned()), false),
        ] {
            let found = Hub::named(&root, hub.as_deref());
            assert_eq!(found.is_own, is_own, "{hub:?}");
            match hub {
                Some(hub) => assert_eq!(found.address, hub),
                None => assert!(found.address.starts_with("ssh://"), "{found:?}"),
            }
        }
    }
}
