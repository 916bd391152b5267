//! The setup wizard's state, what intake made of an issue, overrides of profiles, and what a tick reads of them.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use symphony_core::agent::AgentType;
use symphony_core::failure::ErrorClass;
use symphony_core::id::ProjectId;
use symphony_core::issue::{IssueStatus, Priority};
use symphony_core::profile::{ModelChoice, ProfileOverride};
use symphony_core::project::WizardState;
use symphony_core::retry::BACKOFF_MAX_MS;
use symphony_core::run::{Run, RunStatus, RunTarget};
use symphony_core::tick::{ProjectAgents, ProjectView, Snapshot};
use symphony_store::{
    ClaimRefusal, IssueEdit, NewIssue, OverrideEdit, ProjectSetup, RunFilter, SnapshotRequest,
    Store, StoreError,
};

use crate::support::{add, at, by, finish, human, new_issue, project, store, system, try_claim};

/// A snapshot of a project where all of its own agents are switched on.
fn snapshot(store: &mut Store) -> Snapshot {
    let view = ProjectView {
        max_backoff_ms: BACKOFF_MAX_MS,
        broken: None,
        agents: ProjectAgents {
            wizard_enabled: true,
            intake_enabled: true,
            scanner_enabled: true,
            background_research: true,
            ..ProjectAgents::default()
        },
        ..ProjectView::broken(String::new())
    };
    let request = SnapshotRequest {
        projects: BTreeMap::from([(project(), view)]),
        ..SnapshotRequest::default()
    };
    store.load_snapshot(request, at(1_000)).unwrap()
}

fn agents(store: &mut Store) -> ProjectAgents {
    snapshot(store).projects[&project()].agents.clone()
}

fn untriaged(store: &mut Store) -> Vec<String> {
    let intake = snapshot(store).intake;
    intake.iter().map(|c| c.issue.to_string()).collect()
}

fn backlog(store: &mut Store, title: &str, priority: Priority) -> symphony_core::issue::Issue {
    let new = NewIssue {
        status: IssueStatus::Backlog,
        priority,
        ..new_issue(title)
    };
    store.add_issue(&human(1), &new).unwrap()
}

fn on_project(store: &mut Store, run: &str, agent: AgentType) -> Run {
    try_claim(store, run, RunTarget::Project, agent).unwrap()
}

fn end(store: &mut Store, run: &Run, status: RunStatus, class: Option<ErrorClass>) -> Run {
    store
        .finish_run(&system(50), &finish(run, status, class))
        .unwrap()
        .run
}

fn text(error: &StoreError) -> String {
    error.to_string()
}

#[test]
fn one_agent_works_on_a_project_once_at_a_time() {
    let mut store = store();
    let scanner = on_project(&mut store, "r1", AgentType::Scanner);
    assert_eq!(scanner.target, RunTarget::Project);
    let again = try_claim(&mut store, "r2", RunTarget::Project, AgentType::Scanner);
    assert_eq!(again, Err(ClaimRefusal::AlreadyRunning(scanner.id.clone())));
    // another agent may, and the same one when the first has ended
    on_project(&mut store, "r3", AgentType::Researcher);
    end(&mut store, &scanner, RunStatus::Succeeded, None);
    on_project(&mut store, "r4", AgentType::Scanner);
    assert_eq!(store.runs(&RunFilter::default()).unwrap().len(), 3);
}

#[test]
fn a_wizard_that_configures_nothing_has_failed() {
    for (status, class, ended, wizard) in [
        (
            RunStatus::Succeeded,
            None,
            RunStatus::Failed,
            WizardState::Failed,
        ),
        (
            RunStatus::Crashed,
            Some(ErrorClass::Crashed),
            RunStatus::Crashed,
            WizardState::Failed,
        ),
        (
            RunStatus::Failed,
            Some(ErrorClass::RateLimited),
            RunStatus::Failed,
            WizardState::Pending,
        ),
    ] {
        let mut store = store();
        let run = on_project(&mut store, "r1", AgentType::Wizard);
        assert_eq!(end(&mut store, &run, status, class).status, ended);
        assert_eq!(agents(&mut store).wizard, wizard, "{status}");
    }
}

