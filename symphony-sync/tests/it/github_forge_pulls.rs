//! Pull requests: found, opened, changed.

use symphony_fakes::{FakeForge, Fault as Planned, On};
use symphony_forge::change::PullChange;
use symphony_forge::remote::{PullNumber, RemoteState};
use symphony_sync::Fault;

use crate::forge_harness::{forge, new_pull, with_pull};

#[tokio::test]
async fn a_pull_request_is_opened_and_found() {
    let fake = FakeForge::start();
    let head = fake.with(|world| world.push_file(1, "symphony/a-1", "a.txt", "a"));
    let forge = forge(&fake);
    assert_eq!(forge.find("symphony/a-1", "main").await.unwrap(), None);
    let opened = forge.open(&new_pull("symphony/a-1")).await.unwrap();
    assert_eq!(opened.url, "https://github.com/acme/web/pull/1");
    assert_eq!(
        (opened.title.as_str(), opened.body.as_str()),
        ("Change a", "Because.")
    );
    assert_eq!(
        (opened.head_branch.as_str(), opened.base_branch.as_str()),
        ("symphony/a-1", "main")
    );
    assert_eq!(
        (opened.head.as_str(), &opened.state),
        (head.as_str(), &RemoteState::Open)
    );
    assert!(opened.labels.contains("symphony") && !opened.is_draft);
    let found = forge.find("symphony/a-1", "main").await.unwrap().unwrap();
    assert_eq!(forge.pull(opened.number).await.unwrap(), found);
    assert_eq!((found.number, found.labels), (opened.number, opened.labels));
    assert_eq!(forge.find("symphony/a", "main").await.unwrap(), None);
    assert_eq!(forge.find("symphony/a-1", "other").await.unwrap(), None);
}

#[tokio::test]
async fn the_newest_of_a_branch_is_found() {
    let (fake, first, _) = with_pull();
    let second = fake.with(|world| {
        world.set_open(first, false);
        world.open_pull(1, "topic", "main", "Again")
    });
    for planned in [None, Some(Planned::Reversed), Some(Planned::Duplicated)] {
        if let Some(planned) = planned {
            fake.fail(On::any().with("/pulls?").times(1), planned);
        }
        let found = forge(&fake).find("topic", "main").await.unwrap().unwrap();
        assert_eq!(
            (found.number.get(), found.state),
            (second, RemoteState::Open)
        );
        fake.heal();
    }
    fake.with(|world| world.set_open(second, false));
    let found = forge(&fake).find("topic", "main").await.unwrap().unwrap();
    assert_eq!(found.state, RemoteState::Closed);
}

#[tokio::test]
async fn a_list_that_ignores_the_filter_finds_nothing_else() {
    let (fake, _, _) = with_pull();
    let forge = forge(&fake);
    forge.find("topic", "main").await.unwrap();
    let exchanges = fake.take_exchanges();
    let body = exchanges.last().unwrap().answer.clone();
    fake.fail(
        On::any().with("/pulls?").times(1),
        Planned::Answer {
            status: 200,
            headers: vec![],
            body,
        },
    );
    assert_eq!(forge.find("elsewhere", "main").await.unwrap(), None);
}

#[tokio::test]
async fn what_cannot_be_opened_is_refused_with_the_reason() {
    let (fake, _, _) = with_pull();
    let forge = forge(&fake);
    let refused = async |head: &str, expected: &str| {
        let fault = forge.open(&new_pull(head)).await.unwrap_err();
        let Fault::Refused { detail } = fault else {
            panic!("{fault:?}")
        };
        assert!(detail.contains(expected), "{detail}");
    };
    refused("topic", "A pull request already exists for acme:topic.").await;
    refused("missing", "\"field\":\"head\"").await;
    fake.git(&["branch", "same", "main"]);
    refused("same", "No commits between main and same").await;
}

#[tokio::test]
async fn a_pull_request_whose_labels_fail_is_open_without_them() {
    let fake = FakeForge::start();
    fake.with(|world| world.push_file(1, "topic", "a.txt", "a"));
    fake.fail(
        On::method("POST").with("/labels"),
        Planned::status(500, "no"),
    );
    let opened = forge(&fake).open(&new_pull("topic")).await.unwrap();
    assert!(opened.labels.is_empty());
    assert_eq!(fake.with(|world| world.pulls().len()), 1);
}

#[tokio::test]
async fn only_what_changes_is_sent() {
    let (fake, number, _) = with_pull();
    let forge = forge(&fake);
    let number = PullNumber::new(number);
    fake.take_exchanges();
    let title = PullChange {
        title: Some("New".to_owned()),
        ..PullChange::default()
    };
    assert_eq!(forge.update(number, &title).await.unwrap().title, "New");
    assert_eq!(fake.take_exchanges()[0].body, r#"{"title":"New"}"#);
    let body = PullChange {
        body: Some("Text".to_owned()),
        ..PullChange::default()
    };
    let changed = forge.update(number, &body).await.unwrap();
    assert_eq!(
        (changed.title.as_str(), changed.body.as_str()),
        ("New", "Text")
    );
    let close = |is_open| PullChange {
        is_open: Some(is_open),
        ..PullChange::default()
    };
    assert_eq!(
        forge.update(number, &close(false)).await.unwrap().state,
        RemoteState::Closed
    );
    assert_eq!(
        forge.update(number, &close(true)).await.unwrap().state,
        RemoteState::Open
    );
    fake.take_exchanges();
    forge.update(number, &PullChange::default()).await.unwrap();
    assert_eq!(fake.take_exchanges()[0].method, "GET");
}

#[tokio::test]
async fn a_merged_pull_request_cannot_be_reopened() {
    let (fake, number, _) = with_pull();
    fake.with(|world| world.merge_pull(1, number, symphony_fakes::MergeKind::Merge))
        .unwrap();
    let change = PullChange {
        is_open: Some(true),
        ..PullChange::default()
    };
    let fault = forge(&fake)
        .update(PullNumber::new(number), &change)
        .await
        .unwrap_err();
    assert!(matches!(fault, Fault::Refused { .. }), "{fault:?}");
}

#[tokio::test]
async fn a_renamed_repository_is_followed() {
    let (fake, number, head) = with_pull();
    fake.with(|world| world.rename_repository("site"));
    let forge = forge(&fake);
    assert_eq!(
        forge.pull(PullNumber::new(number)).await.unwrap().head,
        head
    );
    assert!(forge.find("topic", "main").await.unwrap().is_some());
    let access = forge.check().await.unwrap();
    assert_eq!(
        access.problem_texts(),
        [
            "the repository acme/web is now called acme/site: change the address of the remote, or `forge.repository`"
        ]
    );
}
