//! A client of a forge, and a clone that real git pushes from.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use symphony_core::config::{
    ForgeKind, ForgeMethod, ForgeRepository, ForgeSettings, MergeWhere, Millis, PushWhen,
    TokenSource,
};
use symphony_fakes::{FakeForge, FakeGithub};
use symphony_forge::change::{MergeWish, NewPull};
use symphony_forge::remote::MergeMethod;
use symphony_sync::limits::Options;
use symphony_sync::{Forge, Token, connect_forge};

use crate::harness::options;

pub(crate) fn settings(endpoint: &str, method: ForgeMethod) -> ForgeSettings {
    ForgeSettings {
        kind: ForgeKind::Github,
        repository: None,
        remote: "origin".to_owned(),
        endpoint: endpoint.to_owned(),
        token: TokenSource::Variable("FORGE_TOKEN".to_owned()),
        push: PushWhen::Opened,
        merge: MergeWhere::Auto,
        method,
        reviewers: BTreeMap::new(),
        checks: Vec::new(),
        rerun: true,
        poll: Millis::new(30_000),
    }
}

pub(crate) fn forge_with(
    fake: &FakeForge,
    method: ForgeMethod,
    options: &Options,
) -> Box<dyn Forge> {
    let repository = ForgeRepository {
        owner: "acme".to_owned(),
        name: "web".to_owned(),
    };
    let token = Token::first_line(FakeGithub::TOKEN).unwrap();
    let settings = settings(&fake.endpoint(), method);
    connect_forge(&settings, &repository, token, options).unwrap()
}

pub(crate) fn forge(fake: &FakeForge) -> Box<dyn Forge> {
    forge_with(fake, ForgeMethod::Merge, &options())
}

/// A forge with a branch `topic` of one commit, and an open pull request of it.
pub(crate) fn with_pull() -> (FakeForge, u64, String) {
    let fake = FakeForge::start();
    let (number, head) = fake.with(|world| {
        let head = world.push_file(1, "topic", "src/a.txt", "one\ntwo\nthree\n");
        (world.open_pull(1, "topic", "main", "Change a"), head)
    });
    (fake, number, head)
}

pub(crate) fn new_pull(head: &str) -> NewPull {
    NewPull {
        title: "Change a".to_owned(),
        body: "Because.".to_owned(),
        head_branch: head.to_owned(),
        base_branch: "main".to_owned(),
        labels: ["symphony".to_owned()].into(),
    }
}

pub(crate) fn wish(head: &str, method: MergeMethod) -> MergeWish {
    MergeWish {
        head: head.to_owned(),
        method,
        title: "Change a (#1)".to_owned(),
        message: "Because.".to_owned(),
    }
}

/// Runs git as a person with a token would, without any configuration of the machine.
pub(crate) fn git_as(
    fake: &FakeForge,
    token: Option<&str>,
    folder: &Path,
    line: &[&str],
) -> Output {
    git_trusting(fake, fake.authority(), token, folder, line)
}

/// Runs git that trusts the certificates of a file only.
pub(crate) fn git_trusting(
    fake: &FakeForge,
    authority: &Path,
    token: Option<&str>,
    folder: &Path,
    line: &[&str],
) -> Output {
    let address = match token {
        None => fake.git_address(),
        Some(token) => fake
            .git_address()
            .replace("https://", &format!("https://x-access-token:{token}@")),
    };
    let arguments = line.iter().map(|word| word.replace("ADDRESS", &address));
    #[expect(clippy::disallowed_methods, reason = "the test is the user of git")]
    let mut command = Command::new("git");
    command
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_SSL_CAINFO", authority)
        .env("GIT_SSL_CAPATH", fake.no_authorities())
        .env("GIT_AUTHOR_NAME", "A")
        .env("GIT_AUTHOR_EMAIL", "a@example.invalid")
        .env("GIT_COMMITTER_NAME", "A")
        .env("GIT_COMMITTER_EMAIL", "a@example.invalid")
        .output()
        .unwrap()
}

/// Runs git with octocat's token, which has to work, and returns what it prints.
pub(crate) fn git(fake: &FakeForge, folder: &Path, line: &[&str]) -> String {
    let output = git_as(fake, Some(FakeGithub::TOKEN), folder, line);
    let problem = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {line:?}: {problem}");
    String::from_utf8_lossy(&output.stdout)
        .trim_end()
        .to_owned()
}
