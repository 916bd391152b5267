//! What the service of a `WORKFLOW.md` asks Linear, and what it makes of the answers.

use std::collections::BTreeSet;

use symphony_fakes::{FakeLinear, Fault, On};
use symphony_sync::Token;
use symphony_sync::limits::Options;
use symphony_sync::linear_polls::LinearPolls;

use crate::harness::options;

/// The fake's project.
const SLUG: &str = "web-1a2b3c";

fn polls(fake: &FakeLinear, token: &str, options: &Options) -> LinearPolls {
    let token = Token::first_line(token).unwrap();
    LinearPolls::connect(&fake.endpoint(), token, SLUG, options).unwrap()
}

fn states(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Adds issues to the project, and returns their ids in the order of the tracker.
fn add(fake: &FakeLinear, count: usize) -> Vec<String> {
    fake.with(|world| {
        let project = world.project();
        (0..count)
            .map(|n| {
                let id = world.add_issue("ada", "ENG", &format!("Issue {n}"), "Text");
                world.edit_issue(&id, |issue| issue.project = Some(project.clone()));
                id
            })
            .collect()
    })
}

#[tokio::test]
async fn candidates_of_the_project_come_page_by_page_in_their_order() {
    let fake = FakeLinear::start();
    let all = add(&fake, 120);
    let elsewhere = fake.with(|world| world.add_issue("ada", "ENG", "Without a project", ""));
    fake.with(|world| world.move_issue(&all[7], "Done"));
    fake.take_exchanges();
    let polls = polls(&fake, FakeLinear::TOKEN, &options());
    let found = polls
        .candidates(&states(&["Todo", "Backlog"]))
        .await
        .unwrap();
    let exchanges = fake.take_exchanges();
    assert_eq!(exchanges.len(), 3, "50 a page");
    for exchange in &exchanges {
        let body = &exchange.body;
        assert!(body.contains("slugId: { eq: $projectSlug }"), "{body}");
        assert!(body.contains(SLUG), "{body}");
    }
    let ids: BTreeSet<&String> = found.iter().map(|ticket| &ticket.id).collect();
    assert_eq!(ids.len(), 119, "none twice");
    assert!(!ids.contains(&elsewhere) && !ids.contains(&all[7]));
    let numbers: Vec<u32> = found
        .iter()
        .map(|ticket| {
            ticket
                .identifier
                .trim_start_matches("ENG-")
                .parse()
                .unwrap()
        })
        .collect();
    let is_kept = numbers.is_sorted() || numbers.iter().rev().is_sorted();
    assert!(is_kept, "the order of the pages is kept: {numbers:?}");
}

#[tokio::test]
async fn nothing_is_asked_without_states_or_ids() {
    let fake = FakeLinear::start();
    let polls = polls(&fake, FakeLinear::TOKEN, &options());
    fake.take_exchanges();
    assert_eq!(polls.candidates(&[]).await.unwrap(), []);
    assert_eq!(polls.by_states(&[]).await.unwrap(), []);
    assert_eq!(polls.states_by_ids(&[]).await.unwrap(), []);
    assert!(fake.take_exchanges().is_empty());
}

#[tokio::test]
async fn tickets_are_refreshed_by_typed_ids() {
    let fake = FakeLinear::start();
    let all = add(&fake, 60);
    fake.with(|world| world.move_issue(&all[0], "Done"));
    fake.take_exchanges();
    let polls = polls(&fake, FakeLinear::TOKEN, &options());
    let mut wanted = all.clone();
    wanted.push("00000000-0000-4000-8000-000000000000".to_owned());
    let found = polls.states_by_ids(&wanted).await.unwrap();
    for exchange in fake.take_exchanges() {
        let body = &exchange.body;
        assert!(body.contains("$ids: [ID!]!"), "{body}");
    }
    assert_eq!(found.len(), 60, "what is not there is left out");
    let done: Vec<&str> = found
        .iter()
        .filter(|ticket| ticket.state == "Done")
        .map(|ticket| ticket.id.as_str())
        .collect();
    assert_eq!(done, [all[0].as_str()]);
}

#[tokio::test]
async fn each_fault_has_the_specifications_class_and_no_token() {
    let fake = FakeLinear::start();
    add(&fake, 1);
    let wanted = states(&["Todo", "Backlog"]);
    for (fault, class) in [
        (Fault::status(500, "oops"), "linear_api_status"),
        (Fault::status(429, "slow down"), "linear_api_status"),
        (Fault::CutBefore, "linear_api_request"),
        (Fault::TruncatedJson, "linear_unknown_payload"),
    ] {
        let polls = polls(&fake, FakeLinear::TOKEN, &options());
        fake.fail(On::any(), fault.clone());
        let error = polls.candidates(&wanted).await.unwrap_err();
        fake.heal();
        assert_eq!(error.class(), class, "{fault:?}: {error}");
        assert!(!error.to_string().contains(FakeLinear::TOKEN), "{error}");
    }
    let wrong = "lin_api_wrongwrongwrongwrongwrongwrongwrong";
    let polls = polls(&fake, wrong, &options());
    let error = polls.candidates(&wanted).await.unwrap_err();
    assert!(!error.to_string().contains(wrong), "{error}");
}

#[tokio::test]
async fn a_limit_that_names_no_time_is_waited_for_too() {
    let fake = FakeLinear::start();
    add(&fake, 1);
    let wanted = states(&["Todo"]);
    let polls = polls(&fake, FakeLinear::TOKEN, &options());
    fake.fail(On::any().times(1), Fault::status(429, "slow down"));
    let error = polls.candidates(&wanted).await.unwrap_err();
    assert!(error.to_string().contains("429"), "{error}");
    // the server would answer now, and is not asked
    fake.take_exchanges();
    let error = polls.candidates(&wanted).await.unwrap_err();
    assert_eq!(error.class(), "linear_api_request", "{error}");
    assert!(error.to_string().contains("rate limit"), "{error}");
    assert_eq!(fake.take_exchanges().len(), 0);
}
