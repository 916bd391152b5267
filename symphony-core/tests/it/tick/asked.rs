//! With which provider and model a run starts, and which holds cover it.

use symphony_core::agent::AgentType;
use symphony_core::id::PhaseName;
use symphony_core::profile::{AgentChoice, ModelName};
use symphony_core::tick::{AskedModels, HoldScope, Snapshot};

use super::support::{NOW, candidate, hold, plan, project, review, snapshot};

fn choice(provider: Option<&str>, model: Option<&str>) -> AgentChoice {
    AgentChoice {
        provider: provider.map(str::to_owned),
        model: model.map(|name| ModelName::parse(name).unwrap()),
    }
}

fn model(provider: &str, name: Option<&str>) -> HoldScope {
    HoldScope::Model {
        provider: provider.into(),
        model: name.map(str::to_owned),
    }
}

/// The providers of what starts, by issue; those that wait are left out.
fn providers(snapshot: &Snapshot) -> Vec<String> {
    let schedule = symphony_core::tick::plan_tick(snapshot, super::support::at(NOW));
    let starts = schedule
        .actions
        .into_iter()
        .filter_map(|action| match action {
            symphony_core::tick::Action::StartRun(start) => {
                Some(format!("{} {}", start.item(), start.provider))
            }
            _ => None,
        });
    starts.collect()
}

/// An issue of each kind: one that leaves it to the project, one with a provider, one with a model, one in review.
fn four() -> Snapshot {
    let mut snapshot = snapshot();
    snapshot.candidates = vec![candidate(1), candidate(2), candidate(3)];
    snapshot.candidates[1].choice = choice(Some("codex-cli"), None);
    snapshot.candidates[2].choice = choice(None, Some("haiku"));
    snapshot.reviews = vec![review(4)];
    let mut models = AskedModels::default();
    let ready = PhaseName::parse(PhaseName::READY).ok();
    models.set(AgentType::Worker, ready, None, "opus".into());
    snapshot.projects.get_mut(&project("a")).unwrap().models = models;
    snapshot
}

#[test]
fn an_issue_chooses_for_its_authors_and_a_profile_for_its_agents() {
    let mut snapshot = four();
    let all = [
        "SYM-4 claude-cli",
        "SYM-1 claude-cli",
        "SYM-2 codex-cli",
        "SYM-3 claude-cli",
    ];
    assert_eq!(providers(&snapshot), all);
    let view = snapshot.projects.get_mut(&project("a")).unwrap();
    view.named_providers
        .of_profiles
        .insert(AgentType::Worker, "qwen".into());
    let of_profile = [
        "SYM-4 claude-cli",
        "SYM-1 qwen",
        "SYM-2 codex-cli",
        "SYM-3 qwen",
    ];
    assert_eq!(providers(&snapshot), of_profile);
    let view = snapshot.projects.get_mut(&project("a")).unwrap();
    view.named_providers.of_profiles.clear();
    view.named_providers
        .of_profiles
        .insert(AgentType::Judge, "qwen".into());
    let of_judge = [
        "SYM-4 qwen",
        "SYM-1 claude-cli",
        "SYM-2 codex-cli",
        "SYM-3 claude-cli",
    ];
    assert_eq!(providers(&snapshot), of_judge);
}

#[test]
fn a_hold_covers_what_asks_for_its_provider_and_model() {
    for (scope, started) in [
        (
            HoldScope::Provider("claude-cli".into()),
            vec!["SYM-2 codex-cli"],
        ),
        (
            HoldScope::Provider("codex-cli".into()),
            vec!["SYM-4 claude-cli", "SYM-1 claude-cli", "SYM-3 claude-cli"],
        ),
        (
            model("claude-cli", Some("opus")),
            vec!["SYM-4 claude-cli", "SYM-2 codex-cli", "SYM-3 claude-cli"],
        ),
        (
            model("claude-cli", Some("haiku")),
            vec!["SYM-4 claude-cli", "SYM-1 claude-cli", "SYM-2 codex-cli"],
        ),
        // `opus` is a model of the project's provider
        (
            model("codex-cli", None),
            vec!["SYM-4 claude-cli", "SYM-1 claude-cli", "SYM-3 claude-cli"],
        ),
    ] {
        let mut snapshot = four();
        snapshot.holds = vec![hold(scope.clone(), NOW + 60)];
        assert_eq!(providers(&snapshot), started, "{scope}");
    }
}

#[test]
fn a_provider_that_is_missing_stops_only_what_asks_for_it() {
    let mut snapshot = four();
    let view = snapshot.projects.get_mut(&project("a")).unwrap();
    view.named_providers
        .unusable
        .insert("codex-cli".into(), "`codex` is not in PATH".into());
    assert_eq!(
        plan(&snapshot).last().map(String::as_str),
        Some("wait SYM-2: no provider can be used: `codex` is not in PATH")
    );
    // the project's own is missing, and the issue names another
    let mut snapshot = four();
    let view = snapshot.projects.get_mut(&project("a")).unwrap();
    view.provider = Err("`claude` is not in PATH".into());
    assert_eq!(providers(&snapshot), ["SYM-2 codex-cli"]);
}
