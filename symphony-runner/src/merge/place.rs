//! In which repository a merge is made.
//!
//! Hosts that share the database on a server may have a repository each. The lock file that shows that the process of a merge lives, and
//! the base that it moves, are in one of them. So its intent names the repository, by an id beside the lock files.

use std::io::{Error, ErrorKind};
use std::path::Path;
use std::time::Duration;

use symphony_store::{MergeIntent, MergePlace, Project};
use symphony_workspace::{read_own_text, write_new};

use super::turn::merges_folder;
use crate::error::RunnerError;
use crate::installation::Installation;
use crate::placement::control::host_name;

/// The file with the id.
const ID_FILE: &str = "repository-id";
/// How old the intent of another repository has to be before it is settled in this one.
const LEFT_TO_IT: Duration = Duration::from_mins(10);

/// Returns the place of merges that are made here; `None` where the database is a file, whose users share the lock files.
pub(crate) fn place_here(
    installation: &Installation,
    project: &Project,
) -> Result<Option<MergePlace>, RunnerError> {
    if installation.config.database.server().is_none() {
        return Ok(None);
    }
    Ok(Some(MergePlace {
        repository: id_in(&merges_folder(project))?,
        host: host_name()?,
    }))
}

/// Returns the id of the repository whose lock files are in this folder. The first process that asks makes it.
fn id_in(folder: &Path) -> Result<String, RunnerError> {
    let path = folder.join(ID_FILE);
    let failed = |action: &'static str| {
        let path = path.clone();
        move |error| RunnerError::io(action, path, error)
    };
    match read_own_text(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        found => {
            return found
                .and_then(|text| checked(&text))
                .map_err(failed("read"));
        }
    }
    std::fs::create_dir_all(folder)
        .map_err(|error| RunnerError::io("make the folder", folder, error))?;
    let id = uuid::Uuid::now_v7().to_string();
    match write_new(&path, &id) {
        // Another process was faster.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => read_own_text(&path)
            .and_then(|text| checked(&text))
            .map_err(failed("read")),
        written => written.map(|()| id).map_err(failed("write")),
    }
}

/// Returns what the file says. It is written whole, so an empty one is somebody else's work.
fn checked(text: &str) -> std::io::Result<String> {
    match text.trim() {
        "" => Err(Error::new(
            ErrorKind::InvalidData,
            "the file is empty; remove it, and the next merge makes it again",
        )),
        id => Ok(id.to_owned()),
    }
}

/// Whose a merge is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Whose {
    /// It is made in this repository, or by an older version.
    Ours,
    /// It is made in that one, which settles it.
    Theirs(MergePlace),
    /// It was made in that one, which has not recorded it for long and may be gone for good.
    Left(MergePlace),
}

/// Returns whose a merge is, for a process with this place.
pub(super) fn whose(intent: &MergeIntent, own: Option<&MergePlace>) -> Whose {
    match (&intent.place, own) {
        (Some(place), Some(own)) if place.repository != own.repository => {
            if age_of(intent).is_some_and(|age| age > LEFT_TO_IT) {
                Whose::Left(place.clone())
            } else {
                Whose::Theirs(place.clone())
            }
        }
        _ => Whose::Ours,
    }
}

/// Returns how long ago a merge began; `None` where that is not known, such as when the database's clock went back since.
pub(super) fn age_of(intent: &MergeIntent) -> Option<Duration> {
    let age = u64::try_from(intent.age_ms?).ok()?;
    Some(Duration::from_millis(age))
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use symphony_core::id::PrId;

    use super::*;

    fn place(repository: &str) -> MergePlace {
        MergePlace {
            repository: repository.to_owned(),
            host: "build-7".to_owned(),
        }
    }

    #[test]
    fn processes_that_ask_at_the_same_time_get_one_id() {
        let base = tempfile::tempdir().unwrap();
        for round in 0..20 {
            let folder = base.path().join(round.to_string());
            let barrier = Barrier::new(8);
            let ids = std::thread::scope(|scope| {
                let asking = std::array::from_fn::<_, 8, _>(|_| {
                    scope.spawn(|| {
                        barrier.wait();
                        id_in(&folder).unwrap()
                    })
                });
                asking.map(|asked| asked.join().unwrap())
            });
            assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
            assert_eq!(id_in(&folder).unwrap(), ids[0]);
        }
    }

    #[test]
    fn an_empty_file_is_no_id() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(ID_FILE), "\n").unwrap();
        let refused = id_in(folder.path()).unwrap_err().to_string();
        assert!(refused.contains(ID_FILE), "{refused}");
    }

    #[test]
    fn a_merge_is_its_repositorys_until_it_is_old() {
        let (a, b) = (place("a"), place("b"));
        let minutes = |minutes: i64| Some(minutes * 60_000);
        for (of, age_ms, own, expected) in [
            // a file, and what older versions wrote
            (None, None, None, Whose::Ours),
            (None, minutes(0), Some(&b), Whose::Ours),
            (Some(&a), minutes(0), None, Whose::Ours),
            (Some(&a), minutes(99), Some(&a), Whose::Ours),
            (Some(&a), minutes(0), Some(&b), Whose::Theirs(a.clone())),
            (Some(&a), minutes(10), Some(&b), Whose::Theirs(a.clone())),
            (Some(&a), minutes(-99), Some(&b), Whose::Theirs(a.clone())),
            (Some(&a), None, Some(&b), Whose::Theirs(a.clone())),
            (Some(&a), minutes(11), Some(&b), Whose::Left(a.clone())),
        ] {
            let intent = MergeIntent {
                pr: PrId::new(1),
                merged: "m".to_owned(),
                by: None,
                place: of.cloned(),
                age_ms,
            };
            assert_eq!(whose(&intent, own), expected, "{intent:?} {own:?}");
        }
    }
}
