//! What a forge says, for tests.

use std::collections::{BTreeMap, BTreeSet};

use symphony_core::Timestamp;
use symphony_core::config::{
    ForgeKind, ForgeMethod, ForgeSettings, MergeWhere, Millis, PushWhen, TokenSource,
};
use symphony_core::user::UserName;
use symphony_forge::remote::{
    PullNumber, RemotePull, RemoteReview, RemoteReviewComment, RemoteState, ReviewVerdict, Standing,
};
use symphony_tracker::remote::{ExternalId, RemoteUser};

pub(crate) const HEAD: &str = "1111111111111111111111111111111111111111";
pub(crate) const OLD: &str = "2222222222222222222222222222222222222222";

pub(crate) fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + second).unwrap()
}

pub(crate) fn id(text: &str) -> ExternalId {
    ExternalId::new(text)
}

pub(crate) fn user(id: &str, login: &str) -> RemoteUser {
    RemoteUser {
        id: ExternalId::new(id),
        login: login.to_owned(),
    }
}

/// Ada, with the id 1, is a reviewer.
pub(crate) fn settings() -> ForgeSettings {
    ForgeSettings {
        kind: ForgeKind::Github,
        repository: None,
        remote: "origin".to_owned(),
        endpoint: "https://api.github.com".to_owned(),
        token: TokenSource::Variable("GITHUB_TOKEN".to_owned()),
        push: PushWhen::Opened,
        merge: MergeWhere::Auto,
        method: ForgeMethod::Merge,
        reviewers: BTreeMap::from([(UserName::parse("ada").unwrap(), "1".to_owned())]),
        checks: Vec::new(),
        rerun: true,
        poll: Millis::new(60_000),
    }
}

pub(crate) fn pull(state: RemoteState) -> RemotePull {
    RemotePull {
        number: PullNumber::new(7),
        url: "https://github.com/acme/web/pull/7".to_owned(),
        state,
        head_branch: "symphony/SYM-1".to_owned(),
        head: HEAD.to_owned(),
        base_branch: "main".to_owned(),
        title: "Greet".to_owned(),
        body: String::new(),
        labels: BTreeSet::new(),
        is_draft: false,
        updated_at: at(0),
        answered_at: Some(at(0)),
    }
}

/// A review by Ada of the head.
pub(crate) fn review(number: &str, verdict: ReviewVerdict, body: &str) -> RemoteReview {
    RemoteReview {
        id: id(number),
        author: Some(user("1", "ada-l")),
        standing: Standing::Member,
        verdict,
        commit: Some(HEAD.to_owned()),
        body: body.to_owned(),
        at: at(number.parse().unwrap_or(0)),
    }
}

/// A comment by Ada at line 3.
pub(crate) fn comment(number: &str, review: Option<&str>, body: &str) -> RemoteReviewComment {
    RemoteReviewComment {
        id: id(number),
        review: review.map(id),
        reply_to: None,
        author: Some(user("1", "ada-l")),
        standing: Standing::Member,
        path: "src/a.rs".to_owned(),
        lines: Some(symphony_forge::remote::RemoteLines { first: 3, last: 4 }),
        commit: Some(HEAD.to_owned()),
        body: body.to_owned(),
        created_at: at(number.parse().unwrap_or(0)),
        updated_at: at(number.parse().unwrap_or(0)),
    }
}