#[test]
fn the_wizard_configures_a_project() {
    let mut store = store();
    let run = on_project(&mut store, "r1", AgentType::Wizard);
    assert!(text(&store.restart_wizard(&human(3), &project()).unwrap_err()).contains("is running"));
    let setup = ProjectSetup {
        settings: json!({
            "gates": [{ "name": "test", "command": "make test" }],
            "sensitive_paths": ["db/**"],
        }),
        worker_instructions: Some(" Use tabs.\n".into()),
        judge_instructions: None,
    };
    store
        .configure_project(&by(&run, 3), &project(), &setup)
        .unwrap();
    let ended = end(&mut store, &run, RunStatus::Succeeded, None);
    assert_eq!(ended.status, RunStatus::Succeeded);
    let found = store.project(&project()).unwrap();
    assert_eq!(found.wizard, WizardState::Completed);
    assert_eq!(found.settings, setup.settings);
    let instructions = |agent: AgentType| {
        let layers = store.overrides(&agent, &project()).unwrap();
        layers.effective().custom_instructions
    };
    assert_eq!(
        instructions(AgentType::Worker).as_deref(),
        Some("Use tabs.")
    );
    assert_eq!(instructions(AgentType::Judge), None);
    // its run is over: it configures nothing any more
    let late = store.configure_project(&by(&run, 60), &project(), &setup);
    assert!(matches!(late, Err(StoreError::Superseded { .. })));
    let again = store.restart_wizard(&human(61), &project()).unwrap();
    assert_eq!(again.wizard, WizardState::Pending);
}

#[test]
fn what_a_later_configuration_does_not_name_is_kept() {
    let mut store = store();
    let mut settings = |settings: Value| {
        let setup = ProjectSetup {
            settings,
            ..ProjectSetup::default()
        };
        let found = store.configure_project(&human(3), &project(), &setup);
        found.unwrap().settings
    };
    settings(json!({
        "gates": [{ "name": "test", "command": "make test" }],
        "sensitive_paths": ["db/**"],
        "risk": { "high": { "files": 20 }, "medium": { "files": 5 } },
        "worktree": { "copy": [".env"], "setup": "make deps" },
    }));
    let again = settings(json!({
        "gates": [{ "name": "lint", "command": "make lint" }],
        "risk": { "high": { "files": 30 } },
        "worktree": { "setup": "make" },
    }));
    assert_eq!(
        again,
        json!({
            "gates": [{ "name": "lint", "command": "make lint" }],
            "sensitive_paths": ["db/**"],
            "risk": { "high": { "files": 30 }, "medium": { "files": 5 } },
            "worktree": { "copy": [".env"], "setup": "make" },
        })
    );
}

#[test]
fn what_is_wrong_with_a_configuration_is_told_at_once_and_nothing_is_written() {
    let mut store = store();
    let setup = ProjectSetup {
        settings: json!({ "gates": [{ "name": "test" }], "sensitive_paths": "db", "gatez": [] }),
        worker_instructions: Some("x".into()),
        judge_instructions: None,
    };
    let error = store
        .configure_project(&human(3), &project(), &setup)
        .unwrap_err();
    for part in ["gates[0]", "sensitive_paths", "gatez"] {
        assert!(text(&error).contains(part), "{error}");
    }
    let found = store.project(&project()).unwrap();
    assert_eq!(
        (found.wizard, found.settings),
        (WizardState::Pending, json!({}))
    );
    let layers = store.overrides(&AgentType::Worker, &project()).unwrap();
    assert_eq!(layers.effective(), ProfileOverride::default());
    let nobody = ProjectId::parse("nobody").unwrap();
    let missing = store.configure_project(&human(3), &nobody, &ProjectSetup::default());
    assert!(matches!(missing, Err(StoreError::NotFound { .. })));
}

