//! What a tick asks of hubs: once where they do not answer, and however many refs they have.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot be set up shall fail"
)]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use symphony_core::id::RunId;
use symphony_workspace::{SilentHubs, WorkspaceError};

use crate::project::{Project, git};

fn environment() -> BTreeMap<OsString, OsString> {
    std::env::vars_os()
        .filter(|(name, _)| !name.to_string_lossy().starts_with("GIT_"))
        .collect()
}

/// Starts a server that hangs up on everyone who calls. Returns its address, and how many have called.
fn hanging_up() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("git://{}/project", listener.local_addr().unwrap());
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    thread::spawn(move || {
        for call in listener.incoming() {
            counted.fetch_add(1, Ordering::SeqCst);
            drop(call);
        }
    });
    (address, calls)
}

#[test]
fn a_hub_that_does_not_answer_is_called_once_for_all_results() {
    let project = Project::new();
    let repository = project.open();
    let environment = environment();
    let (address, calls) = hanging_up();
    let hub = Some((address.as_str(), &environment));
    let mut hubs = SilentHubs::default();
    for name in ["r1", "r2", "r3"] {
        let run = RunId::parse(name).unwrap();
        let fetch = || repository.fetch_result(&address, &environment, &run);
        let error = hubs.call(&repository, hub, fetch).unwrap_err();
        assert!(
            matches!(error, WorkspaceError::RemoteSilent { .. }),
            "{error:?}"
        );
    }
    assert_eq!(calls.load(Ordering::SeqCst), 1);
    assert!(hubs.has(&address));
    // another hub, and the project's own repository, are no matter of it
    let other = Project::new();
    let path = other.root.to_str().unwrap();
    let run = RunId::parse("r1").unwrap();
    let fetch = || repository.fetch_result(path, &environment, &run);
    let found = hubs.call(&repository, Some((path, &environment)), fetch);
    assert_eq!(found.unwrap(), None);
    let own = hubs.call(&repository, None, || repository.refs_of_runs(None));
    assert_eq!(own.unwrap(), []);
}

/// Makes a bare repository with this many results, without a process for each.
fn with_results(project: &Project, bare: &Path, count: usize) {
    let shown = bare.to_str().unwrap();
    git(&project.root, &["clone", "-q", "--bare", ".", shown]);
    let head = project.head("main");
    let mut refs =
        format!("# pack-refs with: peeled fully-peeled sorted \n{head} refs/heads/main\n");
    for number in 0..count {
        let run = format!("01890000-0000-7000-8000-{number:012}");
        writeln!(refs, "{head} refs/symphony/runs/{run}").unwrap();
    }
    fs::write(bare.join("packed-refs"), refs).unwrap();
}

#[test]
fn refs_of_twelve_thousand_runs_are_listed_and_removed() {
    let project = Project::new();
    let repository = project.open();
    let environment = environment();
    let folder = tempfile::tempdir().unwrap();
    let bare = folder.path().join("hub.git");
    with_results(&project, &bare, 12_000);
    let hub = Some((bare.to_str().unwrap(), &environment));
    let found = repository.refs_of_runs(hub).unwrap();
    assert_eq!(found.len(), 12_000);
    let bytes: usize = found
        .iter()
        .map(|found| found.commit.as_str().len() + found.name.len() + 2)
        .sum();
    assert!(bytes > 1024 * 1024, "{bytes}");
    repository.remove_ref_of_run(hub, &found[0]).unwrap();
    assert_eq!(repository.refs_of_runs(hub).unwrap(), found[1..]);
}
