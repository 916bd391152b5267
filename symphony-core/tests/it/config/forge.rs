//! The section `forge`: what it has by default, and what is wrong with one.

use serde_json::{Value, json};
use symphony_core::config::{
    CommandLine, ForgeKind, ForgeMethod, ForgeRepository, ForgeSettings, MergeWhere, PushWhen,
    TokenSource,
};
use symphony_core::user::UserName;

use super::resolved;

fn read(forge: &Value) -> (Option<ForgeSettings>, Vec<String>) {
    let (project, problems) = resolved(&json!({ "forge": forge }));
    (project.forge, problems)
}

#[test]
fn the_name_alone_is_enough() {
    for forge in [json!("github"), json!({ "kind": "github" })] {
        let (forge, problems) = read(&forge);
        assert_eq!(problems, Vec::<String>::new());
        let forge = forge.unwrap();
        assert_eq!(forge.kind, ForgeKind::Github);
        assert_eq!(forge.repository, None, "the remote says it");
        assert_eq!(forge.remote, "origin");
        assert_eq!(forge.endpoint, "https://api.github.com");
        assert_eq!(
            forge.token,
            TokenSource::Variable("GITHUB_TOKEN".to_owned())
        );
        assert_eq!(forge.push, PushWhen::Opened);
        assert_eq!(forge.merge, MergeWhere::Auto);
        assert_eq!(forge.method, ForgeMethod::Merge);
        assert!(forge.rerun && forge.checks.is_empty() && forge.reviewers.is_empty());
        assert_eq!(forge.poll.get(), 60_000);
    }
    let (project, problems) = resolved(&json!({}));
    assert_eq!(project.forge, None);
    assert_eq!(problems, Vec::<String>::new());
}

#[test]
fn everything_can_be_set() {
    let (forge, problems) = read(&json!({
        "kind": "github", "repository": "acme/web", "remote": "upstream",
        "endpoint": "https://ghe.example/api/v3/", "token_command": ["gh", "auth", "token"],
        "push": "approved", "merge": "forge", "method": "squash",
        "reviewers": { "ada": "583231" }, "checks": ["build"], "rerun": false, "poll_ms": 5000,
    }));
    assert_eq!(problems, Vec::<String>::new());
    let forge = forge.unwrap();
    let repository = ForgeRepository {
        owner: "acme".to_owned(),
        name: "web".to_owned(),
    };
    assert_eq!(forge.repository, Some(repository));
    assert_eq!(forge.remote, "upstream");
    assert_eq!(forge.endpoint, "https://ghe.example/api/v3");
    let command = CommandLine::Argv(vec!["gh".into(), "auth".into(), "token".into()]);
    assert_eq!(forge.token, TokenSource::Command(command));
    assert_eq!(forge.push, PushWhen::Approved);
    assert_eq!(forge.merge, MergeWhere::Forge);
    assert_eq!(forge.method, ForgeMethod::Squash);
    let ada = UserName::parse("ada").unwrap();
    assert_eq!(forge.reviewers[&ada], "583231");
    assert_eq!(forge.checks, ["build"]);
    assert!(!forge.rerun);
    assert_eq!(forge.poll.get(), 5_000);
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    for (forge, place, expected) in [
        (json!("gitlab"), "forge", "github"),
        (json!({ "remote": "upstream" }), "forge.kind", "`github`"),
        (
            json!({ "kind": "github", "repository": "acme" }),
            "forge.repository",
            "owner/name",
        ),
        (
            json!({ "kind": "github", "remote": "--upload-pack=touch" }),
            "forge.remote",
            "the name of a remote",
        ),
        (
            json!({ "kind": "github", "endpoint": "http://ghe.example" }),
            "forge.endpoint",
            "https://",
        ),
        (
            json!({ "kind": "github", "reviewers": { "ada": "ada" } }),
            "forge.reviewers.ada",
            "the user's id",
        ),
        (
            json!({ "kind": "github", "reviewers": { "ada": "1", "bob": "1" } }),
            "forge.reviewers.bob",
            "the id of another user than `ada`",
        ),
        (
            json!({ "kind": "github", "merge": "there" }),
            "forge.merge",
            "auto",
        ),
    ] {
        let (_, problems) = read(&forge);
        assert_eq!(problems.len(), 1, "{forge}: {problems:#?}");
        assert!(
            problems[0].contains(place) && problems[0].contains(expected),
            "{forge}: {problems:#?}"
        );
    }
}