#[test]
fn overrides_are_layered_value_by_value_and_cleared() {
    let mut store = store();
    let worker = AgentType::Worker;
    let edit = |text: Option<&str>, model: Option<&str>| OverrideEdit {
        custom_instructions: text.map(str::to_owned),
        model: model.map(|model| ModelChoice::parse(model).unwrap()),
    };
    let of = |text: Option<&str>, model: &str| ProfileOverride {
        custom_instructions: text.map(str::to_owned),
        model: ModelChoice::parse(model).unwrap(),
    };
    let here = project();
    for (scope, change, expected) in [
        (
            None,
            edit(Some("all"), Some("opus")),
            of(Some("all"), "opus"),
        ),
        (
            Some(&here),
            edit(Some("here"), None),
            of(Some("here"), "opus"),
        ),
        (
            Some(&here),
            edit(None, Some("haiku")),
            of(Some("here"), "haiku"),
        ),
        (None, edit(None, Some("inherit")), of(Some("here"), "haiku")),
        (
            Some(&here),
            edit(Some("  "), None),
            of(Some("all"), "haiku"),
        ),
        (
            Some(&here),
            edit(None, Some("inherit")),
            of(Some("all"), "inherit"),
        ),
        (None, edit(Some(""), None), of(None, "inherit")),
    ] {
        store
            .set_override(&human(4), &worker, scope, &change)
            .unwrap();
        let layers = store.overrides(&worker, &here).unwrap();
        assert_eq!(layers.effective(), expected, "{change:?}");
    }
    // what says nothing any more is gone
    assert_eq!(
        store.overrides(&worker, &here).unwrap(),
        symphony_store::OverrideLayers::default()
    );
    let other = ProjectId::parse("other").unwrap();
    let missing = store.set_override(&human(5), &worker, Some(&other), &edit(Some("x"), None));
    assert!(matches!(missing, Err(StoreError::NotFound { .. })));
    let long = edit(Some(&"x".repeat(70_000)), None);
    assert!(store.set_override(&human(5), &worker, None, &long).is_err());
}

#[test]
fn intake_looks_at_an_issue_once() {
    let mut store = store();
    let low = backlog(&mut store, "Low", Priority::Low);
    let urgent = backlog(&mut store, "Urgent", Priority::Urgent);
    add(&mut store, "In todo");
    assert_eq!(untriaged(&mut store), ["DEM-2", "DEM-1"]);
    let intake = |store: &mut Store, run: &str, issue: &symphony_core::id::IssueId| {
        try_claim(
            store,
            run,
            RunTarget::Issue(issue.clone()),
            AgentType::Intake,
        )
        .unwrap()
    };
    // a global condition is not a look
    let run = intake(&mut store, "r1", &urgent.id);
    end(
        &mut store,
        &run,
        RunStatus::Failed,
        Some(ErrorClass::Network),
    );
    assert_eq!(untriaged(&mut store), ["DEM-2", "DEM-1"]);
    // one that fails is, and so is one that changes nothing: both wait for a human
    let run = intake(&mut store, "r2", &urgent.id);
    end(
        &mut store,
        &run,
        RunStatus::Failed,
        Some(ErrorClass::AgentFailed),
    );
    let run = intake(&mut store, "r3", &low.id);
    let edit = IssueEdit {
        labels: Some(vec!["bug".into()]),
        ..IssueEdit::default()
    };
    store.edit_issue(&by(&run, 4), &low.id, &edit).unwrap();
    end(&mut store, &run, RunStatus::Succeeded, None);
    assert_eq!(untriaged(&mut store), [""; 0]);
    let triaged = |store: &Store, id| {
        let events = store.events_of_issue(id).unwrap();
        let of_intake = events.iter().filter(|event| event.kind == "issue_triaged");
        of_intake
            .map(|event| event.payload["intake"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(triaged(&store, &urgent.id), ["unchanged"]);
    assert_eq!(triaged(&store, &low.id), ["changed"]);
    // a plan that was made before is not carried out
    let target = RunTarget::Issue(low.id.clone());
    let late = try_claim(&mut store, "r4", target, AgentType::Intake).unwrap_err();
    assert_eq!(late, ClaimRefusal::Triaged);
    for id in [&low.id, &urgent.id] {
        let issue = store.issue(id).unwrap();
        assert_eq!(issue.state.status(), IssueStatus::Backlog);
        assert_eq!(
            (issue.counts.total_runs, issue.counts.consecutive_failures),
            (0, 0)
        );
    }
}

#[test]
fn a_tick_reads_whether_a_project_is_idle() {
    let mut store = store();
    let expected = ProjectAgents {
        wizard_enabled: true,
        intake_enabled: true,
        scanner_enabled: true,
        background_research: true,
        ..ProjectAgents::default()
    };
    assert_eq!(agents(&mut store), expected);
    for i in 0..12 {
        backlog(&mut store, &format!("Issue {i}"), Priority::None);
    }
    let run = on_project(&mut store, "r1", AgentType::Scanner);
    end(&mut store, &run, RunStatus::Succeeded, None);
    let run = on_project(&mut store, "r2", AgentType::Researcher);
    let expected = ProjectAgents {
        backlog: 10,
        last_scan: Some(at(50)),
        last_research: Some(run.started_at),
        ..expected
    };
    assert_eq!(agents(&mut store), expected);
    add(&mut store, "In todo");
    assert!(agents(&mut store).has_todo);
}
