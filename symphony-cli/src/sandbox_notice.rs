//! The notice about sandboxes, for projects that are older than they: their agents stay unconfined until a person decides.

use std::io::{self, IsTerminal as _};

use symphony_core::Timestamp;
use symphony_core::config::{KeyPath, Source};
use symphony_core::listing::list_few;
use symphony_runner::installation::Installation;
use symphony_store::{Project, Store};

use crate::command::LEVEL_KEY;
use crate::output::Output;

/// Projects that are named.
const NAMES_MAX: usize = 3;

/// Tells a person at a terminal once about sandboxes, where a project has no level. Whatever fails here fails no command.
pub(crate) fn note_once(out: Output, installation: &Installation, store: &mut Store) {
    if out.is_json() || out.is_quiet() || !io::stderr().is_terminal() {
        return;
    }
    let Ok(projects) = store.projects() else {
        return;
    };
    let without: Vec<&Project> = projects
        .iter()
        .filter(|project| has_no_level(installation, project))
        .collect();
    if !without.is_empty()
        && store
            .record_sandbox_notice(Timestamp::now())
            .unwrap_or(false)
    {
        let names = without.iter().map(|project| project.id.as_str());
        out.note(&sentence(&list_few(names, NAMES_MAX)));
    }
}

/// Returns whether no setting says how the agents of a project are confined.
fn has_no_level(installation: &Installation, project: &Project) -> bool {
    let inspected = installation.loaded().inspect_project(
        Some(&project.id),
        &project.root,
        Some(&project.settings),
    );
    inspected.is_ok_and(|(settings, _)| {
        let entry = settings.effective.get(&KeyPath::of(LEVEL_KEY));
        entry.is_none_or(|entry| entry.source == Source::Default)
    })
}

fn sentence(projects: &str) -> String {
    format!(
        "Agents of {projects} run with your permissions. Symphony can now run them in a sandbox: `symphony doctor` shows what \
         this machine supports, and `symphony config set {LEVEL_KEY} auto` turns the sandbox on. Until you do that, nothing \
         changes. You see this notice once."
    )
}
